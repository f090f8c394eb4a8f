"""The labelled phrases of sentiment trees as training texts (Socher et al. 2013; so did Tai et al. 2015 and
Kim 2014 train), with the constituency trees of sentences and phrases."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from benchmarks import DATA
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.files.text_lines import read_lines
from headwise.data.items.examples import Example
from headwise.data.readers.labelled_files import read_examples
from headwise.text.parse_files import constituency_heads, read_phrase_parses
from headwise.text.syntax import DependencyHeads


@cache
def treebank_heads() -> dict[str, DependencyHeads]:
    """The constituency trees of SST by their texts; but for those with spaces in a leaf."""
    trees: dict[str, DependencyHeads] = {}
    for part in ("train", "dev", "test"):
        for _, line in read_lines(_path(part)):
            words, heads = constituency_heads(line)
            trees[" ".join(words)] = heads
    return {text: heads for text, heads in trees.items() if len(text.split()) == len(heads)}


def with_phrases(sentences: Sequence[Example], *, binary: bool, trees: bool) -> list[Example]:
    """The training sentences, and after them the phrases of their trees that are none of them, each once.

    Args:
        sentences: The training sentences.
        binary: Labels 0 and 1, without the neutral ones; else 0 to 4.
        trees: The phrases with their constituency trees.
    """
    options = ReadOptions(format="sst", sst_unit="phrases", sst_labels="binary" if binary else "five")
    phrases = read_examples(_path("train"), options).items
    if trees:
        heads = read_phrase_parses(_path("train"), [(phrase.line, phrase.text) for phrase in phrases])
        phrases = [replace(phrase, parse=one) for phrase, one in zip(phrases, heads, strict=True)]
    by_text = {example.text: example for example in sentences}
    for phrase in phrases:
        by_text.setdefault(phrase.text, phrase)
    return list(by_text.values())


def _path(part: str) -> str:
    return str(DATA / f"sst/trees/{part}.txt.gz")
