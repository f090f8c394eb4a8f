"""Dependency trees: heads of words, and distances in the tree (MS-SAN).

A parse is a list of heads: for each word the number, from 1, of the word that it depends on, 0 for a root.
`Two kids at a ballgame wash their hands` has the heads `2 6 5 5 2 0 8 6`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headwise.core import native
from headwise.core.errors import HeadwiseError
from headwise.data.files.text_lines import Line, without_returns
from headwise.data.items.parses import cycle_text, find_cycle

DependencyHeads = NDArray[np.int64]
"""The head of each word, `[words]`: a word's number from 1, or 0 for a root."""

Item = TypeVar("Item")

TreeUse = Literal["none", "error", "word"]
"""Whether a model reads dependency trees, and what happens to a text without one: an error, or distances
in words."""


class ParseError(HeadwiseError):
    """Heads that make no tree.

    Codes: HW231 not whole numbers, HW232 a head that is not a word of the text, HW233 words that depend on
    each other in a circle, HW234 more or fewer heads than words (or parses than texts), HW235 a text
    without a parse, HW236 a parse of other words than the text's, HW237 a file of parses whose format
    cannot be told.
    """

    code = "HW231"


def tree_distances(heads: ArrayLike, words: int | None = None) -> NDArray[np.int16]:
    """Path lengths between all pairs of words in the dependency tree, `[words, words]` (MS-SAN).

    The direction of the arcs does not matter. Several roots (sentences, or fragments of a parser) share an
    artificial parent, so two roots are 2 steps apart.

    Args:
        heads: See `DependencyHeads`.
        words: Number of words of the text, to be checked.

    Raises:
        ParseError: The heads make no tree, or are not as many as the words. See `validate_heads`.
    """
    checked = validate_heads(heads, words)
    # Parents before children, the common node of the roots as number 0 before all of them.
    parent = np.concatenate([[0], checked])
    order = np.argsort(_depths(checked), kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    steps = np.empty((len(order), len(order)), dtype=np.int16)
    native.fill_tree_steps(place[parent[order]], steps)
    rows = place[1:]
    return steps[rows[:, None], rows]


def distances_within(heads: DependencyHeads, start: int, stop: int) -> NDArray[np.int16]:
    """`tree_distances` among the words `start` (from 0) to `stop` in the tree of all words. Memory grows
    with these words and their ancestors up to the lowest common one."""
    heads = np.asarray(heads, dtype=np.int64)
    if (start, stop) == (0, len(heads)):
        return tree_distances(heads)
    needed, nodes = np.arange(len(heads) + 1) == 0, np.arange(start, stop) + 1
    rooted = top = 0
    while len(nodes) and not top:
        needed[nodes] = True
        nodes = np.unique(heads[nodes - 1])
        rooted |= nodes[0] == 0
        nodes = nodes[~needed[nodes]]
        top = nodes[0] if len(nodes) == 1 and not rooted else 0
    needed[top] = True
    number = needed.cumsum() - 1
    among = number[heads[needed[1:]]]
    if top:
        among[number[top] - 1] = 0
    steps = tree_distances(among)
    rows = number[start + 1 : stop + 1] - 1
    return steps[rows[:, None], rows]


def validate_heads(heads: ArrayLike, words: int | None = None, where: str = "") -> DependencyHeads:
    """The heads as an array, after a check that they form one tree or several.

    Args:
        heads: See `DependencyHeads`.
        words: Number of words of the text; None if unknown.
        where: Prefix of the error message (`file:line`).

    Raises:
        ParseError: HW231 to HW234, with the number of the word at fault.
    """
    at = f"{where}: " if where else ""
    array = np.asarray(heads)
    if array.size == 0:
        array = np.zeros(0, dtype=np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ParseError(f"{at}expected one whole number for each word, got {heads!r}", code="HW231")
    array = array.astype(np.int64)
    if words is not None and len(array) != words:
        raise ParseError(
            f"{at}{len(array)} heads for a text of {words} words; parse the text with the same words that "
            "the model reads",
            code="HW234",
        )
    outside = np.flatnonzero((array < 0) | (array > len(array)))
    if len(outside):
        word = int(outside[0])
        raise ParseError(
            f"{at}the head of word {word + 1} is {array[word]}; expected 1 to {len(array)}, 0 for a root",
            code="HW232",
        )
    if cycle := find_cycle(array.tolist()):
        raise ParseError(
            f"{at}the words {cycle_text(cycle)} depend on each other in a circle, so that no root is "
            "reached",
            code="HW233",
        )
    return array


def joined_heads(parts: Iterable[ArrayLike]) -> DependencyHeads:
    """Concatenate the heads of the parts of a text (its sentences), numbered through the text."""
    joined, before = [np.zeros(0, dtype=np.int64)], 0
    for part in parts:
        heads = np.asarray(part, dtype=np.int64)
        joined.append(np.where(heads > 0, heads + before, 0))
        before += len(heads)
    return np.concatenate(joined)


def _depths(heads: DependencyHeads) -> NDArray[np.int64]:
    """Depth of each word below the common parent of the roots, `[words + 1]`, that parent first (0). By
    pointer doubling: after k rounds every pointer has gone 2^k steps."""
    above = np.concatenate([[0], heads])
    depth = (np.arange(len(above)) > 0).astype(np.int64)
    for _ in range(len(above).bit_length()):
        depth = depth + depth[above]
        above = above[above]
    return depth


def heads_of_lines(
    lines: Iterator[Line], path: str, words: Sequence[int] | None = None
) -> Iterator[DependencyHeads]:
    """The heads of each text of the file `path`, a line per text: numbers between spaces.

    Args:
        words: Where known, the number of words of each text; checked, like the number of texts.

    Raises:
        ParseError: HW231 to HW234, with file, line and (for what is no number) column.
    """
    for where, text, count in lines_of_texts(lines, path, words):
        yield validate_heads(head_numbers(text, where), count, where)


def lines_of_texts(
    lines: Iterator[Line], path: str, texts: Sequence[Item] | None
) -> Iterator[tuple[str, str, Item | None]]:
    """The lines of the file `path`, one per text: location (`file:line`), line, and item of `texts`.

    Raises:
        ParseError: HW234, there are more lines than texts, or fewer.
    """
    line = 0
    for line, text in without_returns(lines):
        where = f"{path}:{line}"
        if texts is not None and line > len(texts):
            raise ParseError(f"{where}: a line more than the {len(texts)} texts", code="HW234")
        yield where, text, None if texts is None else texts[line - 1]
    if texts is not None and line < len(texts):
        raise ParseError(f"{path}: {line} lines for {len(texts)} texts", code="HW234")


def head_numbers(text: str, where: str, column: int = 1) -> list[int]:
    """The whole numbers between the spaces of `text`, which starts at a column of the line `where`.

    Raises:
        ParseError: HW231 at what is no number.
    """
    numbers = []
    for field in text.split(" "):
        if field.isascii() and field.isdecimal() and len(field) < 10:
            numbers.append(int(field))
        elif field:
            raise ParseError(
                f"{where}:{column}: expected the number of a word, got {field[:40]!r}", code="HW231"
            )
        column += len(field) + 1
    return numbers
