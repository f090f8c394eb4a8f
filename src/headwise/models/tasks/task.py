"""The interface of a task: everything that differs between tasks.

Training, evaluation, prediction and reporting are written once for all tasks (`headwise.app`). A `Task` has
three parts, by their users: `TaskTraining`, `TaskEvaluation` and `TaskPresentation`.
"""

from __future__ import annotations  # the models, which need torch, are loaded when they are needed

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.data.items.text_items import TextSchema
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.classification_scores import selective_scores
from headwise.metrics.novelty import NoveltyScores
from headwise.models.explanation import Explanation
from headwise.models.metric_table import MetricTable
from headwise.models.predictor import Predictor
from headwise.models.report_messages import label_messages
from headwise.models.report_parts import ComparisonSystem, ReportMessage
from headwise.models.tasks.task_training import (
    Evaluation,
    File,
    Items,
    Model,
    TaskTraining,
    TaskType,
    items_of,
)
from headwise.models.tasks.training_messages import long_texts
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.networks.model_config import ModelConfig

if TYPE_CHECKING:
    from headwise.training.train_result import TrainResult


class TaskEvaluation(TaskType[Model, Items, File, Evaluation]):
    """The part of a task that evaluates and explains a finished model."""

    def schema(self, model: Model) -> Any:
        """The schema that a file must fit to be read for a model (see
        `headwise.data.items.item_type.ItemType.schema`)."""
        columns = model.config.linear_model.tabular_columns
        return TextSchema(tabular=columns) if columns else None

    def options(self, model: Model, options: Any) -> Any:
        """Reading options for a file, completed from the model."""
        return options

    def check_labels(self, model: Model, data: File, where: str) -> None:
        """Check that a model can be evaluated on a file.

        Raises:
            DataError: It has no labels, or labels that the model does not have.
        """

    @abstractmethod
    def evaluate(self, model: Model, items: Items) -> Evaluation:
        """Evaluate a model on items with targets; the result has a `to_json`."""

    def evaluate_novelty(
        self, model: Model, items: Items, outside: Items, evaluation: Evaluation
    ) -> NoveltyScores | None:
        """The scores of the novelty detector on items, and on those `outside` of the labels, if any."""
        return None

    @abstractmethod
    def baseline(
        self, parts: DataParts[Items], model: Model, evaluation: Evaluation, *, refit: bool = False
    ) -> ComparisonSystem | None:
        """The baseline on the same test items, compared with the model item by item; None where there is
        nothing to fit it on.

        Args:
            parts: Training, dev and test data.
            model: The model.
            evaluation: Evaluation of the model on the test items.
            refit: Whether the model was refitted on training and dev items; the baseline is then, too.
        """

    def ablations(self, model: Model, items: Items, evaluation: Evaluation) -> dict[str, ComparisonSystem]:
        """Further comparison systems of the report, as the members of the ensemble alone, by their name in
        the metrics."""
        return {}

    @abstractmethod
    def metric_table(self, scores: JsonMapping) -> MetricTable:
        """The metric table of an evaluation, which is given as JSON."""

    def mistakes(self, model: Model, data: File, evaluation: Evaluation, count: int) -> list[JsonObject]:
        """The most confident errors of a model in a file, as JSON with at least `where` and `text`.

        Raises:
            ConfigError: Some are requested, and the task predicts nothing.
        """
        if count:
            raise ConfigError(f"--errors shows labels that are wrong, and a {self.title} gives none")
        return []

    def confidence(
        self, model: Model, items: Items, evaluation: Evaluation
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The confidence of the prediction for each evaluated item, and whether it is right; None where
        there is no such probability."""
        return None

    def selective_scores(
        self, model: Model, items: Items, evaluation: Evaluation, least: float
    ) -> JsonObject | None:
        """The scores of selective prediction with the confidence threshold `least`: it (`probability`), the
        `share` of the predictions above it, and their `accuracy` with its `accuracy_interval`; None where
        predictions have no probability."""
        if (confidences := self.confidence(model, items, evaluation)) is None:
            return None
        return selective_scores(*confidences, least)

    def metric_parts(self, model: Model, items: Items, evaluation: Evaluation) -> np.ndarray:
        """The contribution of each evaluated item to the metrics that models are compared by, `[items, 3]`:
        its log loss (or error), and numerator and denominator of the primary metric."""
        raise NotImplementedError

    def metric_part_count(self, items: Items) -> int:
        """The number of rows of `metric_parts`."""
        return len(items)

    def metric_part_table(self, parts: DataParts[Items], config: ModelConfig) -> MetricTable:
        """The metric table whose primary metric `metric_parts` computes."""
        return self.metric_table({})

    def uncertainty(self, model: Model, items: Items) -> tuple[list[Any], np.ndarray]:
        """The predictions for items in written form (`TaggedText`s for sentences), and their uncertainty
        from 0 to 1, `[items]`.

        Raises:
            ConfigError: The task gives no labels to texts and no tags to words.
        """
        raise ConfigError(f"suggest works for classifiers and taggers only, not for a {self.title}")

    def no_threshold_error(self) -> ConfigError:
        """The error to raise where predictions have no probability for selective prediction."""
        return ConfigError(
            "--unsure is for models that choose one of several labels and for taggers, not for a "
            f"{self.title}"
        )

    def explain(self, model: Model, items: Items) -> list[Explanation]:
        """Explain predictions by the attributions of words.

        Raises:
            ConfigError: The task has no explanations.
        """
        raise ConfigError(f"explanations are not available for a {self.title}; use headwise predict")

    def score_messages(
        self, labels: Mapping[str, int], scores: JsonMapping, *, thresholds: bool = False
    ) -> list[ReportMessage]:
        """Remarks on the scores of a model: for example, that a trivial guess is as good.

        Args:
            labels: How many training items have each label.
            scores: The JSON of its evaluation.
            thresholds: Whether such models may have label thresholds, and this one has none.
        """
        return label_messages(self.metric_table(scores), scores, thresholds=thresholds)

    def evaluation_caveats(self, labels: Mapping[str, int], data: File) -> list[ReportMessage]:
        """Reasons why an evaluation on a file may be misleading; `labels` says how many training items have
        each label."""
        return []

    def label_shift(self, model: Model, items: Items, evaluation: Evaluation) -> list[ReportMessage]:
        """Remarks on label shift: labels that are more common, or rarer, among evaluated items than the
        model assumes."""
        return []


class TaskPresentation(TaskType[Model, Items, File, Evaluation]):
    """What the command line, reports and model cards ask of a task: titles, file names, commands and
    messages."""

    purpose: ClassVar[str]
    """Purpose of its models, in a few words."""
    predictor: ClassVar[type[Predictor] | None]
    """Class that makes and formats predictions; None without predictions."""
    new_file: ClassVar[str] = "NEW_TEXTS"
    """Placeholder for a file to predict."""
    labelled_file: ClassVar[str] = "LABELLED_TEXTS"
    """Placeholder for a file with true labels."""
    predictions: ClassVar[str] = "predictions.csv"
    """File name for predictions."""
    next_command: ClassVar[str] = "predict {model} {new} --output {predictions}"
    """The command to run with a new model, after `headwise`."""
    usage: ClassVar[str] = "On the command line, one text per line:"
    """Usage text of the model card."""
    example_file: ClassVar[str] = "texts.txt"
    """Name of a file to predict, for the model card."""
    in_python: ClassVar[bool] = False
    """Whether its models predict plain texts in Python, for the model card."""
    advice: ClassVar[str] = (
        "try pretrained word vectors (--vectors FILE), more labelled texts, or use the baseline"
    )
    """Advice for models that are worse than the baseline."""

    def data_messages(
        self, parts: DataParts[Items], config: ModelConfig, folds: int
    ) -> list[ReportMessage]:
        """Messages about data and settings before training.

        Args:
            parts: The data.
            config: The configuration of the model.
            folds: The number of folds; 0 if the run is not cross-fitted.
        """
        from headwise.nn.encoders.encoder import needs_trees

        messages = [ReportMessage(parts.sizes(folds))]
        item_type = parts.item_type
        if not item_type.sides:
            return messages
        items = [item for part in (parts.train, parts.dev, parts.test) for item in items_of(part)]
        if needs_trees(config.encoder) and config.syntax.pipeline is None:
            bare = sum(not item_type.has_parses(item) for item in items)
            if bare:
                have = f"{bare:,} of {len(items):,} {item_type.nouns.many} have no parses"
                messages.append(ReportMessage(f"{have} (see --parses and --syntax.pipeline)"))
        return [*messages, *long_texts(config, item_type, items)]

    def shape(self, config: ModelConfig) -> str:
        """A short description of the model's architecture."""
        encoder = config.encoder
        names = [name for name in ("width", "layers", "heads") if hasattr(encoder, name)]
        shape = ", ".join(f"{name} {getattr(encoder, name)}" for name in names)
        return f"{encoder_name(encoder)} ({shape})"

    def input_description(self, model: Model) -> list[tuple[str, str]]:
        """The input side of a model (encoder, vocabulary, context) as names and values."""
        base = Path(model.config.base.name).name
        more = f", and those of the base {base}" if base not in ("", "none") else ""
        rows = [
            ("Encoder", encoder_name(model.config.encoder)),
            ("Words known", f"{len(model.features.vocabulary) - 1:,}{more}"),
        ]
        if words := getattr(model, "window", (0, 0))[0]:
            long = model.config.windows.long
            rest = {"split": "read in windows", "truncate": "cut short", "error": "refused"}[long]
            rows.append(("Words read at once", f"{words:,} (longer texts are {rest})"))
        return rows

    def unit(self, parts: DataParts[Items]) -> str:
        """Name of the training units for the progress bar: texts, pairs, windows."""
        return parts.item_type.nouns.many

    def training_summary(self, fitted: TrainResult) -> list[str]:
        """Messages about a trained model, before its scores."""
        return []

    def evaluated_units(self, evaluation: Evaluation) -> str:
        """The units that are right or wrong if not whole items, as `words`; else ""."""
        return ""

    def describe_error(self, mistake: JsonMapping) -> str:
        """Describe an error in words."""
        return ""

    def no_prediction_error(self) -> ConfigError:
        """The error to raise where the task makes no predictions."""
        return ConfigError(f"a {self.title} predicts nothing")


class Task(
    TaskTraining[Model, Items, File, Evaluation],
    TaskEvaluation[Model, Items, File, Evaluation],
    TaskPresentation[Model, Items, File, Evaluation],
):
    """Base class of tasks; instances have no arguments and no state."""
