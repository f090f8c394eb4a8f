"""The labels of items: their order, spelling and indices; soft labels and weights.

Soft labels are label probabilities from a teacher model or several annotators. They and training weights
become the targets and weights of a run (`classification_targets`, `training_weights`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonObject
from headwise.core.lazy_pattern import lazy_pattern
from headwise.core.text_normalization import normalize_text
from headwise.data.errors import DataError
from headwise.data.findings import abbreviate
from headwise.data.items.dataset import items_at

_CYRILLIC = str.maketrans("аеорсухіјѕһԁАВЕКМНОРСТХУІЈЅ", "aeopcyxijshdABEKMHOPCTXYIJS")
_GREEK = str.maketrans("ονΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ovABEZHIKMNOPTYX")
_LATIN = _CYRILLIC | _GREEK


def with_latin_letters(name: str) -> str:
    """A name in which letters that look like Latin ones are replaced by these. A name without any Latin
    letter, as of another language, is unchanged."""
    if name.isascii() or not any(letter.isascii() and letter.isalpha() for letter in name):
        return name
    return name.translate(_LATIN)


T = TypeVar("T")

_WHOLE = lazy_pattern(r"(-?(?:0|[1-9]\d{0,14}))(?:\.0+)?")
"""Whole numbers as programs write them; in a column with a missing value 1 becomes 1.0."""
_TRUTH_VALUES = ("true", "false", "yes", "no")
"""Truth values, which pandas writes as True, JSON as true, and spreadsheets as TRUE."""


class LabelledItem(Protocol):
    """An item with a label: a text, a pair or a bag."""

    @property
    def label(self) -> str | None:
        """The label; None without one, or with a label set."""
        ...

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels."""
        ...


def label_names(names: Iterable[str]) -> list[str]:
    """Labels, each once, in a fixed order: numbers by value, names by alphabet."""
    return sorted(
        set(names),
        key=lambda name: (not _is_numeric_name(name), float(name) if _is_numeric_name(name) else 0.0, name),
    )


def _is_numeric_name(name: str) -> bool:
    try:
        return float(name) == float(name)
    except ValueError:
        return False


def training_spellings(labels: Iterable[str], training_labels: Iterable[str]) -> dict[str, str]:
    """The training spelling of labels that are spelt otherwise, by label: whole numbers (`1.0` and `1`),
    truth values (`TRUE` and `True`), letters that look alike (NFD and NFC). Labels that training spells in
    several ways are left out."""
    training_labels = set(training_labels)
    spellings, spelling_of = _by_value(training_labels), dict[str, str]()
    for label in set(labels) - training_labels:
        if len(candidates := spellings.get(_value_of(label), [])) == 1:
            spelling_of[label] = candidates[0]
    return dict(sorted(spelling_of.items()))


def _by_value(labels: Iterable[str]) -> dict[str, list[str]]:
    """The labels of each value, see `_value_of`."""
    spellings: dict[str, list[str]] = {}
    for label in labels:
        spellings.setdefault(_value_of(label), []).append(label)
    return spellings


def _value_of(label: str) -> str:
    """The usual spelling of a whole number or a truth value; of other labels that of their letters, as
    texts are read: letters with accents may be written in two ways that look alike."""
    if match := _WHOLE.fullmatch(label):
        return match[1]
    return label.lower() if label.lower() in _TRUTH_VALUES else normalize_text(label)


def quoted(label: str) -> str:
    """A label in quotation marks, with escapes where it looks like another one."""
    return repr(label) if with_latin_letters(normalize_text(label)) == label else ascii(label)


def unify_spellings(items: list[T]) -> tuple[list[T], tuple[str, ...]]:
    """Items of one file with one spelling of each label, the commonest, and notes for the user: files that
    were put together may spell numbers, truth values and accents in several ways."""
    labelled: list[Any] = items
    counts = Counter(label for item in labelled for label in item.labels)
    names = {}
    for variants in _by_value(counts).values():
        commonest = max(sorted(variants), key=lambda label: (counts[label], normalize_text(label) == label))
        names |= {label: commonest for label in variants if label != commonest}
    if not names:
        return items, ()
    shown = abbreviate([f"{quoted(label)} as {quoted(name)}" for label, name in sorted(names.items())])
    message = f"labels of one value that are spelt in two ways are read as one: {shown}"
    return [rename_labels(item, names) for item in items], (message,)


def rename_labels(item: Any, names: Mapping[str, str]) -> Any:
    """An item with its labels renamed."""
    if names.keys().isdisjoint(item.labels) and getattr(item, "shares", None) is None:
        return item
    if item.label is None:
        return replace(item, labels=tuple(dict.fromkeys(names.get(label, label) for label in item.labels)))
    changed: JsonObject = {"label": names.get(item.label, item.label)}
    if (shares := getattr(item, "shares", None)) is not None:
        changed["shares"] = replace(
            shares, labels=tuple(names.get(label, label) for label in shares.labels)
        )
    return replace(item, **changed)


def all_labels(items: Sequence[Any]) -> list[str]:
    """The labels of items, in the order of `label_names`. They include labels that only soft labels
    name."""
    named = {shares.labels for item in items if (shares := getattr(item, "shares", None)) is not None}
    return label_names({*(item.label for item in items), *(label for labels in named for label in labels)})


def label_targets(items: Sequence[LabelledItem], labels: Sequence[str]) -> np.ndarray:
    """The index of the label of each text, pair or bag, `[items]`."""
    number = {label: n for n, label in enumerate(labels)}
    return np.array([number[item.label or ""] for item in items], dtype=np.int64)


def multi_hot_targets(items: Sequence[LabelledItem], labels: Sequence[str]) -> NDArray[np.bool_]:
    """Multi-hot labels: whether each text has each label, `[texts, labels]`. `labels` must include all
    labels of the texts."""
    number = {label: n for n, label in enumerate(labels)}
    matrix = np.zeros((len(items), len(labels)), dtype=np.bool_)
    for text, item in enumerate(items):
        matrix[text, [number[label] for label in item.labels]] = True
    return matrix


Floats = NDArray[np.float32]
TOLERANCE = 0.02
"""Largest deviation from 1 of a sum of probabilities, which allows for rounding in files."""


@dataclass(frozen=True, slots=True, eq=False)
class SoftLabel:
    """A soft label: the probabilities of some labels. The labels not listed share the rest evenly.

    Attributes:
        labels: Label names; the texts of a file share one tuple.
        values: The probability of each label, `[labels]`.
    """

    labels: tuple[str, ...]
    values: Floats

    @property
    def likeliest(self) -> str:
        """The label with the highest probability; of equal ones the first."""
        return self.labels[int(self.values.argmax())]


def soft_targets(items: Sequence[LabelledItem], labels: Sequence[str]) -> Floats | None:
    """The soft targets, `[items, labels]`, whose rows sum to 1; None if no item has a soft label.

    Args:
        items: The items, with attributes `label` and `shares`. All labels must be among `labels`.
        labels: The names of the columns.
    """
    if all(getattr(item, "shares", None) is None for item in items):
        return None
    number = {label: n for n, label in enumerate(labels)}
    places: dict[tuple[str, ...], list[int]] = {}
    probabilities = np.zeros((len(items), len(labels)), dtype=np.float32)
    for row, item in enumerate(items):
        if (soft_label := getattr(item, "shares", None)) is None:
            probabilities[row, number[item.label or ""]] = 1
            continue
        columns = places.setdefault(soft_label.labels, [number[label] for label in soft_label.labels])
        remaining = len(labels) - len(columns)
        if remaining:
            probabilities[row] = max(0.0, 1.0 - float(soft_label.values.sum())) / remaining
        probabilities[row, columns] = soft_label.values
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def classification_targets(items: Sequence[LabelledItem], labels: Sequence[str]) -> NDArray:
    """The targets of items: probabilities (see `soft_targets`) if any label is soft, otherwise label
    numbers (see `headwise.metrics.classification_scores`)."""
    probabilities = soft_targets(items, labels)
    return label_targets(items, labels) if probabilities is None else probabilities


def low_confidence_items(items: Sequence[LabelledItem], labels: int) -> list[int]:
    """The numbers of the items whose label has a confidence below `1 / labels`.

    Every other label of such an item is more probable, so the model learns another label for it.
    """
    return [
        number
        for number, item in enumerate(items)
        if (soft_label := getattr(item, "shares", None)) is not None
        and soft_label.labels == (item.label,)
        and soft_label.values[0] * labels < 1
    ]


def training_weights(items: Iterable[object]) -> Floats | None:
    """The training weights, `[items]`, scaled to a mean of 1 over the positive ones; None if all are equal.

    Raises:
        DataError: HW126, all weights are 0.
    """
    weights = _item_weights(items)
    if len(weights) and not weights.any():
        advice = "all items with weights are held out: add more of them, or leave out those of weight 0"
        raise DataError("HW126", "the weights of all that is trained on are 0", advice=advice)
    if not len(weights) or (weights == weights[0]).all():
        return None
    weights /= weights.max()  # avoids overflow in the sum of large weights
    return (weights / weights[weights > 0].mean()).astype(np.float32)


def evaluation_weights(items: Sequence[object]) -> Floats | None:
    """The weights of held-out items (see `training_weights`); None also if all are 0, meaning equal
    weights."""
    return training_weights(items) if _item_weights(items).any() else None


def evaluation_mask(items: Sequence[object]) -> NDArray[np.bool_]:
    """Whether each held-out item counts in evaluation, `[items]`: those of weight 0 do not, unless all
    weights are 0."""
    counts = _item_weights(items) > 0
    return counts if counts.any() else ~counts


def evaluated_items(items: Sequence[T]) -> Sequence[T]:
    """The held-out items that count in evaluation (see `evaluation_mask`)."""
    counts = evaluation_mask(items)
    return items if counts.all() else items_at(items, np.flatnonzero(counts))


def effective_sample_size(items: Sequence[object]) -> tuple[int, float]:
    """The number of items with a positive weight, and Kish's effective sample size,
    `(sum w)^2 / sum w^2`."""
    weights = _item_weights(items)
    weights = weights[weights > 0]
    if not len(weights):
        return 0, 0.0
    weights /= weights.max()  # avoids overflow in the squares of large weights
    return len(weights), float(weights.sum() ** 2 / (weights**2).sum())


def _item_weights(items: Iterable[object]) -> NDArray[np.float64]:
    """The weights as they were read, `[items]`; 1 for items without one."""
    return np.array([getattr(item, "weight", 1.0) for item in items], dtype=np.float64)
