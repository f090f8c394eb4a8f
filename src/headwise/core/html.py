"""A self-contained HTML page: no network access, no third-party scripts, light, dark and print styles.

Line plots as inline SVG, and HTML tables with bars, in the colours of the page.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_STYLE = """\
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --paper: #fff;
  --panel: #f6f8fa; --for: 31 95 191; --against: 196 89 17; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --paper: #0d1117; --panel: #151b23; --for: 88 166 255; --against: 240 136 62; } }
.hw { color: var(--ink); font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; }
.hw h1, .hw h2, .hw h3 { line-height: 1.25; overflow-wrap: anywhere; }
.hw h1 { font-size: 1.6rem; margin: .5rem 0; }
.hw h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
.hw h3 { font-size: 1rem; margin: .75rem 0 .25rem; }
.hw-text { margin: .25rem 0; overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: plaintext; }
.hw mark { color: inherit; border-radius: 3px; padding: 0 1px; }
.hw-for { background: rgb(var(--for) / calc(.1 + .5 * var(--s)));
  text-decoration: underline; text-decoration-thickness: calc(3px * var(--s)); text-underline-offset: 3px; }
.hw-against { background: rgb(var(--against) / calc(.1 + .5 * var(--s)));
  text-decoration: underline dotted; }
.hw-note { color: var(--soft); margin: .25rem 0; }
.hw-why { border-top: 1px solid var(--line); }
"""
_PAGE_STYLE = """\
body { background: var(--paper); margin: 0 auto; max-width: 70rem; padding: 1rem; }
@media print { body { max-width: none; padding: 0; } .hw mark { print-color-adjust: exact; } }
"""


class Page(str):
    """The source of a complete HTML page, which a notebook shows in an iframe."""

    def _repr_html_(self) -> str:
        style = "width:100%;height:40rem;border:1px solid"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(self)}"></iframe>'


def html_page(title: str, body: str, *, style: str = "", script: str = "", full: bool = True) -> str:
    """An HTML page, or a fragment for a notebook if `full` is false.

    Args:
        title: The title, plain text.
        body: The HTML, in which all text from data is `escape_html`.
        style: Additional CSS rules.
        script: JavaScript, placed at the end of the page.
        full: Whether to return a complete page.
    """
    if not full:
        return f'<div class="hw"><style>{_STYLE}{style}</style>{body}</div>'
    code = f"<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape_html(title)}</title>\n<style>{_STYLE}{_PAGE_STYLE}{style}</style>\n</head>\n"
        f'<body class="hw">\n{body}\n{code}</body>\n</html>\n'
    )


def escape_html(text: str) -> str:
    """Text with HTML markup escaped and characters that HTML forbids removed."""
    return escape(
        re.sub(r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010fffd]", "", text)
    )


def isolated(text: str) -> str:
    """Escaped text isolated from the writing direction of the text around it (`<bdi>`): otherwise a Hebrew
    word would move the colon and number after it to its other side. Text without visible characters, such
    as a zero-width space, is written as an escape sequence."""
    seen = not text or any(character.isprintable() for character in text)
    return f"<bdi>{escape_html(text if seen else text.encode('unicode_escape').decode())}</bdi>"


_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 420, 250, 52, 38, 10, 24

STYLE = """\
.hw-plot { width: 100%; max-width: 30rem; height: auto; font-size: 12px; }
.hw-plot text { fill: var(--soft); }
.hw-plot line { stroke: var(--line); }
.hw-plot polyline { fill: none; stroke-width: 2; }
.hw-plot .s0 { stroke: rgb(var(--for)); } .hw-plot circle.s0 { fill: rgb(var(--for)); }
.hw-plot .s1 { stroke: rgb(var(--against)); stroke-dasharray: 6 3; }
.hw-plot circle.s1 { fill: rgb(var(--against)); stroke-dasharray: none; }
.hw-plot .guide { stroke: var(--soft); stroke-dasharray: 2 4; }
.hw-bar { background: rgb(var(--for) / .55); border-radius: 2px; display: inline-block; height: .7em; }
"""


@dataclass(frozen=True)
class Series:
    """A line of a plot.

    Attributes:
        name: The name in the legend.
        points: Pairs `(x, y)`.
        sizes: The size of each dot, from 0 to 1; small dots by default.
    """

    name: str
    points: Sequence[tuple[float, float]]
    sizes: Sequence[float] = ()


def plot(
    title: str,
    lines: Sequence[Series],
    x: tuple[float, float],
    y: tuple[float, float],
    names: tuple[str, str],
    *,
    percent: tuple[bool, bool] = (False, False),
    guide: bool = False,
) -> str:
    """A line plot as the source of an SVG.

    Args:
        title: The title, for screen readers.
        lines: At most two lines.
        x: The limits of the x axis.
        y: The limits of the y axis.
        names: The titles of the x and the y axis.
        percent: Whether the values of the x and the y axis are fractions, shown in per cent.
        guide: Whether to draw the diagonal.
    """
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def across(value: float) -> float:
        return round(_LEFT + width * (value - x[0]) / ((x[1] - x[0]) or 1), 1)

    def up(value: float) -> float:
        return round(_TOP + height * (1 - (value - y[0]) / ((y[1] - y[0]) or 1)), 1)

    body = []
    for low, high, shares, horizontal in ((*y, percent[1], True), (*x, percent[0], False)):
        for value in ticks(low, high, 0 if shares or horizontal else 1):  # epochs are integers
            label = f"{100 * value:.6g} %" if shares else f"{value:.6g}"
            if horizontal:
                body.append(
                    f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{up(value)}" y2="{up(value)}"/>'
                )
                place = f'x="{_LEFT - 6}" y="{up(value) + 4}" text-anchor="end"'
            else:
                place = f'x="{across(value)}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle"'
            body.append(f"<text {place}>{label}</text>")
    body.append(
        f'<text x="{_LEFT + width / 2}" y="{_HEIGHT - 4}" text-anchor="middle">'
        f"{escape_html(names[0])}</text>"
    )
    if guide:
        body.append(
            f'<line class="guide" x1="{across(x[0])}" y1="{up(x[0])}" x2="{across(x[1])}" y2="{up(x[1])}"/>'
        )
    for number, line in enumerate(lines):
        places = [(across(x_value), up(y_value)) for x_value, y_value in line.points]
        points = " ".join(f"{left},{top}" for left, top in places)
        body.append(f'<polyline class="s{number}" points="{points}"/>')
        sizes = line.sizes or ([0.2] * len(places) if len(places) < 40 else [])
        for (left, top), size in zip(places, sizes, strict=False):
            body.append(f'<circle class="s{number}" cx="{left}" cy="{top}" r="{1.5 + 5 * size:.1f}"/>')
    signs = ("blue line", "orange dashes")
    legend = ", ".join(f"{escape_html(line.name)}: {signs[n]}" for n, line in enumerate(lines))
    legend = legend if len(lines) > 1 else escape_html(lines[0].name)
    return (
        f'<figure><svg class="hw-plot" role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f"<title>{escape_html(title)}</title>{''.join(body)}</svg>"
        f"<figcaption>{escape_html(names[1])}; {legend}</figcaption></figure>"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table whose first column holds the row headers.

    Args:
        head: The column titles, plain text.
        rows: The cells, HTML.
    """
    top = "".join(f'<th scope="col">{escape_html(name)}</th>' for name in head)
    lines = "".join(
        f'<tr><th scope="row">{cells[0]}</th>{"".join(f"<td>{cell}</td>" for cell in cells[1:])}</tr>'
        for cells in rows
    )
    return f'<div class="hw-wide" tabindex="0"><table><tr>{top}</tr>{lines}</table></div>'


def ticks(low: float, high: float, least: float = 0) -> list[float]:
    """Round tick values between two limits: at most seven, at least `least` apart; none where the range is
    not finite."""
    if not math.isfinite(high - low):
        return []
    unit = 10.0 ** math.floor(math.log10(max(((high - low) or 1) / 5, least)))
    step = next(
        candidate
        for candidate in (unit, 2 * unit, 5 * unit, 10 * unit)
        if (high - low) / candidate <= 6.001
    )
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    return [round(number * step, 12) for number in range(first, last + 1)]


def bar(share: float) -> str:
    """A bar for a table cell; `share` is its width as a fraction of the widest bar."""
    return f'<span class="hw-bar" style="width:{max(min(share, 1.0), 0.0) * 8:.2f}em"></span>'
