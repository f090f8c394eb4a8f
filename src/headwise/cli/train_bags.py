"""`headwise train` for bags of instances."""

from pathlib import Path

from headwise.cli.bag_tables import print_bag_scores
from headwise.cli.console import note, output, percent, visible, warn
from headwise.cli.requests import TrainRequest
from headwise.cli.train_report import TrainDisplay
from headwise.errors import ConfigError
from headwise.recipe import Recipe
from headwise.train.run import Parses, choose_settings
from headwise.train.run_bags import BagOutcome, BagParts, read_bag_parts, run_bags


def train(request: TrainRequest) -> int:
    """Train a classifier of bags, and judge it."""
    if request.parses != Parses():
        raise ConfigError("--heads is the syntax of texts, but bags have none")
    parts = read_bag_parts(request.file, request.dev, request.test, request.asked)
    settings, _ = choose_settings(len(parts.train), request.layers)
    _announce(parts, settings, request.output)
    with TrainDisplay(settings.train, of="bags") as display:
        outcome = run_bags(
            parts,
            settings,
            request.output,
            resume=request.resume,
            baseline=request.baseline,
            report=display.show,
        )
    _print(outcome, request.output)
    return 0


def _announce(parts: BagParts, recipe: Recipe, folder: Path) -> None:
    for line in parts.notes:
        note(line)
    bags = [*parts.train, *parts.dev, *parts.test]
    sizes = sorted(len(bag.instances) for bag in bags)
    note(
        f"{len(parts.train):,} training, {len(parts.dev):,} dev and {len(parts.test):,} test bags of "
        f"{sizes[0]:,} to {sizes[-1]:,} instances (median {sizes[len(sizes) // 2]:,}) with "
        f"{len(parts.features):,} features"
    )
    settings = recipe.model.bags
    shape = f"width {settings.width}, layers {settings.layers}, heads {settings.heads}"
    note(f"{settings.model} ({shape}), up to {recipe.train.epochs} epochs, into {folder}")


def _print(outcome: BagOutcome, folder: Path) -> None:
    out, progress = output(), outcome.progress
    weights = (folder / "model.safetensors").stat().st_size
    out.print()
    out.print(
        f"Trained in {progress.seconds:,.0f} s; best on dev in epoch {progress.best_epoch + 1} of "
        f"{len(progress.history)}: accuracy {percent(outcome.dev.scores.accuracy)}."
    )
    out.print(f"Probabilities calibrated on dev (temperature {outcome.model.temperature:.2f}).")
    if outcome.test is not None:
        out.print("\nOn the test bags, which nothing was chosen on:\n")
        print_bag_scores(outcome.test, outcome.baseline)
        _advise(outcome)
    else:
        out.print("\nThere were no test bags, so there is no honest score; give some with --test.\n")
    out.print(f"Model: {visible(str(folder))} ({weights / 1e6:.1f} MB of weights). Next:")
    out.print(f"  headwise predict {visible(str(folder))} NEW_BAGS --output predictions.csv")
    out.print(f"  headwise evaluate {visible(str(folder))} LABELLED_BAGS")


def _advise(outcome: BagOutcome) -> None:
    difference = None if outcome.baseline is None else outcome.baseline.difference
    if difference is None:
        return
    low, high = difference.interval
    if high < 0:
        warn("the linear baseline is better than this model; use it, or label more bags")
    elif low <= 0:
        note("the test bags do not tell the model and the linear baseline apart (the interval holds 0)")
