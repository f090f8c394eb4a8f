"""Messages about a model's scores, such as that a simple baseline is as good."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean, median
from typing import Any

from headwise.core.config import JsonMapping, is_number, lookup
from headwise.models.metric_table import FORMATS, MetricTable, parse_interval
from headwise.models.report_parts import ComparisonSystem, ReportMessage

_LISTED = 8  # labels
_ROUNDING = 1e-9
_CHANCE = 0.05  # p value above which a difference between two models is not significant
_WIDE, _SKEWED = 100.0, 2.0  # ratios for positive numbers: 95th to 5th percentile, mean to median


def baseline_message(
    metric_table: MetricTable, scores: JsonMapping, baseline: ComparisonSystem | None, advice: str
) -> ReportMessage | None:
    """A message if a baseline is better than the model or not significantly different; None otherwise.

    Args:
        metric_table: The metric table, whose primary metric is compared.
        scores: The JSON of the model's evaluation.
        baseline: The baseline; None if there is none.
        advice: What to do if the baseline is better.
    """
    if baseline is None:
        return None
    better = ReportMessage(
        f"the baseline ({baseline.name}) is better than this model; {advice}", warning=True
    )
    if bounds := parse_interval(lookup(baseline.difference, "interval")):
        chance = lookup(baseline.difference, "p_value")
        why = "the interval contains 0" if bounds[0] <= 0 <= bounds[1] else ""
        if not why and is_number(chance) and chance > _CHANCE:  # few items: a degenerate interval
            why = f"p is {chance:.2f}"
        if why:
            return ReportMessage(
                f"the model and the baseline do not differ significantly on the test {metric_table.of} "
                f"({why})"
            )
        return better if bounds[1] < 0 else None
    key = metric_table.primary_metric.key
    score, baseline_score = lookup(scores, key), lookup(baseline.scores, key)
    if not is_number(score) or not is_number(baseline_score) or score == baseline_score:
        return None
    return better if (baseline_score < score) == metric_table.lower else None


def label_messages(
    metric_table: MetricTable, scores: JsonMapping, *, thresholds: bool = False
) -> list[ReportMessage]:
    """Messages about labels that are never predicted, and about a majority-class baseline that is as good.

    Args:
        metric_table: The metric table, which locates the per-class scores and the confusion matrix.
        scores: The JSON of the model's evaluation.
        thresholds: Whether the model can have per-label thresholds.
    """
    matrix = metric_table.matrix(scores)
    rows = metric_table.per_class.rows(scores) if metric_table.per_class else []
    if matrix is None:
        return []
    totals, total = [sum(row) for row in matrix], sum(map(sum, matrix))
    predicted_counts = [sum(row[place] for row in matrix) for place in range(len(rows))]
    messages: list[ReportMessage] = []
    most, right = max(totals, default=0), sum(row[place] for place, row in enumerate(matrix))
    if total:
        messages = _constant_prediction_message(
            rows[totals.index(most)].get("label"), most / total, right / total
        )
    never = [
        repr(row.get("label"))
        for row, n, total_of_label in zip(rows, predicted_counts, totals, strict=True)
        if total_of_label and not n
    ]
    if never:
        rare = "; --classifier.thresholds f1 gives rare labels too, at some accuracy" if thresholds else ""
        messages.append(ReportMessage(f"never predicted: {_listed(never)}{rare}"))
    return messages


def label_set_messages(scores: JsonMapping) -> list[ReportMessage]:
    """Messages about labels with recall 0, and about a constant set of the most frequent labels that is as
    good as the model.

    Args:
        scores: The JSON of the model's evaluation.
    """
    micro_f1, texts, rows = (lookup(scores, name) for name in ("micro_f1", "texts", "labels"))
    counts = _counts(rows, "label", "texts")
    total = sum(count for _, count in counts)
    if not is_number(micro_f1) or not is_number(texts) or texts <= 0 or total <= 0:
        return []
    constant_scores = [
        2 * sum(count for _, count in counts[:many]) / (many * texts + total)
        for many in range(1, len(counts) + 1)
    ]
    best = max(constant_scores)
    label_rows = [row for row in rows if isinstance(row, Mapping)]
    missed = [repr(row.get("label")) for row in label_rows if row.get("texts") and row.get("recall") == 0]
    messages = []
    if missed:
        message = f"no text with {_listed(missed)} is found by its threshold: where none may be missed, cut"
        messages.append(ReportMessage(f"{message} lower at the probability:NAME of predictions"))
    if micro_f1 > best + _ROUNDING:
        return messages
    commonest = _listed([repr(name) for name, _ in counts[: constant_scores.index(best) + 1]])
    as_good = "a higher" if micro_f1 < best - _ROUNDING else "as high a"
    message = f"giving every text {commonest} would have {as_good} micro F1 ({100 * best:.1f} %)"
    return [*messages, ReportMessage(message, warning=True)]


def plain_tag_messages(scores: JsonMapping) -> list[ReportMessage]:
    """A message if always predicting the most frequent tag is as good as a tagger without spans.

    Args:
        scores: The JSON of the model's evaluation.
    """
    accuracy = lookup(scores, "tokens.accuracy")
    counts = _counts(lookup(scores, "tokens.tags"), "tag", "words")
    total = sum(count for _, count in counts)
    if not is_number(accuracy) or total <= 0 or lookup(scores, "entities") is not None:
        return []
    (name, most), *_ = counts
    return _constant_prediction_message(name, most / total, accuracy)


def _constant_prediction_message(name: Any, share: float, accuracy: float) -> list[ReportMessage]:
    """A message if the constant prediction `name`, right for a fraction `share`, is as good as the
    model."""
    if accuracy > share + _ROUNDING:
        return []
    often = "more often" if accuracy < share - _ROUNDING else "as often"
    return [ReportMessage(f"always {name!r} would be right {often} ({100 * share:.1f} %)", warning=True)]


def _listed(names: Sequence[str]) -> str:
    """The first names, and the number of further ones."""
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more


def _counts(rows: Any, name: str, count: str) -> list[tuple[Any, float]]:
    """The frequency of each label, the most frequent first; empty where `rows` does not have them."""
    rows = rows if isinstance(rows, list | tuple) else []
    pairs: list[tuple[Any, Any]] = [
        (row.get(name), row.get(count)) for row in rows if isinstance(row, Mapping)
    ]
    if not all(is_number(frequency) and frequency >= 0 for _, frequency in pairs):
        return []
    return sorted(pairs, key=lambda pair: -pair[1])


def regression_messages(scores: JsonMapping, training_numbers: Iterable[str]) -> list[ReportMessage]:
    """A message if a constant prediction has a smaller error than a regression model.

    Args:
        scores: The JSON of the model's evaluation.
        training_numbers: The training targets, as written in the file.
    """
    error, constant_error, constant = (lookup(scores, key) for key in ("mae", "median_mae", "median"))
    explained, advice = lookup(scores, "r2"), ""
    if _is_skewed(training_numbers):
        advice = (
            "; the numbers of training are of many sizes, so that a few large ones decide: train on their "
        )
        advice += "logarithm (a column of it)"
    if is_number(error) and is_number(constant_error) and error > constant_error:
        gap = f"{FORMATS['figure'](constant_error)} in place of {FORMATS['figure'](error)}"
        # All digits: the rounded constant may have a larger error than the model.
        message = f"always {constant:.15g} would be nearer (mean absolute error {gap}){advice}"
        return [ReportMessage(message, warning=True)]
    if is_number(explained) and explained < 0:
        message = "always the mean of these numbers would have a smaller squared error (variance explained "
        return [
            ReportMessage(f"{message}{explained:.3g}): a few of them are far off{advice}", warning=True)
        ]
    return []


def _is_skewed(training_numbers: Iterable[str]) -> bool:
    """Whether numbers are positive, span orders of magnitude and are skewed towards few large ones."""
    from headwise.data.items.numeric_labels import parse_number, with_decimal_point

    numbers = [parse_number(with_decimal_point(text) or text) for text in training_numbers]
    every = sorted(number for number in numbers if number is not None and number > 0)
    if not every or len(every) < len(numbers):
        return False
    few = len(every) // 20
    return every[-1 - few] >= _WIDE * every[few] and mean(every) > _SKEWED * median(every)
