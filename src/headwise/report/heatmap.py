"""Heat maps: what each head looks at in a text, and beside it what its prior lets it see."""

from collections.abc import Mapping, Sequence

from headwise.models.attention_weights import AttentionMap
from headwise.priors.base import Prior
from headwise.priors.draw import draw
from headwise.report.page import escaped

MOST_WORDS = 40
"""Words of a text up to which words have names."""
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
    """A piece of a page: for each layer and head a square, rows the words that look, columns the words that
    are looked at, the darker the more of a word's attention goes there; and its prior.

    Args:
        maps: What `attention_weights` says of a text.
        priors: Those of the heads, by the name of the module.
    """
    pieces = []
    for own in maps:
        if not any(node.name in ("word", "state") for node in own.queries):
            continue  # nodes, which stand for no word
        squares, heads = [], priors.get(own.module, ())
        other = any(node.name == "other" for node in own.keys)
        for head, weights in enumerate(own.between_words().tolist()):
            prior = heads[head] if head < len(heads) else None
            told = f"head {head + 1}" + ("" if prior is None else f": {prior}")
            drawn = prior is not None and "tree" not in str(prior)  # of which there is none here
            beside = draw([prior], len(own.words), legend=False) if prior is not None and drawn else ""
            squares.append(
                f"<figure>{_square(weights, own.words, told, own.seen if other else ())}{beside}"
                f"<figcaption>{escaped(told)}</figcaption></figure>"
            )
        title = f"layer {own.layer}" + (" (second text)" if own.text else "")
        if other:
            title += f", on the other text: {' '.join(own.seen)}"
        pieces.append(f'<h3>{escaped(title)}</h3><div class="hw-maps">{"".join(squares)}</div>')
    note = "Rows: the words that look; columns: the words that they look at, in the same order."
    return f"<p>{note} Beside each head what its prior lets it see.</p>{''.join(pieces)}" if pieces else ""


def _square(rows: list[list[float]], words: Sequence[str], title: str, columns: Sequence[str] = ()) -> str:
    """A map; `columns` are named where they are other words than the rows."""
    longest = max(len(words), len(columns))
    named = longest <= MOST_WORDS
    cell = _CELL if named else max(2, 560 // longest)
    left, top = (
        round(min(max(map(len, own), default=0), 14) * _LETTER) + 4 if named and own else 0
        for own in (words, columns)
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
