"""The item type of text pairs with a label or a score."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar

from headwise.core.config import JsonObject, from_dict
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import Tokenizer, first_words
from headwise.data.columns.column_names import is_pair_header, name_parallel_texts, normal_name
from headwise.data.columns.file_source import FileHead
from headwise.data.columns.item_options import DEFAULT_PAIR_OPTIONS, PairOptions
from headwise.data.columns.pair_columns import PairColumns
from headwise.data.errors import DataError, OnError, raise_error
from headwise.data.items.dataset import Dataset, InputRows
from headwise.data.items.examples import DisplayNames, Pair, Parse, first_heads, parse_field, weight_field
from headwise.data.items.item_type import ItemType
from headwise.data.items.numeric_labels import look_like_scores
from headwise.data.readers.pair_files import pair_rows, read_pair_rows, read_pairs
from headwise.data.splits.duplicates import chain_keys, pair_group_keys, pair_keys
from headwise.data.splits.splitting import Split, split_items
from headwise.data.splits.text_signatures import words_for_comparison

_PAIR_SEPARATOR = "\N{SYMBOL FOR RECORD SEPARATOR}"
_COLUMNS = {"first_column", "second_column"}  # settings for pairs only


class PairItems(ItemType[Pair]):
    """Text pairs, with a label (`SINGLE_LABEL_TYPE`) or a score (`NUMERIC_LABEL_TYPE`)."""

    nouns: ClassVar[DisplayNames] = DisplayNames(
        "pair", "pairs", numbers="the task pair-score (in Python PairRegressor)"
    )
    options = PairOptions
    sides: ClassVar[int] = 2

    def read(
        self, path: str, options=None, on_error: OnError = raise_error, *, schema=None
    ) -> Dataset[Pair]:
        return read_pairs(path, options or DEFAULT_PAIR_OPTIONS, on_error, numbers=self.label_type.numeric)

    def rows(self, path: str, options=None, *, schema=None) -> InputRows[Pair]:
        return read_pair_rows(path, options or DEFAULT_PAIR_OPTIONS)

    def key(self, item: Pair) -> str:
        return f"{item.first} {_PAIR_SEPARATOR} {item.second}"

    def contamination_key(self, item: Pair) -> str:
        return f" {_PAIR_SEPARATOR} ".join(sorted((item.first, item.second), key=words_for_comparison))

    def split(
        self, items: Sequence[Pair], dev: float | int, test: float | int = 0, seed: int = 0, path: str = ""
    ) -> Split[list[Pair]]:
        """A stratified split in which no first text is in two parts, nor pairs with the same words, in
        either order (see `chain_keys`).

        If there are too few different first texts (a few questions with many answers each), only pairs with
        the same words, in either order, stay together, and a note says so.
        """
        pairs = [(item.first, item.second) for item in items]
        strata, sizes = self.label_type.strata(items), (dev, test, seed)
        labels = self.label_type.label_sets(items)
        names: JsonObject = {"labels": labels, "path": path, "nouns": self.nouns}
        with suppress(DataError):  # there may be too few of them
            if (keys := chain_keys(pairs, 0)) is not None:
                split = split_items(items, keys, strata, *sizes, **names)
                together = "pairs with the same first text stay together"
                return replace(split, notes=(f"{split.notes[0]}; {together}",))
        split = split_items(items, pair_keys(pairs), strata, *sizes, **names)
        few = "there are too few different first texts to keep equal ones in one part"
        return replace(split, notes=(f"{split.notes[0]}; equal pairs stay together", few))

    def group_keys(self, items: Sequence[Pair], count: int) -> list[str]:
        """The group keys of pairs that stay together (see `split`), for `count` folds."""
        pairs = [(item.first, item.second) for item in items]
        return pair_group_keys(pairs, count)

    def fields(self, item: Pair) -> Iterable[str | None]:
        yield from (item.first, None, *parse_field(item.first_parse))
        yield from (item.second, item.label, *parse_field(item.second_parse), *weight_field(item.weight))

    def words(self, item: Pair, cut: Callable[[str], Sequence[str]]) -> tuple[Sequence[str], ...]:
        return cut(item.first), cut(item.second)

    def first_words(self, item: Pair, count: int, tokenizer: Tokenizer) -> Pair:
        first, second = (first_words(text, count, tokenizer) for text in (item.first, item.second))
        parses = [first_heads(parse, count) for parse in (item.first_parse, item.second_parse)]
        return replace(item, first=first, second=second, first_parse=parses[0], second_parse=parses[1])

    def with_parses(self, item: Pair, heads: Sequence[Parse]) -> Pair:
        return replace(item, first_parse=heads[0], second_parse=heads[1])

    def has_parses(self, item: Pair) -> bool:
        return item.first_parse is not None and item.second_parse is not None

    def text(self, item: Pair) -> str:
        return f"{item.first}\n{item.second}"

    def columns_of(self, data) -> tuple[str, str | None]:
        return f"{data.columns.first} + {data.columns.second}", data.columns.label

    def show(self, item: Pair) -> str:
        return f"{' '.join(item.first.split())}  |  {' '.join(item.second.split())}"

    def implied_by(self, reading: Mapping[str, object]) -> str | None:
        return "columns of two texts are named" if _COLUMNS & set(reading) else None

    def recognise(self, head: FileHead, reading: Mapping[str, object]) -> str | None:
        """The reason why a file looks like text pairs, or None.

        Only usual column names count, as two text columns may also be a title and a text."""
        if "text_column" in reading:
            return None
        try:
            options = from_dict(PairOptions, reading)
            columns = options.first_column, options.second_column
            rows = pair_rows(replace(head.source(options.reading()), columns=columns), options)
            if not isinstance(rows.columns, PairColumns):  # a file without records
                return None
            first, second, label = rows.columns.first, rows.columns.second, rows.columns.label
            named = is_pair_header([first, second]) or name_parallel_texts(first, second)
            named = named and normal_name(label or "") != "intent"  # of one text, as in HWU64
            if label is None or not (_COLUMNS & set(reading) or named):
                return None
            labels = Counter(row.item.label for row in rows if row.item.label is not None)
        except (DataError, ConfigError):
            return None
        scored = self.label_type.numeric
        if look_like_scores(labels) != scored:
            return None
        return f"it has the columns {first!r} and {second!r}" + f", and numbers in {label!r}" * scored
