"""The doctor's checks of answers that are numbers."""

from collections.abc import Iterator

import numpy as np

from headwise.data.diagnosis import Finding, Spread, some
from headwise.data.doctor.file import File
from headwise.data.numbers import advice_for, number_of

_FAR = 10.0
"""How many times as far as nine of ten numbers are apart another one has to be from these."""
_FEW = 0.01
"""The share of numbers that may be far; more are no slips."""


def spread(file: File) -> Spread | None:
    """What the numbers of a file are like, if it has any."""
    read = [number_of(item.label) for item in file.items]
    values = np.array([value for value in read if value is not None])
    if not len(values):
        return None
    return Spread(*(float(own) for own in (values.min(), np.median(values), values.mean(), values.max())))


def not_numbers(file: File) -> Iterator[Finding]:
    """Answers that are no numbers."""
    given = [(n, item.label) for n, item in enumerate(file.items) if item.label is not None]
    found = [n for n, label in given if number_of(label) is None]
    if found:
        labels = dict.fromkeys(file.items[n].label for n in found)
        shown = some([repr(name[:40]) for name in labels])
        message = f"{file.count(len(found))} with a label that is not a number: {shown}"
        yield Finding("error", "HW287", message, file.data.places(found), advice_for([*labels]))


def one_number(file: File) -> Iterator[Finding]:
    """A file whose answers are all equal."""
    labels = file.data.labels
    if len(labels) == 1 and file.training:
        message = f"only one number, {next(iter(labels))!r}"
        yield Finding("error", "HW162", message, (file.data.path,), "is --label-column the right one?")


def far(file: File) -> Iterator[Finding]:
    """Numbers that are slips, or stand for none: 999 and 1e9 among scores from 1 to 5. Of numbers that are
    all positive, as prices, they are far by their logarithm too."""
    read = [(n, number_of(item.label)) for n, item in enumerate(file.items)]
    known = [(n, value) for n, value in read if value is not None]
    if not file.training or not known:
        return
    values = np.array([value for _, value in known])
    low, high = _nine_of_ten(values)
    beyond = _beyond(values, low, high, _FAR)
    if values.min() > 0:
        logs = np.log(values)
        beyond &= _beyond(logs, *_nine_of_ten(logs), 1)
    if not 0 < beyond.sum() <= _FEW * len(values):
        return
    found = [n for (n, _), own in zip(known, beyond.tolist(), strict=True) if own]
    shown = some([*dict.fromkeys(file.items[n].label for n in found)])
    message = f"{file.count(len(found))} with a number far from the others: {shown} (nine of ten are "
    message += f"{low:.6g} to {high:.6g})"
    fix = (
        "correct what is no number of this kind or stands for none: squares of the error make it decide all"
    )
    yield Finding("warning", "HW174", message, file.data.places(found), fix)


def _nine_of_ten(values: np.ndarray) -> tuple[float, float]:
    """Between which two nine of ten are."""
    low, high = np.quantile(values, (0.05, 0.95))
    return float(low), float(high)


def _beyond(values: np.ndarray, low: float, high: float, times: float) -> np.ndarray:
    """Which are so many times as far from nine of ten as these are apart, `[numbers]`."""
    away = np.maximum(low - values, values - high)
    return (away > times * (high - low)) & (high > low)
