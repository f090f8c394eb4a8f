"""Give items the parses of their texts, which come in files of their own."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from headwise.data.errors import DataError
from headwise.data.example import Parse
from headwise.data.kind import Kind
from headwise.data.rows import Row
from headwise.errors import ConfigError, HeadwiseError

Item = TypeVar("Item")

Words = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Parses:
    """Files with the dependency heads of the texts' words, of each part that has a file; of items of two
    texts two files, FIRST,SECOND."""

    train: str | None = None
    dev: str | None = None
    test: str | None = None


NO_PARSES = Parses()


@dataclass(frozen=True)
class ParseReader:
    """How files of parses are read.

    Attributes:
        cut: Cuts a text into the words that the model reads.
        read: Reads a file, given the words of each text where they are known (see
            `headwise.features.parse_files.read_parses`).
        read_phrases: Reads a file of trees, given the line and the text of each phrase (see
            `headwise.features.phrase_parses.read_phrase_parses`).
    """

    cut: Callable[[str], Sequence[str]]
    read: Callable[[str, Words | None], Sequence[Parse]]
    read_phrases: Callable[[str, Sequence[tuple[int, str]]], Sequence[Parse]] | None = None


def files_of(kind: Kind[Any], paths: str) -> tuple[str, ...]:
    """The files with the parses of each text of an item.

    Raises:
        ConfigError: There are more or fewer, or items have no texts.
    """
    if not kind.sides:
        raise kind.refuse_parses()
    if kind.sides == 1:
        return (paths,)
    files = tuple(path.strip() for path in paths.split(","))
    if len(files) != kind.sides or not all(files):
        raise ConfigError(
            f"{paths}: a pair has two texts; give two files of parses with a comma between, FIRST,SECOND"
        )
    return files


def parsed(kind: Kind[Any], data: Any, paths: str | None, reader: ParseReader) -> Any:
    """A data set with the parses of one or several files, if they are given.

    A parse belongs to the text of the same number; or, where items of the file were left out, to the text
    of the same line. Phrases of sentiment trees, several of a line, have the nodes of the tree in it.

    Args:
        kind: The kind of the items.
        data: As `headwise.data.dataset.Dataset`.
        paths: See `files_of`.
        reader: How they are read.

    Raises:
        ConfigError: There are not as many files as an item has texts.
        DataError: HW142, the parses are not as many as the items; or a file cannot be read.
        HeadsError: They make no trees, or are of other words than those that the tokeniser finds.
    """
    if paths is None:
        return data
    items = data.items
    several = data.format == "sst" and len({item.line for item in items}) < len(items)
    if several and reader.read_phrases is not None:
        phrases = reader.read_phrases(paths, [(item.line, item.text) for item in items])
        return data.with_items(
            [kind.with_heads(item, [own]) for item, own in zip(items, phrases, strict=True)]
        )
    words = None if data.skipped else [kind.words(item, reader.cut) for item in items]
    found: list[Sequence[Parse]] = []
    for side, path in enumerate(files_of(kind, paths)):
        parses = reader.read(path, None if words is None else [own[side] for own in words])
        lines = [item.line for item in items]
        found.append(_in_order(parses, lines, path, data.path, by_line=words is None))
    return data.with_items(
        [kind.with_heads(item, own) for item, own in zip(items, zip(*found, strict=True), strict=True)]
    )


def _in_order(
    parses: Sequence[Parse], lines: Sequence[int], path: str, texts: str, *, by_line: bool
) -> Sequence[Parse]:
    """The parses, one for each item.

    Raises:
        DataError: HW142.
    """
    if len(parses) == len(lines):
        return parses
    if by_line and len(set(lines)) == len(lines) and all(0 < line <= len(parses) for line in lines):
        return [parses[line - 1] for line in lines]
    raise DataError(
        "HW142",
        f"{len(parses):,} parses for the {len(lines):,} texts of {texts}",
        expected="one for each text, or one for each line of its file",
        advice="parse the very file that is read",
        path=path,
    )


def parsed_rows(
    kind: Kind[Any], rows: Iterator[Row[Item]], paths: str | None, read: Callable[[str], Iterator[Parse]]
) -> Iterator[Row[Item]]:
    """Rows with their parses, one of each file for each, in constant memory.

    Args:
        kind: The kind of the items.
        rows: The records of a file to predict.
        paths: See `files_of`; without, the rows stay as they are.
        read: Reads a file parse by parse.

    Raises:
        ConfigError: There are not as many files as an item has texts.
        HeadwiseError: HW234, a file has more or fewer parses than there are rows.
    """
    return rows if paths is None else _with_heads(kind, rows, files_of(kind, paths), read)


def _with_heads(
    kind: Kind[Any],
    rows: Iterator[Row[Item]],
    files: Sequence[str],
    read: Callable[[str], Iterator[Parse]],
) -> Iterator[Row[Item]]:
    parses = [read(path) for path in files]
    number = 0
    for number, row in enumerate(rows, start=1):
        heads: list[Parse] = []
        for path, own in zip(files, parses, strict=True):
            found = next(own, None)
            if found is None:
                told = f"{path}: {number - 1:,} parses, but the file to predict has more"
                raise HeadwiseError(told, code="HW234")
            heads.append(found)
        yield replace(row, item=kind.with_heads(row.item, heads))
    for path, own in zip(files, parses, strict=True):
        if next(own, None) is not None:
            told = f"{path}: more parses than the {number:,} records to predict"
            raise HeadwiseError(told, code="HW234")
