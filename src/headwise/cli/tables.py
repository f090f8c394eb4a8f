"""The tables of a report: scores beside a rival's, labels one by one, what is taken for what."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwise.cli.console import percent, visible
from headwise.report.labels import Evaluation, Rival
from headwise.scores.metrics import Difference, Scores

MATRIX_LABELS = 12  # a confusion matrix of more is not readable
_NARROWEST = 16  # columns for a label's name beside the matrix
LISTED_LABELS = 40
CONFUSIONS = 10


def scores_table(
    evaluation: Evaluation, rivals: Sequence[Rival] = (), *, name: str = "model", of: str = "texts"
) -> Table:
    """The scores as a whole, the model in the first column, its rivals beside it.

    Args:
        evaluation: Of the model.
        rivals: Others on the same texts.
        name: What to call the model.
        of: What was labelled; the words of anything but texts are not told of.
    """
    scores = evaluation.scores
    table = _table()
    table.add_column("")
    for title in (name, *(rival.name for rival in rivals)):
        table.add_column(visible(title), justify="left", overflow="fold")
    intervals = [scores.accuracy_interval, *(rival.accuracy_interval for rival in rivals)]
    accuracies = [scores.accuracy, *(rival.accuracy for rival in rivals)]
    macro = [scores.macro_f1, *(rival.macro_f1 for rival in rivals)]
    table.add_row("accuracy", *map(percent, accuracies))
    table.add_row("  95 % interval", *map(_interval, intervals))
    table.add_row("macro F1", *("" if f1 is None else percent(f1) for f1 in macro))
    if any(rival.difference for rival in rivals):
        gaps = (rival.difference for rival in rivals)
        cells = [("", "", "") if gap is None else _gap(gap) for gap in gaps]
        for title, *row in zip(("model ahead by", "  its interval", "  McNemar p"), *cells, strict=True):
            table.add_row(title, "", *row)
    table.add_row("log loss", f"{evaluation.log_loss:.3f} nats")
    table.add_row("calibration error", percent(evaluation.calibration_error))
    if of == "texts":
        table.add_row("unknown words", percent(evaluation.unknown_words))
    table.add_row(of, f"{scores.texts:,}")
    if evaluation.empty_texts:
        table.add_row("  without a word", f"{evaluation.empty_texts:,}")
    if evaluation.cut_texts:
        table.add_row("  cut short", f"{evaluation.cut_texts:,}")
    return table


def labels_table(scores: Scores, *, most: int = LISTED_LABELS, of: str = "texts") -> RenderableType:
    """Precision, recall and F1 of every label; of more than `most` labels, those with the lowest F1. `of`
    is what was labelled."""
    rows = list(scores.labels)
    columns = zip(*scores.confusion, strict=True)
    given = {row.label: sum(column) for row, column in zip(rows, columns, strict=True)}
    table = _table()
    table.add_column("label", overflow="fold")
    for title in (of, "precision", "recall", "F1"):
        table.add_column(title, justify="right", no_wrap=True)
    if len(rows) > most:
        rows = sorted((row for row in rows if row.texts), key=lambda row: row.f1)[:most]
    for row in rows:
        # A label that is never predicted has no precision, one without texts no recall.
        precision = percent(row.precision) if given[row.label] else "-"
        recall = percent(row.recall) if row.texts else "-"
        table.add_row(visible(row.label), f"{row.texts:,}", precision, recall, percent(row.f1))
    if len(rows) == len(scores.labels):
        return table
    return Group(table, f"(the {len(rows)} of {len(scores.labels):,} labels with the lowest F1)")


def confusion_table(scores: Scores, *, width: int, of: str = "texts") -> RenderableType | None:
    """What is taken for what: a matrix of up to 12 labels if it fits, else the most frequent confusions.

    Args:
        scores: The scores.
        width: Columns of the terminal; where the labels' names do not fit above the matrix, they are
            numbered.
        of: What was labelled.

    Returns:
        None where nothing is confused and a list would be empty.
    """
    names = [visible(row.label) for row in scores.labels]
    matrix = _matrix(scores, names, width) if len(names) <= MATRIX_LABELS else None
    if matrix is not None:
        return matrix
    found = [
        (texts, i, j)
        for i, row in enumerate(scores.confusion)
        for j, texts in enumerate(row)
        if i != j and texts
    ]
    if not found:
        return None
    found.sort(key=lambda confusion: -confusion[0])
    table = _table()
    table.add_column("label", overflow="fold")
    table.add_column("taken for", overflow="fold")
    table.add_column(of, justify="right", no_wrap=True)
    table.add_column(f"of its {of}", justify="right", no_wrap=True)
    for texts, i, j in found[:CONFUSIONS]:
        table.add_row(names[i], names[j], f"{texts:,}", percent(texts / scores.labels[i].texts))
    if len(found) <= CONFUSIONS:
        return table
    rest = sum(texts for texts, _, _ in found[CONFUSIONS:])
    return Group(table, f"(and {rest:,} {of} of {len(found) - CONFUSIONS:,} other pairs)")


def _matrix(scores: Scores, names: list[str], width: int) -> Table | None:
    """The confusion matrix; None where it does not fit."""
    widest = max(cell_len(f"{texts:,}") for row in scores.confusion for texts in row)
    heads = names
    if max(map(cell_len, names)) + sum(max(widest, cell_len(name)) + 2 for name in names) > width:
        heads = [str(number) for number in range(1, len(names) + 1)]
        names = [f"{number:>2} {name}" for number, name in enumerate(names, start=1)]
        if _NARROWEST + len(names) * (max(widest, 2) + 2) > width:
            return None
    table = _table()
    table.add_column("label \\ taken for", overflow="fold")
    for head in heads:
        table.add_column(head, justify="right", no_wrap=True)
    for i, (name, row) in enumerate(zip(names, scores.confusion, strict=True)):
        cells = [
            Text(f"{texts:,}" if texts else "·", style="bold" if i == j else "" if texts else "dim")
            for j, texts in enumerate(row)
        ]
        table.add_row(name, *cells)
    return table


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{100 * interval[0]:.1f} – {100 * interval[1]:.1f} %"


def _gap(gap: Difference) -> tuple[str, str, str]:
    low, high = (100 * bound for bound in gap.interval)
    p = "< 0.001" if gap.p_value < 0.001 else f"{gap.p_value:.3f}"
    return f"{100 * gap.accuracy:+.1f} points", f"{low:+.1f} to {high:+.1f}", p


def _table() -> Table:
    return Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
