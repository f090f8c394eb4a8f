"""The attention spans of heads as a figure: MS-Trans, Figure 3, with any encoder in place of BERT."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from headwise.models.probe import HeadReach, mean_distance
from headwise.report.plots import bar, table

_WIDE, _HIGH, _LEFT, _TOP = 260, 150, 40, 44
_FARTHEST = 20
_COLOURS = ("#c0392b", "#1f5fbf", "#2e8b57")


def by_layer(heads: Sequence[HeadReach]) -> dict[int, NDArray[np.int64]]:
    """The histogram of attention distances of each layer, summed over its heads, `[distances]`."""
    size = max(len(head.counts) for head in heads)
    totals: dict[int, NDArray[np.int64]] = {}
    for head in heads:
        counts = np.pad(head.counts, (0, size - len(head.counts)))
        totals[head.layer] = totals.get(head.layer, 0) + counts
    return totals


def reach_table(heads: Sequence[HeadReach]) -> str:
    """An HTML fragment: the attention span of each head, one row per head."""
    most = max(head.mean for head in heads) or 1.0
    rows = []
    for head in heads:
        shares = [f"{100 * head.counts[: far + 1].sum() / head.counts.sum():.0f} %" for far in (1, 5)]
        name, mean = f"layer {head.layer}, head {head.head}", f"{head.mean:.1f} {bar(head.mean / most)}"
        rows.append([name, escape(head.prior) or "-", mean, *shares])
    titles = ("head", "prior", "words to the one it looks at most, in the mean", "up to 1", "up to 5")
    return f"<h3>How far heads look</h3>{table(titles, rows)}"


def figure(heads: Sequence[HeadReach], title: str) -> str:
    """The source of an SVG: three heads of the first layer (shortest, median and longest mean attention
    distance), and the first, a middle and the last layer."""
    first = sorted((head for head in heads if head.layer == 1), key=lambda head: head.mean)
    of_heads = {
        f"head {head.head}, mean {head.mean:.1f}": head.counts
        for head in (first[0], first[len(first) // 2], first[-1])
    }
    layers = by_layer(heads)
    layer_numbers = sorted({1, (1 + len(layers)) // 2, len(layers)})
    chosen = {f"layer {n}, mean {mean_distance(layers[n]):.1f}": layers[n] for n in layer_numbers}
    width = 2 * (_WIDE + _LEFT) + 30
    panels = _panel(0, "(a) heads of the first layer", of_heads) + _panel(
        _WIDE + _LEFT + 10, "(b) layers", chosen
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_TOP + _HIGH + 40}" '
        'font-family="system-ui, sans-serif" font-size="10">'
        f'<text x="8" y="16" font-size="13">{escape(title)}</text>{panels}</svg>\n'
    )


def _panel(shift: int, title: str, lines: Mapping[str, NDArray[np.int64]]) -> str:
    shares = {name: counts / max(counts.sum(), 1) for name, counts in lines.items()}
    top = max(float(histogram[: _FARTHEST + 1].max()) for histogram in shares.values()) or 1.0
    x0, y0 = shift + _LEFT, _TOP + _HIGH
    parts = [
        f'<text x="{x0}" y="{_TOP - 8}" font-weight="600">{escape(title)}</text>',
        f'<path d="M{x0} {_TOP}V{y0}H{x0 + _WIDE}" fill="none" stroke="currentColor" opacity=".5"/>',
        f'<text x="{x0 - 4}" y="{_TOP + 8}" text-anchor="end">{100 * top:.0f} %</text>',
        f'<text x="{x0 + _WIDE / 2}" y="{y0 + 28}" text-anchor="middle">words from query to key</text>',
    ]
    for distance in range(0, _FARTHEST + 1, 5):
        x = x0 + _WIDE * distance / _FARTHEST
        parts.append(f'<text x="{x:.0f}" y="{y0 + 14}" text-anchor="middle">{distance}</text>')
    for number, ((name, histogram), colour) in enumerate(zip(shares.items(), _COLOURS, strict=False)):
        points = " ".join(
            f"{x0 + _WIDE * n / _FARTHEST:.1f},{y0 - _HIGH * share / top:.1f}"
            for n, share in enumerate(histogram[: _FARTHEST + 1])
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        parts.append(
            f'<text x="{x0 + _WIDE}" y="{_TOP + 10 + 13 * number}" text-anchor="end" fill="{colour}">'
            f"{escape(name)}</text>"
        )
    return "".join(parts)
