"""The doctor's checks of numeric labels."""

from collections.abc import Iterator

import numpy as np

from headwise.data.diagnosis import Finding, Spread, abbreviate
from headwise.data.doctor.file import File
from headwise.data.numbers import advice_for, number_of

_FAR = 10.0
"""Least distance of an outlier from the middle nine tenths of the numbers, as a multiple of their range."""
_FEW = 0.01
"""Largest share of outliers that can be slips."""


def spread(file: File) -> Spread | None:
    """Summary of the numbers of a file, if it has any."""
    read = [number_of(item.label) for item in file.items]
    values = np.array([value for value in read if value is not None])
    if not len(values):
        return None
    statistics = values.min(), np.median(values), values.mean(), values.max()
    return Spread(*map(float, statistics))


def not_numbers(file: File) -> Iterator[Finding]:
    """Labels that are not numbers."""
    labelled = [(n, item.label) for n, item in enumerate(file.items) if item.label is not None]
    unreadable = [n for n, label in labelled if number_of(label) is None]
    if unreadable:
        labels = dict.fromkeys(file.items[n].label for n in unreadable)
        shown = abbreviate([repr(name[:40]) for name in labels])
        message = f"{file.count(len(unreadable))} with a label that is not a number: {shown}"
        yield Finding("error", "HW287", message, file.data.places(unreadable), advice_for([*labels]))


def one_number(file: File) -> Iterator[Finding]:
    """A file whose labels are all equal."""
    labels = file.data.labels
    if len(labels) == 1 and file.training:
        message = f"only one number, {next(iter(labels))!r}"
        yield Finding("error", "HW162", message, (file.data.path,), "is --label-column the right one?")


def far(file: File) -> Iterator[Finding]:
    """Outliers that are slips or stand for a missing value: 999 and 1e9 among scores from 1 to 5. Numbers
    that are all positive, such as prices, must be outliers by their logarithm, too."""
    read = [(n, number_of(item.label)) for n, item in enumerate(file.items)]
    parsed = [(n, value) for n, value in read if value is not None]
    if not file.training or not parsed:
        return
    values = np.array([value for _, value in parsed])
    low, high = _nine_of_ten(values)
    beyond = _beyond(values, low, high, _FAR)
    if values.min() > 0:
        logs = np.log(values)
        beyond &= _beyond(logs, *_nine_of_ten(logs), 1)
    if not 0 < beyond.sum() <= _FEW * len(values):
        return
    outliers = [n for (n, _), is_outlier in zip(parsed, beyond.tolist(), strict=True) if is_outlier]
    shown = abbreviate([*dict.fromkeys(file.items[n].label for n in outliers)])
    message = f"{file.count(len(outliers))} with a number far from the others: {shown} (nine of ten are "
    message += f"{low:.6g} to {high:.6g})"
    fix = (
        "correct what is no number of this kind or stands for none: squares of the error make it decide all"
    )
    yield Finding("warning", "HW174", message, file.data.places(outliers), fix)


def _nine_of_ten(values: np.ndarray) -> tuple[float, float]:
    """The 5 % and 95 % quantiles."""
    low, high = np.quantile(values, (0.05, 0.95))
    return float(low), float(high)


def _beyond(values: np.ndarray, low: float, high: float, times: float) -> np.ndarray:
    """Whether each value is outside `low` to `high` by more than `times` that range, `[numbers]`."""
    away = np.maximum(low - values, values - high)
    return (away > times * (high - low)) & (high > low)
