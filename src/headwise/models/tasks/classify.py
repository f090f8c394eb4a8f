"""Classification: one of several labels for each text. `LabelTask` is the base class of all tasks with one
label per item.
"""

from __future__ import annotations  # the models, which need torch, are loaded when they are needed

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from headwise.core.config import JsonMapping, JsonObject, lookup
from headwise.core.errors import ConfigError
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import Example
from headwise.data.items.labels import (
    LabelledItem,
    classification_targets,
    evaluation_weights,
    label_targets,
)
from headwise.data.items.training_labels import check_labels_of_model
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.classification_scores import (
    compare_labels,
    correctness,
    cross_entropies,
    label_probabilities,
    score_labels,
)
from headwise.metrics.novelty import NoveltyScores
from headwise.metrics.operating_points import parse_operating_points
from headwise.metrics.thresholds import predict_labels
from headwise.models.explanation import Explanation
from headwise.models.label_evaluation import SingleLabelEvaluation, evaluate_labels, label_shift_messages
from headwise.models.metric_table import (
    NOVELTY_ROWS,
    PER_CLASS_METRICS,
    DifferenceFormat,
    MetricRow,
    MetricTable,
    PerClassTable,
    coverage_rows,
)
from headwise.models.novelty_evaluation import evaluate_novelty, novelty_messages
from headwise.models.predictor import LabelPredictor
from headwise.models.report_parts import ComparisonSystem, ReportMessage
from headwise.models.tasks import encoder_rules
from headwise.models.tasks.encoder_rules import TextCounts
from headwise.models.tasks.task import Task
from headwise.models.tasks.task_settings import Settings
from headwise.models.tasks.training_messages import (
    calibration_message,
    label_names_message,
    linear_model_message,
    threshold_messages,
)
from headwise.models.text_explanation import explain_labels
from headwise.nn.networks.model_config import ModelConfig
from headwise.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headwise.nn.networks.bag_model import BagModel
    from headwise.nn.networks.text_model import TextEncoderModel
    from headwise.nn.networks.text_models import PairModel, TextClassifierModel
    from headwise.training.settings import RunConfig
    from headwise.training.train_result import PostTrainingFit, TrainResult

LEAST = 1e-30
"""Lower bound of probabilities, so that their logarithms are finite."""
BASELINE_METRICS = ("accuracy", "accuracy_interval", "macro_f1")


Classifier = TypeVar("Classifier", "TextClassifierModel", "PairModel", "BagModel")
Item = TypeVar("Item", bound=LabelledItem)


class LabelTask(
    Task[Classifier, Sequence[Item], Dataset[Item], SingleLabelEvaluation], Generic[Classifier, Item]
):
    """A task with one of several labels for each item."""

    objective_class = "headwise.training.text_objectives:ClassificationObjective"
    fitter_class = "headwise.training.ensembles:SingleLabelEnsembleFitter"
    predictor = LabelPredictor
    post_training_step = "linear model, calibration"

    def check(self, run_config: RunConfig) -> None:
        super().check(run_config)
        self.check_thresholds(run_config.model.classifier.thresholds)

    def check_thresholds(self, thresholds: str) -> None:
        if len(parse_operating_points(thresholds)) > 1:
            raise ConfigError(
                "classifier.thresholds asks for rates of several labels, but a text gets one label here: "
                "name one"
            )

    def calibrate(self, model: Classifier, items: Sequence[Item]) -> PostTrainingFit:
        from headwise.training.model_calibration import SINGLE_LABEL

        encoded: Any = model.encoded(cast(Any, items))
        logits = model.logits(encoded)
        targets = classification_targets(items, model.labels)
        return SINGLE_LABEL.refit(model, logits, targets, evaluation_weights(items))

    def explain(self, model: Classifier, items: Sequence[Item]) -> list[Explanation]:
        if not self.item_type.sides:
            return super().explain(model, items)
        return explain_labels(model, cast(Any, model).encoded(items))

    def primary_metric(self, parts: DataParts[Sequence[Item]], config: ModelConfig) -> str:
        return "accuracy"

    def training_summary(self, fitted: TrainResult) -> list[str]:
        model, many = fitted.model, self.item_type.nouns.many
        calibrated = [calibration_message(fitted, many), *threshold_messages(fitted, many)]
        novelty = novelty_messages(fitted, many)
        return [*label_names_message(model), *linear_model_message(model), *calibrated, *novelty]

    def evaluate(self, model: Classifier, items: Sequence[Item]) -> SingleLabelEvaluation:
        return evaluate_labels(model, items, classification_targets(items, model.labels))

    def evaluate_novelty(
        self,
        model: Classifier,
        items: Sequence[Item],
        outside: Sequence[Item],
        evaluation: SingleLabelEvaluation,
    ) -> NoveltyScores | None:
        right = evaluation.predicted == label_targets(items, model.labels)
        return evaluate_novelty(model, items, outside, right)

    def guesses(
        self, parts: DataParts[Sequence[Item]], model: Classifier, *, refit: bool
    ) -> tuple[str, np.ndarray] | None:
        """The name of a linear baseline, and its label indices for the test items."""
        raise NotImplementedError

    def baseline(
        self,
        parts: DataParts[Sequence[Item]],
        model: Classifier,
        evaluation: SingleLabelEvaluation,
        *,
        refit: bool = False,
    ) -> ComparisonSystem | None:
        named_guesses = self.guesses(parts, model, refit=refit)
        if named_guesses is None:
            return None
        name, guessed = named_guesses
        targets = label_targets(parts.test, model.labels)
        return label_baseline(name, guessed, targets, model.labels, evaluation.predicted)

    def ablations(
        self, model: Classifier, items: Sequence[Item], evaluation: SingleLabelEvaluation
    ) -> dict[str, ComparisonSystem]:
        targets = label_targets(items, model.labels)
        return {
            f"{name}_alone": label_baseline(member_name(name), logits.argmax(axis=1), targets, model.labels)
            for name, logits in member_outputs(model, items).items()
        }

    def confidence(
        self, model: Classifier, items: Sequence[Item], evaluation: SingleLabelEvaluation
    ) -> tuple[np.ndarray, np.ndarray]:
        sure = evaluation.probabilities[np.arange(len(evaluation.predicted)), evaluation.predicted]
        return sure, correctness(evaluation.predicted, classification_targets(items, model.labels))

    def label_shift(
        self, model: Classifier, items: Sequence[Item], evaluation: SingleLabelEvaluation
    ) -> list[ReportMessage]:
        targets = classification_targets(items, model.labels)
        has = label_probabilities(targets, len(model.labels))
        return label_shift_messages(model.labels, evaluation.probabilities, has, self.item_type.nouns.many)

    def metric_parts(
        self, model: Classifier, items: Sequence[Item], evaluation: SingleLabelEvaluation
    ) -> np.ndarray:
        targets = label_targets(items, model.labels)
        soft_targets = classification_targets(items, model.labels)
        losses = cross_entropies(np.log(evaluation.probabilities.clip(LEAST)), soft_targets)
        return np.stack([losses, evaluation.predicted == targets, np.ones(len(targets))], axis=1)

    def uncertainty(self, model: Classifier, items: Sequence[Item]) -> tuple[list[str], np.ndarray]:
        """The uncertainty is 1 minus the margin between the two most probable labels."""
        if not self.item_type.sides:
            return super().uncertainty(model, items)
        chances = model.predict_proba(cast(Any, items))
        ranked = np.sort(chances, axis=1)
        guesses = [model.labels[number] for number in predict_labels(chances, model.thresholds)]
        return guesses, 1 - (ranked[:, -1] - ranked[:, -2])

    def metric_table(self, scores: JsonMapping) -> MetricTable:
        of = self.item_type.nouns.many
        rows = lookup(scores, "labels")
        first = rows[0] if isinstance(rows, list | tuple) and rows else None
        threshold_rows = (
            (MetricRow("threshold", "threshold", "two"),) if lookup(first, "threshold") is not None else ()
        )
        return MetricTable(
            (
                MetricRow("accuracy", "accuracy", interval="accuracy_interval", card=True),
                MetricRow("macro F1", "macro_f1", card=True),
                MetricRow("log loss", "log_loss", "nats", compared=False),
                MetricRow("calibration error", "calibration_error", compared=False),
                MetricRow("answered", "sure.share", compared=False),
                MetricRow("  accuracy", "sure.accuracy", interval="sure.accuracy_interval", compared=False),
                *NOVELTY_ROWS,
                *coverage_rows(of),
            ),
            of,
            PerClassTable("labels", "label", "label", ("texts", of), (*PER_CLASS_METRICS, *threshold_rows)),
            DifferenceFormat("accuracy", "McNemar p"),
            confusion="confusion",
        )

    def check_labels(self, model: Classifier, data: Dataset[Item], where: str) -> None:
        check_labels_of_model(model.labels, data, where)

    def mistakes(
        self, model: Classifier, data: Dataset[Item], evaluation: SingleLabelEvaluation, count: int
    ) -> list[JsonObject]:
        rows, predicted = [], evaluation.predicted
        for number in evaluation.worst(label_targets(data.items, model.labels), count):
            guess = int(predicted[number])
            rows.append(
                {
                    "where": data.where(number),
                    "label": data.items[number].label,
                    "predicted": model.labels[guess],
                    "probability": float(evaluation.probabilities[number, guess]),
                    "text": self.item_type.show(data.items[number]),
                }
            )
        return rows

    def describe_error(self, mistake: JsonMapping) -> str:
        chance = f"{100 * mistake['probability']:.1f} %"
        return f"{mistake['label']} predicted as {mistake['predicted']} ({chance})"


def label_baseline(
    name: str,
    guessed: np.ndarray,
    targets: np.ndarray,
    labels: Sequence[str],
    predicted: np.ndarray | None = None,
) -> ComparisonSystem:
    """A comparison system with these predictions (label indices), compared with those of a model if
    given."""
    scores = score_labels(guessed, targets, labels)
    difference = None if predicted is None else asdict(compare_labels(predicted, guessed, targets))
    return ComparisonSystem(name, {key: getattr(scores, key) for key in BASELINE_METRICS}, difference)


def member_name(name: str) -> str:
    """The name of a member of the ensemble alone in tables: "linear model alone"."""
    return f"{name.replace('_', ' ')} alone"


def member_outputs(model: TextEncoderModel | BagModel, items: Sequence[object]) -> dict[str, np.ndarray]:
    """The outputs of encoder and linear model alone, `[items, outputs]`; empty without a linear model."""
    if getattr(model, "linear_model", None) is None:
        return {}
    ensemble = cast("TextEncoderModel", model)
    encoded = ensemble.encoded(items)
    return {"encoder": ensemble.outputs_of(encoded), "linear_model": ensemble.linear_scores(encoded)}


class ClassifyTask(LabelTask["TextClassifierModel", Example]):
    """One of several labels for each text."""

    name = "classify"
    model_class = "headwise.nn.networks.text_models:TextClassifierModel"
    title, purpose = "text classifier", "text classification"
    in_python = True
    supports_cross_fitting = True
    supports_base_encoder = True

    def encoder_with_base(
        self, parts: DataParts[Sequence[Example]], pretrained: Mapping[str, JsonObject], taught: int = 0
    ) -> Settings:
        """The encoder of the base has learnt word order, which neither static embeddings nor the linear
        model know. Where it does not suit the data, attention learns it from several thousand texts. The
        encoder is then a correction to these, not initialised from them, unless there are many labels."""
        counts = TextCounts.of(parts, len(parts.labels), taught)
        if settings := encoder_rules.pretrained_encoder(pretrained, counts):
            return settings
        has_shares = any(item.shares is not None for item in parts.train)
        if has_shares or not encoder_rules.attention_learns_order(counts):
            return {}
        # The first epochs over long texts are the best, and each of several thousand takes minutes.
        train: JsonObject = {"patience": 1} if counts.are_long else {}
        return {
            "encoder": {"name": "ms-san", "distances": ["word", "none"]},
            "base": {"probe": False},
            "train": train,
        }

    def data_messages(
        self, parts: DataParts[Sequence[Example]], config: ModelConfig, folds: int
    ) -> list[ReportMessage]:
        from headwise.linear.linear_fit import MOST_CELLS

        messages, labels = super().data_messages(parts, config, folds), len(parts.labels)
        if labels * len(parts.train) > MOST_CELLS and config.linear_model.kind == "linear":
            few = "a fifth of the texts, not all, and two folds say how to choose the linear model"
            messages.append(ReportMessage(f"{labels:,} labels: {few}, which saves time"))
        return messages

    def make(
        self, words: Vocabulary, parts: DataParts[Sequence[Example]], run_config: RunConfig
    ) -> TextClassifierModel:
        config = run_config.model.with_tabular_columns(parts.train)
        return self.model(config, words, parts.labels)

    def guesses(
        self, parts: DataParts[Sequence[Example]], model: TextClassifierModel, *, refit: bool
    ) -> tuple[str, np.ndarray] | None:
        from headwise.linear.baselines import fit_baseline

        train, dev = (
            ([item.text for item in part], label_targets(part, model.labels))
            for part in (parts.train, parts.dev)
        )
        linear = fit_baseline(train, dev, tokenizer=model.config.words.tokenizer, refit=refit)
        return None if linear is None else (linear.name, linear.predict([item.text for item in parts.test]))
