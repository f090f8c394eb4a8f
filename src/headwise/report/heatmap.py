"""Attention heat maps: the attention weights of each head in a text, and the mask of its prior."""

from collections.abc import Mapping, Sequence

from headwise.models.attention_weights import AttentionMap
from headwise.priors.base import Prior
from headwise.priors.draw import draw
from headwise.report.page import escaped

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
                f"<figure>{_square(weights, layer_map.words, caption, columns)}{prior_figure}"
                f"<figcaption>{escaped(caption)}</figcaption></figure>"
            )
        title = f"layer {layer_map.layer}" + (" (second text)" if layer_map.text else "")
        if attends_other_text:
            title += f", on the other text: {' '.join(layer_map.seen)}"
        pieces.append(f'<h3>{escaped(title)}</h3><div class="hw-maps">{"".join(squares)}</div>')
    note = "Rows: the words that look; columns: the words that they look at, in the same order."
    return f"<p>{note} Beside each head what its prior lets it see.</p>{''.join(pieces)}" if pieces else ""


def _square(rows: list[list[float]], words: Sequence[str], title: str, columns: Sequence[str] = ()) -> str:
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
        f'<text x="-4" y="{cell * place + cell - 4}" text-anchor="end">{escaped(word[:14])}</text>'
        for place, word in enumerate(words if named else ())
    ]
    names += [
        f'<text transform="translate({cell * place + cell - 4} -4) rotate(-90)">{escaped(word[:14])}</text>'
        for place, word in enumerate(columns if named else ())
    ]
    return (
        f'<svg class="hw-heat" role="img" width="{left + width}" height="{top + height}" '
        f'viewBox="{-left} {-top} {left + width} {top + height}"><title>{escaped(title)}</title>'
        f'<rect class="paper" width="{width}" height="{height}"/>{"".join(names)}'
        f'<g transform="scale({cell})">{cells}</g></svg>'
    )
