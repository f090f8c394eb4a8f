"""Read folders with a folder of texts for each label (`texts/pos/1.txt`), as IMDB and 20 Newsgroups come,
or, without labels, folders of texts (`texts/1.txt`).

Each file becomes a JSON object, in the order of the names of folders and files; its position is its line
number.

Code: HW101 a folder of something else.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from headwise.data.errors import DataError
from headwise.data.files.file_signatures import check_folder
from headwise.data.files.text_lines import LONGEST_LINE, Line, read_lines

BRAT_SUFFIX = ".ann"
TABLE_SUFFIXES = {
    *(".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".xlsx", ".parquet", ".yml", ".yaml", ".conll"),
}
"""Suffixes of files with many texts."""
PARTS = {"train", "training", "dev", "valid", "validation", "val", "test", "testing", "eval", "unsup"}
"""Names of folders of the parts of a data set."""


def folder_lines(
    path: str, encoding: str = "utf-8", errors: str = "strict", *, labelled: bool = False
) -> Iterator[Line]:
    """The texts of a folder, as JSON objects with their file, label and text.

    Hidden files and files beside the label folders are skipped; texts may be compressed.

    Args:
        path: The folder.
        errors: See `headwise.data.files.text_lines.read_lines`.
        labelled: Whether labels are needed; if not, texts may be in the folder itself, without labels.

    Raises:
        DataError: HW101, HW102, HW104 to HW108.
        ConfigError: The encoding or `errors` is unknown.
    """
    check_folder(path)
    if is_flat(path) and not labelled:
        files = [(file, {"file": file.name}) for file in visible_entries(Path(path))]
        if has_annotations(path):  # of brat, whose texts they and its settings stand beside
            files = [(file, fields) for file, fields in files if file.suffix == ".txt"]
    else:
        files = [
            (file, {"file": f"{folder.name}/{file.name}", "label": folder.name})
            for folder in _label_folders(path)
            for file in visible_entries(folder)
        ]
    check_no_tables([file for file, _ in files], path)
    for number, (file, fields) in enumerate(files, start=1):
        text = _text(str(file), encoding, errors)
        yield number, json.dumps(fields | {"text": text}, ensure_ascii=False)


def check_no_tables(files: Sequence[Path], path: str) -> None:
    """Check that most files are not tables, each of which would be read as one text.

    Raises:
        DataError: HW101.
    """
    tables = [file for file in files if not TABLE_SUFFIXES.isdisjoint(file.suffixes[-2:])]
    if 2 * len(tables) > len(files):
        suffix = tables[0].suffixes[-1]
        advice = f"give the files themselves, such as {tables[0]} or '{tables[0].parent}/*{suffix}'"
        problem = f"a folder of tables ({tables[0].name}, ...), each of which holds many texts"
        raise DataError("HW101", problem, expected="one text a file", advice=advice, path=path)


def is_flat(path: str) -> bool:
    """Whether a folder holds files and no folders."""
    shown = visible_entries(Path(path))
    return bool(shown) and not any(entry.is_dir() for entry in shown)


def has_annotations(path: str) -> bool:
    """Whether a folder holds annotations of brat."""
    return any(entry.suffix == BRAT_SUFFIX for entry in visible_entries(Path(path)))


def visible_entries(folder: Path) -> list[Path]:
    """The entries of a folder that are not hidden, by name."""
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def _label_folders(path: str) -> list[Path]:
    """The folders of a folder, which must hold nothing but files."""
    folders = [entry for entry in visible_entries(Path(path)) if entry.is_dir()]
    if not folders:
        check_no_tables(visible_entries(Path(path)), path)
        advice = "give a file in it, or a folder with a folder of texts for each label"
        problem = "a folder of files, which have no labels" if is_flat(path) else "a directory, not a file"
        raise DataError("HW101", problem, advice=advice, path=path)
    for folder in folders:
        if any(entry.suffix == BRAT_SUFFIX for entry in folder.iterdir()):
            advice = f"give one of the folders in it, such as {folder}, with --task tag"
            raise DataError(
                "HW101", "folders of brat's annotations", expected="texts", advice=advice, path=path
            )
        if any(entry.is_dir() for entry in visible_entries(folder)):
            problem, advice = f"{folder} has folders in it", ""
            if {entry.name for entry in folders} >= {"train", "test"}:
                advice = f"give {Path(path, 'train')}, and {Path(path, 'test')} with --test"
            raise DataError("HW101", problem, expected="texts", advice=advice, path=path)
    if {entry.name.lower() for entry in folders} <= PARTS:
        advice = f"give {folders[0]}, or a file in it; --dev and --test name the other parts"
        problem = (
            f"folders of parts of the data, not of labels: {', '.join(entry.name for entry in folders)}"
        )
        raise DataError("HW101", problem, expected="a folder for each label", advice=advice, path=path)
    return folders


def _text(file: str, encoding: str, errors: str) -> str:
    """The text of a file."""
    parts, size = [], 0
    try:
        for number, line in read_lines(file, encoding, errors):
            parts.append(line.removesuffix("\r"))
            size += len(line) + 1
            if size > LONGEST_LINE:
                problem = f"a text of more than {LONGEST_LINE:,} characters"
                raise DataError("HW107", problem, expected="one text a file", path=file, line=number)
    except DataError as error:
        if error.code != "HW103":  # an empty file is an empty text
            raise
    return "\n".join(parts)
