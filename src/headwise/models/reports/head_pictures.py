"""Attention heat maps: the attention weights of each head in a text, and the mask of its prior.

The attention spans of heads as a figure: MS-Trans, Figure 3, with any encoder in place of BERT.
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from headwise.core.html import bar, escape_html, table
from headwise.nn.networks.attention_inspection import AttentionMap, HeadSpan, mean_distance
from headwise.nn.priors.base import Prior
from headwise.nn.priors.drawing import draw

MOST_WORDS = 40
"""The most words of a text for which a heat map is labelled with words."""
_CELL = 13  # pixels
_LETTER = 6.2

STYLE = """\
.hw-maps { display: flex; flex-wrap: wrap; gap: 1rem; }
.hw-maps figure { margin: 0; max-width: 100%; overflow-x: auto; }
.hw-maps svg { margin-right: .5rem; vertical-align: top; }
.hw-heat { font: 10px ui-sans-serif, system-ui, sans-serif; }
.hw-heat text { fill: currentColor; }
.hw-heat .paper { fill: var(--panel); }
.hw-heat path { fill: rgb(var(--for)); }
"""


def heat_maps(maps: Sequence[AttentionMap], priors: Mapping[str, Sequence[Prior]]) -> str:
    """An HTML fragment with a heat map per layer and head: rows are queries, columns are keys, and darker
    cells have larger attention weights. The prior of the head is drawn next to it.

    Args:
        maps: The attention maps of a text, from `attention_weights`.
        priors: The priors of the heads, by module name.
    """
    pieces = []
    for layer_map in maps:
        if not any(node.name in ("word", "state") for node in layer_map.queries):
            continue  # these queries are nodes of a tree, not words
        squares, heads = [], priors.get(layer_map.module, ())
        attends_other_text = any(node.name == "other" for node in layer_map.keys)
        for head, weights in enumerate(layer_map.between_words().tolist()):
            prior = heads[head] if head < len(heads) else None
            caption = f"head {head + 1}" + ("" if prior is None else f": {prior}")
            drawn = prior is not None and "tree" not in str(prior)  # there is no parse here
            prior_figure = (
                draw([prior], len(layer_map.words), legend=False) if prior is not None and drawn else ""
            )
            columns = layer_map.seen if attends_other_text else ()
            squares.append(
                f"<figure>{_heat_map(weights, layer_map.words, caption, columns)}{prior_figure}"
                f"<figcaption>{escape_html(caption)}</figcaption></figure>"
            )
        title = f"layer {layer_map.layer}" + (" (second text)" if layer_map.text else "")
        if attends_other_text:
            title += f", on the other text: {' '.join(layer_map.seen)}"
        pieces.append(f'<h3>{escape_html(title)}</h3><div class="hw-maps">{"".join(squares)}</div>')
    note = "Rows: the words that look; columns: the words that they look at, in the same order."
    return f"<p>{note} Beside each head what its prior lets it see.</p>{''.join(pieces)}" if pieces else ""


def _heat_map(
    rows: list[list[float]], words: Sequence[str], title: str, columns: Sequence[str] = ()
) -> str:
    """The SVG of a heat map, `[queries, keys]`; `columns` names the keys where these are not the
    queries."""
    longest = max(len(words), len(columns))
    named = longest <= MOST_WORDS
    cell = _CELL if named else max(2, 560 // longest)
    left, top = (
        round(min(max(map(len, labels), default=0), 14) * _LETTER) + 4 if named and labels else 0
        for labels in (words, columns)
    )
    height, width = cell * len(words), cell * len(rows[0] if rows else ())
    shades: dict[float, list[str]] = {}
    for query, row in enumerate(rows):
        for key, weight in enumerate(row):
            if weight >= 0.02:
                shades.setdefault(round(min(weight, 1.0), 2), []).append(f"M{key} {query}h.9v.9h-.9z")
    cells = "".join(
        f'<path opacity="{0.1 + 0.9 * shade:.2f}" d="{"".join(places)}"/>'
        for shade, places in sorted(shades.items())
    )
    names = [
        f'<text x="-4" y="{cell * place + cell - 4}" text-anchor="end">{escape_html(word[:14])}</text>'
        for place, word in enumerate(words if named else ())
    ]
    names += [
        f'<text transform="translate({cell * place + cell - 4} -4) rotate(-90)">'
        f"{escape_html(word[:14])}</text>"
        for place, word in enumerate(columns if named else ())
    ]
    return (
        f'<svg class="hw-heat" role="img" width="{left + width}" height="{top + height}" '
        f'viewBox="{-left} {-top} {left + width} {top + height}"><title>{escape_html(title)}</title>'
        f'<rect class="paper" width="{width}" height="{height}"/>{"".join(names)}'
        f'<g transform="scale({cell})">{cells}</g></svg>'
    )


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


def attention_span_table(heads: Sequence[HeadSpan]) -> str:
    """An HTML fragment: the attention span of each head, one row per head."""
    most = max(head.mean for head in heads) or 1.0
    rows = []
    for head in heads:
        shares = [f"{100 * head.counts[: far + 1].sum() / head.counts.sum():.0f} %" for far in (1, 5)]
        name, mean = f"layer {head.layer}, head {head.head}", f"{head.mean:.1f} {bar(head.mean / most)}"
        rows.append([name, escape(head.prior) or "-", mean, *shares])
    titles = ("head", "prior", "words to the one it looks at most, in the mean", "up to 1", "up to 5")
    return f"<h3>How far heads look</h3>{table(titles, rows)}"


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
