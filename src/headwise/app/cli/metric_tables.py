"""Metric tables on a terminal: scores and baselines, per-class scores, confusion matrix."""

from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from headwise.app.cli.console import columns, percent, visible
from headwise.core.config import JsonMapping, lookup
from headwise.models.metric_table import MetricTable, PerClassTable, format_number
from headwise.models.report_parts import ComparisonSystem

MATRIX_LABELS = 12  # most labels of a confusion matrix
_NARROWEST = 16  # least width of the label names beside the matrix
MAX_TABLE_LABELS = 20  # most labels of the per-class table
MAX_CONFUSIONS = 10


def print_metrics(
    console: Console,
    metric_table: MetricTable,
    scores: JsonMapping,
    systems: Sequence[ComparisonSystem] = (),
    *,
    indent: int = 0,
) -> None:
    """Print all metric tables, each followed by an empty line."""
    tables: list[RenderableType | None] = [scores_table(metric_table, scores, systems)]
    if metric_table.per_class is not None:
        tables.append(per_class_table(metric_table.per_class, scores))
        tables.append(confusion_table(metric_table, scores, width=console.width - indent))
    for table in tables:
        if table is not None:
            console.print(Padding(table, (0, 0, 1, indent), expand=False))


def scores_table(
    metric_table: MetricTable, scores: JsonMapping, systems: Sequence[ComparisonSystem] = ()
) -> Table:
    """The overall scores: the model in the first column, the comparison systems in the others."""
    wide = len(systems) > 2  # four columns of intervals just fit into 80 characters
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1 if wide else 2, 0, 0))
    table.add_column("", no_wrap=wide)
    for title in ("model", *(system.name for system in systems)):
        shown = visible(title.replace(" + ", " +\n", 1) if wide else title)
        table.add_column(shown, justify="left", overflow="fold")
    gaps = [metric_table.ahead.formatted(system.difference) for system in systems]
    for line in metric_table.lines:
        value = line.shown(scores)
        if not value or (line.if_any and not lookup(scores, line.key)):
            continue
        columns = [scores, *((system.scores for system in systems) if line.compared else ())]
        table.add_row(line.title, *map(line.shown, columns))
        if any(intervals := [line.shown_interval(system_scores) for system_scores in columns]):
            if len(systems) > 3:  # without blanks and units, five of them fit into 80 characters
                intervals = [
                    interval and interval.replace(" – ", "–").removesuffix(" %") for interval in intervals
                ]
            table.add_row("  95 % interval", *intervals)
        if line is metric_table.primary_metric and any(gaps):
            rows = zip(*(gap or ("", "", "") for gap in gaps), strict=True)
            titles = ("  model ahead by", "    its interval", f"    {metric_table.ahead.test}")
            for title, cells in zip(titles, rows, strict=True):
                if any(cells):  # the comparison of two models has no test
                    table.add_row(title, "", *cells)
    return table


def per_class_table(class_table: PerClassTable, scores: JsonMapping) -> RenderableType:
    """The per-class scores; of more than `MAX_TABLE_LABELS` labels, those with the lowest F1."""
    key, title = class_table.count
    rows = every = class_table.rows(scores)
    what = f"{class_table.title}s"
    hidden = ""
    # A long title takes two lines, not the place of the labels.
    titles = [line.title.replace(" ", "\n") for line in class_table.lines]
    table = columns(class_table.title, title, *titles, texts=(class_table.title,))
    if len(rows) > MAX_TABLE_LABELS:
        occurring = [row for row in rows if row.get(key)]
        rows = sorted(occurring, key=lambda row: row.get("f1", 0.0))[:MAX_TABLE_LABELS]
        if len(rows) < len(occurring):
            occur = " that occur" if len(occurring) < len(every) else ""
            of = f"{MAX_TABLE_LABELS} of {len(occurring):,} {what}{occur}"
            hidden = f"the {of} with the lowest F1; headwise report lists all"
        elif len(rows) < len(every):
            hidden = f"{len(every) - len(rows):,} {what} do not occur"
    for row in rows:
        # A label that does not occur has no recall; if it is not predicted either, no precision.
        none = set() if row.get(key) else {"recall"} if row.get("precision") else {"recall", "precision"}
        cells = ("-" if line.key in none else line.shown(row) or "-" for line in class_table.lines)
        table.add_row(
            visible(str(row.get(class_table.name) or "-")), format_number(row.get(key), "count"), *cells
        )
    return Group(table, f"({hidden})") if hidden else table


def confusion_table(metric_table: MetricTable, scores: JsonMapping, *, width: int) -> RenderableType | None:
    """The confusions: a matrix of up to 12 labels if it fits, else a list of the most frequent ones.

    Args:
        metric_table: The metric table definition, with the key of the matrix.
        scores: The scores.
        width: Columns of the terminal; label names that do not fit above the matrix become numbers.

    Returns:
        None if there is no matrix, or the list of confusions would be empty.
    """
    matrix = metric_table.matrix(scores)
    if matrix is None or metric_table.per_class is None:
        return None
    rows = metric_table.per_class.rows(scores)
    names = [visible(str(row.get(metric_table.per_class.name))) for row in rows]
    drawn = _matrix(matrix, names, width) if len(names) <= MATRIX_LABELS else None
    if drawn is not None:
        return drawn
    confusions = [
        (count, i, j) for i, row in enumerate(matrix) for j, count in enumerate(row) if i != j and count
    ]
    if not confusions:
        return None
    confusions.sort(key=lambda confusion: -confusion[0])
    texts = ("true", "predicted")
    table = columns(*texts, metric_table.of, f"of its {metric_table.of}", texts=texts)
    for count, i, j in confusions[:MAX_CONFUSIONS]:
        table.add_row(names[i], names[j], f"{count:,}", percent(count / sum(matrix[i])))
    if len(confusions) <= MAX_CONFUSIONS:
        return table
    rest = sum(count for count, _, _ in confusions[MAX_CONFUSIONS:])
    return Group(
        table, f"(and {rest:,} {metric_table.of} of {len(confusions) - MAX_CONFUSIONS:,} other pairs)"
    )


def _matrix(matrix: Sequence[Sequence[int]], names: list[str], width: int) -> Table | None:
    """The confusion matrix as a table; None if it does not fit."""
    widest = max(cell_len(f"{count:,}") for row in matrix for count in row)
    heads = names
    if max(map(cell_len, names)) + sum(max(widest, cell_len(name)) + 2 for name in names) > width:
        heads = [str(number) for number in range(1, len(names) + 1)]
        names = [f"{number:>2} {name}" for number, name in enumerate(names, start=1)]
        if _NARROWEST + len(names) * (max(widest, 2) + 2) > width:
            return None
    corner = "true \\ predicted"
    table = columns(corner, *heads, texts=(corner,))
    for i, (name, row) in enumerate(zip(names, matrix, strict=True)):
        cells = [
            Text(f"{count:,}" if count else "·", style="bold" if i == j else "" if count else "dim")
            for j, count in enumerate(row)
        ]
        table.add_row(name, *cells)
    return table
