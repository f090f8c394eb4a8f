"""The progress of a training run, a bar on a terminal and a line per epoch; and the report at its end."""

import shlex
import time
from collections.abc import Mapping
from pathlib import Path

from rich.progress import BarColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.text import Text

from headwise.app.cli.console import SILENCE, messages, percent, standard_output, visible
from headwise.app.cli.metric_tables import print_metrics
from headwise.app.cli.progress import WithProgressBar
from headwise.app.reporter import Reporter
from headwise.app.training_report import TrainingReport
from headwise.artifacts import read_info
from headwise.metrics.metric_keys import OPERATING_POINTS
from headwise.models.metric_table import FORMATS
from headwise.models.report_messages import baseline_message
from headwise.training.callbacks import EpochReport
from headwise.training.run_state import RunProgress
from headwise.training.settings import TrainConfig

UNBOUNDED_METRICS = {"loss", "bits", "perplexity", "mae", "rmse"}
"""Dev metrics that are not fractions between 0 and 1."""


class _Time(TimeRemainingColumn):
    """The time left for the epochs; the elapsed time of other stages, which have no total."""

    def render(self, task: Task) -> Text:
        return TimeElapsedColumn().render(task) if task.total is None else super().render(task)


class TrainDisplay(WithProgressBar):
    """A progress bar on a terminal, and a line per epoch. In files and pipes, a line per minute instead of
    the bar.

    Args:
        config: Configuration of the training run.
        primary_metric: The dev metric shown beside the loss; `loss` for none.
        of: Name of the training items, such as texts.
    """

    def __init__(self, config: TrainConfig, primary_metric: str = "accuracy", of: str = "texts"):
        self.config, self.primary_metric, self.of = config, primary_metric, of
        self.console, self._part, self._begun = messages(), "", False
        # If the last epoch is kept, none is called best.
        self._selected = "last" if config.score == "last" else "best"
        self.bar = Bar(
            TextColumn("{task.fields[what]}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[how]}"),
            _Time(compact=True),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task("", total=None, what=f"epoch 1/{config.epochs}", how="")
        self._started = self._printed = time.monotonic()

    def show(self, report: EpochReport) -> None:
        """Show a report; called by the training loop after each update and epoch."""
        progress = report.progress
        if not self._begun and progress.step > 1:
            self._tell_resumed(report)
        self._begun = True
        part = f"{report.part}: " if report.until else ""
        best_text = "" if report.until else f"{self._selected} {report.scored} {self._best(progress)}  "
        self.bar.update(
            self.task,
            total=report.batches * (report.until or self._last_epoch(progress)),
            completed=report.batches * progress.epoch + progress.batch,
            what=f"{part}epoch {progress.epoch + 1}/{report.until or self.config.epochs}",
            how=f"loss {report.loss:.3f}  {best_text}{report.texts_per_second:,.0f} {self.of}/s  left",
        )
        if report.scores is None:
            if not self.console.is_terminal and time.monotonic() - self._printed >= SILENCE:
                self._print(f"{part}{self._progress_text(report)}")
            return
        if report.part != self._part:
            self._part = report.part
            self._print(f"{report.part}:")
        scores = report.scores
        best = "  best" if self._selected == "best" and progress.best_epoch == progress.epoch else ""
        self._print(
            f"epoch {progress.epoch + 1:>2}  loss {report.loss:.3f}  "
            f"{report.scored} {self._score_text(scores)}  {report.texts_per_second:,.0f} {self.of}/s{best}"
        )

    def stage(self, text: str) -> None:
        """Show a stage without epochs, with its elapsed time; in files and pipes, if the run is long."""
        if not self.console.is_terminal and time.monotonic() - self._started >= SILENCE:
            self._print(f"{text} ...")
        self.bar.remove_task(self.task)
        self.task = self.bar.add_task("", total=None, what=text, how="")

    def _print(self, line: str) -> None:
        self.console.print(line)
        self._printed = time.monotonic()

    def _progress_text(self, report: EpochReport) -> str:
        """How far the epochs are, and how long the others take."""
        progress, epochs = report.progress, report.until or self.config.epochs
        done = progress.epoch + progress.batch / report.batches
        left = (epochs if report.until else self._last_epoch(progress)) - done
        seconds = left * report.texts / max(report.texts_per_second, 1e-9)
        time_left = f"{seconds / 60:,.0f} minutes" if seconds >= 90 else "a minute"
        share = 100 * (done - progress.epoch)
        return (
            f"epoch {progress.epoch + 1}/{epochs}, {share:.0f} %: loss {report.loss:.3f}  "
            f"{report.texts_per_second:,.0f} {self.of}/s  {time_left} left for the epochs"
        )

    def _tell_resumed(self, report: EpochReport) -> None:
        """Print where an interrupted run was resumed, after its first update."""
        progress = report.progress
        epoch, before = progress.epoch + 1, progress.step - 1
        message = f"continues in epoch {epoch} after {before:,} update{'s' * (before != 1)}"
        if progress.history and not report.until:
            message += f"; {self._selected} so far is epoch {progress.best_epoch + 1}"
            message += f" with {report.scored} {self._score_text(progress.history[progress.best_epoch])}"
        self._print(message)

    def _last_epoch(self, progress: RunProgress) -> int:
        """The epoch after which the run stops if the dev score does not improve."""
        if not self.config.patience or not progress.history:
            return self.config.epochs
        return min(self.config.epochs, progress.epoch + max(1, self.config.patience - progress.stale))

    def _best(self, progress: RunProgress) -> str:
        return self._shown(progress.history[progress.best_epoch]) if progress.history else "-"

    def _shown(self, scores: Mapping[str, float]) -> str:
        score = scores[self.primary_metric]
        if self.primary_metric in ("mae", "rmse"):  # in the unit of the numbers, which may be small
            return FORMATS["figure"](score)
        return f"{score:.3f}" if self.primary_metric in UNBOUNDED_METRICS else percent(score)

    def _score_text(self, scores: Mapping[str, float]) -> str:
        if self.primary_metric == "loss":
            return f"loss {scores['loss']:.3f}"
        name = {"f1": "F1"}.get(self.primary_metric, self.primary_metric)
        return f"{name} {self._shown(scores)}, loss {scores['loss']:.3f}"


def print_report(report: TrainingReport, folder: Path, reporter: Reporter) -> None:
    """Print the report at the end of a training run.

    Args:
        report: The result of the training run.
        folder: The model folder.
        reporter: Receives messages.
    """
    out, task, fitted = standard_output(), report.task, report.fitted
    progress, many = fitted.progress, report.parts.item_type.nouns.many
    weights = (folder / "model.safetensors").stat().st_size
    primary_metric = task.primary_metric(report.parts, report.run_config.model)
    best = progress.history[progress.best_epoch][primary_metric]
    shown = FORMATS["figure" if primary_metric in UNBOUNDED_METRICS else "percent"](best)
    name = {"f1": "F1", "mae": "mean absolute error"}.get(primary_metric, primary_metric)
    score = report.run_config.train.score
    best_by = "lowest loss" if score == "loss" and primary_metric not in UNBOUNDED_METRICS else "best"
    best_by_text = "kept" if score == "last" else f"{best_by} {fitted.held_out.on} in"
    of = f" (the mean of {fitted.held_out.folds} folds)" if fitted.held_out.folds else ""
    out.print()
    out.print(
        f"Network trained in {progress.seconds:,.0f} s; {best_by_text} epoch {progress.best_epoch + 1} of "
        f"{len(progress.history)}: {name} {shown}{of}."
    )
    if fitted.coverage is not None:
        out.print(f"Words with a pretrained vector: {fitted.coverage}.")
    for line in task.training_summary(fitted):
        out.print(line)
    _print_test_scores(report, folder, reporter)
    if report.distillation and (speeds := report.distillation["texts_per_second"]):
        model_speed, teacher_speed = speeds["model"], speeds["teacher"]
        name = report.distillation["teacher"]
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


def _print_test_scores(report: TrainingReport, folder: Path, reporter: Reporter) -> None:
    """Print the scores on the test items, with what there is to say about them."""
    out, task, fitted = standard_output(), report.task, report.fitted
    many = report.parts.item_type.nouns.many
    if report.test is None:
        out.print(f"\nThere are no test {many}, so there is no unbiased score; give some with --test.\n")
        return
    seen = report.test_duplicates
    what = f", {seen:,} of which also occur in training or dev data" if seen else ""
    out.print(f"\nOn the held-out test {many}{what}:\n")
    scores = report.test_scores
    metric_table = task.metric_table(scores)
    systems = sorted(report.systems.items(), key=lambda named: named[0] == "baseline")
    print_metrics(out, metric_table, scores, [system for _, system in systems], indent=2)
    model = report.run_config.model
    plain = "classifier" in report.run_config.sections and model.classifier.thresholds == "none"
    for message in (
        *task.score_messages(read_info(folder).data.train.labels, scores, thresholds=plain),
        *task.label_shift(fitted.model, report.parts.test, report.test),
    ):
        reporter.message(message)
    # Operating points of a label lower the accuracy on others, and the baseline has none.
    baseline = None if OPERATING_POINTS in fitted.dev else report.systems.get("baseline")
    message = baseline_message(metric_table, scores, baseline, task.advice)
    if message is not None:
        reporter.message(message)
