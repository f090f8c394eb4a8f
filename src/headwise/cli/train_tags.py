"""`headwise train` for taggers."""

from pathlib import Path

from rich.padding import Padding

from headwise.cli.console import note, output, percent, visible
from headwise.cli.long_texts import tell_long
from headwise.cli.parsing import tell_trouble
from headwise.cli.requests import TrainRequest
from headwise.cli.tag_tables import tag_scores_table, types_table
from headwise.cli.train_report import TrainDisplay, announce_model
from headwise.train.run import choose_settings
from headwise.train.run_tags import TagOutcome, read_sentences, run_tags


def train(request: TrainRequest) -> int:
    """Train a tagger, and judge it."""
    data = read_sentences(request.file, request.dev, request.test, request.asked, request.parses)
    defaults = {"train": {"score": data.headline}}
    settings, vectors = choose_settings(len(data.train), request.layers, defaults)
    for line in data.notes:
        note(line)
    note(f"{len(data.train):,} training, {len(data.dev):,} dev and {len(data.test):,} test sentences")
    tell_long(settings, (own.tokens for own in (*data.train, *data.dev, *data.test)))
    announce_model(settings, request.output)
    with TrainDisplay(settings.train, data.headline) as display:
        outcome = run_tags(
            data,
            settings,
            vectors,
            request.output,
            resume=request.resume,
            baseline=request.baseline,
            report=display.show,
        )
    tell_trouble(outcome.model)
    _print(outcome, request.output)
    return 0


def _print(outcome: TagOutcome, folder: Path) -> None:
    out, progress = output(), outcome.progress
    name, score, _ = outcome.dev.headline
    weights = (folder / "model.safetensors").stat().st_size
    out.print()
    out.print(
        f"Trained in {progress.seconds:,.0f} s; best on dev in epoch {progress.best_epoch + 1} of "
        f"{len(progress.history)}: {name} {percent(score)}."
    )
    if outcome.coverage is not None:
        out.print(f"Words with a pretrained vector: {outcome.coverage}.")
    if outcome.test is not None:
        out.print("\nOn the test sentences, which nothing was chosen on:\n")
        out.print(Padding(tag_scores_table(outcome.test, outcome.baseline), (0, 0, 1, 2), expand=False))
        out.print(Padding(types_table(outcome.test), (0, 0, 1, 2), expand=False))
    else:
        out.print("\nThere were no test sentences, so there is no honest score; give some with --test.\n")
    out.print(f"Model: {visible(str(folder))} ({weights / 1e6:.1f} MB of weights). Next:")
    out.print(f"  headwise predict {visible(str(folder))} NEW_TEXTS --output predictions.jsonl")
    out.print(f"  headwise evaluate {visible(str(folder))} TAGGED_SENTENCES")
