"""The doctor's checks of labels: classes, sets of labels, numbers, and the weights of items."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from headwise.core.errors import close_names
from headwise.core.lazy_pattern import lazy_pattern
from headwise.core.text_normalization import normalize_text
from headwise.data.doctor.doctor_report import NumberSummary
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.findings import Finding, abbreviate, count
from headwise.data.formats.tag_checks import span_type
from headwise.data.items.labels import (
    all_labels,
    effective_sample_size,
    low_confidence_items,
    quoted,
    training_spellings,
    with_latin_letters,
)
from headwise.data.items.numeric_labels import is_missing_value, number_advice, parse_number

RARE = 5  # items below which a class can hardly be learnt
_DASHES = lazy_pattern("[\u2010-\u2015\u2212_]")
_JOINT = lazy_pattern(r"(?<=[^\W\d])-(?=[^\W\d])")  # a dash between letters
_TRUTH_VALUES: dict[str, bool] = {
    **dict.fromkeys(("1", "true", "t", "yes", "y", "ja", "wahr", "oui", "vrai", "sí", "si"), True),
    **dict.fromkeys(("0", "false", "f", "no", "n", "nein", "falsch", "non", "faux"), False),
}
_PLACEHOLDERS = {
    *("-", "--", "---", "–", "—", "?", "??", "???", "(null)", "(blank)", "undefined", "unlabeled"),
    *("unlabelled", "not labeled", "not labelled", "unannotated", "tbd", "todo", "k.a.", "k. a."),
    *("unknown", "unbekannt", "inconnu", "desconocido", "not specified", "not available", "missing"),
    *("keine angabe", "n.v.", "sans objet", "s.o.", "sin datos", "s/o"),
    *("#nv", "#ref!", "#bezug!", "#value!", "#wert!", "#name?", "#div/0!", "#num!", "#zahl!", "#null!"),
    *("#error!", "#spill!", "#calc!", "#field!"),
}
"""What people write for a missing label, and the errors of formulas, in lower case."""
_EXACT = 15  # digits up to which different numbers stay different as floats


def no_labels(file: CheckedFile) -> Iterator[Finding]:
    """A file without labels."""
    if file.items and not file.data.labels:
        fix = "give --format and --label-column if the file has labels"
        yield Finding("warning", "HW163", "no labels", (file.data.path,), fix)


def one_class(file: CheckedFile) -> Iterator[Finding]:
    """A training file with a single class."""
    labels = file.data.labels
    if len(labels) == 1 and file.training and len(all_labels(file.items)) == 1:
        message = f"only one class, {next(iter(labels))!r}"
        fix = f"training needs two; is {file.item_type.label_type.column} the right one?"
        yield Finding("error", "HW162", message, (file.data.path,), fix)


def rare_labels(file: CheckedFile) -> Iterator[Finding]:
    """Labels that few items have."""
    rare = {name: n for name, n in file.data.labels.items() if n < RARE}
    if rare and file.training:
        infrequent = [f"{name!r} ({n})" for name, n in rare.items()]
        classes, many = count(len(rare), file.item_type.label_type.noun), file.item_type.nouns.many
        message = f"{classes} with fewer than {RARE} {many}: {abbreviate(infrequent)}"
        fix = f"add {many}, merge them into others, or leave them out"
        yield Finding("warning", "HW155", message, file.data.places(file.with_labels(rare)), fix)


def spelling_variants(file: CheckedFile) -> Iterator[Finding]:
    """Labels that differ only in their spelling."""
    labels = file.data.labels
    meant = [name.casefold() for name in labels if not _stands_for_none(name)]
    key_of = _truth_key if all(name in _TRUTH_VALUES for name in meant) else _spelling_key
    yield from _spelling_findings(file, "labels", labels, key_of, lambda item: item.labels)


def type_spelling_variants(file: CheckedFile) -> Iterator[Finding]:
    """Types of spans that differ only in their spelling."""
    yield from _spelling_findings(
        file, "types", file.data.entities, _spelling_key, lambda item: {span_type(tag) for tag in item.tags}
    )


def _spelling_findings(
    file: CheckedFile,
    nouns: str,
    counts: Mapping[str, int],
    key_of: Callable[[str], str | float],
    names_of: Callable[[Any], Iterable[str]],
) -> Iterator[Finding]:
    """A finding of names that have one key; `counts` has the most frequent first."""
    variants: dict[str | float, list[str]] = {}
    for name in counts:
        variants.setdefault(key_of(name), []).append(name)
    groups = [names for names in variants.values() if len(names) > 1]
    if not groups:
        return
    rarer = {name for names in groups for name in names[1:]}  # the rarer spellings
    where = [n for n, item in enumerate(file.items) if not rarer.isdisjoint(names_of(item))]
    shown = [abbreviate([f"{quoted(name)} ({counts[name]:,})" for name in names]) for names in groups]
    best = repr(normalize_text(groups[0][0])) if len(groups) == 1 else "one spelling of each"
    message = f"{nouns} that differ only in spelling: {abbreviate(shown, '; ')}"
    fix = f"they are treated as different {nouns}; write {best} throughout"
    yield Finding("warning", "HW156", message, file.data.places(where), fix)


def _truth_key(name: str) -> str:
    """A key that is equal for labels that stand for the same truth value."""
    return str(_TRUTH_VALUES.get(name.casefold(), name))


def _spelling_key(name: str) -> str | float:
    """A key that is equal for labels that differ only in case, spacing, dashes, quotation marks around
    them, a mark at their end, letters that look alike, or how accents or numbers are written."""
    number = parse_number(name) if len(name) <= _EXACT else None
    if number is not None:
        return number
    plain = _DASHES.sub("-", with_latin_letters(normalize_text(name))).casefold()
    if len(plain) > 2 and plain[0] == plain[-1] and plain[0] in "'\"":
        plain = plain[1:-1]
    if any(map(str.isalnum, plain)):
        plain = plain.rstrip(".,;: ")
    return "".join(_JOINT.sub("", plain).split())


def _stands_for_none(name: str) -> bool:
    too_narrow = len(name) > 2 and not name.strip("#")  # a column of a spreadsheet
    return is_missing_value(name) or name.casefold() in _PLACEHOLDERS or too_narrow


def missing_value_labels(file: CheckedFile) -> Iterator[Finding]:
    """Labels such as `nan` and `-`, which programs and people write for a missing value."""
    signs = "-–—" if "+" in file.data.labels else ""
    if labels := [name for name in file.data.labels if _stands_for_none(name) and name not in signs]:
        where = file.with_labels(labels)
        names = abbreviate([*map(repr, labels)])
        message = f"{file.count(len(where))} with the label {names}, which may stand for none"
        fix = "nothing if it is an answer like others; else write empty cells for missing labels, and give "
        fix += "--empty-labels skip to leave such rows out"
        yield Finding("warning", "HW120", message, file.data.places(where), fix)


def unlikely_labels(file: CheckedFile) -> Iterator[Finding]:
    """Labels that are less likely than others by their own probability."""
    if items := low_confidence_items(file.items, len(file.data.labels)):
        message = f"{file.count(len(items))} whose label is less likely than the others, by its probability"
        fix = "they are learnt as other labels; --confidence-column none takes labels as they stand"
        yield Finding("warning", "HW171", message, file.data.places(items), fix)


def unknown_labels(files: Mapping[str, CheckedFile]) -> Iterator[Finding]:
    """Labels that the training data lack."""
    training_labels = {label for file in files.values() if file.training for label in file.data.labels}
    if not training_labels:
        return
    for file in files.values():
        if names := training_spellings(file.data.labels, training_labels):
            shown = abbreviate(
                [f"{quoted(label)} for {quoted(training_label)}" for label, training_label in names.items()]
            )
            message = f"labels of {file.role} that are written otherwise than in train: {shown}"
            fix = "headwise reads them as train spells them"
            yield Finding("info", "HW156", message, file.data.places(file.with_labels(names)), fix)
        for label, times in file.data.labels.items():
            if label in training_labels or label in names:
                continue
            close = close_names(label, training_labels, cutoff=0.4)
            message = f"{file.count(times)} of {file.role} with the label {label!r}, unseen in train"
            fix = f"add such {file.item_type.nouns.many} to train"
            fix = f"write {close[0]!r} if that is meant" if close else fix
            yield Finding("error", "HW161", message, file.data.places(file.with_labels([label])), fix)


_LEAST_INSEPARABLE = 5  # least number of items with labels that always occur together
_LEAST_EXPECTED = 10  # multi-label items expected to have a label, from which on having none is odd


def unlabelled_items(file: CheckedFile) -> Iterator[Finding]:
    """Items without labels."""
    unlabelled = [n for n, item in enumerate(file.items) if not item.labels]
    if unlabelled and file.data.labels:
        message = f"{file.count(len(unlabelled))} without a label ({len(unlabelled) / len(file.items):.1%})"
        fix = "that is an answer like others; if it means that nobody looked, remove them"
        yield Finding("info", "HW168", message, file.data.places(unlabelled), fix)


def universal_labels(file: CheckedFile) -> Iterator[Finding]:
    """Labels that all items have."""
    labels = [repr(name) for name, n in file.data.labels.items() if n == len(file.items)]
    if labels and file.training:
        message = f"all {file.item_type.nouns.many} have {abbreviate(labels)}"
        fix = "a model will give such a label to all; leave it out, or add some without it"
        yield Finding("warning", "HW162", message, (file.data.path,), fix)


def none_labels(file: CheckedFile) -> Iterator[Finding]:
    """A label that means "no label": it never occurs with another, and all items have a label."""
    if not file.training or not all(item.labels for item in file.items):
        return
    cooccurring = {label for item in file.items if len(item.labels) > 1 for label in item.labels}
    multi_labelled = sum(len(item.labels) > 1 for item in file.items)
    for name, n in file.data.labels.items():
        without_label = len(file.items) - n
        if name not in cooccurring and multi_labelled * n >= _LEAST_EXPECTED * without_label > 0:
            many = file.item_type.nouns.many
            message = f"the label {name!r} ({n:,}) never stands beside another, and all {many} have a label"
            fix = (
                "if it says that there is none of the others, leave it out (an empty cell is an answer, "
                "too): as a label it may be predicted beside others, and micro F1 is mostly about it"
            )
            yield Finding("warning", "HW175", message, (file.data.path,), fix)


def inseparable_labels(file: CheckedFile) -> Iterator[Finding]:
    """Labels that never occur without each other."""
    if not file.training:
        return
    counts, pairs = file.data.labels, Counter[tuple[str, str]]()
    for item in file.items:
        pairs.update(combinations(sorted(item.labels), 2))
    inseparable = [
        f"{first!r} and {second!r} ({n:,})"
        for (first, second), n in pairs.most_common()
        if n >= _LEAST_INSEPARABLE and n == counts[first] == counts[second] and n < len(file.items)
    ]
    if inseparable:
        message = f"labels that never stand without each other: {abbreviate(inseparable)}"
        fix = "they say the same; one of them is enough"
        yield Finding("info", "HW167", message, (file.data.path,), fix)


MIN_EFFECTIVE_SHARE = 0.5
"""Least effective number of items, as a share of the items with a weight above 0."""
MAX_ZERO_SHARE = 0.1
"""Largest share of items with the weight 0."""


def uneven_weights(file: CheckedFile) -> Iterator[Finding]:
    """Weights where few items dominate, or many are 0: the column may hold the weight of goods."""
    if not file.training or not file.items:
        return
    count, worth = effective_sample_size(file.items)
    nothing, problems = len(file.items) - count, list[str]()
    if worth < MIN_EFFECTIVE_SHARE * count:
        problems.append(f"{file.count(count)} tell as much as {worth:,.0f} of equal weight")
    if nothing > MAX_ZERO_SHARE * len(file.items):
        problems.append(f"nothing is learnt from {file.count(nothing)} ({nothing / len(file.items):.1%})")
    if problems:
        message = f"by the weights in column {file.data.columns.weight!r} {', and '.join(problems)}"
        fix = "if that column is of something else, such as grams, --weight-column none passes it over"
        yield Finding("warning", "HW172", message, (file.data.path,), fix)


_OUTLIER_RANGES = 10.0
"""Least distance of an outlier from the middle nine tenths of the numbers, as a multiple of their range."""
_MAX_OUTLIER_RATE = 0.01
"""Largest share of outliers that can be slips."""


def spread(file: CheckedFile) -> NumberSummary | None:
    """Summary of the numbers of a file, if it has any."""
    read = [parse_number(item.label) for item in file.items]
    values = np.array([value for value in read if value is not None])
    if not len(values):
        return None
    statistics = values.min(), np.median(values), values.mean(), values.max()
    return NumberSummary(*map(float, statistics))


def not_numbers(file: CheckedFile) -> Iterator[Finding]:
    """Labels that are not numbers."""
    labelled = [(n, item.label) for n, item in enumerate(file.items) if item.label is not None]
    unreadable = [n for n, label in labelled if parse_number(label) is None]
    if unreadable:
        labels = dict.fromkeys(file.items[n].label for n in unreadable)
        shown = abbreviate([repr(name[:40]) for name in labels])
        message = f"{file.count(len(unreadable))} with a label that is not a number: {shown}"
        yield Finding("error", "HW287", message, file.data.places(unreadable), number_advice([*labels]))


def one_number(file: CheckedFile) -> Iterator[Finding]:
    """A file whose labels are all equal."""
    labels = file.data.labels
    if len(labels) == 1 and file.training:
        message = f"only one number, {next(iter(labels))!r}"
        yield Finding("error", "HW162", message, (file.data.path,), "is --label-column the right one?")


def outliers(file: CheckedFile) -> Iterator[Finding]:
    """Outliers that are slips or stand for a missing value: 999 and 1e9 among scores from 1 to 5. Numbers
    that are all positive, such as prices, must be outliers by their logarithm, too."""
    read = [(n, parse_number(item.label)) for n, item in enumerate(file.items)]
    parsed = [(n, value) for n, value in read if value is not None]
    if not file.training or not parsed:
        return
    values = np.array([value for _, value in parsed])
    low, high = _middle_range(values)
    beyond = _is_outlier(values, low, high, _OUTLIER_RANGES)
    if values.min() > 0:
        logs = np.log(values)
        beyond &= _is_outlier(logs, *_middle_range(logs), 1)
    if not 0 < beyond.sum() <= _MAX_OUTLIER_RATE * len(values):
        yield from _code_number(file, values, [n for n, _ in parsed])
        return
    outliers = [n for (n, _), is_outlier in zip(parsed, beyond.tolist(), strict=True) if is_outlier]
    shown = abbreviate([*dict.fromkeys(file.items[n].label for n in outliers)])
    message = f"{file.count(len(outliers))} with a number far from the others: {shown} (nine of ten are "
    message += f"{low:.6g} to {high:.6g})"
    fix = (
        "correct what is no number of this kind or stands for none: squares of the error make it decide all"
    )
    yield Finding("warning", "HW174", message, file.data.places(outliers), fix)


def _code_number(file: CheckedFile, values: np.ndarray, numbers: list[int]) -> Iterator[Finding]:
    """A number of nines that many items have and that is far from all others, as codes of missing values
    are."""
    for extreme in (values.min(), values.max()):
        remaining = values[values != extreme]
        if not _NINES.fullmatch(f"{extreme:g}") or len(remaining) < 2:
            continue
        if min(abs(remaining - extreme)) > _OUTLIER_RANGES * np.ptp(remaining) > 0:
            where = [n for n, value in zip(numbers, values.tolist(), strict=True) if value == extreme]
            label = file.items[where[0]].label
            message = f"{file.count(len(where))} with the number {label}, far from all others"
            fix = "empty these cells if it stands for a missing number, and give --empty-labels skip"
            yield Finding("warning", "HW174", message, file.data.places(where), fix)


_NINES = lazy_pattern(r"-?9{2,}")
_GROUPED = lazy_pattern(r"-?[1-9]\d{0,2}\.\d{3}")
_UNGROUPED = lazy_pattern(r"-?\d{1,3}")


def grouped_numbers(file: CheckedFile) -> Iterator[Finding]:
    """Numbers with points between thousands, which are read as decimal points: with three digits after each
    point, also zeros at the end, though numbers below 1,000 have no point."""
    labels = [label for label in file.data.labels if not is_missing_value(label)]
    grouped = [label for label in labels if _GROUPED.fullmatch(label)]
    if not any(label.endswith("0") for label in grouped) or len(grouped) == len(labels):
        return
    if all(_GROUPED.fullmatch(label) or _UNGROUPED.fullmatch(label) for label in labels):
        where = [n for n, item in enumerate(file.items) if _GROUPED.fullmatch(item.label or "")]
        message = (
            f"{file.count(len(where))} with a number such as {grouped[0]!r}, read with a decimal point"
        )
        fix = "write 1234 for 1.234 if the point is between thousands"
        yield Finding("warning", "HW287", message, file.data.places(where), fix)


def _middle_range(values: np.ndarray) -> tuple[float, float]:
    """The 5 % and 95 % quantiles."""
    low, high = np.quantile(values, (0.05, 0.95))
    return float(low), float(high)


def _is_outlier(values: np.ndarray, low: float, high: float, times: float) -> np.ndarray:
    """Whether each value is outside `low` to `high` by more than `times` that range, `[numbers]`."""
    away = np.maximum(low - values, values - high)
    return (away > times * (high - low)) & (high > low)
