"""Line plots as inline SVG, and HTML tables with bars, in the colours of the page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from headwise.report.page import escaped

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
        f'<text x="{_LEFT + width / 2}" y="{_HEIGHT - 4}" text-anchor="middle">{escaped(names[0])}</text>'
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
    legend = ", ".join(f"{escaped(line.name)}: {signs[n]}" for n, line in enumerate(lines))
    legend = legend if len(lines) > 1 else escaped(lines[0].name)
    return (
        f'<figure><svg class="hw-plot" role="img" viewBox="0 0 {_WIDTH} {_HEIGHT}">'
        f"<title>{escaped(title)}</title>{''.join(body)}</svg>"
        f"<figcaption>{escaped(names[1])}; {legend}</figcaption></figure>"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table whose first column holds the row headers.

    Args:
        head: The column titles, plain text.
        rows: The cells, HTML.
    """
    top = "".join(f'<th scope="col">{escaped(name)}</th>' for name in head)
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
