"""The section of a report about texts that a model does not know."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from headwise.core.config import JsonMapping, is_number, lookup, section_of
from headwise.core.html import Section, Series, Table, plot
from headwise.metrics.metric_keys import NOVELTY
from headwise.models.metric_table import format_number


def novelty_section(scores: JsonMapping, of: str) -> Section:
    """Histograms of the novelty scores with the threshold, and the confusion of known and unknown items;
    empty where the scores have no such evaluation.

    Args:
        scores: The JSON of an evaluation.
        of: The plural noun of the items.
    """
    novelty = section_of(scores, NOVELTY)
    edges, threshold = _numbers(novelty.get("edges")), novelty.get("threshold")
    shares = {name: _numbers(novelty.get(name)) for name in ("known", "unknown")}
    lines = [
        Series(f"{name} {of}", _steps(edges, values))
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


def _numbers(values: Any) -> Sequence[float]:
    """A list of numbers in saved scores; empty if it is none."""
    return values if isinstance(values, list) and values and all(map(is_number, values)) else []


def _steps(edges: Sequence[float], shares: Sequence[float]) -> list[tuple[float, float]]:
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
    return [Table(["", "taken for known", "taken for unknown"], rows)] if rows else []
