"""Language modelling: the next character, word or byte of a text."""

import math
from dataclasses import replace

import numpy as np
import torch

from headwise.core.config import JsonMapping
from headwise.core.errors import ConfigError
from headwise.data.items.stream_items import NO_LABELS, SymbolStreamItems
from headwise.data.items.symbols import SymbolVocabulary
from headwise.data.readers.streams import SymbolStream, SymbolStreamData
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.perplexity import LanguageScores
from headwise.models.metric_table import MetricRow, MetricTable
from headwise.models.report_parts import ComparisonSystem, ReportMessage
from headwise.models.tasks.task import Task
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.networks.language_model import LanguageModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.language_layers import check_causal, window_count
from headwise.text.vocabulary import Coverage, WordVectors
from headwise.training.language_objectives import LanguageObjective
from headwise.training.settings import RunConfig
from headwise.training.train_result import ModelEnsembleFitter

BASELINE = "frequencies alone"
_STRETCHES = 200  # number of stretches of a text that models are compared on


class LanguageModelTask(Task[LanguageModel, SymbolStream, SymbolStreamData, LanguageScores]):
    """Language modelling: predict the next symbol of a text."""

    name = "language-model"
    model_class = "headwise.nn.networks.language_model:LanguageModel"
    title, purpose = "language model", "language modelling"
    predictor = None
    labelled_file = "OTHER_TEXT"
    next_command = "sample {model} --prompt TEXT"
    usage = "On the command line, how well it predicts a plain text (`headwise sample` lets it write):"
    advice = "train longer, on more text"

    def item_type_for(self, config: ModelConfig) -> SymbolStreamItems:
        language = config.language
        if language.unit == "bytes":
            return SymbolStreamItems(unit="bytes")
        return SymbolStreamItems(
            unit=language.unit, max_symbols=language.max_symbols, min_count=language.min_count
        )

    def check(self, run_config: RunConfig) -> None:
        super().check(run_config)
        if run_config.train.refit:
            raise ConfigError("train: refit: a language model is not trained again on dev; leave it out")
        if run_config.vectors.file:
            raise ConfigError(
                "--vectors are of words, but a language model learns the vectors of its symbols"
            )

    def data_messages(
        self, parts: DataParts[SymbolStream], config: ModelConfig, folds: int
    ) -> list[ReportMessage]:
        check_causal(config.encoder)
        language, length = config.language, len(parts.train)
        sizes = [f"{len(parts.train):,} training", f"{len(parts.dev):,} dev"]
        sizes += [f"{len(parts.test):,} test"] if len(parts.test) else []
        windows, size = window_count(length, language), min(language.context, length)
        return [
            ReportMessage(f"{', '.join(sizes)} {language.unit}"),
            ReportMessage(f"an epoch is {windows:,} windows of {size:,} {language.unit}"),
        ]

    def input_description(self, model: LanguageModel) -> list[tuple[str, str]]:
        return [
            ("Encoder", encoder_name(model.config.encoder)),
            ("Vocabulary", f"{len(model.symbols):,} {model.symbols.unit}"),
            ("Context", f"{model.context:,}"),
        ]

    def build(
        self, parts: DataParts[SymbolStream], run_config: RunConfig, vectors: WordVectors | None
    ) -> tuple[LanguageModel, Coverage | None]:
        return LanguageModel(run_config.model, parts.train.symbols), None

    def objective(self, model: LanguageModel, parts: DataParts[SymbolStream]) -> LanguageObjective:
        return LanguageObjective(model, parts.train, parts.dev)

    def ensemble_fitter(self, objective: LanguageObjective) -> ModelEnsembleFitter:
        return ModelEnsembleFitter(lambda: objective.model.score(objective.dev).to_json())

    def primary_metric(self, parts: DataParts[SymbolStream], config: ModelConfig) -> str:
        return "perplexity" if config.language.unit == "words" else "bits"

    def unit(self, parts: DataParts[SymbolStream]) -> str:
        return "windows"

    def evaluate(self, model: LanguageModel, items: SymbolStream) -> LanguageScores:
        return model.score(items)

    def metric_part_count(self, items: SymbolStream) -> int:
        return min(len(items), _STRETCHES)

    def metric_parts(
        self, model: LanguageModel, items: SymbolStream, evaluation: LanguageScores
    ) -> np.ndarray:
        """Nats and bits per symbol, and the size, of stretches of the text."""
        nats = np.concatenate([window.cpu().double().numpy() for window in model.nats(items)])
        stretches = np.array_split(nats, self.metric_part_count(items))
        return np.array(
            [[stretch.mean(), stretch.sum() / math.log(2), len(stretch)] for stretch in stretches]
        )

    def metric_part_table(self, parts: DataParts[SymbolStream], config: ModelConfig) -> MetricTable:
        return MetricTable(
            (MetricRow(f"bits per {config.language.unit.removesuffix('s')}", "bits", "three"),),
            "symbols",
            lower=True,
        )

    def for_data_share(self, run_config: RunConfig, share: float) -> RunConfig:
        current = run_config.model.language
        language = replace(current, windows=math.ceil(current.windows * share))
        return replace(run_config, model=replace(run_config.model, language=language))

    def baseline(
        self,
        parts: DataParts[SymbolStream],
        model: LanguageModel,
        evaluation: LanguageScores,
        *,
        refit: bool = False,
    ) -> ComparisonSystem | None:
        return ComparisonSystem(BASELINE, frequencies(parts.train, parts.test).to_json())

    def metric_table(self, scores: JsonMapping) -> MetricTable:
        unit = str(scores.get("unit", "symbols"))
        measure = "perplexity" if unit == "words" else "bits"
        one = unit.removesuffix("s")
        return MetricTable(
            (
                MetricRow(f"{measure} per {one}", f"{measure}_per_{one}", "three", card=True),
                MetricRow(f"nats per {one}", "loss", "three", card=True),
                MetricRow(unit, "symbols", "count", card=True),
                MetricRow("  unknown", "unknown_symbols", "count"),
            ),
            unit,
            lower=True,
        )

    def schema(self, model: LanguageModel) -> SymbolVocabulary:
        return model.symbols

    def no_prediction_error(self) -> ConfigError:
        return ConfigError(NO_LABELS)


def frequencies(train: SymbolStream, test: SymbolStream) -> LanguageScores:
    """Scores of a unigram model with add-one smoothing: the symbol frequencies of one text predict
    another."""
    seen, counts = (
        torch.bincount(torch.from_numpy(text.ids.astype("int64")), minlength=len(train.symbols)).double()
        for text in (train, test)
    )
    chances = (seen + 1) / (seen + 1).sum()
    nats = float(-(counts * chances.log()).sum())
    return LanguageScores(train.symbols.unit, len(test), nats, test.unknown)
