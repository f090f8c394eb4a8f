"""Check output files for pictures and pages before the work starts, and write files atomically."""

from pathlib import Path

_KINDS = {".svg": "a picture", ".html": "a page"}
_BEGIN = (b"<svg", b"<!doctype html", b"<?xml")


def check_picture(path: Path | None, *endings: str) -> None:
    """Check an output file for a picture or a page: only an existing picture or page may be replaced.

    Args:
        path: The file; None for no check.
        endings: Allowed suffixes; all if none is given.

    Raises:
        OutputError: HW601, the file exists and is neither; HW604, its folder does not exist, it is a
            folder, or it cannot be read; HW605, the suffix is not allowed.
    """
    if path is None:
        return
    from headwise.predictions.file import OutputError, telling_failures  # with it comes torch

    if path.is_dir() or not path.parent.is_dir():
        reason = "is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise OutputError(f"{path}: cannot be written: {reason}", code="HW604")
    if path.exists() and not path.is_file():  # a device, whatever its suffix
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
    """Write a file atomically: on failure the old file stays.

    Raises:
        OutputError: HW604, it cannot be written.
    """
    from headwise.predictions.file import telling_failures  # with it comes torch
    from headwise.store.whole import named_when_whole

    with telling_failures(path), named_when_whole(path) as part:
        part.write_text(text, encoding="utf-8", errors="replace")
