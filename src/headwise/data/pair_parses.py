"""Pairs of a file with the parses of their texts, and as the data set of each side."""

from dataclasses import replace

from headwise.data.columns import Columns
from headwise.data.dataset import Dataset
from headwise.data.example import Example
from headwise.data.pairs import PairData


def labels_of(data: PairData) -> Dataset:
    """The labels of pairs, for what only looks at labels."""
    return _dataset(data, [Example("", pair.label, pair.line) for pair in data.pairs])


def sides(data: PairData) -> tuple[Dataset, Dataset]:
    """The first texts and the second texts, without labels."""
    first = [Example(pair.first, None, pair.line, pair.first_heads) for pair in data.pairs]
    second = [Example(pair.second, None, pair.line, pair.second_heads) for pair in data.pairs]
    return _dataset(data, first), _dataset(data, second)


def with_heads(data: PairData, first: Dataset, second: Dataset) -> PairData:
    """The pairs with the parses of the first and of the second texts."""
    pairs = [
        replace(pair, first_heads=one.heads, second_heads=other.heads)
        for pair, one, other in zip(data.pairs, first.examples, second.examples, strict=True)
    ]
    return data.with_items(pairs)


def _dataset(data: PairData, examples: list[Example]) -> Dataset:
    columns = Columns(data.columns.first, data.columns.label)
    return Dataset(examples, data.path, data.format, columns, skipped=data.skipped)
