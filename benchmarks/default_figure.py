"""Accuracy against the number of training texts, as one SVG picture."""

from collections.abc import Mapping, Sequence
from html import escape

from default_results import OURS, Found, means, only, shared_mean, sizes_of

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


def curves(found: Found, systems: Sequence[str] = tuple(_COLOURS)) -> dict[str, dict[int, float]]:
    """System -> size -> mean accuracy over the sets that all of them have at every size that is shown.

    Sizes and systems that would leave no set are left out.
    """
    texts_only = only(found, lambda job: job.system in systems)
    averages = {size: means(texts_only, size) for size in sizes_of(texts_only)}
    present = [system for system in systems if any(system in own for own in averages.values())]
    found_curves: dict[str, dict[int, float]] = {system: {} for system in present}
    for size, own in averages.items():
        for system, mean in shared_mean(own, [system for system in present if system in own]).items():
            found_curves[system][size] = mean
    return {system: own for system, own in found_curves.items() if own}


def figure(lines: Mapping[str, Mapping[int, float]], note: str) -> str:
    """The picture.

    Args:
        lines: As `curves` gives them.
        note: What was measured, a line of text.
    """
    sizes = sorted({size for own in lines.values() for size in own}, key=lambda size: size or 10**9)
    values = [value for own in lines.values() for value in own.values()]
    low, high = 5 * int(20 * min(values)), 5 * (int(20 * max(values)) + 1)

    def x(size: int) -> float:
        return _LEFT + _WIDTH * sizes.index(size) / max(len(sizes) - 1, 1)

    def y(percent: float) -> float:
        return _TOP + _HEIGHT * (high - percent) / (high - low)

    body = [
        '<text class="title" x="8" y="20">Test accuracy by number of labelled texts, mean over sets</text>',
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
    for system, own in lines.items():
        colour, name = _COLOURS.get(system, "#777777"), _NAMES.get(system, system)
        points = [(x(size), y(100 * own[size]), own[size]) for size in sizes if size in own]
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
            'aria-label="Test accuracy by number of labelled texts">',
            f"<style>\n{_STYLE}\n</style>",
            *body,
            "</svg>\n",
        ]
    )
