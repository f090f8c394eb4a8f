"""The part of a task for training runs, and the base of its three parts (`headwise.models.tasks.task`)."""

from __future__ import annotations  # the models, which need torch, are loaded when they are needed

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Sized
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, cast

from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.item_type import ItemType
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.labels import evaluation_weights, training_weights
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks.task_settings import Settings
from headwise.nn.networks.model_config import ModelConfig
from headwise.text.vocabulary import Coverage, Vocabulary, WordVectors

if TYPE_CHECKING:
    from headwise.nn.networks.base_model import BaseModel
    from headwise.nn.networks.word_model import WordModel
    from headwise.training.loop import Objective
    from headwise.training.settings import RunConfig
    from headwise.training.train_result import ModelEnsembleFitter, PostTrainingFit

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

    def check_thresholds(self, thresholds: str) -> None:
        """Check that a thresholds setting (see `ClassifierConfig.thresholds`) fits the labels.

        Raises:
            ConfigError: It does not fit, or its models have no probabilities of labels.
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


def items_of(part: Sized) -> Sequence[Any]:
    """The items of a part of the data, for tasks whose parts are sequences of items."""
    return cast(Sequence[Any], part)
