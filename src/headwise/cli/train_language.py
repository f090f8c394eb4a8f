"""`headwise train` for language models."""

from pathlib import Path

from rich.padding import Padding

from headwise.cli.console import note, output, visible
from headwise.cli.language_tables import language_table, told
from headwise.cli.requests import TrainRequest
from headwise.cli.train_report import TrainDisplay, announce_model
from headwise.errors import ConfigError
from headwise.layers.causal import check_causal
from headwise.layers.language import window_count
from headwise.recipe import Recipe
from headwise.train.run import Parses, choose_settings
from headwise.train.run_language import LanguageOutcome, LanguageTexts, read_texts, run_language


def train(request: TrainRequest) -> int:
    """Train a language model, and judge it."""
    if request.parses != Parses():
        raise ConfigError("--heads is the syntax of labelled texts, which language models do not read")
    if request.asked.vectors.file:
        raise ConfigError("--vectors are of words, but a language model learns the vectors of its symbols")
    texts = read_texts(request.file, request.dev, request.test, request.asked)
    settings, _ = choose_settings(len(texts.train), request.layers)
    check_causal(settings.model.encoder)
    _announce(texts, settings, request.output)
    headline = "perplexity" if settings.model.language.unit == "words" else "bits"
    with TrainDisplay(settings.train, headline, of="windows") as display:
        outcome = run_language(
            texts,
            settings,
            request.output,
            resume=request.resume,
            baseline=request.baseline,
            report=display.show,
        )
    _print(outcome, request.output)
    return 0


def _announce(texts: LanguageTexts, recipe: Recipe, folder: Path) -> None:
    for line in texts.notes:
        note(line)
    language = recipe.model.language
    sizes = [f"{len(texts.train):,} training", f"{len(texts.dev):,} dev"]
    sizes += [f"{len(texts.test):,} test"] if texts.test is not None else []
    note(f"{', '.join(sizes)} {language.unit}")
    windows = window_count(len(texts.train), language)
    size = min(language.context, len(texts.train))
    note(f"an epoch is {windows:,} windows of {size:,} {language.unit}")
    announce_model(recipe, folder)


def _print(outcome: LanguageOutcome, folder: Path) -> None:
    out, progress = output(), outcome.progress
    weights = (folder / "model.safetensors").stat().st_size
    out.print()
    out.print(
        f"Trained in {progress.seconds:,.0f} s; best on dev in epoch {progress.best_epoch + 1} of "
        f"{len(progress.history)}: {told(outcome.dev)}."
    )
    if outcome.test is not None:
        out.print("\nOn the test text, which nothing was chosen on:\n")
        out.print(Padding(language_table(outcome.test, outcome.baseline), (0, 0, 1, 2), expand=False))
    else:
        out.print("\nThere was no test text, so there is no honest score; give one with --test.\n")
    out.print(f"Model: {visible(str(folder))} ({weights / 1e6:.1f} MB of weights). Next:")
    out.print(f"  headwise sample {visible(str(folder))} --prompt TEXT")
    out.print(f"  headwise evaluate {visible(str(folder))} OTHER_TEXT")
