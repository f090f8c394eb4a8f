"""Figures of a model, as SVG and HTML fragments.

- `heat_maps`: the attention weights of each head in a text, and the mask of its prior.
- `learned_priors_figure`: what the learned priors of the heads have learned.
- `attention_span_figure`: the attention spans of heads (MS-Transformer, Figure 3), of any encoder.
- `learning_curve_figure`: the measured scores, the fitted power law and its extrapolation.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import torch
from markupsafe import Markup
from numpy.typing import NDArray
from torch import nn

from headwise.core.errors import ConfigError
from headwise.core.html import Cell, Table, render, ticks
from headwise.metrics.power_law import PowerLaw
from headwise.models.metric_table import FORMATS, MetricTable
from headwise.nn.networks.attention_inspection import AttentionMap, HeadSpan, mean_distance
from headwise.nn.networks.head_pruning import trained_priors
from headwise.nn.priors.base import Prior
from headwise.nn.priors.drawing import draw

MOST_WORDS = 40
"""The most words of a text for which a heat map is labelled with words."""
_CELL = 13  # pixels
_LETTER = 6.2


def heat_maps(maps: Sequence[AttentionMap], priors: Mapping[str, Sequence[Prior]]) -> Markup:
    """An HTML fragment with a heat map per layer and head: rows are queries, columns are keys, and darker
    cells have larger attention weights. The prior of the head is drawn next to it.

    Args:
        maps: The attention maps of a text, from `attention_weights`.
        priors: The priors of the heads, by module name.
    """
    layers = []
    for layer_map in maps:
        if not any(node.name in ("word", "state") for node in layer_map.queries):
            continue  # these queries are nodes of a tree, not words
        pictures, heads = [], priors.get(layer_map.module, ())
        attends_other_text = any(node.name == "other" for node in layer_map.keys)
        for head, weights in enumerate(layer_map.between_words().tolist()):
            prior = heads[head] if head < len(heads) else None
            caption = f"head {head + 1}" + ("" if prior is None else f": {prior}")
            # Neither the parse nor the sentences nor the matrices of the text are here.
            drawn = prior is not None and prior.tree_use == "none" and not (prior.marks or prior.matrices)
            prior_figure = (
                Markup(draw([prior], len(layer_map.words), legend=False))  # noqa: S704 - of a template
                if prior is not None and drawn
                else ""
            )
            columns = layer_map.attended_words if attends_other_text else ()
            pictures.append((_heat_map(weights, layer_map.words, columns), prior_figure, caption))
        title = f"layer {layer_map.layer}" + (" (second text)" if layer_map.text else "")
        if attends_other_text:
            title += f", on the other text: {' '.join(layer_map.attended_words)}"
        layers.append((title, pictures))
    return render("heads.html.jinja", layers=layers) if layers else Markup()


def learned_priors_figure(encoder: nn.Module, title: str) -> str:
    """An SVG with the prior of each head and what the head has learned, a row of squares for each layer:
    of a text of 24 words whose dependency tree is a chain.

    Args:
        encoder: A trained encoder.
        title: The heading.

    Raises:
        ConfigError: The encoder has no heads with priors.
    """
    layers = trained_priors(encoder)
    if not layers:
        raise ConfigError("the encoder has no heads with priors, so there is nothing to draw")
    length = 24
    place = torch.arange(length)
    chain = (place[:, None] - place).abs()
    marks = {"sentence": place // 5, "paragraph": place // 10, "parent": place - 1}
    return draw(layers, length, title, tree=chain, marks=marks)


def _heat_map(
    rows: list[list[float]], words: Sequence[str], columns: Sequence[str] = ()
) -> dict[str, object]:
    """The values of the SVG of a heat map, `[queries, keys]`; `columns` names the keys where these are not
    the queries."""
    longest = max(len(words), len(columns))
    named = longest <= MOST_WORDS
    cell = _CELL if named else max(2, 560 // longest)
    left, top = (
        round(min(max(map(len, labels), default=0), 14) * _LETTER) + 4 if named and labels else 0
        for labels in (words, columns)
    )
    shades: dict[float, list[str]] = {}
    for query, row in enumerate(rows):
        for key, weight in enumerate(row):
            if weight >= 0.02:
                shades.setdefault(round(min(weight, 1.0), 2), []).append(f"M{key} {query}h.9v.9h-.9z")
    return {
        "cell": cell,
        "left": left,
        "top": top,
        "width": cell * len(rows[0] if rows else ()),
        "height": cell * len(words),
        "rows": [word[:14] for word in words] if named else [],
        "columns": [word[:14] for word in columns] if named else [],
        "shades": [(0.1 + 0.9 * shade, "".join(places)) for shade, places in sorted(shades.items())],
    }


_WIDE, _HIGH, _LEFT, _TOP = 260, 150, 40, 44
_FARTHEST = 20
_COLOURS = ("#c0392b", "#1f5fbf", "#2e8b57")


def distances_by_layer(heads: Sequence[HeadSpan]) -> dict[int, NDArray[np.int64]]:
    """The histogram of attention distances of each layer, summed over its heads, `[distances]`."""
    size = max(len(head.counts) for head in heads)
    totals: dict[int, NDArray[np.int64]] = {}
    for head in heads:
        counts = np.pad(head.counts, (0, size - len(head.counts)))
        totals[head.layer] = totals.get(head.layer, 0) + counts
    return totals


def attention_span_table(heads: Sequence[HeadSpan]) -> Markup:
    """An HTML fragment: the attention span of each head, one row per head."""
    most = max(head.mean for head in heads) or 1.0
    rows = [
        [
            f"layer {head.layer}, head {head.head}",
            head.prior or "-",
            Cell(f"{head.mean:.1f}", bar=head.mean / most),
            *(f"{100 * head.counts[: far + 1].sum() / head.counts.sum():.0f} %" for far in (1, 5)),
        ]
        for head in heads
    ]
    titles = ("head", "prior", "mean distance to the most attended word", "up to 1", "up to 5")
    return render("attention_spans.html.jinja", content=Table(titles, rows))


def attention_span_figure(heads: Sequence[HeadSpan], title: str) -> str:
    """The source of an SVG: three heads of the first layer (shortest, median and longest mean attention
    distance), and the first, a middle and the last layer."""
    first = sorted((head for head in heads if head.layer == 1), key=lambda head: head.mean)
    of_heads = {
        f"head {head.head}, mean {head.mean:.1f}": head.counts
        for head in (first[0], first[len(first) // 2], first[-1])
    }
    layers = distances_by_layer(heads)
    layer_numbers = sorted({1, (1 + len(layers)) // 2, len(layers)})
    chosen = {f"layer {n}, mean {mean_distance(layers[n]):.1f}": layers[n] for n in layer_numbers}
    panels = [
        _panel(0, "(a) heads of the first layer", of_heads),
        _panel(_WIDE + _LEFT + 10, "(b) layers", chosen),
    ]
    picture = render(
        "attention_spans.svg.jinja",
        title=title,
        panels=panels,
        width=2 * (_WIDE + _LEFT) + 30,
        height=_TOP + _HIGH + 40,
        top=_TOP,
        bottom=_TOP + _HIGH,
    )
    return str(picture)


def _panel(shift: int, title: str, lines: Mapping[str, NDArray[np.int64]]) -> dict[str, object]:
    shares = {name: counts / max(counts.sum(), 1) for name, counts in lines.items()}
    top = max(float(histogram[: _FARTHEST + 1].max()) for histogram in shares.values()) or 1.0
    left = shift + _LEFT
    drawn = []
    for (name, histogram), colour in zip(shares.items(), _COLOURS, strict=False):
        points = " ".join(
            f"{left + _WIDE * n / _FARTHEST:.1f},{_TOP + _HIGH - _HIGH * share / top:.1f}"
            for n, share in enumerate(histogram[: _FARTHEST + 1])
        )
        drawn.append((name, colour, points))
    return {
        "title": title,
        "left": left,
        "right": left + _WIDE,
        "most": f"{100 * top:.0f} %",
        "ticks": [(left + _WIDE * n / _FARTHEST, n) for n in range(0, _FARTHEST + 1, 5)],
        "lines": drawn,
    }


_WIDE_CURVE_PICTURE, _HIGH_CURVE_PICTURE, _LEFT_CURVE_PICTURE, _TOP_CURVE_PICTURE = 480, 260, 56, 34
_COLOUR = "#2f74d0"


def learning_curve_figure(
    title: str,
    metric_table: MetricTable,
    sizes: NDArray[np.int64],
    scores: NDArray[np.float64],
    law: PowerLaw,
    most: float,
) -> str:
    """The source of an SVG.

    Args:
        title: The title of the figure.
        metric_table: The metric table: how the score is formatted, and whether lower is better.
        sizes: Numbers of training items, `[sizes]`.
        scores: The scores of the models, `[seeds, sizes]`.
        law: The power law that was fitted to their errors.
        most: The largest number of training items on the horizontal axis.
    """
    places = np.geomspace(sizes.min(), most, 60)
    errors = np.array([law.error(place) for place in places]).T
    middle, low, high = errors if metric_table.lower else 1 - errors
    bottom = min(scores.min(), low.min(), high.min(), middle.min())
    top = max(scores.max(), low.max(), high.max(), middle.max())
    form = FORMATS[metric_table.primary_metric.form]

    def x(items: float) -> float:
        return _LEFT_CURVE_PICTURE + _WIDE_CURVE_PICTURE * float(
            np.log(items / sizes.min()) / np.log(most / sizes.min())
        )

    def y(score: float) -> float:
        return _TOP_CURVE_PICTURE + _HIGH_CURVE_PICTURE * float(
            1 - (score - bottom) / ((top - bottom) or 1)
        )

    def line(values: Iterable[float], items: Iterable[float]) -> str:
        return " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in zip(items, values, strict=True))

    caption = (
        f"{metric_table.of} to train on; dots: {metric_table.primary_metric.title} of models, line: power "
        "law, band: its 95 % interval"
    )
    picture = render(
        "learning_curve.svg.jinja",
        title=title,
        caption=caption,
        colour=_COLOUR,
        left=_LEFT_CURVE_PICTURE,
        right=_LEFT_CURVE_PICTURE + _WIDE_CURVE_PICTURE,
        top=_TOP_CURVE_PICTURE,
        bottom=_TOP_CURVE_PICTURE + _HIGH_CURVE_PICTURE,
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
