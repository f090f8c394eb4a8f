"""The HTML report of a model: scores, plots, a filterable list of errors, and how it was trained."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from json import dumps
from typing import Any

import numpy as np

from headwise.core import html as plots
from headwise.core.html import Page, Series, bar, escape_html, html_page, isolated, plot, table
from headwise.metrics.selective_prediction import MIN_ITEMS, RiskCoverageCurve
from headwise.models.evaluation.metric_table import (
    MISSING,
    ComparisonSystem,
    MetricTable,
    format_number,
    is_number,
    lookup,
    parse_interval,
)
from headwise.models.reports import head_pictures as heatmap
from headwise.models.reports import mistakes
from headwise.models.reports.mistakes import Mistake, mistakes_list

MOST_LABELS = 60
"""The most labels of a confusion matrix; for more labels the most frequent confusions are listed."""
_CONFUSIONS = 20
_BINS = 10


@dataclass(frozen=True)
class ReportContents:
    """The contents of a report. Sections without content are left out.

    Attributes:
        title: The name of the model.
        on: The evaluation set in words: `157 test texts`.
        sheet: The metric table: which scores are shown.
        scores: The JSON of the evaluation.
        rivals: Comparison systems on the same items.
        remarks: Sentences about the scores.
        data: The data splits, as stored in a model folder.
        lengths: The length of each evaluated item, in words.
        history: The scores of each epoch.
        sure: The probability of each predicted label, `[items]`.
        right: Whether each prediction is right, `[items]`.
        mistakes: The wrong predictions, the most confident first.
        wrong: The number of wrong predictions in all.
        parts: The plural noun of the unit that is right or wrong, where it is a part of an item (`words`).
        words: For each label, the words with the largest attributions, and these attributions.
        maps: Attention heat maps, and the attention spans of the heads, as HTML.
        repeats: Evaluated items that are not new: what they repeat, how many, and out of how many.
        facts: Names and values, such as size and speed.
        made: How the model was trained: sections of JSON.
    """

    title: str
    on: str
    sheet: MetricTable
    scores: Mapping[str, Any]
    rivals: Sequence[ComparisonSystem] = ()
    remarks: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    lengths: Sequence[int] = ()
    history: Sequence[Mapping[str, Any]] = ()
    sure: np.ndarray | None = None
    right: np.ndarray | None = None
    mistakes: Sequence[Mistake] = ()
    wrong: int = 0
    parts: str = ""
    words: Mapping[str, Sequence[tuple[str, float]]] = field(default_factory=dict)
    maps: str = ""
    repeats: Sequence[tuple[str, int, int]] = ()
    facts: Sequence[tuple[str, str]] = ()
    made: Mapping[str, Any] = field(default_factory=dict)


def report_page(material: ReportContents) -> Page:
    """The report as an HTML page."""
    sections = {
        "Scores": _scores(material),
        "Labels": _labels(material),
        "Confusions": _confusions(material),
        "Probabilities": _probabilities(material),
        "Errors": mistakes_list(
            material.mistakes,
            material.wrong,
            material.on,
            parts=material.parts,
            numbers=material.sheet.per_class is None,
        ),
        "Words": _words(material),
        "Heads": material.maps,
        "Training": _training(material),
        "Data": _data(material),
        "How it was made": _provenance(material),
    }
    filled = {name: body for name, body in sections.items() if body}
    links = "".join(f'<a href="#{_anchor(name)}">{name}</a> ' for name in filled)
    body = "".join(
        f'<section id="{_anchor(name)}"><h2>{name}</h2>{content}</section>'
        for name, content in filled.items()
    )
    title, summary = escape_html(material.title), _summary(material)
    head = f"<header><h1>{title}</h1><p>{summary}</p><nav>{links}</nav></header>"
    style = plots.STYLE + heatmap.STYLE + mistakes.STYLE + _STYLE
    return Page(
        html_page(material.title, f"{head}<main>{body}</main>", style=style, script=mistakes.SCRIPT)
    )


def scores_fragment(material: ReportContents) -> str:
    """The title, the facts and the scores as an HTML fragment, for a notebook."""
    head = f"<h3>{escape_html(material.title)}</h3>" if material.title else ""
    body = head + _facts(material) + _scores(material) + _labels(material) + _confusions(material)
    return html_page("", body, style=plots.STYLE + heatmap.STYLE + _STYLE, full=False)


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _summary(material: ReportContents) -> str:
    line = material.sheet.headline
    value, bounds = line.shown(material.scores), line.shown_interval(material.scores)
    between = f" (95 % interval {bounds})" if bounds else ""
    return escape_html(
        f"{line.title[:1].upper()}{line.title[1:]} {value or MISSING}{between} on {material.on}."
    )


def _scores(material: ReportContents) -> str:
    names, columns = ["", "model"], [material.scores]
    names += [rival.name for rival in material.rivals]
    columns += [rival.scores for rival in material.rivals]
    rows = []
    for line in material.sheet.lines:
        if not line.shown(material.scores) or (line.if_any and not lookup(material.scores, line.key)):
            continue
        score_columns = [column if line.rivals or column is material.scores else {} for column in columns]
        cells = [
            escape_html(line.shown(column))
            + (f"<br><small>{escape_html(bounds)}</small>" if bounds else "")
            for column in score_columns
            for bounds in (line.shown_interval(column),)
        ]
        rows.append([escape_html(line.title), *cells])
    gaps = [material.sheet.ahead.formatted(rival.difference) for rival in material.rivals]
    if any(gaps):
        cells = [
            f"{escape_html(gap[0])}<br><small>{escape_html(gap[1])}; p {escape_html(gap[2])}</small>"
            if gap
            else ""
            for gap in gaps
        ]
        rows.insert(1, ["model ahead by", "", *cells])
    notes = "".join(f"<p>{escape_html(remark)}</p>" for remark in material.remarks)
    return table(names, rows) + _intervals(material) + notes


def _intervals(material: ReportContents) -> str:
    """The primary metric of the model and the comparison systems, each a dot in its confidence interval."""
    line = material.sheet.headline
    named = [("model", material.scores), *((rival.name, rival.scores) for rival in material.rivals)]
    intervals = [
        (name, value, bounds)
        for name, scores in named
        if is_number(value := lookup(scores, line.key))
        and (bounds := parse_interval(lookup(scores, line.interval)))
    ]
    if len(intervals) < 2:
        return ""
    low, high = min(bounds[0] for *_, bounds in intervals), max(bounds[1] for *_, bounds in intervals)
    scale = 100 / ((high - low) or 1)
    rows = []
    for name, value, bounds in intervals:
        ends = [round((place - low) * scale * 0.96 + 2, 2) for place in (*bounds, value)]
        rows.append(
            [
                escape_html(name),
                '<svg class="hw-range" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
                f'<line x1="{ends[0]}" x2="{ends[1]}" y1="4" y2="4"/>'
                f'<rect x="{ends[2] - 0.6}" y="1" width="1.2" height="6"/></svg>',
                escape_html(line.shown_interval({line.interval: list(bounds)}) or ""),
            ]
        )
    return table(["", line.title, "95 % interval"], rows)


def _labels(material: ReportContents) -> str:
    per_class = material.sheet.per_class
    if per_class is None:
        return ""
    rows = per_class.rows(material.scores)
    key, title = per_class.count
    cells = [
        [
            escape_html(str(row.get(per_class.name) or "-")),
            format_number(row.get(key), "count"),
            *(
                f"{escape_html(line.shown(row) or '-')} {_bar_of(row.get(line.key))}"
                for line in per_class.lines
            ),
        ]
        for row in rows
    ]
    return table([per_class.title, title, *(line.title for line in per_class.lines)], cells) if rows else ""


def _bar_of(value: Any) -> str:
    return bar(value) if is_number(value) and 0 <= value <= 1 else ""


def _confusions(material: ReportContents) -> str:
    per_class, matrix = material.sheet.per_class, material.sheet.matrix(material.scores)
    if per_class is None or matrix is None:
        return ""
    names = [str(row.get(per_class.name)) for row in per_class.rows(material.scores)]
    if len(names) > MOST_LABELS:
        confusions = sorted(
            (
                (count, names[i], names[j], count / max(sum(row), 1))
                for i, row in enumerate(matrix)
                for j, count in enumerate(row)
                if i != j and count
            ),
            reverse=True,
        )[:_CONFUSIONS]
        rows = [
            [escape_html(a), escape_html(b), f"{n:,}", format_number(share, "percent")]
            for n, a, b, share in confusions
        ]
        return table(["label", "taken for", material.sheet.of, "of its " + material.sheet.of], rows)
    rows = []
    for i, row in enumerate(matrix):
        most, cells = max(sum(row), 1), []
        for j, count in enumerate(row):
            kind = "for" if i == j else "against"
            style = f' class="hw-{kind} hw-cell" style="--s:{count / most:.2f}"' if count else ""
            cells.append(f"<span{style}>{count or '·'}</span>")
        rows.append([escape_html(names[i]), *cells])
    return table(["label \\ taken for", *names], rows)


def _probabilities(material: ReportContents) -> str:
    if material.sure is None or material.right is None or not len(material.sure):
        return ""
    cells = np.minimum((material.sure * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(cells, minlength=_BINS)
    nonempty = np.flatnonzero(counts)
    stated = np.bincount(cells, material.sure, _BINS)[nonempty] / counts[nonempty]
    true = np.bincount(cells, material.right, _BINS)[nonempty] / counts[nonempty]
    points = list(zip(stated.tolist(), true.tolist(), strict=True))
    line = Series(
        f"{material.sheet.of} in tenths, larger dots for more",
        points,
        (counts[nonempty] / counts.max()).tolist(),
    )
    names = ("probability that the model states", "share that is right")
    both = (True, True)
    calibration = plot("Calibration", [line], (0, 1), (0, 1), names, percent=both, guide=True)
    steps = RiskCoverageCurve.of(material.sure, material.right, 60)
    share, enough = steps.answered / len(material.sure), steps.answered >= MIN_ITEMS
    points = list(zip(share[enough].tolist(), steps.precision[enough].tolist(), strict=True))
    low = min([material.right.mean(), *(precision for _, precision in points)])
    low = np.floor(10 * low) / 10
    names = ("share that the model answers, the surest first", "share that is right of these")
    coverage = plot(
        "Precision and coverage",
        [Series("the rest is left to people", points)],
        (0, 1),
        (low, 1),
        names,
        percent=both,
    )
    every, rows = RiskCoverageCurve.of(material.sure, material.right, len(material.sure)), []
    for target in (0.8, 0.9, 0.95, 0.98, 0.99):
        place = every.least(target)
        cells = [MISSING, MISSING]
        if place is not None:
            coverage_and_threshold = (
                float(every.answered[place] / len(material.sure)),
                float(every.probability[place]),
            )
            cells = [format_number(value, "percent") for value in coverage_and_threshold]
        rows.append([format_number(target, "percent"), *cells])
    rest = table(
        ["to be right in", f"it can answer of the {material.sheet.of}", "those from probability"], rows
    )
    return f'<div class="hw-two">{calibration}{coverage}</div>{rest}'


def _words(material: ReportContents) -> str:
    pieces = []
    for label, words in material.words.items():
        most = max((abs(share) for _, share in words), default=1.0) or 1.0
        rows = [[isolated(word), f"{share:+.2f} {bar(share / most)}"] for word, share in words]
        pieces.append(f"<div><h3>{escape_html(label)}</h3>{table(['word', 'adds in all'], rows)}</div>")
    return f'<div class="hw-two">{"".join(pieces)}</div>' if pieces else ""


def _training(material: ReportContents) -> str:
    history = [row for row in material.history if isinstance(row, Mapping)]
    groups = {"losses": ("train_loss", "loss"), "scores on dev": ()}
    names = {key for row in history for key, value in row.items() if is_number(value)}
    scores = sorted(names - {"epoch", "train_loss", "loss"})
    groups["scores on dev"] = tuple(scores[:2])
    pieces = []
    for title, keys in groups.items():
        lines = []
        for key in keys:
            points = [
                (float(n + 1), float(row[key])) for n, row in enumerate(history) if is_number(row.get(key))
            ]
            if len(points) > 1:
                lines.append(Series(f"{key} on dev" if key == "loss" else key.replace("_", " "), points))
        if lines:
            values = [value for line in lines for _, value in line.points]
            pieces.append(
                plot(title, lines, (1, len(history)), (min(values), max(values)), ("epoch", title))
            )
    return f'<div class="hw-two">{"".join(pieces)}</div>' if pieces else ""


def _data(material: ReportContents) -> str:
    parts = {
        name: part for name, part in material.data.items() if isinstance(part, Mapping) and name != "file"
    }
    counted = {
        name: part["labels"] for name, part in parts.items() if isinstance(part.get("labels"), Mapping)
    }
    rows = [
        [
            material.sheet.of,
            *(format_number(part.get("texts"), "count") or MISSING for part in parts.values()),
        ]
    ]
    labels = list(dict.fromkeys(label for labels in counted.values() for label in labels))
    if material.sheet.per_class and len(labels) <= 200:  # numbers are no classes
        for label in labels:
            values = [counted.get(name, {}).get(label, 0) for name in parts]
            rows.append([escape_html(str(label)), *(format_number(value, "count") for value in values)])
    pieces = [table(["", *parts], rows)] if parts else []
    if material.repeats:
        cells = [[escape_html(what), f"{count:,}", f"{of:,}"] for what, count, of in material.repeats]
        pieces.append(table([f"{material.sheet.of} that have", "", "of"], cells))
    if len(material.lengths):
        ends = np.quantile(material.lengths, [0, 0.1, 0.5, 0.9, 1]).round().astype(int).tolist()
        row = [escape_html(material.on), *(f"{end:,}" for end in ends)]
        pieces.append(
            table(
                ["words of", "shortest", "a tenth below", "half below", "nine tenths below", "longest"],
                [row],
            )
        )
    return "".join(pieces)


def _facts(material: ReportContents) -> str:
    rows = [[escape_html(name), escape_html(value)] for name, value in material.facts]
    return f'<div class="hw-facts">{table(["", ""], rows)}</div>' if rows else ""


def _provenance(material: ReportContents) -> str:
    sections = "".join(
        f"<details><summary>{escape_html(name)}</summary><pre>{escape_html(_indented(value))}</pre></details>"
        for name, value in material.made.items()
        if value
    )
    return _facts(material) + sections


_indented = partial(dumps, indent=1, ensure_ascii=False)

_STYLE = """\
.hw nav a { display: inline-block; margin-right: .75rem; }
.hw a { color: rgb(var(--for)); }
.hw table { border-collapse: collapse; margin: .5rem 0; }
.hw th, .hw td { border-bottom: 1px solid var(--line); padding: .25rem .75rem .25rem 0; text-align: left;
  vertical-align: top; font-variant-numeric: tabular-nums; }
.hw td { white-space: nowrap; } .hw .hw-facts td { overflow-wrap: anywhere; white-space: normal; }
.hw th { font-weight: 600; } .hw small { color: var(--soft); }
.hw-wide { overflow-x: auto; max-width: 100%; }
.hw figure { margin: .5rem 0; } .hw figcaption { color: var(--soft); font-size: .85rem; }
.hw-two { display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); }
.hw-two th[scope="row"] { overflow-wrap: anywhere; }
.hw-two > *, .hw-filter > *, .hw header > * { max-width: 100%; min-width: 0; }
.hw-range { display: block; height: 1.2em; width: min(14em, 35vw); }
.hw-range line { stroke: var(--soft); vector-effect: non-scaling-stroke; stroke-width: 2; }
.hw-range rect { fill: rgb(var(--for)); }
.hw-cell { display: block; min-width: 2em; padding: 0 .25em; text-decoration: none; }
.hw pre { overflow-x: auto; background: var(--panel); padding: .5rem; }
@media print { .hw nav { display: none; } }
"""
