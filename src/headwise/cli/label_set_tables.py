"""The tables and closing words of reports on models of label sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table

from headwise.cli.console import note, output, percent, visible, warn
from headwise.report.label_sets import LabelSetEvaluation, LabelSetRival
from headwise.scores.label_set_metrics import LabelSetScores

if TYPE_CHECKING:
    from headwise.train.run_label_sets import LabelSetOutcome

LISTED = 40  # labels


def label_set_scores_table(evaluation: LabelSetEvaluation, rival: LabelSetRival | None = None) -> Table:
    """The scores as a whole, the model in the first column, a rival beside it."""
    scores = evaluation.scores
    table = _table("", "model", *([] if rival is None else [visible(rival.name)]), justify="left")
    for title, key, interval in (
        ("micro F1", "micro_f1", scores.micro_f1_interval),
        ("macro F1", "macro_f1", scores.macro_f1_interval),
        ("all labels right", "subset_accuracy", scores.subset_accuracy_interval),
        ("ranking precision", "ranking", scores.ranking_interval),
        ("mean average precision", "mean_average_precision", None),
    ):
        others = [] if rival is None else [percent(rival.scores[key])]
        table.add_row(title, percent(getattr(scores, key)), *others)
        if interval is not None:
            table.add_row("  95 % interval", f"{100 * interval[0]:.1f} – {100 * interval[1]:.1f} %")
        gap = rival.difference if rival is not None and key == "micro_f1" else None
        if gap is not None:
            low, high = (100 * bound for bound in gap.interval)
            p = "< 0.001" if gap.p_value < 0.001 else f"{gap.p_value:.3f}"
            table.add_row("  model ahead by", "", f"{100 * gap.score:+.1f} points")
            table.add_row("    its interval", "", f"{low:+.1f} to {high:+.1f}")
            table.add_row("    randomisation p", "", p)
    table.add_row("log loss", f"{evaluation.log_loss:.3f} nats a label")
    table.add_row("calibration error", percent(evaluation.calibration_error))
    table.add_row("unknown words", percent(evaluation.unknown_words))
    table.add_row("texts", f"{scores.texts:,}")
    if evaluation.empty_texts:
        table.add_row("  without a word", f"{evaluation.empty_texts:,}")
    if evaluation.cut_texts:
        table.add_row("  cut short", f"{evaluation.cut_texts:,}")
    return table


def label_set_labels_table(scores: LabelSetScores, *, most: int = LISTED) -> RenderableType:
    """The labels one by one, with their thresholds; of more than `most`, those with the lowest F1."""
    rows = list(scores.labels)
    if len(rows) > most:
        rows = sorted((row for row in rows if row.texts), key=lambda row: row.f1)[:most]
    table = _table("label", "texts", "precision", "recall", "F1", "average precision", "threshold")
    for row in rows:
        area = row.average_precision
        table.add_row(
            visible(row.label),
            f"{row.texts:,}",
            percent(row.precision),
            percent(row.recall) if row.texts else "-",
            percent(row.f1),
            "-" if area is None else percent(area),
            f"{row.threshold:.2f}",
        )
    if len(rows) == len(scores.labels):
        return table
    return Group(table, f"(the {len(rows)} of {len(scores.labels):,} labels with the lowest F1)")


def print_label_set_outcome(outcome: "LabelSetOutcome", folder: Path) -> None:
    """The report at the end of a training run."""
    out, fitted = output(), outcome.fitted
    model, progress = fitted.model, fitted.progress
    weights = (folder / "model.safetensors").stat().st_size
    out.print()
    out.print(
        f"Trained in {progress.seconds:,.0f} s; best on dev in epoch {progress.best_epoch + 1} of "
        f"{len(progress.history)}: micro F1 {percent(progress.history[progress.best_epoch]['f1'])}."
    )
    if fitted.coverage is not None:
        out.print(f"Words with a pretrained vector: {fitted.coverage}.")
    if model.expert is not None:
        out.print(
            f"A linear expert on {len(model.expert.keys):,} words and word pairs stands beside the "
            f"encoder; dev gives it the weight {model.expert_weight:.2f} (--expert.kind none leaves it "
            "out)."
        )
    before, after = fitted.calibration or (0.0, 0.0)
    out.print(
        f"Probabilities calibrated on dev (temperature {model.temperature:.2f}): calibration error of the "
        f"encoder before {percent(before)}, of the whole model now "
        f"{percent(after)}. Thresholds of {len(model.labels):,} labels tuned there, "
        f"from {min(model.thresholds):.2f} to {max(model.thresholds):.2f}: micro F1 on dev "
        f"{percent(fitted.dev['micro_f1'])}."
    )
    if outcome.test is not None:
        out.print("\nOn the test texts, which nothing was chosen on:\n")
        table = label_set_scores_table(outcome.test, outcome.baseline)
        out.print(Padding(table, (0, 0, 1, 2), expand=False))
        out.print(Padding(label_set_labels_table(outcome.test.scores), (0, 0, 1, 2), expand=False))
        _advise(outcome.baseline)
    else:
        out.print("\nThere were no test texts, so there is no honest score; give some with --test.\n")
    out.print(f"Model: {visible(str(folder))} ({weights / 1e6:.1f} MB of weights). Next:")
    out.print(f"  headwise predict {visible(str(folder))} NEW_TEXTS --output predictions.csv")
    out.print(f"  headwise evaluate {visible(str(folder))} LABELLED_TEXTS")


def _advise(rival: LabelSetRival | None) -> None:
    if rival is None or rival.difference is None:
        return
    low, high = rival.difference.interval
    if high < 0:
        warn(
            "the linear baseline is better than this model; try pretrained word vectors (--vectors FILE), "
            "more labelled texts, or use the baseline"
        )
    elif low <= 0:
        note("the test texts do not tell the model and the linear baseline apart (the interval holds 0)")


def _table(first: str, *titles: str, justify: Literal["left", "right"] = "right") -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column(first, overflow="fold")
    for title in titles:
        table.add_column(title, justify=justify, overflow="fold")
    return table
