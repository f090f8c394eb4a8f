"""check_picture: whether a picture or a page can be written, before the work that it shows."""

from pathlib import Path

_BEGIN = (b"<svg", b"<!doctype html", b"<?xml")


def check_picture(path: Path | None) -> None:
    """Check a file that is to be a picture or a page: an earlier one may be replaced, nothing else.

    Raises:
        OutputError: HW601, it holds something else; HW604, there is no such folder, or it is a folder, or
            it cannot be read.
    """
    if path is None:
        return
    from headwise.predictions.file import OutputError, telling_failures  # with it comes torch

    if path.is_dir() or not path.parent.is_dir():
        found = "is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise OutputError(f"{path}: cannot be written: {found}", code="HW604")
    if not path.is_file():
        return
    with telling_failures(path), path.open("rb") as file:
        begin = file.read(64).lstrip().lower()
    if begin and not begin.startswith(_BEGIN):
        raise OutputError(
            f"{path} exists and is no picture or page, which might be replaced; name another file",
            code="HW601",
        )
