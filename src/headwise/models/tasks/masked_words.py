"""Masked-word pretraining: an encoder learns from unlabelled texts, for warm starts of other models."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from headwise.core.config import JsonMapping
from headwise.core.errors import ConfigError
from headwise.data.items.dataset import Dataset, items_at
from headwise.data.items.examples import Example
from headwise.data.items.stream_items import NO_ANSWERS
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.perplexity import MaskedScores
from headwise.models.metric_table import MetricRow, MetricTable
from headwise.models.report_parts import ComparisonSystem, ReportMessage
from headwise.models.tasks.task import Task
from headwise.nn.networks.masked_model import MaskedModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.text.vocabulary import Vocabulary
from headwise.training.language_objectives import LEAST, MaskedObjective
from headwise.training.settings import RunConfig
from headwise.training.train_result import ModelEnsembleFitter

BASELINE = "frequencies alone"
_MOST_EVALUATED = 1_000  # maximum number of dev texts evaluated after each epoch


class MaskedWordsTask(Task[MaskedModel, Sequence[Example], Dataset[Example], MaskedScores]):
    """Masked-word prediction: predict hidden words of a text from the others."""

    name = "masked-words"
    model_class = "headwise.nn.networks.masked_model:MaskedModel"
    title, purpose = "model of masked words", "telling masked words"
    predictor = None
    labelled_file = "OTHER_TEXTS"
    usage = "For other models to begin with (`headwise train FILE --base MODEL`). How well it tells words:"
    next_command = "train FILE --base {model}"
    advice = "train longer, on more text"

    def check(self, run_config: RunConfig) -> None:
        super().check(run_config)
        if run_config.train.score not in ("loss", "accuracy", "last"):
            raise ConfigError(
                f"train: score: expected loss, accuracy or last, got {run_config.train.score!r}"
            )

    def make(
        self, words: Vocabulary, parts: DataParts[Sequence[Example]], run_config: RunConfig
    ) -> MaskedModel:
        return MaskedModel(run_config.model, words)

    def objective(self, model: MaskedModel, parts: DataParts[Sequence[Example]]) -> MaskedObjective:
        # Spread over all of dev: neighbours in a file often come from one document or source.
        count = min(len(parts.dev), _MOST_EVALUATED)
        dev = items_at(parts.dev, np.arange(count) * len(parts.dev) // max(count, 1))
        return MaskedObjective(model, parts.train, dev)

    def begin(self, model: MaskedModel, objective: MaskedObjective) -> None:
        objective.begin()

    def ensemble_fitter(self, objective: MaskedObjective) -> ModelEnsembleFitter:
        return ModelEnsembleFitter(lambda: objective.model.score(objective.dev).to_json())

    def primary_metric(self, parts: DataParts[Sequence[Example]], config: ModelConfig) -> str:
        return "perplexity"

    def evaluate(self, model: MaskedModel, items: Sequence[Example]) -> MaskedScores:
        return model.score(model.encoded(items))

    def metric_parts(
        self, model: MaskedModel, items: Sequence[Example], evaluation: MaskedScores
    ) -> np.ndarray:
        """For each text: mean nats of its hidden words, their sum, and the number of hidden words."""
        rows = np.zeros((len(items), 3))
        for texts, owner, nats, _ in model.nats(model.encoded(items)):
            sums = torch.zeros(len(texts), dtype=torch.float64).index_add(
                0, owner.cpu(), nats.cpu().double()
            )
            counts = torch.bincount(owner.cpu(), minlength=len(texts)).double()
            rows[texts] = torch.stack([sums / counts.clamp(min=1), sums, counts], dim=1).numpy()
        return rows

    def metric_part_table(self, parts: DataParts[Sequence[Example]], config: ModelConfig) -> MetricTable:
        return MetricTable((MetricRow("nats per hidden word", "loss", "three"),), "texts", lower=True)

    def baseline(
        self,
        parts: DataParts[Sequence[Example]],
        model: MaskedModel,
        evaluation: MaskedScores,
        *,
        refit: bool = False,
    ) -> ComparisonSystem | None:
        """The unigram baseline: predicts words by their training frequencies."""
        often = MaskedObjective(model, [], []).often
        chances, likeliest = often.clamp(min=LEAST).log(), int(often.argmax())
        hidden_parts = [hidden.cpu() for *_, hidden in model.masked_batches(model.encoded(parts.test))]
        hidden = torch.cat([torch.zeros(0, dtype=torch.int64), *hidden_parts])
        scores = MaskedScores(len(hidden), -float(chances[hidden].sum()), int((hidden == likeliest).sum()))
        return ComparisonSystem(BASELINE, scores.to_json())

    def metric_table(self, scores: JsonMapping) -> MetricTable:
        return MetricTable(
            (
                MetricRow("perplexity of hidden words", "perplexity", "three", card=True),
                MetricRow("nats per hidden word", "loss", "three", card=True),
                MetricRow("told rightly", "accuracy", card=True),
                MetricRow("hidden words", "words", "count", card=True),
            ),
            "texts",
            lower=True,
        )

    def score_messages(
        self, labels: Mapping[str, int], scores: JsonMapping, *, thresholds: bool = False
    ) -> list[ReportMessage]:
        """A warning where no word was hidden, as a perplexity of 1 then means nothing."""
        if scores.get("words") != 0:
            return []
        message = (
            "no word that the model knows was hidden (their share is small), so these scores say nothing"
        )
        return [ReportMessage(f"{message}; give more texts", warning=True)]

    def no_prediction_error(self) -> ConfigError:
        return ConfigError(NO_ANSWERS)
