"""Tell files of text pairs from others."""

from collections import Counter
from collections.abc import Mapping
from itertools import islice
from typing import Any

from headwise.config import from_dict
from headwise.data.errors import DataError
from headwise.data.numbers import look_like_scores
from headwise.data.pair import PairOptions
from headwise.data.pair_columns import names_pairs
from headwise.data.pairs import read_pair_rows
from headwise.errors import ConfigError

_LOOKED_AT = 400  # pairs


def looks_paired(path: str, reading: Mapping[str, Any]) -> tuple[str, str] | None:
    """The task that a file of labelled text pairs is for, and what speaks for it; None if it is none.

    Pairs are recognised by the usual names of their columns only: two columns of text may as well be a
    title and a text.

    Args:
        path: The file.
        reading: What the user has said of how to read it.
    """
    if "text_column" in reading:
        return None
    try:
        rows = read_pair_rows(path, from_dict(PairOptions, reading), on_error=lambda _: None)
        first, second, label = rows.columns.first, rows.columns.second, rows.columns.label
        named = {"first_column", "second_column"} & set(reading)
        if label is None or not (named or names_pairs([first, second])):
            return None
        labels = Counter(row.item.label for row in islice(rows, _LOOKED_AT) if row.item.label is not None)
    except (DataError, ConfigError):
        return None
    why = f"it has the columns {first!r} and {second!r}"
    if look_like_scores(labels):
        return "pair-score", f"{why}, and numbers in {label!r}"
    return "pair", why
