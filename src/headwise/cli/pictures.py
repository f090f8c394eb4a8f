"""check_picture: whether a picture or a page can be written, before the work that it shows."""

from pathlib import Path

from headwise.errors import HeadwiseError

_BEGIN = (b"<svg", b"<!doctype html", b"<?xml")


def check_picture(path: Path | None) -> None:
    """Check a file that is to be a picture or a page: an earlier one may be replaced, nothing else.

    Raises:
        HeadwiseError: HW601, it holds something else; HW604, there is no such folder, or it is a folder.
    """
    if path is None:
        return
    if path.is_dir() or not path.parent.is_dir():
        found = "is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise HeadwiseError(f"{path}: cannot be written: {found}", code="HW604")
    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            begin = file.read(64).lstrip().lower()
    except OSError as error:
        raise HeadwiseError(f"{path}: cannot be written: {error.strerror or error}", code="HW604") from None
    if begin and not begin.startswith(_BEGIN):
        raise HeadwiseError(
            f"{path} exists and is no picture or page, which might be replaced; name another file",
            code="HW601",
        )
