"""Several files that are read one after the other, as one: lists of files, and patterns such as
`part-*.parquet`. They are checked before they are read, and before slow libraries are imported.

Codes: HW101 no file matches a pattern, or a file cannot be opened, HW103 an empty file.
"""

import glob
import os
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.files.archives import split_member
from headwise.data.files.compression import open_raw, read_once
from headwise.data.files.label_folders import check_no_tables, has_annotations, is_flat, visible_entries
from headwise.data.files.text_lines import file_name


class FileLine(int):
    """The line of a record in one of several files.

    Attributes:
        file: The file.
    """

    file: str

    def __new__(cls, line: int, file: str) -> "FileLine":
        number = super().__new__(cls, line)
        number.file = file
        return number

    def __reduce__(self) -> tuple[type["FileLine"], tuple[int, str]]:
        return FileLine, (int(self), self.file)


def place(path: str, line: int) -> str:
    """`file:line` of a record; of several files, the one that holds it."""
    return f"{getattr(line, 'file', path)}:{int(line)}"


class FileList(NamedTuple):
    """Two or more files that are read as one, in this order."""

    paths: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.paths[0]} and {len(self.paths) - 1:,} more"


Files = str | FileList
"""One file or several, as readers take them."""

FilesArgument = str | PathLike[str] | FileList | Sequence[str | PathLike[str]]
"""One file, a pattern or several of them, as users give them."""


def list_files(files: FilesArgument) -> Files:
    """The files that are meant; patterns stand for the files that match, by name.

    Raises:
        ConfigError: There is none, one is given twice, standard input is among several, or something else
            than names is given.
        DataError: HW101, no file matches a pattern.
    """
    if isinstance(files, FileList):
        return files
    if not isinstance(files, list | tuple):
        files = [file_name(files)]
    paths = [path for name in files for path in _matches(file_name(name))]
    if not paths:
        raise ConfigError("no files; expected at least one, such as train.csv")
    if len(paths) == 1:
        return paths[0]
    if stream := next(filter(read_once, paths), None):
        raise ConfigError(f"{stream}: standard input and pipes cannot be read beside other files")
    first_names = dict[str, str]()
    for path in paths:  # of one file, by whatever names and links
        file, member = split_member(path)
        key = f"{os.path.realpath(file)}!{member}"
        if (name := first_names.get(key)) is not None:
            other_name = "" if name == path else f", also as {name}"
            raise ConfigError(f"{path} is given twice{other_name}; leave it out once")
        first_names[key] = path
    return FileList(tuple(paths))


def paths_of(files: Files) -> tuple[str, ...]:
    """The paths of one file or several."""
    return (files,) if isinstance(files, str) else files.paths


def first_path(files: Files) -> str:
    """The path of the first file, whose beginning tells the format of all."""
    return paths_of(files)[0]


def optional_files(files: FilesArgument | None) -> Files | None:
    """The files of an optional argument; None or an empty list for none."""
    return None if files is None or files in ([], ()) else list_files(files)


def _matches(path: str) -> Iterable[str]:
    """The files that a pattern matches; the path itself if it is none, or names a file."""
    archive = path.partition("!")[0]  # whose members have patterns of their own
    if not glob.has_magic(archive) or os.path.exists(path) or split_member(path)[1] is not None:
        return [path]
    matches = [match for match in sorted(glob.glob(path, recursive=True)) if os.path.isfile(match)]
    if not matches:
        raise DataError("HW101", "no file matches this pattern", path=path)
    return matches


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
    """Check that the texts of a folder have labels or annotations; other paths pass.

    Raises:
        DataError: HW101, the folder holds tables, or files without folders and without annotations.
    """
    if os.path.isdir(path) and is_flat(path):
        if has_annotations(path):
            return
        check_no_tables(visible_entries(Path(path)), path)
        advice = "give a file in it, or a folder with a folder of texts for each label"
        raise DataError("HW101", "a folder of files, which have no labels", advice=advice, path=path)


def parse_file_names(parses: str | os.PathLike[str]) -> list[str]:
    """The file of parses, or the files of both texts of pairs, which have a comma between their names."""
    name = os.fspath(parses)
    return [name] if os.path.exists(name) else name.split(",")
