"""The interface of a task: everything that differs between tasks.

Training, evaluation, prediction and reporting are written once for all tasks (`headwise.app`). A `Task` has
three parts, by their users: `TaskTraining`, `TaskEvaluation` and `TaskPresentation`.
"""

from __future__ import annotations  # the models, which need torch, are loaded when they are needed

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Sized
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

import numpy as np

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import get_tokenizer
from headwise.data.errors import DataError
from headwise.data.files.file_lists import place
from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import Example
from headwise.data.items.item_type import ItemType
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.labels import evaluation_weights, training_weights
from headwise.data.items.text_items import TextSchema
from headwise.data.items.training_labels import check_label_names
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.classification_scores import selective_scores
from headwise.metrics.novelty import NoveltyScores
from headwise.models.explanation import Explanation
from headwise.models.metric_table import MetricTable
from headwise.models.predictor import Predictor
from headwise.models.report_messages import label_messages
from headwise.models.report_parts import ComparisonSystem, ReportMessage
from headwise.models.tasks.task_settings import Settings
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.networks.model_config import ModelConfig
from headwise.text.vocabulary import Coverage, Vocabulary, WordVectors

if TYPE_CHECKING:
    from headwise.nn.networks.base_model import BaseModel
    from headwise.nn.networks.word_model import WordModel
    from headwise.training.loop import Objective
    from headwise.training.settings import RunConfig
    from headwise.training.train_result import ModelEnsembleFitter, PostTrainingFit, TrainResult

Model = TypeVar("Model", bound="BaseModel")
"""The class of a task's models."""
Items = TypeVar("Items", bound=Sized)
"""The items of a part of the data: a sequence, or a stream of symbols."""
File = TypeVar("File")
"""The data set of one file of such items."""
Evaluation = TypeVar("Evaluation")
"""The result of an evaluation."""


class TaskType(ABC, Generic[Model, Items, File, Evaluation]):
    """The common base of the parts of a task: its name and the types of its items and models."""

    name: ClassVar[str]
    """Key in `TASKS` and in `ITEM_TYPES_BY_TASK`."""
    title: ClassVar[str]
    """Display name of its models, as `text classifier`."""

    model_class: ClassVar[str]
    """Class of its models, as `module:name`; it is imported when it is needed."""

    @property
    def model(self) -> type[Model]:
        """Class of its models."""
        return resolve_name(self.model_class)

    @property
    def item_type(self) -> ItemType:
        """The item type."""
        return ITEM_TYPES_BY_TASK[self.name]

    def item_type_for(self, config: ModelConfig) -> ItemType:
        """The item type under these settings."""
        return self.item_type


class TaskTraining(TaskType[Model, Items, File, Evaluation]):
    """The part of a task for training runs: settings, an untrained model, its objective, and the fit that
    follows the last epoch."""

    post_training_step: ClassVar[str] = "scores on dev"
    """Name of the step after the epochs, for the progress bar."""
    supports_cross_fitting: ClassVar[bool] = False
    """Whether it supports cross-fitting: fitting calibration and ensemble weights on out-of-fold
    outputs."""

    objective_class: ClassVar[str]
    """Class of the training objective of its labels, as `module:name`."""
    fitter_class: ClassVar[str]
    """Class of what `ensemble_fitter` returns."""

    supports_base_encoder: ClassVar[bool] = False
    """Whether its models can start from the encoder of a base."""
    head_section: ClassVar[str] = "classifier"
    """Section of a recipe with the settings of the layers above the readout."""

    def encoder_with_base(
        self, parts: DataParts[Items], pretrained: Mapping[str, JsonObject], taught: int = 0
    ) -> Settings:
        """Settings of the encoder that suits the data with static embeddings, if it differs from the
        default and the user names none.

        Args:
            parts: The data.
            pretrained: Settings of models that start from the encoder of the base; empty without one.
            taught: Number of training texts that a teacher has labelled.
        """
        return {}

    def suggested(self, parts: DataParts[Items]) -> Settings:
        """Settings that the data suggest; they override those by size."""
        return {}

    def check(self, run_config: RunConfig) -> None:
        """Check that settings fit the task, before any data are read.

        Raises:
            ConfigError: They do not fit.
        """
        if getattr(run_config.data, "features", None) and run_config.model.linear_model.kind == "none":
            raise ConfigError(
                "--features: the linear model reads the columns beside the text, and "
                "--linear-model.kind none leaves it out; leave out one of the two"
            )
        if run_config.train.folds and not self.supports_cross_fitting:
            raise ConfigError(
                f"train: folds: dev chooses a {self.title}, not {run_config.train.folds} folds; "
                "leave them out"
            )

    def build(
        self, parts: DataParts[Items], run_config: RunConfig, vectors: WordVectors | None
    ) -> tuple[Model, Coverage | None]:
        """Build an untrained model for these data: with the vocabulary of the training texts, and
        initialised from the pretrained vectors. Returns the model and the coverage of the vocabulary by the
        vectors."""
        from headwise.training.fit import new_vocabulary, start_from_vectors

        cut = get_tokenizer(run_config.model.words.tokenizer).words
        texts = (words for item in items_of(parts.train) for words in parts.item_type.words(item, cut))
        model = self.make(new_vocabulary(texts, run_config, vectors), parts, run_config)
        return model, start_from_vectors(cast("WordModel", model), vectors, run_config.train.seed)

    def make(self, words: Vocabulary, parts: DataParts[Items], run_config: RunConfig) -> Model:
        """Build an untrained model with this vocabulary; called by `build` only."""
        raise NotImplementedError

    def objective(self, model: Model, parts: DataParts[Any]) -> Objective:
        """The training objective."""
        label_type, labels = self.item_type.label_type, getattr(model, "labels", ())
        train, dev = (
            (part, label_type.training_targets(part, labels)) for part in (parts.train, parts.dev)
        )
        weights = training_weights(parts.train), evaluation_weights(parts.dev)
        objective = resolve_name(self.objective_class)(model, train, dev, *weights)
        objective.out_of_scope = parts.fitted_out_of_scope
        return objective

    def begin(self, model: Model, objective: Any) -> None:
        """Initialise parameters that are not found by gradient descent, before the first epoch."""
        if getattr(model, "probe", None) is not None:
            objective.init_from_probe()

    def ensemble_fitter(self, objective: Any) -> ModelEnsembleFitter:
        """Fits what follows the last epoch of a training run with this objective: the linear member,
        ensemble weights, calibration, thresholds."""
        return resolve_name(self.fitter_class)(objective)

    def set_thresholds_setting(self, model: Model, thresholds: str | None) -> None:
        """Change the thresholds setting of a finished model (see `ClassifierConfig.thresholds`); None keeps
        it.

        Raises:
            ConfigError: Such models have no thresholds, or not these.
        """
        raise ConfigError(f"a {self.title} has no probabilities of labels that could be calibrated")

    def calibrate(self, model: Model, items: Items) -> PostTrainingFit:
        """Recalibrate: fit temperature, biases and thresholds of a finished model on other items."""
        raise NotImplementedError

    @abstractmethod
    def primary_metric(self, parts: DataParts[Items], config: ModelConfig) -> str:
        """The primary dev metric, shown after each epoch."""

    def for_data_share(self, run_config: RunConfig, share: float) -> RunConfig:
        """Adapt the configuration of a run to a share of the items."""
        return run_config


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


def check_labelled(data: Dataset) -> None:
    """Check that the items of a file have labels.

    Raises:
        DataError: HW163, its format has no labels.
    """
    if hasattr(data, "columns") and getattr(data.columns, "label", "") is None and not data.labels:
        raise DataError(
            "HW163",
            f"the format {data.format} has no labels",
            expected="labelled texts",
            advice="headwise predict labels them",
            path=data.path,
        )


def check_labels_of_model(labels: Sequence[str], data: Dataset, where: str) -> None:
    """Check that the items of a file have labels, and only those of a model.

    Raises:
        DataError: Its format has no labels (HW163), or it has others.
    """
    check_labelled(data)
    otherwise = "headwise evaluate --unknown-labels skip leaves out what has such labels"
    check_label_names(labels, data, where, otherwise)


def location_of(data: Dataset, number: int) -> str:
    """The place of an item, `file:line`."""
    return place(data.path, data.items[number].line)


def items_of(part: Sized) -> Sequence[Any]:
    """The items of a part of the data, for tasks whose parts are sequences of items."""
    return cast(Sequence[Any], part)


def names_of(parts: DataParts[Sequence[Example]]) -> Sequence[str]:
    """The labels of the training file, including those that occur only in its dev or test part; for data
    from memory, those of all items."""
    if "train" in parts.files:
        return list(parts.files["train"].labels)
    return parts.labels


def long_texts(config: ModelConfig, item_type: ItemType, items: Sequence[object]) -> list[ReportMessage]:
    """A message about how many texts have more words than the encoder reads at once, and what happens to
    them."""
    words, _ = config.windows.sizes(config.encoder)
    if not words:
        return []
    cut = get_tokenizer(config.words.tokenizer).words
    lengths = [len(text_words) for item in items for text_words in item_type.words(item, cut)]
    long = sum(length > words for length in lengths)
    have = f"{long:,} of {len(lengths):,} texts have more than {words:,} words"
    if long and config.windows.long == "truncate":
        return [ReportMessage(f"{have}: only these are read (--windows.long truncate)", warning=True)]
    if long and config.windows.long == "split":
        return [ReportMessage(f"{have}: read in windows that overlap (--windows.words, --windows.long)")]
    return []
