"""Dependency parses, read from separate files and attached to the items of a data set;
`find_cycle` checks them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.errors import DataError
from headwise.data.items.dataset import Dataset, InputRow
from headwise.data.items.examples import Parse
from headwise.data.items.item_type import ItemType

Item = TypeVar("Item")

Words = Sequence[Sequence[str]]


@dataclass(frozen=True)
class ParseFiles:
    """The parse files of each part of the data, with the dependency heads of the words.

    For text pairs, two files separated by a comma: FIRST,SECOND."""

    train: str | None = None
    dev: str | None = None
    test: str | None = None


NO_PARSES = ParseFiles()


@dataclass(frozen=True)
class ParseReader:
    """The functions that read parse files.

    Attributes:
        cut: The tokenizer: returns the words of a text.
        read: Reads a parse file; its second argument is the words of each text, or None (see
            `headwise.text.parse_files.read_parses`).
        read_phrases: Reads a file of trees for phrases, each given by its line and its text (see
            `headwise.text.parse_files.read_phrase_parses`).
    """

    cut: Callable[[str], Sequence[str]]
    read: Callable[[str, Words | None], Sequence[Parse]]
    read_phrases: Callable[[str, Sequence[tuple[int, str]]], Sequence[Parse]] | None = None


def parse_paths(item_type: ItemType, paths: str) -> tuple[str, ...]:
    """The paths of the parse files, one for each text of an item.

    Raises:
        ConfigError: The number of files is wrong, or items have no texts.
    """
    if not item_type.sides:
        raise item_type.no_parses_error()
    if item_type.sides == 1:
        return (paths,)
    files = tuple(path.strip() for path in paths.split(","))
    if len(files) != item_type.sides or not all(files):
        raise ConfigError(
            f"{paths}: a pair has two texts; give two files of parses with a comma between, FIRST,SECOND"
        )
    return files


def with_parses(
    item_type: ItemType[Item], data: Dataset[Item], paths: str | None, reader: ParseReader
) -> Dataset[Item]:
    """The data set with parses attached to its items; unchanged if `paths` is None.

    The n-th parse belongs to the n-th text. If items of the file were left out, the n-th parse belongs to
    the text on line n. Phrases of sentiment trees share a line; their parses come from its tree.

    Raises:
        ConfigError: The number of files differs from the number of texts of an item.
        DataError: HW142, the numbers of parses and items differ; or a file cannot be read.
        ParseError: The heads form no tree, or the words differ from those of the tokenizer.
    """
    if paths is None:
        return data
    items: list[Any] = data.items
    has_phrases = data.format == "sst" and len({item.line for item in items}) < len(items)
    if has_phrases and reader.read_phrases is not None:
        phrases = reader.read_phrases(paths, [(item.line, item.text) for item in items])
        return data.with_items(
            [item_type.with_parses(item, [parse]) for item, parse in zip(items, phrases, strict=True)]
        )
    words = None if data.skipped else [item_type.words(item, reader.cut) for item in items]
    parses_by_side: list[Sequence[Parse]] = []
    for side, path in enumerate(parse_paths(item_type, paths)):
        parses = reader.read(path, None if words is None else [item_words[side] for item_words in words])
        lines = [item.line for item in items]
        parses_by_side.append(_in_order(parses, lines, path, data.path, by_line=words is None))
    return data.with_items(
        [
            item_type.with_parses(item, item_parses)
            for item, item_parses in zip(items, zip(*parses_by_side, strict=True), strict=True)
        ]
    )


def _in_order(
    parses: Sequence[Parse], lines: Sequence[int], path: str, texts: str, *, by_line: bool
) -> Sequence[Parse]:
    """The parses in the order of the items, one for each."""
    if len(parses) == len(lines):
        return parses
    if by_line and len(set(lines)) == len(lines) and all(0 < line <= len(parses) for line in lines):
        return [parses[line - 1] for line in lines]
    problem = f"{len(parses):,} parses for the {len(lines):,} texts of {texts}"
    expected = "one for each text, or one for each line of its file"
    advice = "parse the very file that is read"
    raise DataError("HW142", problem, expected=expected, advice=advice, path=path)


def rows_with_parses(
    item_type: ItemType[Item],
    rows: Iterator[InputRow[Item]],
    paths: str | None,
    read: Callable[[str], Iterator[Parse]],
) -> Iterator[InputRow[Item]]:
    """The rows with parses attached to their items, in constant memory; unchanged without `paths`.

    Raises:
        ConfigError: The number of files differs from the number of texts of an item.
        HeadwiseError: HW234, the numbers of parses and rows differ.
    """
    return (
        rows if paths is None else _rows_with_parses(item_type, rows, parse_paths(item_type, paths), read)
    )


def _rows_with_parses(
    item_type: ItemType[Item],
    rows: Iterator[InputRow[Item]],
    files: Sequence[str],
    read: Callable[[str], Iterator[Parse]],
) -> Iterator[InputRow[Item]]:
    parses = [read(path) for path in files]
    number = 0
    for number, row in enumerate(rows, start=1):
        heads: list[Parse] = []
        for path, file_parses in zip(files, parses, strict=True):
            parse = next(file_parses, None)
            if parse is None:
                message = f"{path}: {number - 1:,} parses, but the file to predict has more"
                raise HeadwiseError(message, code="HW234")
            heads.append(parse)
        yield replace(row, item=item_type.with_parses(row.item, heads))
    for path, file_parses in zip(files, parses, strict=True):
        if next(file_parses, None) is not None:
            message = f"{path}: more parses than the {number:,} records to predict"
            raise HeadwiseError(message, code="HW234")


def find_cycle(heads: Sequence[int]) -> list[int]:
    """The tokens (from 1) of a dependency cycle, starting with the smallest; empty if the heads form a
    tree."""
    state = [0] * (len(heads) + 1)  # the walk that visited each word, 0 for none
    state[0] = -1
    for start in range(1, len(heads) + 1):
        word = start
        while state[word] == 0:
            state[word] = start
            word = heads[word - 1]
        if state[word] == start:  # visited by the same walk: a cycle
            cycle = [word]
            while (following := heads[cycle[-1] - 1]) != word:
                cycle.append(following)
            least = cycle.index(min(cycle))
            return cycle[least:] + cycle[:least]
    return []


def cycle_text(words: Sequence[int]) -> str:
    """A cycle as text, for error messages."""
    return " -> ".join(map(str, [*words[:8], *(["..."] if len(words) > 8 else []), words[0]]))
