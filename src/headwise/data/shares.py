"""Labels that are not certain: probabilities, as a teacher or several annotators give them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.data.chunks import some
from headwise.data.errors import DataError
from headwise.data.labels import targets_of

T = TypeVar("T")
Floats = NDArray[np.float32]
TOLERANCE = 0.02
"""How far probabilities may be from adding up to 1, as they are rounded when they are written."""


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Probabilities of labels; what is left to 1 is shared by the labels that are not among them.

    Attributes:
        labels: Names of labels; texts of a file share one tuple.
        values: Their probabilities, `[labels]`.
    """

    labels: tuple[str, ...]
    values: Floats

    @property
    def likeliest(self) -> str:
        """The label with the largest probability; the first of several."""
        return self.labels[int(self.values.argmax())]


def shares_of(items: Sequence[Any], labels: Sequence[str]) -> Floats | None:
    """The probabilities of labels, `[items, labels]`, of which each row adds up to 1; None where all items
    are certain of theirs.

    Args:
        items: Each with `label`, and `shares` or None. All labels must be among `labels`.
        labels: Names of the columns.
    """
    if all(getattr(item, "shares", None) is None for item in items):
        return None
    number = {label: n for n, label in enumerate(labels)}
    places: dict[tuple[str, ...], list[int]] = {}
    found = np.zeros((len(items), len(labels)), dtype=np.float32)
    for row, item in enumerate(items):
        if (own := item.shares) is None:
            found[row, number[item.label]] = 1
            continue
        columns = places.setdefault(own.labels, [number[label] for label in own.labels])
        others = len(labels) - len(columns)
        if others:
            found[row] = max(0.0, 1.0 - float(own.values.sum())) / others
        found[row, columns] = own.values
    return found / found.sum(axis=1, keepdims=True)


def wanted_of(items: Sequence[Any], labels: Sequence[str]) -> NDArray:
    """What a model is to say of items: probabilities as `shares_of`, or label numbers where all are certain
    (see `headwise.scores.targets`)."""
    found = shares_of(items, labels)
    return targets_of(items, labels) if found is None else found


def doubted(items: Sequence[Any], labels: int) -> list[int]:
    """The numbers of the items whose label is less likely, by its own probability, than each of the others,
    which share the rest: they are learnt as something else.

    Args:
        items: Each with `label`, and `shares` or None.
        labels: How many there are.
    """
    found = []
    for number, item in enumerate(items):
        own = getattr(item, "shares", None)
        if own is not None and own.labels == (item.label,) and own.values[0] * labels < 1:
            found.append(number)
    return found


def weights_of(items: Iterable[Any]) -> Floats | None:
    """How much each item counts, `[items]`, 1 in the mean of those that do; None where all count the same.

    Raises:
        DataError: HW126 none counts.
    """
    found = _weights(items)
    if len(found) and not found.any():
        raise DataError("HW126", "the weights of all that is trained on are 0")
    if not len(found) or (found == found[0]).all():
        return None
    found /= found.max()  # the sum of large weights has no number
    return (found / found[found > 0].mean()).astype(np.float32)


def held_weights_of(items: Sequence[Any]) -> Floats | None:
    """The same of held-out items, which all count the same where none counts."""
    return weights_of(items) if _weights(items).any() else None


def counted(items: Sequence[Any]) -> NDArray[np.bool_]:
    """Whether each item decides anything where it is held out, `[items]`: those of weight 0 do not, unless
    all are."""
    counts = _weights(items) > 0
    return counts if counts.any() else ~counts


def that_count(items: Sequence[T]) -> Sequence[T]:
    """The items that decide something where they are held out; as they are, if all do."""
    counts = counted(items)
    return items if counts.all() else some(items, np.flatnonzero(counts))


def counting(items: Sequence[Any]) -> tuple[int, float]:
    """How many items count at all, and how many that all count the same would tell as much (Kish's
    effective number, `(sum w)^2 / sum w^2`)."""
    found = _weights(items)
    found = found[found > 0]
    if not len(found):
        return 0, 0.0
    found /= found.max()  # the square of a large weight has no number
    return len(found), float(found.sum() ** 2 / (found**2).sum())


def _weights(items: Iterable[Any]) -> NDArray[np.float64]:
    return np.array([getattr(item, "weight", 1.0) for item in items], dtype=np.float64)
