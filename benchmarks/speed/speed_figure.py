"""Figure 4 of the MS-Trans paper: milliseconds for a batch of 128 texts, as one SVG picture."""

import math
import statistics
from html import escape

_STYLE = """\
.speed { color: #1f2328; font: 11px ui-sans-serif, system-ui, sans-serif; }
.speed text { fill: currentColor; }
.speed .title { font-size: 14px; font-weight: 600; }
.speed .group { font-weight: 600; }
.speed .note { opacity: .7; }
.speed line { stroke: currentColor; opacity: .15; }
@media (prefers-color-scheme: dark) { .speed { color: #e6edf3; } }"""
_COLOURS = {
    "floor": "#9aa4ae",
    "ms-transformer": "#1f5fbf",
    "star-transformer": "#5aa7d6",
    "bp-transformer": "#3a8f7b",
    "transformer": "#b8860b",
    "bilstm": "#8a5fbf",
    "torch fast path": "#d2691e",
    "padded Transformer": "#b03a48",
}
_NAMES = {
    "floor": "MS-Trans, its matrix products alone (the floor)",
    "ms-transformer": "MS-Trans",
    "star-transformer": "Star-Transformer",
    "bp-transformer": "BP-Transformer",
    "transformer": "Transformer (headwise)",
    "bilstm": "BiLSTM",
    "torch fast path": "torch.nn.TransformerEncoder, fast path",
    "padded Transformer": "Transformer, padded and unfused (as in 2019)",
}
_LEFT, _WIDTH, _BAR, _GAP, _LINE = 190, 420, 13, 10, 16
_ORDERS = {"random": "texts in random order (as in the paper)", "sorted": "texts sorted by length"}


def figure(milliseconds: dict[str, dict[str, dict[str, float]]], environment: str) -> str:
    """The picture.

    Args:
        milliseconds: Of a batch of 128 texts, by order, domain and system.
        environment: What it was measured with, a line of text.
    """
    shown = {order: _groups(milliseconds[order]) for order in _ORDERS if order in milliseconds}
    systems = [
        name for name in _COLOURS if any(name in times for g in shown.values() for times in g.values())
    ]
    every = [time for groups in shown.values() for times in groups.values() for time in times.values()]
    low, high = math.floor(math.log10(min(every))), math.ceil(math.log10(max(every)))

    def place(time: float) -> float:
        return _LEFT + _WIDTH * (math.log10(time) - low) / max(high - low, 1)

    body = [
        '<text class="title" x="8" y="20">Milliseconds for a batch of 128 texts (logarithmic)</text>',
        f'<text class="note" x="8" y="36">{escape(environment)}</text>',
    ]
    y = 48
    for name in systems:
        body.append(f'<rect x="8" y="{y}" width="11" height="11" fill="{_COLOURS[name]}"/>')
        body.append(f'<text x="25" y="{y + 10}">{_NAMES[name]}</text>')
        y += _LINE
    for order, groups in shown.items():
        y += _GAP
        body.append(f'<text class="group" x="8" y="{y + 10}">{_ORDERS[order]}</text>')
        y += _LINE
        top = y
        bars = []
        for group, times in groups.items():
            bars.append(f'<text x="{_LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(group)}</text>')
            for name in systems:
                if name not in times:
                    continue
                end, title = place(times[name]), f"{_NAMES[name]}: {_shown(times[name])} ms"
                bars.append(
                    f'<rect x="{_LEFT}" y="{y + 1}" width="{end - _LEFT:.1f}" height="{_BAR - 2}" '
                    f'fill="{_COLOURS[name]}"><title>{title}</title></rect>'
                )
                bars.append(f'<text x="{end + 4:.1f}" y="{y + 10}">{_shown(times[name])}</text>')
                y += _BAR
            y += _GAP
        for power in range(low, high + 1):
            x = place(10**power)
            body.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{y - _GAP}"/>')
        body += bars
    width = _LEFT + _WIDTH + 60
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="speed" width="{width}" height="{y}" '
            f'viewBox="0 0 {width} {y}" role="img" aria-label="Milliseconds for a batch of 128 texts">',
            f"<style>\n{_STYLE}\n</style>",
            *body,
            "</svg>\n",
        ]
    )


def _groups(domains: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """MR, IMDB and the mean of all domains."""
    groups = {title: domains[name] for name, title in (("MR", "MR"), ("imdb", "IMDB")) if name in domains}
    systems = next(iter(domains.values()))
    mean = {name: statistics.mean(times[name] for times in domains.values()) for name in systems}
    return {**groups, f"mean of {len(domains)} domains": mean}


def _shown(milliseconds: float) -> str:
    return f"{milliseconds:,.0f}" if milliseconds >= 10 else f"{milliseconds:.1f}"
