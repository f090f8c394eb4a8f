"""The trees of phrases: each is a node of a sentence's tree."""

from collections.abc import Sequence
from itertools import groupby

from headwise.data.files import read_lines
from headwise.data.formats.sst import parse_tree
from headwise.features.brackets import bracket_heads, node_heads
from headwise.features.syntax import Heads, HeadsError


def read_phrase_parses(path: str, phrases: Sequence[tuple[int, str]]) -> list[Heads]:
    """The constituency trees of phrases of sentiment trees.

    Args:
        path: The file that the phrases are of, or one with the same trees in its lines; "-" is standard
            input.
        phrases: Of each the line in the file, and the text. Those of a line are in the order of the nodes
            (`headwise.data.formats.sst.parse_tree`), some of which may be left out.

    Raises:
        DataError: The file cannot be read, or a line is no sentiment tree (HW119, HW122).
        HeadsError: HW234, the file has no line of that number; HW236, the tree in it has no such phrase.
    """
    lines, found = read_lines(path), list[Heads]()
    for wanted, own in groupby(phrases, key=lambda phrase: phrase[0]):
        tree = next((text for line, text in lines if line == wanted), None)
        if tree is None:
            raise HeadsError(f"{path}: no line {wanted:,}, of which there are phrases", code="HW234")
        words, nodes = parse_tree(tree, path, wanted)
        _, heads = bracket_heads(tree, f"{path}:{wanted}")
        rest = iter(nodes)
        for _, text in own:
            node = next((node for node in rest if " ".join(words[node.start : node.end]) == text), None)
            if node is None:
                raise HeadsError(
                    f"{path}:{wanted}: the tree has no phrase {text[:40]!r}; expected the trees of the "
                    "very file whose phrases are read",
                    code="HW236",
                )
            found.append(node_heads(heads, node.start, node.end))
    return found
