"""Self-contained HTML pages and SVG figures from the templates in `headwise.core.templates`.

Pages need no network and no third-party scripts, and share one style sheet with light, dark and print
styles. Templates escape all values; characters that HTML forbids are removed. Values of the type `Markup`
are HTML already.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from jinja2 import Environment

_FORBIDDEN = re.compile(r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010fffd]")
_LEAST_STRENGTH = 0.12  # of the largest attribution of a text; words below it are not highlighted


class Page(str):
    """The source of a complete HTML page, which a notebook shows in an iframe."""

    def _repr_html_(self) -> str:
        frame = Markup('<iframe sandbox="allow-scripts" style="{}" srcdoc="{}"></iframe>')
        return frame.format("width:100%;height:40rem;border:1px solid", str(self))


def render(template: str, **values: object) -> Markup:
    """A filled template of `headwise.core.templates`. What is returned to users is made a `str`: with
    `Markup`, `"<p>" + page` would escape the tag."""
    return Markup(_environment().get_template(template).render(values))  # noqa: S704 - values are escaped


def stream(template: str, **values: object) -> Iterator[str]:
    """The pieces of a filled template, for values that are iterators over more than fits into memory."""
    return _environment().get_template(template).generate(values)


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("headwise.core"),
        autoescape=True,
        auto_reload=False,
        finalize=lambda value: _FORBIDDEN.sub("", value) if type(value) is str else value,
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["isolated"] = isolated
    names: dict[str, Any] = environment.globals
    names["least_strength"] = _LEAST_STRENGTH
    return environment


def notebook_html(body: str) -> str:
    """HTML for a notebook, with the style sheet: `body`, in which all text from data is `escape_html`."""
    return str(render("notebook.html.jinja", body=Markup(body)))  # noqa: S704 - HTML by contract


def escape_html(text: str) -> Markup:
    """Text with HTML markup escaped and characters that HTML forbids removed."""
    return escape(_FORBIDDEN.sub("", text))


def isolated(text: str) -> Markup:
    """Escaped text isolated from the writing direction of the text around it (`<bdi>`): otherwise a Hebrew
    word would move the colon and number after it to its other side. Text without visible characters, such
    as a zero-width space, is written as an escape sequence."""
    seen = not text or any(character.isprintable() for character in text)
    shown = text if seen else text.encode("unicode_escape").decode()
    return Markup("<bdi>{}</bdi>").format(escape_html(shown))


@dataclass(frozen=True)
class Cell:
    """A table cell with more than text.

    Attributes:
        text: The text.
        note: Small print below the text.
        bar: The length of a bar after the text, as a fraction of the longest bar.
        tone: The colour of the background: "for", "against", or "" for none.
        strength: The strength of that colour, from 0 to 1.
        interval: The lower end, the upper end and the value of a confidence interval, in per cent of the
            width of the cell.
    """

    text: str = ""
    note: str = ""
    bar: float | None = None
    tone: str = ""
    strength: float = 0.0
    interval: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Table:
    """A table whose first column holds the row headers: the column titles, and the cells of each row.

    Attributes:
        head: The column titles.
        rows: The cells of each row.
        caption: A sentence above the table.
        sortable: Whether a report sorts the rows by a column when its title is pressed.
        stacked: The number of leading columns that get a line of their own on a narrow screen.
        equal: The width of all columns but the first, in characters; 0: each is as wide as its content.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    caption: str = ""
    sortable: bool = False
    stacked: int = 0
    equal: int = 0


@dataclass(frozen=True)
class Section:
    """A section of a page. What it has is shown in this order.

    Attributes:
        figures: Figures side by side.
        tables: Tables, one below the other.
        columns: Tables side by side, each with its title.
        notes: Paragraphs.
        facts: A table of names and values.
        details: Texts that are shown on demand, each with its title.
        body: Anything else.
    """

    figures: Sequence[Markup] = ()
    tables: Sequence[Table] = ()
    columns: Mapping[str, Table] = field(default_factory=dict)
    notes: Sequence[str] = ()
    facts: Table | None = None
    details: Mapping[str, str] = field(default_factory=dict)
    body: Markup = field(default_factory=Markup)

    def __bool__(self) -> bool:
        return any(vars(self).values())


_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 420, 250, 52, 38, 10, 24


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
    mark: float | None = None,
) -> Markup:
    """A line plot as the source of an SVG.

    Args:
        title: The title, for screen readers.
        lines: At most two lines.
        x: The limits of the x axis.
        y: The limits of the y axis.
        names: The titles of the x and the y axis.
        percent: Whether the values of the x and the y axis are fractions, shown in per cent.
        guide: Whether to draw the diagonal.
        mark: The x value of a vertical line; None without.
    """
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def across(value: float) -> float:
        return round(_LEFT + width * (value - x[0]) / ((x[1] - x[0]) or 1), 1)

    def up(value: float) -> float:
        return round(_TOP + height * (1 - (value - y[0]) / ((y[1] - y[0]) or 1)), 1)

    def label(value: float, fraction: bool) -> str:
        return f"{100 * value:.6g} %" if fraction else f"{value:.6g}"

    drawn = []
    for line in lines:
        places = [(across(x_value), up(y_value)) for x_value, y_value in line.points]
        sizes = line.sizes or ([0.2] * len(places) if len(places) < 40 else [])
        dots = [(*place, 1.5 + 5 * size) for place, size in zip(places, sizes, strict=False)]
        drawn.append((places, dots))
    return render(
        "plot.html.jinja",
        title=title,
        names=names,
        legend=[line.name for line in lines],
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        right=_WIDTH - _RIGHT,
        top=_TOP,
        bottom=_HEIGHT - _BOTTOM,
        # An x axis without fractions has epochs, which are integers.
        x_ticks=[(across(value), label(value, percent[0])) for value in ticks(*x, 0 if percent[0] else 1)],
        y_ticks=[(up(value), label(value, percent[1])) for value in ticks(*y)],
        lines=drawn,
        guide=guide,
        mark=None if mark is None else across(min(max(mark, x[0]), x[1])),
    )


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
