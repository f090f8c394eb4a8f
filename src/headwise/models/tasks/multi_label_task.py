"""Multi-label classification: any number of labels for each text."""

from __future__ import annotations  # the models, which need torch, are loaded when they are needed

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import Example, separator_for
from headwise.data.items.labels import evaluation_weights, label_names, multi_hot_targets
from headwise.data.items.text_items import TextSchema
from headwise.data.items.training_labels import check_labels_of_model
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.multi_label_scores import compare_sets, multi_label_scores, set_counts
from headwise.metrics.novelty import NoveltyScores
from headwise.models.explanation import Explanation
from headwise.models.label_evaluation import (
    MultiLabelEvaluation,
    evaluate_multi_label,
    label_shift_messages,
)
from headwise.models.metric_table import (
    NOVELTY_ROWS,
    PER_CLASS_METRICS,
    MetricRow,
    MetricTable,
    PerClassTable,
    coverage_rows,
)
from headwise.models.novelty_evaluation import evaluate_novelty, novelty_messages
from headwise.models.prediction_records import MultiLabelPredictor
from headwise.models.report_messages import label_set_messages
from headwise.models.report_parts import ComparisonSystem, ReportMessage
from headwise.models.tasks import encoder_rules
from headwise.models.tasks.classify import LEAST
from headwise.models.tasks.encoder_rules import TextCounts
from headwise.models.tasks.task import Task
from headwise.models.tasks.task_settings import Settings
from headwise.models.tasks.training_messages import (
    calibration_message,
    label_names_message,
    linear_model_message,
    operating_point_messages,
)
from headwise.models.text_explanation import explain_multi_label
from headwise.nn.networks.model_config import ModelConfig
from headwise.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headwise.nn.networks.text_models import MultiLabelModel
    from headwise.training.settings import RunConfig
    from headwise.training.train_result import PostTrainingFit, TrainResult

SUMMARY = ("micro_f1", "macro_f1", "subset_accuracy", "ranking", "mean_average_precision")
"""The scores that reports compare with the baseline."""


class MultiLabelTask(Task["MultiLabelModel", Sequence[Example], Dataset[Example], MultiLabelEvaluation]):
    """Multi-label classification: any number of labels for each text."""

    name = "multi-label"
    model_class = "headwise.nn.networks.text_models:MultiLabelModel"
    title, purpose = "multi-label text classifier", "any number of labels for each text"
    in_python = True
    objective_class = "headwise.training.text_objectives:MultiLabelObjective"
    fitter_class = "headwise.training.ensembles:MultiLabelEnsembleFitter"
    predictor = MultiLabelPredictor
    post_training_step = "linear model, calibration, thresholds"
    supports_cross_fitting = True
    supports_base_encoder = True

    def check(self, run_config: RunConfig) -> None:
        super().check(run_config)
        self.check_thresholds(run_config.model.classifier.thresholds)

    def check_thresholds(self, thresholds: str) -> None:
        if thresholds == "f1":
            raise ConfigError("classifier.thresholds: label sets have such thresholds anyway; leave it out")

    def encoder_with_base(
        self, parts: DataParts[Sequence[Example]], pretrained: Mapping[str, JsonObject], taught: int = 0
    ) -> Settings:
        counts = TextCounts.of(parts, len(label_names(names_of(parts))))
        return encoder_rules.pretrained_encoder(pretrained, counts)

    def make(
        self, words: Vocabulary, parts: DataParts[Sequence[Example]], run_config: RunConfig
    ) -> MultiLabelModel:
        labels = label_names(names_of(parts))
        read = parts.item_type.schema(parts.files["train"]).separator if "train" in parts.files else None
        separator = separator_for(run_config.data, labels, read)
        config = run_config.model.with_tabular_columns(parts.train)
        return self.model(config, words, labels, separator=separator)

    def calibrate(self, model: MultiLabelModel, items: Sequence[Example]) -> PostTrainingFit:
        from headwise.training.model_calibration import LABEL_SETS

        logits, targets = model.logits(model.encoded(items)), multi_hot_targets(items, model.labels)
        return LABEL_SETS.refit(model, logits, targets, evaluation_weights(items))

    def primary_metric(self, parts: DataParts[Sequence[Example]], config: ModelConfig) -> str:
        return "f1"

    def training_summary(self, fitted: TrainResult) -> list[str]:
        model = fitted.model
        thresholds = (
            f"Thresholds of {len(model.labels):,} labels tuned there, from {min(model.thresholds):.2f} to "
            f"{max(model.thresholds):.2f}: micro F1 {fitted.held_out.on} "
            f"{100 * fitted.dev['micro_f1']:.1f} %."
        )
        calibrated = calibration_message(fitted, self.item_type.nouns.many)
        promised = operating_point_messages(fitted.dev, self.item_type.nouns.many)
        return [
            *label_names_message(model),
            *linear_model_message(model),
            f"{calibrated} {thresholds}",
            *promised,
            *novelty_messages(fitted, self.item_type.nouns.many),
        ]

    def evaluate(self, model: MultiLabelModel, items: Sequence[Example]) -> MultiLabelEvaluation:
        return evaluate_multi_label(model, items, multi_hot_targets(items, model.labels))

    def evaluate_novelty(
        self,
        model: MultiLabelModel,
        items: Sequence[Example],
        outside: Sequence[Example],
        evaluation: MultiLabelEvaluation,
    ) -> NoveltyScores | None:
        right = (evaluation.predicted == multi_hot_targets(items, model.labels)).all(axis=1)
        return evaluate_novelty(model, items, outside, right)

    def baseline(
        self,
        parts: DataParts[Sequence[Example]],
        model: MultiLabelModel,
        evaluation: MultiLabelEvaluation,
        *,
        refit: bool = False,
    ) -> ComparisonSystem | None:
        """TF-IDF and one SVM per label, with thresholds tuned on dev as for the model."""
        from headwise.linear.sklearn_models import fit_multi_label_baseline

        all_parts = (parts.train, parts.dev, parts.test)
        read = [([item.text for item in part], multi_hot_targets(part, model.labels)) for part in all_parts]
        config = model.config
        linear = fit_multi_label_baseline(
            *read[:2], tokenizer=config.words.tokenizer, min_texts=config.thresholds.min_texts, refit=refit
        )
        if linear is None:
            return None
        scores, targets = linear.scores(read[2][0]), read[2][1]
        baseline_scores = multi_label_scores(scores, linear.thresholds, targets, model.labels)
        difference = asdict(compare_sets(evaluation.predicted, scores >= linear.thresholds, targets))
        return ComparisonSystem(
            linear.name, {key: getattr(baseline_scores, key) for key in SUMMARY}, difference
        )

    def label_shift(
        self, model: MultiLabelModel, items: Sequence[Example], evaluation: MultiLabelEvaluation
    ) -> list[ReportMessage]:
        has = multi_hot_targets(items, model.labels)
        return label_shift_messages(model.labels, evaluation.probabilities, has, self.item_type.nouns.many)

    def metric_parts(
        self, model: MultiLabelModel, items: Sequence[Example], evaluation: MultiLabelEvaluation
    ) -> np.ndarray:
        targets = multi_hot_targets(items, model.labels)
        chances = np.where(targets, evaluation.probabilities, 1 - evaluation.probabilities)
        counts = set_counts(evaluation.predicted, targets)
        losses = -np.log(chances.clip(LEAST)).mean(axis=1)
        return np.stack([losses, 2 * counts[:, 0], counts[:, 1] + counts[:, 2]], axis=1)

    def uncertainty(self, model: MultiLabelModel, items: Sequence[Example]) -> tuple[list[str], np.ndarray]:
        """The uncertainty is that of the label nearest to its threshold."""
        chances, least = model.predict_proba(items), np.array(model.thresholds)
        far = np.abs(chances - least) / np.where(chances >= least, 1 - least, least).clip(1e-9)
        rows = model.chosen_labels(chances)
        guesses = [model.separator.join(np.array(model.labels)[row]) for row in rows]
        return guesses, 1 - far.min(axis=1)

    def no_threshold_error(self) -> ConfigError:
        return ConfigError(
            "--unsure is for models that choose one of several labels; predictions of label sets have the "
            "probability of each label (probability:NAME): leave to people what is near its threshold there"
        )

    def explain(self, model: MultiLabelModel, items: Sequence[Example]) -> list[Explanation]:
        return explain_multi_label(model, model.encoded(items))

    def metric_table(self, scores: JsonMapping) -> MetricTable:
        of = self.item_type.nouns.many
        return MetricTable(
            (
                MetricRow("micro F1", "micro_f1", interval="micro_f1_interval", card=True),
                MetricRow("macro F1", "macro_f1", interval="macro_f1_interval", card=True),
                MetricRow(
                    "all labels right", "subset_accuracy", interval="subset_accuracy_interval", card=True
                ),
                MetricRow("ranking precision", "ranking", interval="ranking_interval"),
                MetricRow("mean average precision", "mean_average_precision", card=True),
                MetricRow("log loss", "log_loss", "label nats", compared=False),
                MetricRow("calibration error", "calibration_error", compared=False),
                *NOVELTY_ROWS,
                *coverage_rows(of),
            ),
            of,
            PerClassTable(
                "labels",
                "label",
                "label",
                ("texts", of),
                (
                    *PER_CLASS_METRICS,
                    MetricRow("average precision", "average_precision"),
                    MetricRow("threshold", "threshold", "two"),
                ),
            ),
        )

    def score_messages(
        self, labels: Mapping[str, int], scores: JsonMapping, *, thresholds: bool = False
    ) -> list[ReportMessage]:
        return label_set_messages(scores)

    def schema(self, model: MultiLabelModel) -> Any:
        return TextSchema(model.labels, None, model.config.linear_model.tabular_columns)

    def options(self, model: MultiLabelModel, options: Any) -> Any:
        if options.label_separator is None and options.label_columns is None:
            return replace(options, label_separator=model.separator)
        return options

    def check_labels(self, model: MultiLabelModel, data: Dataset[Example], where: str) -> None:
        check_labels_of_model(model.labels, data, where)

    def mistakes(
        self, model: MultiLabelModel, data: Dataset[Example], evaluation: MultiLabelEvaluation, count: int
    ) -> list[JsonObject]:
        targets = multi_hot_targets(data.items, model.labels)
        rows = []
        for number in evaluation.worst(targets, count):
            wrong = np.flatnonzero(evaluation.predicted[number] != targets[number]).tolist()
            rows.append(
                {
                    "where": data.where(number),
                    "labels": list(data.items[number].labels),
                    "predicted": [
                        model.labels[n] for n in np.flatnonzero(evaluation.predicted[number]).tolist()
                    ],
                    "wrong": {model.labels[n]: float(evaluation.probabilities[number, n]) for n in wrong},
                    "text": self.item_type.show(data.items[number]),
                }
            )
        return rows

    def describe_error(self, mistake: JsonMapping) -> str:
        true, predicted = (", ".join(mistake[key]) or "no label" for key in ("labels", "predicted"))
        wrong_labels = ", ".join(f"{name} {100 * p:.1f} %" for name, p in mistake["wrong"].items())
        return f"{true} predicted as {predicted} ({wrong_labels})"


def names_of(parts: DataParts[Sequence[Example]]) -> Sequence[str]:
    """The labels of the training file, including those that occur only in its dev or test part; for data
    from memory, those of all items."""
    if "train" in parts.files:
        return list(parts.files["train"].labels)
    return parts.labels
