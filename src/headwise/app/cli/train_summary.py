"""Print the report at the end of a training run."""

import shlex
from pathlib import Path

from headwise.app.cli.console import output, visible
from headwise.app.cli.metric_tables import print_metrics
from headwise.app.cli.train_display import UNBOUNDED_METRICS
from headwise.app.reporter import Reporter
from headwise.app.training_report import TrainingReport
from headwise.artifacts import read_info
from headwise.metrics.metric_keys import OPERATING_POINTS
from headwise.models.metric_table import FORMATS
from headwise.models.report_messages import baseline_message


def print_outcome(outcome: TrainingReport, folder: Path, reporter: Reporter) -> None:
    """Print the report at the end of a training run.

    Args:
        outcome: The result of the training run.
        folder: The model folder.
        reporter: Receives messages.
    """
    out, task, fitted = output(), outcome.task, outcome.fitted
    progress, many = fitted.progress, outcome.parts.item_type.nouns.many
    weights = (folder / "model.safetensors").stat().st_size
    primary_metric = task.primary_metric(outcome.parts, outcome.run_config.model)
    best = progress.history[progress.best_epoch][primary_metric]
    shown = FORMATS["figure" if primary_metric in UNBOUNDED_METRICS else "percent"](best)
    name = {"f1": "F1", "mae": "mean absolute error"}.get(primary_metric, primary_metric)
    score = outcome.run_config.train.score
    best_by = "lowest loss" if score == "loss" and primary_metric not in UNBOUNDED_METRICS else "best"
    best_by_text = "kept" if score == "last" else f"{best_by} on dev in"
    out.print()
    out.print(
        f"Trained in {progress.seconds:,.0f} s; {best_by_text} epoch {progress.best_epoch + 1} of "
        f"{len(progress.history)}: {name} {shown}."
    )
    if fitted.coverage is not None:
        out.print(f"Words with a pretrained vector: {fitted.coverage}.")
    for line in task.training_summary(fitted):
        out.print(line)
    if outcome.test is None:
        out.print(f"\nThere are no test {many}, so there is no unbiased score; give some with --test.\n")
    else:
        seen = outcome.test_duplicates
        what = f", {seen:,} of which also occur in training or dev data" if seen else ""
        out.print(f"\nOn the held-out test {many}{what}:\n")
        scores = outcome.test_scores
        metric_table = task.metric_table(scores)
        systems = sorted(outcome.systems.items(), key=lambda named: named[0] == "baseline")
        print_metrics(out, metric_table, scores, [system for _, system in systems], indent=2)
        model = outcome.run_config.model
        plain = "classifier" in outcome.run_config.sections and model.classifier.thresholds == "none"
        for message in (
            *task.score_messages(read_info(folder).data.train.labels, scores, thresholds=plain),
            *task.label_shift(fitted.model, outcome.parts.test, outcome.test),
        ):
            reporter.message(message)
        # Operating points of a label lower the accuracy on others, and the baseline has none.
        baseline = None if OPERATING_POINTS in fitted.dev else outcome.systems.get("baseline")
        message = baseline_message(metric_table, scores, baseline, task.advice)
        if message is not None:
            reporter.message(message)
    if outcome.distillation and (speeds := outcome.distillation["texts_per_second"]):
        model_speed, teacher_speed, name = (
            speeds["model"],
            speeds["teacher"],
            outcome.distillation["teacher"],
        )
        ratio = model_speed / teacher_speed
        out.print(
            f"The model reads {model_speed:,.0f} {many}/s, its teacher ({name}) {teacher_speed:,.0f}: "
            f"it is {ratio:,.{0 if ratio > 9.5 else 1}f} times as fast.\n"
        )
    out.print(f"Model: {visible(str(folder))} ({weights / 1e6:.1f} MB of weights). Next:")
    shown = visible(shlex.quote(str(folder)))
    then = task.next_command.format(model=shown, new=task.new_file, predictions=task.predictions)
    out.print(f"  headwise {then}")
    out.print(f"  headwise evaluate {shown} {task.labelled_file}")
