"""`headwise train` for language models as a function: plain texts in, a judged model in a folder out."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from headwise.data.errors import DataError
from headwise.data.stream_options import StreamOptions
from headwise.data.streams import Stream, count_symbols, read_stream, split_stream
from headwise.data.symbols import Symbols, choose_symbols
from headwise.errors import HeadwiseError
from headwise.layers.language import LanguageConfig
from headwise.models.language_model import LanguageModel
from headwise.recipe import Recipe
from headwise.scores.language import LanguageScores
from headwise.train.fit import pick_device
from headwise.train.language import LanguageObjective
from headwise.train.loop import Report, remove_run
from headwise.train.model_run import save_run, train_by
from headwise.train.state import Progress


@dataclass(frozen=True)
class LanguageTexts:
    """The three parts of a text, and what there is to tell about how they came to be."""

    train: Stream
    dev: Stream
    test: Stream | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class LanguageOutcome:
    """What a run came to.

    Attributes:
        model: With its best weights.
        progress: Counters and history of the run.
        recipe: The settings that were used.
        dev: Of the model on the dev text, which it was chosen by.
        test: Of the model on the test text, None without one.
        baseline: Of the frequencies of the symbols alone on the test text.
    """

    model: LanguageModel
    progress: Progress
    recipe: Recipe
    dev: LanguageScores
    test: LanguageScores | None
    baseline: LanguageScores | None


def read_texts(train_file: str, dev: str | None, test: str | None, recipe: Recipe) -> LanguageTexts:
    """Read the files. What is not given is cut off at the end of the training file: dev, and test after it.

    The vocabulary is that of the training file; of bytes, all that occur in any of the files.

    Raises:
        DataError: A file cannot be read, or is too short to be cut.
        HeadwiseError: There is to be no dev text.
    """
    language, options = recipe.model.language, recipe.data
    others = {name: path for name, path in (("dev", dev), ("test", test)) if path is not None}
    if "dev" not in others and not recipe.split.dev:
        raise HeadwiseError(
            "there is no dev text: give one with --dev, or a --split.dev above 0", code="HW405"
        )
    counts = _count(train_file, language, options)
    if language.unit == "bytes":
        for path in others.values():
            counts += _count(path, language, options)
    symbols = choose_symbols(
        language.unit,
        counts,
        size=language.max_symbols if language.unit != "bytes" else None,
        min_count=language.min_count if language.unit != "bytes" else 1,
    )
    parts = {"train": _read(train_file, symbols, options)}
    parts |= {name: _read(path, symbols, options) for name, path in others.items()}
    shares = {name: getattr(recipe.split, name) for name in ("dev", "test") if name not in others}
    sizes = {name: round(share * len(parts["train"])) for name, share in shares.items() if share}
    notes = [f"{len(symbols):,} different {language.unit}"]
    if sizes:
        length = len(parts["train"])
        if not min(sizes.values()) or sum(sizes.values()) >= length:
            raise DataError(
                "HW282",
                f"{length:,} {language.unit}",
                advice="that is too few to cut off dev and test texts; give them as files",
                path=train_file,
            )
        cut = split_stream(parts["train"], [length - sum(sizes.values()), *sizes.values()])
        parts |= dict(zip(("train", *sizes), cut, strict=True))
        what = " and ".join(f"{size:,} for {name}" for name, size in sizes.items())
        notes.append(f"{train_file}: of its last {language.unit}, {what} are cut off")
    for name, part in parts.items():
        if part.unknown:
            notes.append(f"{name}: {part.unknown:,} {language.unit} that the vocabulary does not have")
    return LanguageTexts(parts["train"], parts["dev"], parts.get("test"), tuple(notes))


def _count(path: str, language: LanguageConfig, options: StreamOptions) -> Counter[str]:
    return count_symbols(path, language.unit, options.encoding, options.encoding_errors)


def _read(path: str, symbols: Symbols, options: StreamOptions) -> Stream:
    return read_stream(path, symbols, options.encoding, options.encoding_errors)


def read_text(path: str, model: LanguageModel, options: StreamOptions) -> Stream:
    """A text with the vocabulary of a model.

    Raises:
        DataError: It cannot be read.
    """
    return _read(path, model.symbols, options)


def run_language(
    texts: LanguageTexts,
    recipe: Recipe,
    output: Path,
    *,
    resume: bool = False,
    baseline: bool = True,
    report: Callable[[Report], None] = lambda _: None,
) -> LanguageOutcome:
    """Train a language model, judge it beside the frequencies of the symbols, and save it in `output`.

    Raises:
        HeadwiseError: The data, the settings or a state to resume do not fit.
    """
    torch.manual_seed(recipe.train.seed)
    model = LanguageModel(recipe.model, texts.train.symbols)
    model.to(pick_device(recipe.train.device))
    objective = LanguageObjective(model, texts.train, texts.dev)
    prints = {name: print_of(part) for name in ("train", "dev", "test") if (part := getattr(texts, name))}
    hashes = {name: prints[name]["sha256"] for name in ("train", "dev")}
    progress = train_by(recipe, model, objective, output / "training", hashes, resume=resume, report=report)
    dev = model.score(texts.dev)
    test = model.score(texts.test) if texts.test is not None else None
    rival = frequencies(texts.train, texts.test) if baseline and texts.test is not None else None
    outcome = LanguageOutcome(model, progress, recipe, dev, test, rival)
    metrics = {name: own.to_json() for name in ("dev", "test") if (own := getattr(outcome, name))}
    if rival is not None:
        metrics["baseline"] = {"name": BASELINE, **rival.to_json()}
    save_run(model, output, recipe, progress, data=prints, metrics=metrics)
    remove_run(output / "training")
    return outcome


BASELINE = "frequencies alone"


def frequencies(train: Stream, test: Stream) -> LanguageScores:
    """How well a text is predicted by the frequencies of symbols in another (each counted once more)."""
    seen, wanted = (
        torch.bincount(torch.from_numpy(text.ids.astype("int64")), minlength=len(train.symbols)).double()
        for text in (train, test)
    )
    chances = (seen + 1) / (seen + 1).sum()
    nats = float(-(wanted * chances.log()).sum())
    return LanguageScores(train.symbols.unit, len(test), nats, test.unknown)


def print_of(text: Stream) -> dict[str, Any]:
    """Size and SHA-256 of a text as the model reads it."""
    digest = hashlib.sha256(json.dumps(text.symbols.names).encode())
    digest.update(text.ids.tobytes())
    return {"symbols": len(text), "sha256": digest.hexdigest()}
