"""The evaluation of the novelty detector of a model, messages about it, and its section of a
report."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import JsonMapping, is_number, lookup, section_of
from headwise.core.errors import ConfigError
from headwise.core.html import Section, Series, Table, plot
from headwise.data.splits.data_parts import split_off_label
from headwise.metrics.metric_keys import NOVELTY
from headwise.metrics.novelty import NoveltyScores, score_novelty
from headwise.models.metric_table import format_number

if TYPE_CHECKING:
    from headwise.training.train_result import TrainResult


def split_off_unknown(
    model: Any, data: Any, unknown_label: str | None, name: str, many: str
) -> tuple[Any, Sequence[Any]]:
    """A data set without the items of the label of unknown items, and these items.

    Args:
        model: The model that is evaluated on them.
        data: The data set.
        unknown_label: The label of unknown items; None for that of the training run, if it had one.
        name: The folder of the model, for messages.
        many: The plural noun of the items.

    Raises:
        ConfigError: The model has no novelty detector or has this label, or no item or every item has it.
    """
    if unknown_label is None:
        trained_label = getattr(getattr(model.config, "unknown", None), "label", "")
        in_scope, outside = split_off_label(data, trained_label) if trained_label else (data, [])
        return (in_scope, outside) if outside and in_scope.items else (data, ())
    flag = f"--unknown-label {unknown_label}"
    if getattr(model, "novelty", None) is None:
        raise ConfigError(f"{flag}: {name} has no novelty detector; train a text classifier with --unknown")
    if unknown_label in model.labels:
        raise ConfigError(
            f"{flag}: {unknown_label!r} is a label of {name}; train it with {flag}, so that it is none"
        )
    in_scope, outside = split_off_label(data, unknown_label)
    if not outside:
        raise ConfigError(
            f"{flag}: none of the {many} of {data.path} has this label; name the label of unknown {many}"
        )
    if not in_scope.items:
        raise ConfigError(
            f"{flag}: all {many} of {data.path} have this label; put {many} of the model's labels into the "
            "same file, as the scores compare the two"
        )
    return in_scope, outside


def evaluate_novelty(
    model: Any, items: Sequence[object], out_of_scope: Sequence[object], right: NDArray[np.bool_]
) -> NoveltyScores | None:
    """Evaluate the novelty detector of a model; None if it has none.

    Args:
        model: A text classifier.
        items: Texts of its labels, at least one.
        out_of_scope: Texts of none of its labels; may be empty.
        right: Whether the predicted labels of `items` are right, `[items]`.
    """
    if getattr(model, "novelty", None) is None:
        return None
    known_scores, unknown_scores = (item_novelty(model, part) for part in (items, out_of_scope))
    return score_novelty(model.novelty, known_scores, unknown_scores, right)


def item_novelty(model: Any, items: Sequence[object]) -> NDArray[np.float64]:
    """Novelty scores of texts, `[texts]`; see `headwise.runtime.novelty_member.NoveltyMember`.

    Raises:
        ConfigError: The model has no detector.
    """
    encoded = model.encoded(items)
    return model.novelty_scores(encoded, model.logits(encoded))


def novelty_messages(fitted: "TrainResult", many: str) -> list[str]:
    """A message about the novelty detector of a trained model, if it has one."""
    scores = fitted.dev.get(NOVELTY)
    if scores is None:
        return []
    keep, threshold = 100 * scores["keep"], scores["threshold"]
    message = (
        f"Novelty detector: {keep:.4g} % of {scores['texts']:,} held-out {many} of the labels have a "
        f"novelty score up to {threshold:.2f}; {many} above are unknown (--unknown.keep sets the share)."
    )
    detected = lookup(scores, "detected")
    if is_number(detected):
        message += (
            f" So are {100 * detected:.1f} % of the {scores['out_of_scope_texts']:,} training {many} of no "
            "label."
        )
    if fitted.model.references is None:
        message += (
            " It reads the logits alone, as the model has no base; with few labels they say little of what "
            "is unknown."
        )
    return [message]


def novelty_section(scores: JsonMapping, of: str) -> Section:
    """Histograms of the novelty scores with the threshold, and the confusion of known and unknown items;
    empty where the scores have no such evaluation.

    Args:
        scores: The JSON of an evaluation.
        of: The plural noun of the items.
    """
    novelty = section_of(scores, NOVELTY)
    edges, threshold = _saved_numbers(novelty.get("edges")), novelty.get("threshold")
    shares = {name: _saved_numbers(novelty.get(name)) for name in ("known", "unknown")}
    lines = [
        Series(f"{name} {of}", _histogram_outline(edges, values))
        for name, values in shares.items()
        if values and len(values) + 1 == len(edges)
    ]
    if not lines or not is_number(threshold):
        return Section()
    most = max(max(values) for values in shares.values() if values)
    names = (f"novelty score; {of} right of the line are unknown", f"share of {of}")
    drawn = plot(
        "Novelty scores",
        lines,
        (edges[0], edges[-1]),
        (0, most),
        names,
        percent=(False, True),
        mark=threshold,
    )
    return Section(figures=[drawn], tables=_confusion(novelty, of))


def _saved_numbers(values: Any) -> Sequence[float]:
    """A list of numbers in saved scores; empty if it is none."""
    return values if isinstance(values, list) and values and all(map(is_number, values)) else []


def _histogram_outline(edges: Sequence[float], shares: Sequence[float]) -> list[tuple[float, float]]:
    """The outline of a histogram."""
    bins = zip(pairwise(edges), shares, strict=True)
    return [(edge, share) for (first, last), share in bins for edge in (first, last)]


def _confusion(novelty: JsonMapping, of: str) -> list[Table]:
    rows = []
    for name in ("known", "unknown"):
        counts = [lookup(novelty, f"confusion.{name}.{predicted}") for predicted in ("known", "unknown")]
        if all(map(is_number, counts)) and sum(counts):
            shares = [format_number(count / sum(counts), "percent") for count in counts]
            cells = [f"{count:,} ({share})" for count, share in zip(counts, shares, strict=True)]
            rows.append([f"{name} {of}", *cells])
    return [Table(["", "predicted known", "predicted unknown"], rows)] if rows else []
