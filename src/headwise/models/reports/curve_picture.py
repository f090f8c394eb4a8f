"""A learning curve as an SVG: the measured scores, the fitted power law and its extrapolation."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.core.html import render, ticks
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

    caption = (
        f"{sheet.of} to train on; dots: {sheet.headline.title} of models, line: power law, "
        "band: its 95 % interval"
    )
    picture = render(
        "learning_curve.svg.jinja",
        title=title,
        caption=caption,
        colour=_COLOUR,
        left=_LEFT,
        right=_LEFT + _WIDE,
        top=_TOP,
        bottom=_TOP + _HIGH,
        band=f"{line(low, places)} {line(high[::-1], places[::-1])}",
        middle=line(middle, places),
        now=round(x(law.texts), 1),
        x_ticks=[(round(x(items), 1), f"{items:,.0f}") for items in (*sizes[::2], most)],
        y_ticks=[(round(y(mark), 1), form(mark)) for mark in ticks(bottom, top)],
        dots=[
            (round(x(size), 1), round(y(value), 1))
            for seed_scores in scores
            for size, value in zip(sizes, seed_scores, strict=True)
        ],
    )
    return str(picture)
