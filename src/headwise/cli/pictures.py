"""Pictures and pages: whether one can be written, before the work that it shows; and to write what is made
whole."""

from pathlib import Path

_KINDS = {".svg": "a picture", ".html": "a page"}
_BEGIN = (b"<svg", b"<!doctype html", b"<?xml")


def check_picture(path: Path | None, *endings: str) -> None:
    """Check a file that is to be a picture or a page: an earlier one may be replaced, nothing else.

    Args:
        path: The file, if there is to be one.
        endings: How its name may end; any way if none is given.

    Raises:
        OutputError: HW601, it holds something else; HW604, there is no such folder, or it is a folder, or
            it cannot be read; HW605, its name ends as that of something else.
    """
    if path is None:
        return
    from headwise.predictions.file import OutputError, telling_failures  # with it comes torch

    if path.is_dir() or not path.parent.is_dir():
        found = "is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise OutputError(f"{path}: cannot be written: {found}", code="HW604")
    if path.exists() and not path.is_file():  # a device, which is called what it is called
        return
    if path.is_file():
        with telling_failures(path), path.open("rb") as file:
            begin = file.read(64).lstrip().lower()
        if begin and not begin.startswith(_BEGIN):
            raise OutputError(
                f"{path} exists and is no picture or page, which might be replaced; name another file",
                code="HW601",
            )
    if endings and path.suffix.lower() not in endings:
        kinds = " or ".join(_KINDS[ending] for ending in endings)
        raise OutputError(
            f"{path}: expected a file for {kinds}; name it {' or '.join(endings)}", code="HW605"
        )


def write_whole(path: Path, text: str) -> None:
    """Write a picture, a page or a table whole, or leave what was there.

    Raises:
        OutputError: HW604, it cannot be written.
    """
    from headwise.predictions.file import telling_failures  # with it comes torch
    from headwise.store.whole import named_when_whole

    with telling_failures(path), named_when_whole(path) as part:
        part.write_text(text, encoding="utf-8", errors="replace")
