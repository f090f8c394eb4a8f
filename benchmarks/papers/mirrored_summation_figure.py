"""What mirrored_summation.py writes: the runs as csv, and their means over K as a picture."""

import csv
import math
import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from html import escape
from pathlib import Path

from benchmarks.papers.mirrored_summation_models import MODELS
from benchmarks.papers.mirrored_sums import chance_error, linear_error
from headwise.core.errors import HeadwiseError

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 400, 62, 165, 44, 46
COLOURS = {
    "transformer": "#b8860b",
    "flex": "#1f5fbf",
    "deep-hier": "#2e8b57",
    "hier": "#7cb98f",
    "bilstm": "#b03a48",
}
GREY = "#666"


@dataclass(frozen=True)
class Point:
    """A run: error of one feature on the test sequences, and what it cost."""

    model: str
    terms: int
    seed: int
    mse: float
    steps: int
    rate: float
    warmup: int
    parameters: int
    processor_seconds: float
    precision: str


def write_figure(
    points: Sequence[Point], length: int, title: str, path: Path, *, png: bool = False
) -> list[Path]:
    """Write the csv file and the pictures in its folder; returns their paths.

    Raises:
        HeadwiseError: There is nothing to draw, or cairosvg is missing for a PNG.
    """
    if not points:
        raise HeadwiseError("no runs to draw")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*(field.name for field in fields(Point)), "chance", "linear"])
        for point in points:
            levels = (f(point.terms, length) for f in (chance_error, linear_error))
            rows.writerow([*astuple(point), *(f"{value:.6f}" for value in levels)])
    os.replace(partial, path)
    drawn = picture(points, length, title)
    path.with_suffix(".svg").write_text(drawn, encoding="utf-8")
    written = [path, path.with_suffix(".svg")]
    if png:
        try:
            from cairosvg import svg2png  # type: ignore[import-not-found]
        except ImportError:
            raise HeadwiseError("a PNG needs cairosvg: pip install cairosvg") from None
        svg2png(bytestring=drawn.encode(), write_to=str(path.with_suffix(".png")), scale=2)
        written.append(path.with_suffix(".png"))
    return written


def read_points(path: Path) -> list[Point]:
    """What `write_figure` wrote.

    Raises:
        HeadwiseError: The file cannot be read, or is another one.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            return [Point(*(f.type(row[f.name]) for f in fields(Point))) for row in csv.DictReader(file)]  # type: ignore[operator]
    except (OSError, KeyError, ValueError) as error:
        raise HeadwiseError(f"{path}: the runs cannot be read: {error}") from None


def picture(points: Sequence[Point], length: int, title: str) -> str:
    """Mean errors over K as SVG, on a logarithmic scale, with chance and the best linear guess."""
    means = {model: _means(points, model) for model in MODELS}
    terms = sorted({point.terms for point in points})
    first, last = max(1, min(terms[0], terms[-1] - 1)), terms[-1]  # one K stands at the right end
    steps = range(first, last + 1)
    levels = {name: [(k, f(k, length)) for k in steps] for name, f in _LEVELS.items()}
    shown = [e for curve in (*means.values(), *levels.values()) for _, e in curve]
    low, high = math.floor(math.log10(min(shown))), math.ceil(math.log10(max(shown)))

    def x(k: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (k - first) / max(last - first, 1)

    def y(error: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - math.log10(error)) / max(high - low, 1)

    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} '
        f'{HEIGHT}" font-family="sans-serif" font-size="11" fill="#222">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="13" font-weight="600">Mirrored summation: test error over '
        "K</text>",
        f'<text x="{LEFT}" y="34" fill="{GREY}">{escape(title)}</text>',
        f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 10}" text-anchor="middle">K, products that are '
        "added up</text>",
        f'<text transform="translate(14 {(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">mean '
        "squared error of a feature</text>",
    ]
    for power in range(low, high + 1):
        height = y(10.0**power)
        parts.append(f'<path d="M{LEFT} {height:.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for k in terms:
        parts.append(f'<path d="M{x(k):.1f} {bottom}v4" stroke="{GREY}"/>')
        parts.append(f'<text x="{x(k):.1f}" y="{bottom + 17}" text-anchor="middle">{k}</text>')
    ends: list[tuple[float, str, str]] = []
    for name, curve in levels.items():
        parts.append(
            f'<polyline points="{_path(curve, x, y)}" fill="none" stroke="#888" stroke-dasharray="4 3"/>'
        )
        ends.append((y(curve[-1][1]), f"{name} {curve[-1][1]:.3g}", GREY))
    for model, curve in means.items():
        if not curve:
            continue
        colour = COLOURS[model]
        parts.append(
            f'<polyline points="{_path(curve, x, y)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        parts += [f'<circle cx="{x(k):.1f}" cy="{y(e):.1f}" r="2.5" fill="{colour}"/>' for k, e in curve]
        ends.append((y(curve[-1][1]), f"{MODELS[model]} {curve[-1][1]:.3g}", colour))
    for height, text, colour in _apart(ends):
        parts.append(f'<text x="{right + 8}" y="{height + 4:.1f}" fill="{colour}">{escape(text)}</text>')
    return "\n".join([*parts, "</svg>\n"])


_LEVELS: dict[str, Callable[[int, int], float]] = {"chance": chance_error, "best linear": linear_error}


def _means(points: Sequence[Point], model: str) -> list[tuple[int, float]]:
    """K and the mean error over the seeds."""
    errors: dict[int, list[float]] = {}
    for point in points:
        if point.model == model:
            errors.setdefault(point.terms, []).append(point.mse)
    return [(k, statistics.mean(errors[k])) for k in sorted(errors)]


def _path(
    curve: Sequence[tuple[int, float]], x: Callable[[int], float], y: Callable[[float], float]
) -> str:
    return " ".join(f"{x(k):.1f},{y(error):.1f}" for k, error in curve)


def _apart(ends: Sequence[tuple[float, str, str]], gap: float = 14.0) -> list[tuple[float, str, str]]:
    """Labels moved down until none covers another."""
    placed: list[tuple[float, str, str]] = []
    for height, text, colour in sorted(ends):
        placed.append((max(height, placed[-1][0] + gap) if placed else height, text, colour))
    return placed
