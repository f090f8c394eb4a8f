"""Constituency trees of phrases, each a subtree of a sentence."""

from collections.abc import Sequence
from itertools import groupby

from headwise.data.files import read_lines
from headwise.data.formats.sst import parse_tree
from headwise.features.brackets import bracket_heads, node_heads
from headwise.features.syntax import Heads, HeadsError


def read_phrase_parses(path: str, phrases: Sequence[tuple[int, str]]) -> list[Heads]:
    """The constituency trees of phrases of sentiment trees.

    Args:
        path: The file that the phrases come from, or one with the same trees on the same lines; "-" is
            standard input.
        phrases: Line number and text of each phrase. Phrases of a line are in the order of the nodes
            (`headwise.data.formats.sst.parse_tree`); nodes may be missing.

    Raises:
        DataError: The file cannot be read, or a line is no sentiment tree (HW119, HW122).
        HeadsError: HW234, the file has no line of that number; HW236, the tree in it has no such phrase.
    """
    lines, parses = read_lines(path), list[Heads]()
    for number, group in groupby(phrases, key=lambda phrase: phrase[0]):
        tree = next((text for line, text in lines if line == number), None)
        if tree is None:
            raise HeadsError(f"{path}: no line {number:,}, of which there are phrases", code="HW234")
        words, nodes = parse_tree(tree, path, number)
        _, heads = bracket_heads(tree, f"{path}:{number}")
        rest = iter(nodes)
        for _, text in group:
            node = next((node for node in rest if " ".join(words[node.start : node.end]) == text), None)
            if node is None:
                raise HeadsError(
                    f"{path}:{number}: the tree has no phrase {text[:40]!r}; expected the trees of the "
                    "very file whose phrases are read",
                    code="HW236",
                )
            parses.append(node_heads(heads, node.start, node.end))
    return parses
