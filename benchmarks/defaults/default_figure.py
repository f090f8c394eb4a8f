"""Accuracy against the number of training texts, as one SVG picture."""

import statistics
from collections.abc import Mapping, Sequence
from html import escape

from benchmarks.defaults.default_results import OURS, Results, means, only, set_of, sizes_of

Lines = Mapping[str, Mapping[int, float]]
_STYLE = """\
.default { color: #1f2328; font: 11px ui-sans-serif, system-ui, sans-serif; }
.default text { fill: currentColor; }
.default .title { font-size: 14px; font-weight: 600; }
.default .note { opacity: .7; }
.default line { stroke: currentColor; opacity: .15; }
.default polyline { fill: none; stroke-width: 2; }
@media (prefers-color-scheme: dark) { .default { color: #e6edf3; } }"""
_COLOURS = {
    OURS: "#1f5fbf",
    "minilm": "#b03a48",
    "svm": "#b8860b",
    "nb-svm": "#d2691e",
    "fasttext": "#9aa4ae",
    "minilm-static": "#3a8f7b",
    "glove": "#5aa7d6",
}
_NAMES = {
    OURS: "headwise train",
    "minilm": "frozen MiniLM + logistic regression",
    "svm": "words + characters, linear SVM",
    "nb-svm": "NB-SVM",
    "fasttext": "fastText",
    "minilm-static": "mean static vectors (MiniLM's) + logistic regression",
    "glove": "mean GloVe vectors + logistic regression",
}
_LEFT, _TOP, _WIDTH, _HEIGHT, _LINE = 46, 50, 460, 260, 16
_TITLE = "Test accuracy by number of labelled texts, mean over sets"


def curves(results: Results, systems: Sequence[str] = tuple(_COLOURS)) -> tuple[Lines, int]:
    """System -> size -> mean accuracy over the same sets at every size and for every system, and how many.

    For sizes above those that a set was run at its runs on all texts stand, as there are no more. A size is
    shown where at least half as many sets are complete as at the size with the most.
    """
    selected = only(results, lambda job: job.system in systems)
    sizes = sizes_of(selected)
    by_size = {size: means(selected, size) for size in sizes}
    shown = [name for name in systems if any(name in averages for averages in by_size.values())]
    largest: dict[str, int] = {}
    for job in selected:
        largest[set_of(job.set)] = max(largest.get(set_of(job.set), 0), job.texts)

    def value(system: str, name: str, size: int) -> float | None:
        at = 0 if size > largest[name] else size
        return by_size.get(at, {}).get(system, {}).get(name)

    complete = {
        size: {name for name in largest if all(value(system, name, size) is not None for system in shown)}
        for size in sizes
    }
    most = max(map(len, complete.values()), default=0)
    shown_sizes = [size for size in sizes if complete[size] and 2 * len(complete[size]) >= most]
    shared = set.intersection(*(complete[size] for size in shown_sizes)) if shown_sizes else set()
    if not shared:
        return {}, 0
    lines = {
        system: {
            size: statistics.mean(value(system, name, size) or 0 for name in shared) for size in shown_sizes
        }
        for system in shown
    }
    return lines, len(shared)


def figure(
    lines: Lines,
    note: str,
    *,
    title: str = _TITLE,
    colours: Mapping[str, str] = _COLOURS,
    names: Mapping[str, str] = _NAMES,
) -> str:
    """The picture.

    Args:
        lines: As `curves` gives them.
        note: What was measured, a line of text.
        title: What the lines show, a line of text.
        colours: Of the lines, by system.
        names: Of the systems, where they have others in the picture.
    """
    sizes = sorted({size for curve in lines.values() for size in curve}, key=lambda size: size or 10**9)
    values = [value for curve in lines.values() for value in curve.values()]
    low, high = 5 * int(20 * min(values)), 5 * (int(20 * max(values)) + 1)

    def x(size: int) -> float:
        return _LEFT + _WIDTH * sizes.index(size) / max(len(sizes) - 1, 1)

    def y(percent: float) -> float:
        return _TOP + _HEIGHT * (high - percent) / (high - low)

    body = [
        f'<text class="title" x="8" y="20">{escape(title)}</text>',
        f'<text class="note" x="8" y="36">{escape(note)}</text>',
    ]
    body += [
        f'<line x1="{_LEFT}" x2="{_LEFT + _WIDTH}" y1="{y(percent):.1f}" y2="{y(percent):.1f}"/>'
        f'<text x="{_LEFT - 6}" y="{y(percent) + 4:.1f}" text-anchor="end">{percent} %</text>'
        for percent in range(low, high + 1, 5)
    ]
    for size in sizes:
        name = f"{size:,}" if size else "all"
        body.append(f'<text x="{x(size):.1f}" y="{_TOP + _HEIGHT + 16}" text-anchor="middle">{name}</text>')
    legend = _TOP + _HEIGHT + 32
    for system, curve in lines.items():
        colour, name = colours.get(system, "#777777"), names.get(system, system)
        points = [(x(size), y(100 * curve[size]), curve[size]) for size in sizes if size in curve]
        path = " ".join(f"{across:.1f},{down:.1f}" for across, down, _ in points)
        body.append(f'<polyline points="{path}" stroke="{colour}"/>')
        body += [
            f'<circle cx="{across:.1f}" cy="{down:.1f}" r="3.5" fill="{colour}">'
            f"<title>{escape(name)}: {100 * value:.1f} %</title></circle>"
            for across, down, value in points
        ]
        body.append(f'<rect x="8" y="{legend}" width="11" height="11" fill="{colour}"/>')
        body.append(f'<text x="25" y="{legend + 10}">{escape(name)}</text>')
        legend += _LINE
    width = _LEFT + _WIDTH + 40
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="default" width="{width}" '
            f'height="{legend + 6}" viewBox="0 0 {width} {legend + 6}" role="img" '
            f'aria-label="{escape(title)}">',
            f"<style>\n{_STYLE}\n</style>",
            *body,
            "</svg>\n",
        ]
    )
