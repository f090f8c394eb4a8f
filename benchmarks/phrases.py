"""The labelled phrases of sentiment trees as training texts (Socher et al. 2013; so did Tai et al. 2015 and
Kim 2014 train), with the constituency trees of sentences and phrases."""

from collections.abc import Iterator, Sequence
from functools import cache

from headwise.data.example import Example
from headwise.data.files import read_lines
from headwise.data.formats.sst import parse_tree
from headwise.features.brackets import bracket_heads, node_heads
from headwise.features.syntax import Heads
from runs import DATA


@cache
def treebank_heads() -> dict[str, Heads]:
    """The constituency trees of SST by their texts; but for those with spaces in a leaf."""
    trees: dict[str, Heads] = {}
    for part in ("train", "dev", "test"):
        for _, line in _lines(part):
            words, heads = bracket_heads(line)
            trees[" ".join(words)] = heads
    return {text: heads for text, heads in trees.items() if len(text.split()) == len(heads)}


def with_phrases(sentences: Sequence[Example], *, binary: bool, trees: bool) -> list[Example]:
    """The training sentences, and after them the phrases of their trees that are none of them, each once.

    Args:
        sentences: The training sentences.
        binary: Labels 0 and 1, without the neutral ones; else 0 to 4.
        trees: With their constituency trees, where the sentence has one.
    """
    whole = treebank_heads() if trees else {}
    found = {example.text: example for example in sentences}
    for number, line in _lines("train"):
        words, nodes = parse_tree(line)
        heads = whole.get(" ".join(words))
        for node in nodes:
            text = " ".join(words[node.start : node.end])
            if text in found or (binary and node.label == "2"):
                continue
            label = str(int(node.label) // 3) if binary else node.label
            own = None if heads is None else node_heads(heads, node.start, node.end)
            found[text] = Example(text, label, number, heads=own)
    return list(found.values())


def _lines(part: str) -> Iterator[tuple[int, str]]:
    return read_lines(str(DATA / f"sst/trees/{part}.txt.gz"))
