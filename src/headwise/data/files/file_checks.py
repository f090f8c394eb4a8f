"""Check files before they are read, and before slow libraries are imported.

Codes: HW101 a file that cannot be opened, HW103 an empty file.
"""

import os
from pathlib import Path

from headwise.data.errors import DataError
from headwise.data.files.archives import split_member
from headwise.data.files.compression import open_raw, read_once
from headwise.data.files.label_folders import is_flat, visible_entries


def check_input_file(path: str) -> None:
    """Check that there is something to read; the contents are left to the reader. Standard input and pipes
    pass.

    Raises:
        DataError: HW101 the file is missing or cannot be opened, or a folder without files; HW103 the file
            is empty.
    """
    if read_once(path):
        return
    file, _ = split_member(path)
    if os.path.isdir(file):
        try:
            empty = not visible_entries(Path(file))
        except OSError as error:
            raise DataError("HW101", f"cannot be opened: {error.strerror}", path=path) from None
        if empty:
            raise DataError("HW101", "a folder without files", advice="give a file", path=path)
        return
    with open_raw(file) as opened:
        try:
            first = opened.peek(1)
        except OSError as error:
            raise DataError("HW101", f"reading failed: {error.strerror}", path=path) from None
    if not first:
        raise DataError("HW103", "the file is empty", expected="one text per line", path=path)


def check_labelled_folder(path: str) -> None:
    """Check that the texts of a folder have labels; other paths pass.

    Raises:
        DataError: HW101, the folder holds files and no folders.
    """
    if os.path.isdir(path) and is_flat(path):
        advice = "give a file in it, or a folder with a folder of texts for each label"
        raise DataError("HW101", "a folder of files, which have no labels", advice=advice, path=path)


def parse_file_names(parses: str | os.PathLike[str]) -> list[str]:
    """The file of parses, or the files of both texts of pairs, which have a comma between their names."""
    name = os.fspath(parses)
    return [name] if os.path.exists(name) else name.split(",")
