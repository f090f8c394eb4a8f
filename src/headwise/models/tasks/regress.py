"""Regression: a number for each text, such as a rating or a price. `NumberTask` is the base class of all
regression tasks.
"""

from __future__ import annotations  # the models, which need torch, are loaded when they are needed

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from headwise.core.config import JsonMapping, JsonObject
from headwise.data.findings import abbreviate
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import Example
from headwise.data.items.labels import LabelledItem, training_weights
from headwise.data.items.numeric_labels import MOST_CLASSES, look_like_scores, parse_number
from headwise.data.items.training_labels import check_labelled
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.regression_scores import compare_errors, comparison_scores, score_numbers
from headwise.metrics.target_scale import Scale, decimal_text
from headwise.models.explanation import Explanation
from headwise.models.label_evaluation import NumberEvaluation, evaluate_numbers
from headwise.models.metric_table import DifferenceFormat, MetricRow, MetricTable, coverage_rows
from headwise.models.prediction_records import NumberPredictor
from headwise.models.report_messages import regression_messages
from headwise.models.report_parts import ComparisonSystem, ReportMessage
from headwise.models.tasks import encoder_rules
from headwise.models.tasks.classify import member_name, member_outputs
from headwise.models.tasks.encoder_rules import TextCounts
from headwise.models.tasks.task import Task
from headwise.models.tasks.task_settings import Settings
from headwise.models.tasks.training_messages import linear_model_message
from headwise.models.text_explanation import explain_numbers
from headwise.nn.networks.model_config import ModelConfig
from headwise.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headwise.nn.networks.text_models import PairScorer, TextRegressorModel
    from headwise.training.settings import RunConfig
    from headwise.training.train_result import TrainResult

Regressor = TypeVar("Regressor", "TextRegressorModel", "PairScorer")
Item = TypeVar("Item", bound=LabelledItem)


class NumberTask(
    Task[Regressor, Sequence[Item], Dataset[Item], NumberEvaluation], Generic[Regressor, Item]
):
    """A task with a number for each item."""

    objective_class = "headwise.training.text_objectives:NumberObjective"
    fitter_class = "headwise.training.ensembles:NumberEnsembleFitter"
    predictor = NumberPredictor
    post_training_step, supports_cross_fitting, head_section = "linear model", True, "regressor"

    def targets(self, items: Sequence[Item]) -> np.ndarray:
        """The true numbers of items, `[items]`."""
        return self.item_type.label_type.numbers(items)  # type: ignore[attr-defined]

    def make(self, words: Vocabulary, parts: DataParts[Sequence[Item]], run_config: RunConfig) -> Regressor:
        scale = Scale.of(self.targets(parts.train), training_weights(parts.train))
        return self.model(run_config.model.with_tabular_columns(parts.train), words, scale)

    def training_summary(self, fitted: TrainResult) -> list[str]:
        return linear_model_message(fitted.model)

    def ablations(
        self, model: Regressor, items: Sequence[Item], evaluation: NumberEvaluation
    ) -> dict[str, ComparisonSystem]:
        targets = self.targets(items)
        return {
            f"{name}_alone": ComparisonSystem(
                member_name(name),
                comparison_scores(score_numbers(model.scale.restore(outputs[:, 0]), targets)),
            )
            for name, outputs in member_outputs(model, items).items()
        }

    def primary_metric(self, parts: DataParts[Sequence[Item]], config: ModelConfig) -> str:
        return "mae"

    def evaluate(self, model: Regressor, items: Sequence[Item]) -> NumberEvaluation:
        return evaluate_numbers(model, items, self.targets(items))

    def metric_parts(
        self, model: Regressor, items: Sequence[Item], evaluation: NumberEvaluation
    ) -> np.ndarray:
        errors = np.abs(evaluation.predicted - self.targets(items))
        return np.stack([errors, errors, np.ones(len(errors))], axis=1)

    def explain(self, model: Regressor, items: Sequence[Item]) -> list[Explanation]:
        return explain_numbers(model, cast(Any, model).encoded(items))

    def guesses(
        self, parts: DataParts[Sequence[Item]], model: Regressor, *, refit: bool
    ) -> tuple[str, np.ndarray] | None:
        """The name of a linear baseline, and its numbers for the test items."""
        raise NotImplementedError

    def baseline(
        self,
        parts: DataParts[Sequence[Item]],
        model: Regressor,
        evaluation: NumberEvaluation,
        *,
        refit: bool = False,
    ) -> ComparisonSystem | None:
        named_guesses = self.guesses(parts, model, refit=refit)
        if named_guesses is None:
            return None
        name, guessed = named_guesses
        targets = self.targets(parts.test)
        difference = asdict(compare_errors(evaluation.predicted, guessed, targets))
        return ComparisonSystem(name, comparison_scores(score_numbers(guessed, targets)), difference)

    def metric_table(self, scores: JsonMapping) -> MetricTable:
        of = self.item_type.nouns.many
        return MetricTable(
            (
                MetricRow("mean absolute error", "mae", "figure", card=True),
                MetricRow("root mean squared error", "rmse", "figure", card=True),
                MetricRow("Pearson correlation", "pearson", "three", "pearson_interval", card=True),
                MetricRow("Spearman correlation", "spearman", "three", card=True),
                MetricRow("variance explained", "r2", "three", compared=False),
                *coverage_rows(of),
            ),
            of,
            ahead=DifferenceFormat(form="figure"),
            lower=True,
        )

    def check_labels(self, model: Regressor, data: Dataset[Item], where: str) -> None:
        check_labelled(data)
        self.item_type.label_type.numbers(data.items, data.path)  # type: ignore[attr-defined]

    def score_messages(
        self, labels: Mapping[str, int], scores: JsonMapping, *, thresholds: bool = False
    ) -> list[ReportMessage]:
        return regression_messages(scores, labels)

    def evaluation_caveats(self, labels: Mapping[str, int], data: Dataset[Item]) -> list[ReportMessage]:
        """A warning where a file has whole numbers, like classes, and the model was trained on decimals."""
        file_labels = data.labels
        few = len(file_labels) <= min(MOST_CLASSES, len(data.items) // 2)
        if not few or not look_like_scores(labels) or look_like_scores(file_labels):
            return []
        values = [parse_number(label) for label in labels]
        low, high = (f"{bound:g}" for bound in (min(values), max(values)))  # type: ignore[type-var]
        message = (
            f"the numbers of this file look like classes ({abbreviate(sorted(file_labels, key=float))})"
        )
        return [
            ReportMessage(f"{message}, those of training are scores from {low} to {high}", warning=True)
        ]

    def mistakes(
        self, model: Regressor, data: Dataset[Item], evaluation: NumberEvaluation, count: int
    ) -> list[JsonObject]:
        targets = self.targets(data.items)
        return [
            {
                "where": data.where(number),
                "number": float(targets[number]),
                "predicted": float(evaluation.predicted[number]),
                "text": self.item_type.show(data.items[number]),
            }
            for number in evaluation.worst(targets, count)
        ]

    def describe_error(self, mistake: JsonMapping) -> str:
        number, predicted = mistake["number"], mistake["predicted"]
        # Show three digits of the difference.
        places = 2 - math.floor(math.log10(abs(number - predicted) or 1))
        return f"{number:.15g} predicted as {decimal_text(predicted, places)}"


class RegressTask(NumberTask["TextRegressorModel", Example]):
    """A number for each text."""

    name = "regress"
    model_class = "headwise.nn.networks.text_models:TextRegressorModel"
    title, purpose = "regressor of texts", "a number for each text"
    in_python = True
    supports_base_encoder = True

    def encoder_with_base(
        self, parts: DataParts[Sequence[Example]], pretrained: Mapping[str, JsonObject], taught: int = 0
    ) -> Settings:
        return encoder_rules.pretrained_encoder(pretrained, TextCounts.of(parts, 1, taught))

    def guesses(
        self, parts: DataParts[Sequence[Example]], model: TextRegressorModel, *, refit: bool
    ) -> tuple[str, np.ndarray] | None:
        from headwise.linear.baselines import TFIDF_RIDGE, is_number_sampled, predict_number_baseline
        from headwise.linear.large_fit import SAMPLED

        read = [[item.text for item in part] for part in (parts.train, parts.dev, parts.test)]
        train, dev = zip(read[:2], (self.targets(parts.train), self.targets(parts.dev)), strict=True)
        tokenizer = model.config.words.tokenizer
        predictions = predict_number_baseline(train, dev, read[2], tokenizer=tokenizer, refit=refit)
        name = TFIDF_RIDGE + SAMPLED * is_number_sampled(read[0], tokenizer)
        return None if predictions is None else (name, predictions)
