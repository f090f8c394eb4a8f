"""Language modelling: the next character, word or byte of a text."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from headwise.data.kind import Kind
from headwise.data.kinds.stream import NO_LABELS, StreamKind
from headwise.data.parts import Parts
from headwise.data.streams import Stream
from headwise.encoders import ENCODERS
from headwise.encoders.base import causal_settings
from headwise.errors import ConfigError
from headwise.features.vectors import Coverage, WordVectors
from headwise.layers.causal import check_causal
from headwise.layers.language import window_count
from headwise.models.language_model import LanguageModel
from headwise.models.model_config import ModelConfig
from headwise.report.remarks import Remark
from headwise.report.rival import Rival
from headwise.report.sheet import Line, Sheet
from headwise.scores.language import LanguageScores
from headwise.tasks.defaults import Settings
from headwise.tasks.task import Task
from headwise.train.fitted import Finished
from headwise.train.language import LanguageObjective
from headwise.train.recipe import Recipe

BASELINE = "frequencies alone"
_STRETCHES = 200  # number of stretches of a text that models are compared on


class Language(Task):
    """Language modelling: predict the next symbol of a text."""

    name = "language-model"
    title, purpose = "language model", "language modelling"
    model = LanguageModel
    sections = ("encoder", "language")
    encoder = "transformer"
    """The default encoder of other tasks is bidirectional, so this one differs."""
    predictor = None
    answered_file = "OTHER_TEXT"
    then = "sample {model} --prompt TEXT"
    usage = "On the command line, how well it predicts a plain text (`headwise sample` lets it write):"
    advice = "train longer, on more text"

    def kind_for(self, config: ModelConfig) -> Kind[Any]:
        language = config.language
        if language.unit == "bytes":
            return StreamKind(unit="bytes")
        return StreamKind(
            unit=language.unit, max_symbols=language.max_symbols, min_count=language.min_count
        )

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Causal encoders, and epochs of at most a million symbols."""
        return {
            "encoder": {"name": encoder, **causal_settings(ENCODERS[encoder][1])},
            "language": {"windows": min(2_000, -(-items // 512))},
            "train": {
                "epochs": 10 if items < 5_000_000 else 20,
                "learning_rate": 3e-3,
                "schedule": "cosine",
                "batch_texts": 8,
                "score": "loss",
            },
        }

    def check(self, recipe: Recipe) -> None:
        super().check(recipe)
        if recipe.train.refit:
            raise ConfigError("train: refit: a language model is not trained again on dev; leave it out")
        if recipe.vectors.file:
            raise ConfigError(
                "--vectors are of words, but a language model learns the vectors of its symbols"
            )

    def announce(self, parts: Parts[Any], recipe: Recipe) -> list[Remark]:
        check_causal(recipe.model.encoder)
        language, length = recipe.model.language, len(parts.train)
        sizes = [f"{len(parts.train):,} training", f"{len(parts.dev):,} dev"]
        sizes += [f"{len(parts.test):,} test"] if len(parts.test) else []
        windows, size = window_count(length, language), min(language.context, length)
        return [
            Remark(f"{', '.join(sizes)} {language.unit}"),
            Remark(f"an epoch is {windows:,} windows of {size:,} {language.unit}"),
        ]

    def build(
        self, parts: Parts[Any], recipe: Recipe, vectors: WordVectors | None
    ) -> tuple[Any, Coverage | None]:
        return LanguageModel(recipe.model, parts.train.symbols), None

    def objective(self, model: Any, parts: Parts[Any]) -> LanguageObjective:
        return LanguageObjective(model, parts.train, parts.dev)

    def finish(self, model: Any, objective: Any, parts: Parts[Any]) -> Finished:
        return Finished(model.score(parts.dev).to_json())

    def headline(self, parts: Parts[Any], config: ModelConfig) -> str:
        return "perplexity" if config.language.unit == "words" else "bits"

    def unit(self, parts: Parts[Any]) -> str:
        return "windows"

    def judge(self, model: Any, items: Any) -> LanguageScores:
        return model.score(items)

    def tallied(self, items: Any) -> int:
        return min(len(items), _STRETCHES)

    def tally(self, model: Any, items: Any, judged: LanguageScores) -> np.ndarray:
        """Nats and bits per symbol, and the size, of stretches of the text."""
        nats = np.concatenate([window.cpu().double().numpy() for window in model.nats(items)])
        stretches = np.array_split(nats, self.tallied(items))
        return np.array(
            [[stretch.mean(), stretch.sum() / math.log(2), len(stretch)] for stretch in stretches]
        )

    def tally_sheet(self, parts: Parts[Any], config: ModelConfig) -> Sheet:
        return Sheet(
            (Line(f"bits per {config.language.unit.removesuffix('s')}", "bits", "three"),),
            "symbols",
            lower=True,
        )

    def with_share(self, recipe: Recipe, share: float) -> Recipe:
        current = recipe.model.language
        language = replace(current, windows=math.ceil(current.windows * share))
        return replace(recipe, model=replace(recipe.model, language=language))

    def baseline(self, parts: Parts[Any], model: Any, judged: Any, *, refit: bool = False) -> Rival | None:
        return Rival(BASELINE, frequencies(parts.train, parts.test).to_json())

    def sheet(self, scores: Mapping[str, Any]) -> Sheet:
        unit = str(scores.get("unit", "symbols"))
        measure, form = ("perplexity", "three") if unit == "words" else ("bits", "three")
        one = unit.removesuffix("s")
        return Sheet(
            (
                Line(f"{measure} per {one}", f"{measure}_per_{one}", form, card=True),
                Line(f"nats per {one}", "loss", "three", card=True),
                Line(unit, "symbols", "count", card=True),
                Line("  unknown", "unknown_symbols", "count"),
            ),
            unit,
            lower=True,
        )

    def likeness(self, model: Any) -> Any:
        return model.symbols

    def check_answers(self, model: Any, data: Any, where: str) -> None:
        """Checks nothing: the report mentions unknown symbols."""

    def refuse_prediction(self) -> ConfigError:
        return ConfigError(NO_LABELS)

    def mistakes(self, model: Any, data: Any, judged: Any, count: int) -> list[dict[str, Any]]:
        if count:
            raise ConfigError("--errors shows labels that are wrong, and a language model gives none")
        return []

    def mistaken(self, mistake: Mapping[str, Any]) -> str:
        return ""


def frequencies(train: Stream, test: Stream) -> LanguageScores:
    """Scores of a unigram model with add-one smoothing: the symbol frequencies of one text predict
    another."""
    seen, counts = (
        torch.bincount(torch.from_numpy(text.ids.astype("int64")), minlength=len(train.symbols)).double()
        for text in (train, test)
    )
    chances = (seen + 1) / (seen + 1).sum()
    nats = float(-(counts * chances.log()).sum())
    return LanguageScores(train.symbols.unit, len(test), nats, test.unknown)
