"""The report of a model as one page: scores, plots, errors to filter and to read, how it was made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from json import dumps
from typing import Any

import numpy as np

from headwise.report import heatmap, mistakes, plots
from headwise.report.mistakes import Mistake, mistakes_list
from headwise.report.page import Page, apart, escaped, page
from headwise.report.plots import Series, bar, plot, table
from headwise.report.rival import Rival
from headwise.report.sheet import MISSING, Sheet, bounds_of, is_number, lookup, shown
from headwise.scores.sureness import LEAST, Sureness

MOST_LABELS = 60
"""Labels of a confusion matrix; of more, the commonest confusions are listed."""
_CONFUSIONS = 20
_BINS = 10


@dataclass(frozen=True)
class Material:
    """What a report is made of; what is empty is left out.

    Attributes:
        title: What the model is.
        on: What the scores are on: `157 test texts`.
        sheet: Which scores are told.
        scores: The JSON of the evaluation.
        rivals: Others on the same items.
        remarks: Sentences about the scores.
        data: The parts of the data, as a model folder has them.
        lengths: Of the items that were judged, in words.
        history: Scores of each epoch.
        sure: Of each judged item, the probability of what is said, `[items]`.
        right: Whether it is right, `[items]`.
        mistakes: The surest first.
        wrong: How many there are in all.
        parts: What is right or wrong where it is a part of an item.
        words: For each label the words that add most to it, and what they add.
        maps: Heat maps of heads, and how far they look, as HTML.
        repeats: How many judged items are not new: what they repeat, their number, and of how many.
        facts: Size, speed: names and values.
        made: How it was made: sections of JSON.
    """

    title: str
    on: str
    sheet: Sheet
    scores: Mapping[str, Any]
    rivals: Sequence[Rival] = ()
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


def document(own: Material) -> Page:
    """The page."""
    sections = {
        "Scores": _scores(own),
        "Labels": _labels(own),
        "Confusions": _confusions(own),
        "Probabilities": _probabilities(own),
        "Errors": mistakes_list(
            own.mistakes, own.wrong, own.on, parts=own.parts, numbers=own.sheet.each is None
        ),
        "Words": _words(own),
        "Heads": own.maps,
        "Training": _training(own),
        "Data": _data(own),
        "How it was made": _made(own),
    }
    kept = {name: body for name, body in sections.items() if body}
    links = "".join(f'<a href="#{_anchor(name)}">{name}</a> ' for name in kept)
    body = "".join(
        f'<section id="{_anchor(name)}"><h2>{name}</h2>{content}</section>'
        for name, content in kept.items()
    )
    head = f"<header><h1>{escaped(own.title)}</h1><p>{_lead(own)}</p><nav>{links}</nav></header>"
    style = plots.STYLE + heatmap.STYLE + mistakes.STYLE + _STYLE
    return Page(page(own.title, f"{head}<main>{body}</main>", style=style, script=mistakes.SCRIPT))


def piece(own: Material) -> str:
    """What the model is and its scores alone, as a notebook shows them."""
    head = f"<h3>{escaped(own.title)}</h3>" if own.title else ""
    body = head + _facts(own) + _scores(own) + _labels(own) + _confusions(own)
    return page("", body, style=plots.STYLE + heatmap.STYLE + _STYLE, whole=False)


def _anchor(name: str) -> str:
    return name.lower().replace(" ", "-")


def _lead(own: Material) -> str:
    line = own.sheet.headline
    value, bounds = line.shown(own.scores), line.shown_interval(own.scores)
    between = f" (95 % interval {bounds})" if bounds else ""
    return escaped(f"{line.title[:1].upper()}{line.title[1:]} {value or MISSING}{between} on {own.on}.")


def _scores(own: Material) -> str:
    names, columns = ["", "model"], [own.scores]
    names += [rival.name for rival in own.rivals]
    columns += [rival.scores for rival in own.rivals]
    rows = []
    for line in own.sheet.lines:
        if not line.shown(own.scores) or (line.if_any and not lookup(own.scores, line.key)):
            continue
        told = [column if line.rivals or column is own.scores else {} for column in columns]
        cells = [
            escaped(line.shown(column)) + (f"<br><small>{escaped(bounds)}</small>" if bounds else "")
            for column in told
            for bounds in (line.shown_interval(column),)
        ]
        rows.append([escaped(line.title), *cells])
    gaps = [own.sheet.ahead.gap(rival.difference) for rival in own.rivals]
    if any(gaps):
        cells = [
            f"{escaped(gap[0])}<br><small>{escaped(gap[1])}; p {escaped(gap[2])}</small>" if gap else ""
            for gap in gaps
        ]
        rows.insert(1, ["model ahead by", "", *cells])
    notes = "".join(f"<p>{escaped(remark)}</p>" for remark in own.remarks)
    return table(names, rows) + _intervals(own) + notes


def _intervals(own: Material) -> str:
    """The headline of the model and its rivals, each a dot in its interval."""
    line = own.sheet.headline
    named = [("model", own.scores), *((rival.name, rival.scores) for rival in own.rivals)]
    found = [
        (name, value, bounds)
        for name, scores in named
        if is_number(value := lookup(scores, line.key))
        and (bounds := bounds_of(lookup(scores, line.interval)))
    ]
    if len(found) < 2:
        return ""
    low, high = min(bounds[0] for *_, bounds in found), max(bounds[1] for *_, bounds in found)
    scale = 100 / ((high - low) or 1)
    rows = []
    for name, value, bounds in found:
        ends = [round((place - low) * scale * 0.96 + 2, 2) for place in (*bounds, value)]
        rows.append(
            [
                escaped(name),
                '<svg class="hw-range" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
                f'<line x1="{ends[0]}" x2="{ends[1]}" y1="4" y2="4"/>'
                f'<rect x="{ends[2] - 0.6}" y="1" width="1.2" height="6"/></svg>',
                escaped(line.shown_interval({line.interval: list(bounds)}) or ""),
            ]
        )
    return table(["", line.title, "95 % interval"], rows)


def _labels(own: Material) -> str:
    each = own.sheet.each
    if each is None:
        return ""
    rows = each.rows(own.scores)
    key, title = each.count
    cells = [
        [
            escaped(str(row.get(each.name) or "-")),
            shown(row.get(key), "count"),
            *(f"{escaped(line.shown(row) or '-')} {_bar_of(row.get(line.key))}" for line in each.lines),
        ]
        for row in rows
    ]
    return table([each.title, title, *(line.title for line in each.lines)], cells) if rows else ""


def _bar_of(value: Any) -> str:
    return bar(value) if is_number(value) and 0 <= value <= 1 else ""


def _confusions(own: Material) -> str:
    each, matrix = own.sheet.each, own.sheet.matrix(own.scores)
    if each is None or matrix is None:
        return ""
    names = [str(row.get(each.name)) for row in each.rows(own.scores)]
    if len(names) > MOST_LABELS:
        found = sorted(
            (
                (count, names[i], names[j], count / max(sum(row), 1))
                for i, row in enumerate(matrix)
                for j, count in enumerate(row)
                if i != j and count
            ),
            reverse=True,
        )[:_CONFUSIONS]
        rows = [[escaped(a), escaped(b), f"{n:,}", shown(share, "percent")] for n, a, b, share in found]
        return table(["label", "taken for", own.sheet.of, "of its " + own.sheet.of], rows)
    rows = []
    for i, row in enumerate(matrix):
        most, cells = max(sum(row), 1), []
        for j, count in enumerate(row):
            kind = "for" if i == j else "against"
            style = f' class="hw-{kind} hw-cell" style="--s:{count / most:.2f}"' if count else ""
            cells.append(f"<span{style}>{count or '·'}</span>")
        rows.append([escaped(names[i]), *cells])
    return table(["label \\ taken for", *names], rows)


def _probabilities(own: Material) -> str:
    if own.sure is None or own.right is None or not len(own.sure):
        return ""
    cells = np.minimum((own.sure * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(cells, minlength=_BINS)
    some = np.flatnonzero(counts)
    stated = np.bincount(cells, own.sure, _BINS)[some] / counts[some]
    true = np.bincount(cells, own.right, _BINS)[some] / counts[some]
    points = list(zip(stated.tolist(), true.tolist(), strict=True))
    line = Series(
        f"{own.sheet.of} in tenths, larger dots for more",
        points,
        (counts[some] / counts.max()).tolist(),
    )
    names = ("probability that the model states", "share that is right")
    both = (True, True)
    calibration = plot("Calibration", [line], (0, 1), (0, 1), names, percent=both, guide=True)
    steps = Sureness.of(own.sure, own.right, 60)
    share, enough = steps.answered / len(own.sure), steps.answered >= LEAST
    points = list(zip(share[enough].tolist(), steps.precision[enough].tolist(), strict=True))
    low = min([own.right.mean(), *(other for _, other in points)])
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
    every, rows = Sureness.of(own.sure, own.right, len(own.sure)), []
    for wanted in (0.8, 0.9, 0.95, 0.98, 0.99):
        place = every.least(wanted)
        cells = [MISSING, MISSING]
        if place is not None:
            found = float(every.answered[place] / len(own.sure)), float(every.probability[place])
            cells = [shown(value, "percent") for value in found]
        rows.append([shown(wanted, "percent"), *cells])
    rest = table(["to be right in", f"it can answer of the {own.sheet.of}", "those from probability"], rows)
    return f'<div class="hw-two">{calibration}{coverage}</div>{rest}'


def _words(own: Material) -> str:
    pieces = []
    for label, words in own.words.items():
        most = max((abs(share) for _, share in words), default=1.0) or 1.0
        rows = [[apart(word), f"{share:+.2f} {bar(share / most)}"] for word, share in words]
        pieces.append(f"<div><h3>{escaped(label)}</h3>{table(['word', 'adds in all'], rows)}</div>")
    return f'<div class="hw-two">{"".join(pieces)}</div>' if pieces else ""


def _training(own: Material) -> str:
    history = [row for row in own.history if isinstance(row, Mapping)]
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


def _data(own: Material) -> str:
    parts = {name: part for name, part in own.data.items() if isinstance(part, Mapping) and name != "file"}
    counted = {
        name: part["labels"] for name, part in parts.items() if isinstance(part.get("labels"), Mapping)
    }
    rows = [[own.sheet.of, *(shown(part.get("texts"), "count") or MISSING for part in parts.values())]]
    labels = list(dict.fromkeys(label for labels in counted.values() for label in labels))
    if own.sheet.each and len(labels) <= 200:  # numbers are no classes
        for label in labels:
            values = [counted.get(name, {}).get(label, 0) for name in parts]
            rows.append([escaped(str(label)), *(shown(value, "count") for value in values)])
    pieces = [table(["", *parts], rows)] if parts else []
    if own.repeats:
        cells = [[escaped(what), f"{count:,}", f"{of:,}"] for what, count, of in own.repeats]
        pieces.append(table([f"{own.sheet.of} that have", "", "of"], cells))
    if len(own.lengths):
        ends = np.quantile(own.lengths, [0, 0.1, 0.5, 0.9, 1]).round().astype(int).tolist()
        row = [escaped(own.on), *(f"{end:,}" for end in ends)]
        pieces.append(
            table(
                ["words of", "shortest", "a tenth below", "half below", "nine tenths below", "longest"],
                [row],
            )
        )
    return "".join(pieces)


def _facts(own: Material) -> str:
    rows = [[escaped(name), escaped(value)] for name, value in own.facts]
    return f'<div class="hw-facts">{table(["", ""], rows)}</div>' if rows else ""


def _made(own: Material) -> str:
    found = "".join(
        f"<details><summary>{escaped(name)}</summary><pre>{escaped(_indented(value))}</pre></details>"
        for name, value in own.made.items()
        if value
    )
    return _facts(own) + found


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
