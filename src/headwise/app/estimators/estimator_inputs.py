"""What estimators read: texts, targets and weights in lists, arrays and columns of tables."""

import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from headwise.data.readers.tabular_cells import is_missing

Inputs = Iterable[object]
"""Texts, pairs of texts or sentences: a list, an array, or a column or table of pandas, Polars or Arrow."""
Targets = Iterable[object]
"""Labels, numbers or tags, one for each item."""
Weights = Iterable[float] | None
"""How much each item counts; None where all count the same."""

UNORDERED_TYPES = (set, frozenset)
"""Types whose iteration order differs between processes (that of dictionary keys does not)."""


def check_is_list(X: Inputs, items: str) -> None:
    """Check that X is a list of items. A single text would be read as its letters, a dictionary as its
    keys, and a set in arbitrary order.

    Raises:
        TypeError: X is one text, a mapping, a set, or not iterable.
    """
    if not np.iterable(X):
        raise TypeError(f"X is {X!r:.80}; expected a list of {items}")
    if isinstance(X, str):
        raise TypeError(f"X is one text; give a list of {items}")
    if isinstance(X, Mapping):
        keys = list(X)
        key_list, column = ", ".join(map(repr, keys)), f", such as X[{keys[0]!r}]" if keys else ""
        raise TypeError(f"X is a {type(X).__name__} of {key_list}; give a list of {items}{column}")
    if isinstance(X, UNORDERED_TYPES):
        raise TypeError(f"X is a {type(X).__name__}, which has no order; give a list of {items}")


def unpack_dev(dev: object) -> tuple[Inputs, Targets]:
    """The items and their labels in the argument `dev`.

    Raises:
        TypeError: `dev` is not a pair.
    """
    if (
        not isinstance(dev, tuple | list)
        or len(dev) != 2
        or any(isinstance(element, str) for element in dev)
    ):
        raise TypeError("dev is not a pair; expected (X, y) of items and their answers")
    return dev[0], dev[1]


def plain_str(text: object) -> str:
    """A label as a plain `str`. Of a string Enum it is the value, where `str()` would return the name."""
    return str.__str__(text) if isinstance(text, str) else str(text)


def dimensions(X: object) -> int:
    """Number of dimensions: 1 for a list or a column, 2 for a table. (Polars has no `ndim`.)"""
    return len(getattr(X, "shape", (0,)))


def column_values(column: Any) -> list[Any]:
    """The values of a column as a list; those of Arrow as Python's types."""
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def column_names(table: Any) -> list[Any]:
    """The column names of a table of pandas, Polars or Arrow; empty for anything else."""
    names = getattr(table, "column_names", None)  # Arrow, whose `columns` are the values
    return list(getattr(table, "columns", ()) if names is None else names)


def texts_of(X: Inputs) -> list[str]:
    """A column of texts as a list of plain strings.

    Raises:
        TypeError, ValueError: X is not a column of texts.
    """
    check_is_list(X, "texts")
    if dimensions(X) == 2 and cast(Any, X).shape[1] == 1:  # a DataFrame, or a list after resampling
        X = np.asarray(X, dtype=object)[:, 0]
    if (count := dimensions(X)) != 1:
        names = [*map(repr, column_names(X))]
        shown = f" of its {len(names)}: {', '.join(names[:8])}{', ...' * (len(names) > 8)}" if names else ""
        shown += "; give X[NAME], or text_column=NAME where the estimator has it" if names else ""
        raise ValueError(f"X has {count} dimensions; expected a list or one column of texts{shown}")
    texts = column_values(X)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            hint = "; write '' where there is none" if is_missing(text) else ""
            raise TypeError(f"X[{place}] is {text!r:.80}; expected a text{hint}")
    return [plain_str(text) for text in texts]


def warn_caller(message: str) -> None:
    """Warn, with the line outside of headwise that called it as the place."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("headwise."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, stacklevel=level)


def warn_of_other_order(X: Inputs, y: Targets) -> None:
    """Warn if X and y are of pandas and have the same index in different orders: they are read row by row,
    as in scikit-learn."""
    first, second = getattr(X, "index", None), getattr(y, "index", None)
    if not (hasattr(first, "equals") and hasattr(second, "equals")) or first.equals(second):  # type: ignore[union-attr]
        return
    if len(first) == len(second) and first.sort_values().equals(second.sort_values()):  # type: ignore
        warn_caller(
            "X and y have the same index in different orders, and are read row by row; if the index tells "
            "which belong together, give y.loc[X.index]"
        )


def warn_of_blanks(labels: Iterable[object]) -> None:
    """Warn if labels differ only in the white space at their ends; files are read without it."""
    texts = [label for label in labels if isinstance(label, str)]
    counts = Counter(map(str.strip, texts))
    if variants := [label for label in texts if counts[label.strip()] > 1]:
        shown = ", ".join(map(repr, variants[:4]))
        warn_caller(f"y has labels that differ in white space at their ends only: {shown}")


def check_targets(y: Targets, answers: str) -> Sequence[Any]:
    """Check the labels or numbers `y`; iterators and views (a generator, the values of a dictionary) become
    a list.

    Raises:
        TypeError: y is None, a scalar, a mapping, or a set.
    """
    if isinstance(y, (str, Mapping, *UNORDERED_TYPES)) or not np.iterable(y):
        raise TypeError(f"y is {y!r:.80}; expected {answers}, as many as X has items")
    if hasattr(y, "to_pylist"):  # Arrow
        return column_values(y)
    return cast(Sequence[Any], y) if isinstance(y, Sequence) or hasattr(y, "__array__") else list(y)


def check_unique_names(names: Sequence[object]) -> None:
    """Check that column names are unique.

    Raises:
        ValueError: Two columns have the same name; one of them would be lost.
    """
    if len(set(map(plain_str, names))) < len(names):
        raise ValueError(f"y has columns of the same name: {list(names)}; expected one for each label")


def weights_for(texts: Sequence[object], weights: Weights) -> list[float]:
    """The sample weights as a list `[texts]`; 1.0 each if `weights` is None.

    Raises:
        ValueError: They are not one finite number >= 0 per text, or all are 0.
    """
    if weights is None:
        weights = np.ones(len(texts))
    elif (
        np.iterable(weights)
        and not isinstance(weights, UNORDERED_TYPES)
        and not hasattr(weights, "__getitem__")
    ):
        weights = list(weights)
    weight_array = np.asarray(weights, dtype=object)
    if weight_array.ndim != 1 and weight_array.shape[1:] != (1,):
        raise ValueError(
            f"sample_weight has the shape {weight_array.shape}; expected one number for each of X"
        )
    try:
        counts = weight_array.ravel().astype(np.float64)
    except (TypeError, ValueError):
        counts = np.array([np.nan])
    if not (np.isfinite(counts).all() and (counts >= 0).all() and (not len(counts) or counts.any())):
        raise ValueError("sample_weight must be finite numbers, 0 or more, and not all 0")
    check_consistent_length(texts, counts)
    return counts.tolist()


def scoring_weights(texts: Sequence[object], weights: Weights) -> NDArray[np.float64] | None:
    """The sample weights of a score, `[texts]`, at most 1 so that the sum is finite; None for None.

    Raises:
        ValueError: See `weights_for`.
    """
    if weights is None:
        return None
    counts = np.array(weights_for(texts, weights))
    return counts / counts.max(initial=0.0) if counts.any() else counts
