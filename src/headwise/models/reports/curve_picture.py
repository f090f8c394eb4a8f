"""A learning curve as an SVG: the measured scores, the fitted power law and its extrapolation."""

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from headwise.core.html import ticks
from headwise.metrics.power_law import PowerLaw
from headwise.models.evaluation.metric_table import FORMATS, MetricTable

_WIDE, _HIGH, _LEFT, _TOP = 480, 260, 56, 34
_COLOUR = "#2f74d0"


def learning_curve_figure(
    title: str,
    sheet: MetricTable,
    sizes: NDArray[np.int64],
    scores: NDArray[np.float64],
    law: PowerLaw,
    most: float,
) -> str:
    """The source of an SVG.

    Args:
        title: The title of the figure.
        sheet: The metric table: how the score is formatted, and whether lower is better.
        sizes: Numbers of training items, `[sizes]`.
        scores: The scores of the models, `[seeds, sizes]`.
        law: The power law that was fitted to their errors.
        most: The largest number of training items on the horizontal axis.
    """
    places = np.geomspace(sizes.min(), most, 60)
    errors = np.array([law.error(place) for place in places]).T
    middle, low, high = errors if sheet.lower else 1 - errors
    bottom = min(scores.min(), low.min(), high.min(), middle.min())
    top = max(scores.max(), low.max(), high.max(), middle.max())
    form = FORMATS[sheet.headline.form]

    def x(items: float) -> float:
        return _LEFT + _WIDE * float(np.log(items / sizes.min()) / np.log(most / sizes.min()))

    def y(score: float) -> float:
        return _TOP + _HIGH * float(1 - (score - bottom) / ((top - bottom) or 1))

    def line(values: Sequence[float], items: Sequence[float]) -> str:
        return " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in zip(items, values, strict=True))

    band = f"{line(low, places)} {line(high[::-1], places[::-1])}"
    parts = [f'<polygon points="{band}" fill="{_COLOUR}" opacity=".18"/>']
    parts += [
        f'<path d="M{_LEFT} {y(mark):.1f}H{_LEFT + _WIDE}" stroke="currentColor" opacity=".15"/>'
        f'<text x="{_LEFT - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{form(mark)}</text>'
        for mark in ticks(bottom, top)
    ]
    parts += [
        f'<text x="{x(items):.1f}" y="{_TOP + _HIGH + 16}" text-anchor="middle">{items:,.0f}</text>'
        for items in (*sizes[::2], most)
    ]
    now = x(law.texts)
    parts.append(
        f'<path d="M{now:.1f} {_TOP}V{_TOP + _HIGH}" stroke="currentColor" stroke-dasharray="2 4"/>'
        f'<text x="{now - 4:.1f}" y="{_TOP + _HIGH - 6}" text-anchor="end">the file</text>'
        f'<polyline points="{line(middle, places)}" fill="none" stroke="{_COLOUR}" stroke-width="2"/>'
    )
    for seed_scores in scores:
        parts += [
            f'<circle cx="{x(size):.1f}" cy="{y(value):.1f}" r="2" fill="currentColor" opacity=".45"/>'
            for size, value in zip(sizes, seed_scores, strict=True)
        ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_LEFT + _WIDE + 24} {_TOP + _HIGH + 44}" '
        'font-family="system-ui, sans-serif" font-size="11" role="img">'
        f"<title>{escape(title)}</title>"
        f'<text x="8" y="18" font-size="13">{escape(title)}</text>{"".join(parts)}'
        f'<text x="{_LEFT + _WIDE / 2}" y="{_TOP + _HIGH + 36}" text-anchor="middle">{sheet.of} to '
        f"train on; dots: {sheet.headline.title} of models, line: power law, "
        "band: its 95 % interval</text></svg>\n"
    )
