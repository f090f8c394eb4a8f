"""What a report has to say of a model beside its numbers: that something simpler is as good, for one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from headwise.report.rival import Rival
from headwise.report.sheet import FORMS, Sheet, bounds_of, is_number, lookup

_LISTED = 8  # labels
_ROUNDING = 1e-9
_CHANCE = 0.05  # p above which two models are not told apart
_WIDE, _SKEWED = 100.0, 2.0  # of positive numbers: the 95th percentile to the 5th, the mean to the median


@dataclass(frozen=True)
class Remark:
    """A sentence of a report.

    Attributes:
        text: The sentence.
        warning: Whether the user should do something about it.
    """

    text: str
    warning: bool = False


def compare_with(
    sheet: Sheet, scores: Mapping[str, Any], rival: Rival | None, advice: str
) -> Remark | None:
    """What to say where a simple baseline is better than a model, or cannot be told from it.

    Args:
        sheet: Says which score counts.
        scores: The JSON of the model's evaluation.
        rival: The baseline.
        advice: What to do where it is better.
    """
    if rival is None:
        return None
    better = Remark(f"the baseline ({rival.name}) is better than this model; {advice}", warning=True)
    if bounds := bounds_of(lookup(rival.difference, "interval")):
        chance = lookup(rival.difference, "p_value")
        why = "the interval holds 0" if bounds[0] <= 0 <= bounds[1] else ""
        if not why and is_number(chance) and chance > _CHANCE:  # of few items the interval is nothing
            why = f"p is {chance:.2f}"
        if why:
            return Remark(f"the test {sheet.of} do not tell the model and the baseline apart ({why})")
        return better if bounds[1] < 0 else None
    own, other = lookup(scores, sheet.headline.key), lookup(rival.scores, sheet.headline.key)
    if not is_number(own) or not is_number(other) or own == other:
        return None
    return better if (other < own) == sheet.lower else None


def on_labels(sheet: Sheet, scores: Mapping[str, Any], *, thresholds: bool = False) -> list[Remark]:
    """Labels that a model never gives, and a guess that is as good as it: always the commonest label.

    Args:
        sheet: Says where the labels stand.
        scores: The JSON of the model's evaluation.
        thresholds: Whether such models may have a threshold for each label.
    """
    matrix, rows = sheet.matrix(scores), sheet.each.rows(scores) if sheet.each else []
    if matrix is None:
        return []
    totals, total = [sum(row) for row in matrix], sum(map(sum, matrix))
    given = [sum(row[place] for row in matrix) for place in range(len(rows))]
    found: list[Remark] = []
    most, right = max(totals, default=0), sum(row[place] for place, row in enumerate(matrix))
    if total:
        found = _always(rows[totals.index(most)].get("label"), most / total, right / total)
    never = [
        repr(row.get("label")) for row, n, own in zip(rows, given, totals, strict=True) if own and not n
    ]
    if never:
        rare = "; --classifier.thresholds f1 gives rare labels too, at some accuracy" if thresholds else ""
        found.append(Remark(f"never predicted: {_listed(never)}{rare}"))
    return found


def on_label_sets(scores: Mapping[str, Any]) -> list[Remark]:
    """Labels of which a model finds no text, and a guess that is as good as it: always the same, the
    commonest labels.

    Args:
        scores: The JSON of the model's evaluation.
    """
    own, texts, rows = (lookup(scores, name) for name in ("micro_f1", "texts", "labels"))
    counts = _counts(rows, "label", "texts")
    total = sum(count for _, count in counts)
    if not is_number(own) or not is_number(texts) or texts <= 0 or total <= 0:
        return []
    found = [
        2 * sum(count for _, count in counts[:many]) / (many * texts + total)
        for many in range(1, len(counts) + 1)
    ]
    best = max(found)
    known = [row for row in rows if isinstance(row, Mapping)]
    missed = [repr(row.get("label")) for row in known if row.get("texts") and row.get("recall") == 0]
    remarks = []
    if missed:
        told = f"no text with {_listed(missed)} is found by its threshold: where none may be missed, cut"
        remarks.append(Remark(f"{told} lower at the probability:NAME of predictions"))
    if own > best + _ROUNDING:
        return remarks
    given = _listed([repr(name) for name, _ in counts[: found.index(best) + 1]])
    as_good = "a higher" if own < best - _ROUNDING else "as high a"
    told = f"giving every text {given} would have {as_good} micro F1 ({100 * best:.1f} %)"
    return [*remarks, Remark(told, warning=True)]


def on_plain_tags(scores: Mapping[str, Any]) -> list[Remark]:
    """A guess that is as good as a model of tags that mark no spans: always the commonest.

    Args:
        scores: The JSON of the model's evaluation.
    """
    own, counts = lookup(scores, "tokens.accuracy"), _counts(lookup(scores, "tokens.tags"), "tag", "words")
    total = sum(count for _, count in counts)
    if not is_number(own) or total <= 0 or lookup(scores, "entities") is not None:
        return []
    (name, most), *_ = counts
    return _always(name, most / total, own)


def _always(name: Any, share: float, accuracy: float) -> list[Remark]:
    """What to say where one answer to everything, right for a share of it, is as good as a model."""
    if accuracy > share + _ROUNDING:
        return []
    often = "more often" if accuracy < share - _ROUNDING else "as often"
    return [Remark(f"always {name!r} would be right {often} ({100 * share:.1f} %)", warning=True)]


def _listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _counts(rows: Any, name: str, count: str) -> list[tuple[Any, float]]:
    """How often there is each answer, the most frequent first; nothing where that is not told."""
    rows = rows if isinstance(rows, list | tuple) else []
    found: list[tuple[Any, Any]] = [
        (row.get(name), row.get(count)) for row in rows if isinstance(row, Mapping)
    ]
    if not all(is_number(own) and own >= 0 for _, own in found):
        return []
    return sorted(found, key=lambda own: -own[1])


def on_numbers(scores: Mapping[str, Any], known: Iterable[str]) -> list[Remark]:
    """A guess that is nearer than a model: always the same number.

    Args:
        scores: The JSON of the model's evaluation.
        known: The numbers of the training data, as they are written there.
    """
    error, other, constant = (lookup(scores, key) for key in ("mae", "median_mae", "median"))
    explained, advice = lookup(scores, "r2"), ""
    if _of_many_sizes(known):
        advice = (
            "; the numbers of training are of many sizes, so that a few large ones decide: train on their "
        )
        advice += "logarithm (a column of it)"
    if is_number(error) and is_number(other) and error > other:
        gap = f"{FORMS['figure'](other)} in place of {FORMS['figure'](error)}"
        # All its digits: what it is rounded to need not be nearer.
        told = f"always {constant:.15g} would be nearer (mean absolute error {gap}){advice}"
        return [Remark(told, warning=True)]
    if is_number(explained) and explained < 0:
        told = "always the mean of these numbers would have a smaller squared error (variance explained "
        return [Remark(f"{told}{explained:.3g}): a few of them are far off{advice}", warning=True)]
    return []


def _of_many_sizes(known: Iterable[str]) -> bool:
    """Whether numbers are all positive, the larger ones many times the smaller ones, and few are large."""
    from headwise.data.numbers import number_of, pointed  # with it comes numpy, and help does without

    numbers = [number_of(pointed(text) or text) for text in known]
    every = sorted(own for own in numbers if own is not None and own > 0)
    if not every or len(every) < len(numbers):
        return False
    few = len(every) // 20
    return every[-1 - few] >= _WIDE * every[few] and mean(every) > _SKEWED * median(every)
