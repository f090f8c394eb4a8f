"""What `headwise train` shows: what it is about to do, how it goes, and what came of it."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from rich.padding import Padding
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from headwise.cli.console import messages, note, output, visible, warn
from headwise.cli.long_texts import tell_long
from headwise.cli.tables import confusion_table, labels_table, percent, scores_table
from headwise.encoders.trees import needs_trees
from headwise.models.model_config import encoder_name
from headwise.recipe import Recipe
from headwise.train.config import TrainConfig
from headwise.train.loop import Report
from headwise.train.run import Outcome, Texts


def announce(texts: Texts, recipe: Recipe, folder: Path) -> None:
    """Say what was read and what will be trained."""
    for line in texts.notes:
        note(line)
    sizes = f"{len(texts.train):,} training, {len(texts.dev):,} dev and {len(texts.test):,} test texts"
    encoder = recipe.model.encoder
    if needs_trees(encoder) and recipe.model.syntax.pipeline is None:
        examples = [*texts.train, *texts.dev, *texts.test]
        bare = sum(example.heads is None for example in examples)
        if bare:
            note(f"{bare:,} of {len(examples):,} texts have no parse (see --heads and --syntax.pipeline)")
    note(sizes)
    tell_long(recipe, (example.text for example in (*texts.train, *texts.dev, *texts.test)))
    announce_model(recipe, folder)


def announce_model(recipe: Recipe, folder: Path) -> None:
    """Say what will be trained."""
    encoder = recipe.model.encoder
    found = {
        name: getattr(encoder, name) for name in ("width", "layers", "heads") if hasattr(encoder, name)
    }
    shape = ", ".join(f"{name} {value}" for name, value in found.items())
    note(f"{encoder_name(encoder)} ({shape}), up to {recipe.train.epochs} epochs, into {folder}")


NOT_SHARES = {"loss", "bits", "perplexity", "mae", "rmse"}
"""Dev scores that are not between 0 and 1."""


class TrainDisplay:
    """A progress bar on a terminal, and a line for each epoch everywhere.

    Args:
        config: Of the run.
        headline: Which of the dev scores is shown beside the loss; none if it is `loss`.
        of: What is trained on.
    """

    def __init__(self, config: TrainConfig, headline: str = "accuracy", of: str = "texts"):
        self.config, self.headline, self.of = config, headline, of
        self.console = messages()
        self.bar = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(bar_width=None),
            TextColumn(
                "loss {task.fields[loss]}  best dev {task.fields[best]}  {task.fields[rate]} "
                f"{of}/s  left"
            ),
            TimeRemainingColumn(compact=True),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
        )
        self.task = self.bar.add_task("", epoch=f"1/{config.epochs}", loss="-", best="-", rate="-")

    def __enter__(self) -> "TrainDisplay":
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def show(self, report: Report) -> None:
        """Called by the training loop after each update and epoch."""
        progress = report.progress
        self.bar.update(
            self.task,
            total=report.batches * self.config.epochs,
            completed=report.batches * progress.epoch + progress.batch,
            epoch=f"{progress.epoch + 1}/{self.config.epochs}",
            loss=f"{report.loss:.3f}",
            rate=f"{report.texts_per_second:,.0f}",
            best=self._shown(progress.history[progress.best_epoch]) if progress.history else "-",
        )
        if report.scores is None:
            return
        scores = report.scores
        best = "  best" if progress.best_epoch == progress.epoch else ""
        self.console.print(
            f"epoch {progress.epoch + 1:>2}  loss {report.loss:.3f}  dev {self._told(scores)}  "
            f"{report.texts_per_second:,.0f} {self.of}/s{best}"
        )

    def _shown(self, scores: Mapping[str, float]) -> str:
        score = scores[self.headline]
        return f"{score:.3f}" if self.headline in NOT_SHARES else percent(score)

    def _told(self, scores: Mapping[str, float]) -> str:
        if self.headline == "loss":
            return f"loss {scores['loss']:.3f}"
        name = {"f1": "F1"}.get(self.headline, self.headline)
        return f"{name} {self._shown(scores)}, loss {scores['loss']:.3f}"


def print_outcome(outcome: Outcome, folder: Path) -> None:
    """The report at the end."""
    out, fitted = output(), outcome.fitted
    progress = fitted.progress
    weights = (folder / "model.safetensors").stat().st_size
    out.print()
    out.print(
        f"Trained in {progress.seconds:,.0f} s; best on dev in epoch {progress.best_epoch + 1} of "
        f"{len(progress.history)}: accuracy {percent(progress.history[progress.best_epoch]['accuracy'])}."
    )
    if fitted.coverage is not None:
        out.print(f"Words with a pretrained vector: {fitted.coverage}.")
    expert = getattr(fitted.model, "expert", None)
    if expert is not None:
        out.print(
            f"A linear expert on {len(expert.keys):,} words and word pairs stands "
            f"beside the encoder; dev gives it the weight {fitted.model.expert_weight:.2f} "
            "(--expert.kind none leaves it out)."
        )
    before, after = fitted.calibration or (0.0, 0.0)
    out.print(
        f"Probabilities calibrated on dev (temperature {fitted.model.temperature:.2f}): calibration "
        f"error of the encoder before {percent(before)}, of the whole model now "
        f"{percent(after)}."
    )
    if outcome.test is not None:
        rivals = [rival for rival in (outcome.alone, outcome.baseline) if rival is not None]
        out.print("\nOn the test texts, which nothing was chosen on:\n")
        out.print(Padding(scores_table(outcome.test, rivals), (0, 0, 1, 2), expand=False))
        out.print(Padding(labels_table(outcome.test.scores), (0, 0, 1, 2), expand=False))
        confusion = confusion_table(outcome.test.scores, width=out.width - 2)
        if confusion is not None:
            out.print(Padding(confusion, (0, 0, 1, 2), expand=False))
        _advise(outcome)
    else:
        out.print("\nThere were no test texts, so there is no honest score; give some with --test.\n")
    out.print(f"Model: {visible(str(folder))} ({weights / 1e6:.1f} MB of weights). Next:")
    out.print(f"  headwise predict {visible(str(folder))} NEW_TEXTS --output predictions.csv")
    out.print(f"  headwise evaluate {visible(str(folder))} LABELLED_TEXTS")


def _advise(outcome: Outcome) -> None:
    rival = outcome.baseline
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
