"""CoNLL-U: sentences with parts of speech and dependency syntax, one word per line in ten columns.

See https://universaldependencies.org/format.html. The words of a sentence are its syntactic words (`1`,
`2`, ...). A multi-word token (`1-2 don't`) is stored in addition to its words. Empty nodes (`8.1`) of the
enhanced syntax and the column DEPS are ignored.

Codes: HW240 a row that does not have ten columns, none of them empty, or a comment inside a sentence;
HW241 ids that do not count the words; HW242 a multi-word token that does not fit the words; HW243 a head
that is not a word of the sentence; HW244 words that depend on each other in a circle; HW245 comments
without a sentence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from os import PathLike, fspath
from typing import NamedTuple

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource
from headwise.data.columns.reading_options import DEFAULT_READ_OPTIONS, ReadOptions
from headwise.data.errors import DataError, OnError, raise_error
from headwise.data.files.text_lines import Line, read_lines, without_returns
from headwise.data.items.parses import cycle_text, find_cycle

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
_HEAD = COLUMNS.index("HEAD")

_NUMBER = r"(0|[1-9][0-9]{0,8})"
_RANGE = lazy_pattern(rf"{_NUMBER}-{_NUMBER}")
_EMPTY_NODE = lazy_pattern(rf"{_NUMBER}\.{_NUMBER}")


class MultiWord(NamedTuple):
    """A multi-word token, written as one but made of several syntactic words: `don't` for `do n't`.

    `first` and `last` are the numbers of its first and last word, from 1; `line` is the line of the file.
    """

    first: int
    last: int
    form: str
    misc: str
    line: int


@dataclass(frozen=True, slots=True)
class ConlluSentence:
    """A sentence as columns with one value per word; missing values are `_`, as in the file.

    Attributes:
        words: FORM, of the syntactic words.
        lemmas: LEMMA.
        upos: UPOS, the universal parts of speech.
        xpos: XPOS, those of the language.
        feats: FEATS, as in the file (`Mood=Ind|Number=Sing`).
        heads: HEAD, the dependency head of each word: its number from 1, or 0 for a root; None if no word
            of the sentence has a head.
        deprels: DEPREL, the relations to the heads.
        misc: MISC, as in the file (`SpaceAfter=No`).
        multiwords: The multi-word tokens, in order.
        comments: The comments before the words, without `#` and surrounding spaces.
        lines: The line of the file of each word.
        line: The line on which the sentence starts, with its comments.
    """

    words: tuple[str, ...]
    lemmas: tuple[str, ...]
    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    feats: tuple[str, ...]
    heads: tuple[int, ...] | None
    deprels: tuple[str, ...]
    misc: tuple[str, ...]
    multiwords: tuple[MultiWord, ...]
    comments: tuple[str, ...]
    lines: tuple[int, ...]
    line: int

    def comment(self, name: str) -> str | None:
        """The value of the comment `name = value` (empty for a mere `name`), or None if there is none.

        Usual names are `sent_id`, `text`, `newdoc`, `newdoc id`, `newpar`, `newpar id`.
        """
        for comment in self.comments:
            key, _, value = comment.partition("=")
            if key.strip() == name:
                return value.strip()
        return None

    @property
    def starts_document(self) -> bool:
        """Whether a document starts here: `# newdoc`, with or without an id."""
        return self.comment("newdoc") is not None or self.comment("newdoc id") is not None


def read_conllu(
    path: str | PathLike[str], options: ReadOptions = DEFAULT_READ_OPTIONS, report: OnError = raise_error
) -> Iterator[ConlluSentence]:
    """The sentences of a CoNLL-U file, in constant memory.

    Args:
        path: The file, plain or compressed; "-" is standard input.
        options: The encoding.
        report: Called with the `DataError` of a sentence that cannot be used; if it returns, the sentence
            is left out.

    Raises:
        DataError: HW101 to HW106 (the file), HW240 to HW245, with line and column.
    """
    source = DataSource(fspath(path), options, report)
    lines = read_lines(source.path, options.encoding, options.encoding_errors)
    return read_sentences(lines, source)


def read_sentences(lines: Iterator[Line], source: DataSource) -> Iterator[ConlluSentence]:
    """The sentences of a file, separated by blank lines; after the last one these may be missing.

    Raises:
        DataError: See `read_conllu`.
    """
    block: list[Line] = []
    for number, text in chain(without_returns(lines), [(0, "")]):
        if text.strip(" "):
            block.append((number, text))
        elif block:
            try:
                yield _sentence(block, source)
            except DataError as error:
                source.report(error)
            block = []


def _sentence(block: list[Line], source: DataSource) -> ConlluSentence:
    comments: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    multiwords: list[MultiWord] = []
    empty_nodes = 0  # after the last word
    for number, text in block:
        if text.startswith("#"):
            if rows or multiwords or empty_nodes:
                advice = "put comments before the sentence, and a blank line between sentences"
                raise source.error("HW240", "a comment inside a sentence", number, advice=advice)
            comments.append(text[1:].strip())
            continue
        cells = _cells(number, text, source)
        if cells[0] == str(len(rows) + 1):
            rows.append(cells)
            lines.append(number)
            empty_nodes = 0
        elif match := _EMPTY_NODE.fullmatch(cells[0]):
            if (int(match[1]), int(match[2])) != (len(rows), empty_nodes + 1):
                raise _unexpected_id(cells[0], f"{len(rows)}.{empty_nodes + 1}", number, source)
            empty_nodes += 1
        elif match := _RANGE.fullmatch(cells[0]):
            token = MultiWord(int(match[1]), int(match[2]), cells[1], cells[9], number)
            if token.first != len(rows) + 1:
                raise _unexpected_id(cells[0], f"{len(rows) + 1}-...", number, source)
            taken = multiwords[-1].last if multiwords else 0
            if token.last < token.first or token.first <= taken:
                what = (
                    "ends before it starts" if taken < token.first else "shares words with the one before"
                )
                raise source.error("HW242", f"the multi-word token {cells[0]} {what}", number, 1)
            multiwords.append(token)
        else:
            raise _unexpected_id(cells[0], str(len(rows) + 1), number, source)
    if multiwords and (token := multiwords[-1]).last > len(rows):
        problem = f"the multi-word token {token.first}-{token.last} in a sentence of {len(rows)} words"
        raise source.error("HW242", problem, token.line, 1)
    if not rows:
        advice = "put comments directly before the first word"
        raise source.error("HW245", "comments without a sentence", block[0][0], advice=advice)
    _, words, lemmas, upos, xpos, feats, _, deprels, _, misc = zip(*rows, strict=True)
    return ConlluSentence(
        words=words,
        lemmas=lemmas,
        upos=upos,
        xpos=xpos,
        feats=feats,
        heads=_heads(rows, lines, source),
        deprels=deprels,
        misc=misc,
        multiwords=tuple(multiwords),
        comments=tuple(comments),
        lines=tuple(lines),
        line=block[0][0],
    )


def _cells(number: int, text: str, source: DataSource) -> list[str]:
    cells = text.split("\t")
    if len(cells) != len(COLUMNS):
        raise source.error(
            "HW240",
            f"a row of {len(cells)} column{'s' * (len(cells) != 1)}",
            number,
            expected=f"the {len(COLUMNS)} columns {' '.join(COLUMNS)}, separated by tabs",
            advice="a blank line is needed between sentences, '_' for what is not known",
        )
    if "" in cells:
        empty = cells.index("")
        problem = f"the column {COLUMNS[empty]} is empty"
        raise source.error("HW240", problem, number, _column(cells, empty), expected="'_' or a value")
    return cells


def _column(cells: Sequence[str], cell: int) -> int:
    """The position in the line at which a cell starts, from 1."""
    return sum(map(len, cells[:cell])) + cell + 1


def _unexpected_id(cell: str, expected: str, line: int, source: DataSource) -> DataError:
    advice = "put a blank line between sentences" if cell in ("1", "1-2") else ""
    return source.error("HW241", f"the id {cell!r}", line, 1, expected=repr(expected), advice=advice)


def _heads(rows: list[list[str]], lines: list[int], source: DataSource) -> tuple[int, ...] | None:
    if all(cells[_HEAD] == "_" for cells in rows):
        return None
    heads: list[int] = []
    for line, cells in zip(lines, rows, strict=True):
        head = cells[_HEAD]
        number = int(head) if re.fullmatch(_NUMBER, head) else -1
        if not 0 <= number <= len(rows):
            expected = f"a word of the sentence, 1 to {len(rows)}, or 0 for a root"
            advice = "give every word of the sentence a head, or none" if head == "_" else ""
            raise source.error(
                "HW243", f"the head {head!r}", line, _column(cells, _HEAD), expected=expected, advice=advice
            )
        heads.append(number)
    if words := find_cycle(heads):
        word = words[0] - 1
        problem = f"the words {cycle_text(words)} depend on each other in a circle"
        at = _column(rows[word], _HEAD)
        raise source.error("HW244", problem, lines[word], at, expected="a way from every word to a root")
    return tuple(heads)
