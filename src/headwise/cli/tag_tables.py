"""The tables of a tagger's report: its scores beside the baseline's, and span types or tags one by one."""

from rich.table import Table

from headwise.cli.console import percent, visible
from headwise.report.tags import TagEvaluation
from headwise.train.run_tags import TagRival

LISTED = 40  # types or tags


def tag_scores_table(evaluation: TagEvaluation, rival: TagRival | None = None) -> Table:
    """The scores as a whole, the tagger in the first column, its rival beside it."""
    table = _table("", "model", *([] if rival is None else [visible(rival.name)]))
    entities, tokens = evaluation.entities, evaluation.tokens
    name, score, interval = evaluation.headline
    table.add_row(name, percent(score), *([] if rival is None else [percent(rival.score)]))
    table.add_row("  95 % interval", _interval(interval))
    if rival is not None and rival.difference is not None:
        gap = rival.difference
        low, high = (f"{100 * bound:+.1f}" for bound in gap.interval)
        table.add_row("model ahead by", "", f"{100 * gap.score:+.1f} points")
        table.add_row("  its interval", "", f"{low} to {high}")
        table.add_row("  randomisation p", "", f"{gap.p_value:.2g}")
    if entities is not None:
        table.add_row("precision", percent(entities.precision))
        table.add_row("recall", percent(entities.recall))
        table.add_row("macro F1", percent(entities.macro_f1))
        table.add_row("accuracy of words", percent(tokens.accuracy))
        table.add_row("spans", f"{entities.spans:,} ({entities.predicted:,} predicted)")
    else:
        table.add_row("macro F1", percent(tokens.macro_f1))
    table.add_row("unknown words", percent(evaluation.unknown_words))
    table.add_row("sentences, words", f"{tokens.texts:,}, {tokens.words:,}")
    return table


def types_table(evaluation: TagEvaluation) -> Table:
    """Precision, recall and F1 of every type of span, or every tag; of many, those with the lowest F1."""
    if evaluation.entities is not None:
        title, unit = "type", "spans"
        rows = [(own.type or "-", own.spans, own) for own in evaluation.entities.types]
    else:
        title, unit = "tag", "words"
        rows = [(own.tag, own.words, own) for own in evaluation.tokens.tags]
    hidden = len(rows) - LISTED
    if hidden > 0:
        rows = sorted(rows, key=lambda row: row[2].f1)[:LISTED]
    table = _table(title, unit, "precision", "recall", "F1")
    for name, count, own in rows:
        scores = (percent(score) for score in (own.precision, own.recall, own.f1))
        table.add_row(visible(name), f"{count:,}", *scores)
    if hidden > 0:
        table.add_row(f"and {hidden:,} with a higher F1")
    return table


def _table(first: str, *titles: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column(first, overflow="fold")
    for title in titles:
        table.add_column(title, justify="right" if first else "left", overflow="fold")
    return table


def _interval(interval: tuple[float, float]) -> str:
    return " to ".join(map(percent, interval))
