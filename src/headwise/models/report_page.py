"""The HTML report of a model: scores, plots, a filterable list of wrong predictions, and how it was
trained.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from json import dumps
from typing import Any

import numpy as np
from markupsafe import Markup

from headwise.core.config import JsonMapping, is_number, lookup
from headwise.core.html import Cell, Page, Section, Series, Table, isolated, plot, render
from headwise.metrics.operating_points import MIN_ITEMS, RiskCoverageCurve
from headwise.models.metric_table import MISSING, MetricTable, format_number, meanings_of, parse_interval
from headwise.models.mistakes import Mistake, mistakes_list
from headwise.models.novelty_evaluation import novelty_section
from headwise.models.report_parts import ComparisonSystem

_WIDE = 80
"""The characters of all labels from which the columns of a confusion matrix have numbers as titles."""
_WIDEST_TITLE = 12
"""The most characters of a label in a line of the head of a confusion matrix."""
MOST_LABELS = 60
"""The most labels of a confusion matrix; for more labels the most frequent confusions are listed."""
_CONFUSIONS = 20
_WORD_TABLES = 12  # the most labels whose words are tables; of more labels, they are a line each
_BINS = 10


@dataclass(frozen=True)
class ReportContents:
    """The contents of a report. Sections without content are left out.

    Attributes:
        title: The name of the model.
        on: The evaluation set in words: `157 test texts`.
        metric_table: The metric table: which scores are shown.
        scores: The JSON of the evaluation.
        systems: Comparison systems on the same items.
        messages: Sentences about the scores.
        data: The data splits, as stored in a model folder.
        lengths: The length of each evaluated item, in words.
        history: The scores of each epoch.
        held_out: What these scores are about: `on dev` or `out of fold`.
        confidences: The probability of each predicted label, `[items]`.
        right: Whether each prediction is right, `[items]`.
        mistakes: The wrong predictions, the most confident first.
        wrong: The number of wrong predictions in all.
        parts: The plural noun of the unit that is right or wrong, where it is a part of an item (`words`).
        words: For each label, the words with the largest attributions, and these attributions.
        columns: The mean absolute attribution of the words of a text, and of each column beside it.
        maps: Attention heat maps, and the attention spans of the heads, as HTML.
        repeats: Evaluated items that are not new: what they repeat, how many, and out of how many.
        facts: Names and values, such as size and speed.
        made: How the model was trained: sections of JSON.
        where_errors: How to get a list of the wrong predictions, if there are no items to list.
        unseen: The model on those of the items that it was not trained on, if there are others too.
    """

    title: str
    on: str
    metric_table: MetricTable
    scores: JsonMapping
    systems: Sequence[ComparisonSystem] = ()
    messages: Sequence[str] = ()
    data: JsonMapping = field(default_factory=dict)
    lengths: Sequence[int] = ()
    history: Sequence[JsonMapping] = ()
    held_out: str = "on dev"
    confidences: np.ndarray | None = None
    right: np.ndarray | None = None
    mistakes: Sequence[Mistake] = ()
    wrong: int = 0
    parts: str = ""
    words: Mapping[str, Sequence[tuple[str, float]]] = field(default_factory=dict)
    columns: Sequence[tuple[str, float]] = ()
    maps: Markup = field(default_factory=Markup)
    repeats: Sequence[tuple[str, int, int]] = ()
    facts: Sequence[tuple[str, str]] = ()
    made: JsonMapping = field(default_factory=dict)
    where_errors: str = ""
    unseen: ComparisonSystem | None = None


def report_page(contents: ReportContents) -> Page:
    """The report as an HTML page."""
    errors = mistakes_list(
        contents.mistakes,
        contents.wrong,
        contents.on,
        parts=contents.parts,
        numbers=contents.metric_table.per_class is None,
    )
    sections = {
        "Scores": _scores(contents),
        "Labels": _labels(contents),
        "Confusions": _confusions(contents),
        "Probabilities": _probabilities(contents),
        "Unknown": novelty_section(contents.scores, contents.metric_table.of),
        "Errors": Section(notes=_counted_errors(contents), body=errors),
        "Words": _words(contents),
        "Columns": _columns(contents),
        "Heads": Section(body=contents.maps),
        "Training": _training(contents),
        "Data": _data(contents),
        "How it was made": _provenance(contents),
    }
    filled = {name: section for name, section in sections.items() if section}
    return Page(
        render("report.html.jinja", title=contents.title, summary=_summary(contents), sections=filled)
    )


def _counted_errors(contents: ReportContents) -> list[str]:
    """The number of wrong predictions, and how to list them, where a page has only the scores."""
    if not contents.where_errors or contents.mistakes or contents.metric_table.per_class is None:
        return []
    matrix = contents.metric_table.matrix(contents.scores)
    if matrix is None:
        return [contents.where_errors]
    total = sum(map(sum, matrix))
    wrong = total - sum(row[place] for place, row in enumerate(matrix))
    return [f"{wrong:,} of {total:,} predictions are wrong. {contents.where_errors}"]


def scores_fragment(contents: ReportContents) -> str:
    """The title, the facts and the scores as an HTML fragment, for a notebook."""
    facts = Section(facts=_facts(contents))
    sections = [facts, _scores(contents), _labels(contents), _confusions(contents)]
    return str(render("scores.html.jinja", title=contents.title, sections=sections))


def _summary(contents: ReportContents) -> str:
    line = f"{contents.metric_table.summary(contents.scores)} on {contents.on}."
    if contents.unseen is not None:
        new = contents.metric_table.summary(contents.unseen.scores)
        line = f"{new} on {contents.metric_table.of} {contents.unseen.name}; {line}"
    return f"{line[:1].upper()}{line[1:]}"


def _scores(contents: ReportContents) -> Section:
    names = ["", "model", *(system.name for system in contents.systems)]
    columns = [contents.scores, *(system.scores for system in contents.systems)]
    rows: list[list[str | Cell]] = []
    for line in contents.metric_table.lines:
        if not line.shown(contents.scores) or (line.if_any and not lookup(contents.scores, line.key)):
            continue
        score_columns = [column if line.compared or column is contents.scores else {} for column in columns]
        cells = [Cell(line.shown(column), line.shown_interval(column) or "") for column in score_columns]
        rows.append([line.title, *cells])
    gaps = [contents.metric_table.ahead.formatted(system.difference) for system in contents.systems]
    if any(gaps):
        shown = [Cell(gap[0], f"{gap[1]}{gap[2] and f'; p {gap[2]}'}") if gap else "" for gap in gaps]
        rows.insert(1, ["model ahead by", "", *shown])
    meanings = meanings_of(str(row[0]).strip() for row in rows)
    return Section(
        tables=[Table(names, rows), *_intervals(contents)],
        notes=contents.messages,
        details={"What the rows mean": meanings} if meanings else {},
    )


def _intervals(contents: ReportContents) -> list[Table]:
    """The primary metric of the model and the comparison systems, each a dot in its confidence interval."""
    line = contents.metric_table.primary_metric
    named = [("model", contents.scores), *((system.name, system.scores) for system in contents.systems)]
    intervals = [
        (name, value, bounds, line.shown_interval(scores))
        for name, scores in named
        if is_number(value := lookup(scores, line.key))
        and (bounds := parse_interval(lookup(scores, line.interval)))
    ]
    if len(intervals) < 2:
        return []
    low = min(bounds[0] for _, _, bounds, _ in intervals)
    high = max(bounds[1] for _, _, bounds, _ in intervals)
    scale = 100 / ((high - low) or 1)
    rows = []
    for name, value, bounds, shown in intervals:
        start, end, place = (round((place - low) * scale * 0.96 + 2, 2) for place in (*bounds, value))
        rows.append([name, Cell(interval=(start, end, place)), shown])
    return [Table(["", line.title, "95 % interval"], rows)]


def _labels(contents: ReportContents) -> Section:
    per_class = contents.metric_table.per_class
    rows = per_class.rows(contents.scores) if per_class else []
    if per_class is None or not rows:
        return Section()
    key, title = per_class.count
    rows = sorted(rows, key=lambda row: (not row.get(key), row.get("f1", 0.0)))
    cells = [
        [
            str(row.get(per_class.name) or "-"),
            format_number(row.get(key), "count"),
            *(Cell(line.shown(row) or "-", bar=_bar_of(row.get(line.key))) for line in per_class.lines),
        ]
        for row in rows
    ]
    head = [per_class.title, title, *(line.title for line in per_class.lines)]
    return Section(tables=[Table(head, cells, "The lowest F1 first.", sortable=True, stacked=1)])


def _bar_of(value: Any) -> float | None:
    return value if is_number(value) and 0 <= value <= 1 else None


def _confusions(contents: ReportContents) -> Section:
    per_class, matrix = contents.metric_table.per_class, contents.metric_table.matrix(contents.scores)
    if per_class is None or matrix is None:
        return Section()
    names = [str(row.get(per_class.name)) for row in per_class.rows(contents.scores)]
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
        rows = [[a, b, f"{n:,}", format_number(share, "percent")] for n, a, b, share in confusions]
        head = ["true", "predicted", contents.metric_table.of, "of its " + contents.metric_table.of]
        shown = f"The {len(rows)} most frequent confusions." if len(rows) == _CONFUSIONS else ""
        return Section(tables=[Table(head, rows, shown, stacked=2)])
    wide = sum(map(len, names)) > _WIDE  # long names would fill the page as titles of columns
    titles = [str(number) for number in range(1, len(names) + 1)] if wide else names
    rows = []
    for i, row in enumerate(matrix):
        most, cells = max(sum(row), 1), []
        for j, count in enumerate(row):
            tone = ("for" if i == j else "against") if count else ""
            cells.append(Cell(str(count or "·"), tone=tone, strength=count / most))
        rows.append([f"{titles[i]} {names[i]}" if wide else names[i], *cells])
    # Cells of one width, so that equal counts look equal, whatever the names of the labels.
    widest = max(4, *map(len, titles), *(len(str(count)) for row in matrix for count in row))
    equal = min(widest, _WIDEST_TITLE)
    return Section(tables=[Table(["true \\ predicted", *titles], rows, equal=equal)])


def _probabilities(contents: ReportContents) -> Section:
    if contents.confidences is None or contents.right is None or not len(contents.confidences):
        return Section()
    cells = np.minimum((contents.confidences * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(cells, minlength=_BINS)
    nonempty = np.flatnonzero(counts)
    stated = np.bincount(cells, contents.confidences, _BINS)[nonempty] / counts[nonempty]
    true = np.bincount(cells, contents.right, _BINS)[nonempty] / counts[nonempty]
    points = list(zip(stated.tolist(), true.tolist(), strict=True))
    line = Series(
        f"{contents.metric_table.of} in tenths; larger dots are more {contents.metric_table.of}",
        points,
        (counts[nonempty] / counts.max()).tolist(),
    )
    axes, both = ("predicted probability", "accuracy"), (True, True)
    calibration = plot("Calibration", [line], (0, 1), (0, 1), axes, percent=both, guide=True)
    steps = RiskCoverageCurve.of(contents.confidences, contents.right, 60)
    share, enough = steps.answered / len(contents.confidences), steps.answered >= MIN_ITEMS
    points = list(zip(share[enough].tolist(), steps.precision[enough].tolist(), strict=True))
    low = np.floor(10 * min([contents.right.mean(), *(precision for _, precision in points)])) / 10
    line = Series("people decide the rest", points)
    axes = ("share answered, the most confident first", "accuracy on these")
    coverage = plot("Precision and coverage", [line], (0, 1), (low, 1), axes, percent=both)
    every, rows = RiskCoverageCurve.of(contents.confidences, contents.right, len(contents.confidences)), []
    for target in (0.8, 0.9, 0.95, 0.98, 0.99):
        place = every.least(target)
        cells = [MISSING, MISSING]
        if place is not None:
            values = every.answered[place] / len(contents.confidences), every.probability[place]
            cells = [format_number(float(value), "percent") for value in values]
        rows.append([format_number(target, "percent"), *cells])
    head = ["accuracy", f"share of the {contents.metric_table.of} answered", "from probability"]
    return Section(figures=[calibration, coverage], tables=[Table(head, rows)])


def _words(contents: ReportContents) -> Section:
    if len(contents.words) > _WORD_TABLES:
        line, comma = Markup("{} {:+.2f}"), Markup(", ")
        rows = [
            [label, comma.join(line.format(isolated(word), share) for word, share in words)]
            for label, words in contents.words.items()
        ]
        return Section(tables=[Table(["label", "words with their total contribution"], rows, stacked=2)])
    tables = {}
    for label, words in contents.words.items():
        most = max((abs(share) for _, share in words), default=1.0) or 1.0
        rows = [[isolated(word), Cell(f"{share:+.2f}", bar=share / most)] for word, share in words]
        tables[label] = Table(["word", "total contribution"], rows)
    return Section(columns=tables)


def _columns(contents: ReportContents) -> Section:
    if not contents.columns:
        return Section()
    total = sum(size for _, size in contents.columns) or 1.0
    rows = [
        [isolated(name), Cell(f"{size:.2f}", bar=size / total), format_number(size / total, "percent")]
        for name, size in contents.columns
    ]
    return Section(
        tables=[Table(["", "adds or takes on average", "of all"], rows)],
        notes=["Measured in log-odds of the predicted label (of a regressor, in the unit of the numbers)."],
    )


def _training(contents: ReportContents) -> Section:
    history = [row for row in contents.history if isinstance(row, Mapping)]
    held_out = "dev" if contents.held_out == "on dev" else "out-of-fold"
    losses = {"train_loss": "training loss", "loss": f"{held_out} loss"}
    names = {key for row in history for key, value in row.items() if is_number(value)}
    scores = sorted(names - {"epoch", *losses})[:2]
    # The first of a name: others are of novelty detection.
    metrics = {line.key.rpartition(".")[2]: line for line in reversed(contents.metric_table.lines)}
    pieces = []
    for title, keys in (("losses", losses), (f"scores {contents.held_out}", scores)):
        lines, percent = [], True
        for key in keys:
            points = [
                (float(n + 1), float(row[key])) for n, row in enumerate(history) if is_number(row.get(key))
            ]
            if len(points) > 1:
                name = losses.get(key) or (metrics[key].title if key in metrics else key.replace("_", " "))
                lines.append(Series(f"{name[:1].upper()}{name[1:]}", points))
                percent &= key in metrics and metrics[key].form == "percent"
        if lines:
            limits = _padded([value for line in lines for _, value in line.points], fractions=percent)
            axes, both = ("epoch", title), (False, percent)
            pieces.append(plot(title, lines, (1, len(history)), limits, axes, percent=both))
    return Section(figures=pieces)


def _padded(values: Sequence[float], *, fractions: bool) -> tuple[float, float]:
    """The limits of an axis, with some room around the values, so that equal ones have an axis too."""
    low, high = min(values), max(values)
    room = max((high - low) / 20, 0.005 if fractions else 1e-3 * max(abs(high), 1e-9))
    low, high = low - room, high + room
    return (max(low, 0.0), min(high, 1.0)) if fractions else (low, high)


def _data(contents: ReportContents) -> Section:
    parts = {
        name: part
        for name, part in contents.data.items()
        if isinstance(part, Mapping) and "texts" in part and name != "file"
    }
    counted = {
        name: part["labels"] for name, part in parts.items() if isinstance(part.get("labels"), Mapping)
    }
    sizes = (format_number(part.get("texts"), "count") or MISSING for part in parts.values())
    rows = [[contents.metric_table.of, *sizes]]
    labels = list(dict.fromkeys(label for labels in counted.values() for label in labels))
    if contents.metric_table.per_class and len(labels) <= 200:  # numbers are no classes
        for label in labels:
            values = [counted.get(name, {}).get(label, 0) for name in parts]
            rows.append([str(label), *(format_number(value, "count") for value in values)])
    tables = [Table(["", *parts], rows)] if parts else []
    if contents.repeats:
        cells = [[what, f"{count:,}", f"{of:,}"] for what, count, of in contents.repeats]
        tables.append(Table([f"{contents.metric_table.of} that have", "", "of"], cells))
    if len(contents.lengths):
        ends = np.quantile(contents.lengths, [0, 0.1, 0.5, 0.9, 1]).round().astype(int).tolist()
        head = ["words of", "shortest", "a tenth below", "half below", "nine tenths below", "longest"]
        tables.append(Table(head, [[contents.on, *(f"{end:,}" for end in ends)]]))
    return Section(tables=tables)


def _facts(contents: ReportContents) -> Table | None:
    return Table(["", ""], contents.facts) if contents.facts else None


def _provenance(contents: ReportContents) -> Section:
    sections = {
        name: dumps(value, indent=1, ensure_ascii=False) for name, value in contents.made.items() if value
    }
    return Section(facts=_facts(contents), details=sections)
