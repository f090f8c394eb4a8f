"""The interface of a task: everything that differs between tasks.

Training, evaluation, prediction and reporting are written once for all tasks (`headwise.verbs`). A task
defines how its model is built, its training objective, what is fitted after the last epoch, its baseline,
its evaluation, and the rows of its reports and predictions.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from headwise.data.answers import check_known
from headwise.data.errors import DataError
from headwise.data.kind import Kind
from headwise.data.kinds import KINDS
from headwise.data.parts import Parts
from headwise.encoders.trees import needs_trees
from headwise.errors import ConfigError
from headwise.features.tokenize import get_tokenizer
from headwise.features.vectors import Coverage, WordVectors
from headwise.features.vocabulary import Vocabulary
from headwise.models.model_config import ModelConfig, encoder_name
from headwise.predictions.predictor import Predictor
from headwise.report.explanation import Explanation
from headwise.report.remarks import Remark, on_labels
from headwise.report.rival import Rival
from headwise.report.sheet import Sheet
from headwise.tasks.defaults import Settings
from headwise.tasks.long_texts import long_texts
from headwise.train.crossing import Crossed
from headwise.train.fit import new_vocabulary, start_from_vectors
from headwise.train.fitted import Finished, Fitted
from headwise.train.objective import Objective
from headwise.train.recipe import Recipe

DEFAULT_ENCODER = "ms-transformer"


class Task(ABC):
    """Base class of tasks; instances have no arguments and no state."""

    name: ClassVar[str]
    """Key in `TASKS` and in `KINDS`."""
    title: ClassVar[str]
    """Display name of its models, as `text classifier`."""
    purpose: ClassVar[str]
    """Purpose of its models, in a few words."""
    model: ClassVar[type[Any]]
    """Class of its models."""
    sections: ClassVar[tuple[str, ...]]
    """Names of its configuration sections."""
    encoder: ClassVar[str] = DEFAULT_ENCODER
    """Default encoder."""
    predictor: ClassVar[type[Predictor] | None]
    """Class that makes and formats predictions; None without predictions."""
    based: ClassVar[bool] = False
    """Whether its models use static embeddings by default."""
    after: ClassVar[str] = "scores on dev"
    """Name of the step after the epochs, for the progress bar."""
    crosses: ClassVar[bool] = False
    """Whether it supports cross-fitting: fitting calibration and ensemble weights on out-of-fold
    outputs."""
    judged_parts: ClassVar[str] = ""
    """The units that are evaluated if not whole items, as `words`."""
    new_file: ClassVar[str] = "NEW_TEXTS"
    """Placeholder for a file to predict."""
    answered_file: ClassVar[str] = "LABELLED_TEXTS"
    """Placeholder for a file with true labels."""
    predictions: ClassVar[str] = "predictions.csv"
    """File name for predictions."""
    then: ClassVar[str] = "predict {model} {new} --output {predictions}"
    """The command to run with a new model, after `headwise`."""
    usage: ClassVar[str] = "On the command line, one text a line:"
    """Usage text of the model card."""
    example_file: ClassVar[str] = "texts.txt"
    """Name of a file to predict, for the model card."""
    in_python: ClassVar[bool] = False
    """Whether its models predict plain texts in Python, for the model card."""
    advice: ClassVar[str] = (
        "try pretrained word vectors (--vectors FILE), more labelled texts, or use the baseline"
    )
    """Advice for models that are worse than the baseline."""

    @property
    def kind(self) -> Kind[Any]:
        """The item type."""
        return KINDS[self.name]

    def kind_for(self, config: ModelConfig) -> Kind[Any]:
        """The item type under these settings."""
        return self.kind

    # Settings -----------------------------------------------------------------------------------------

    @abstractmethod
    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Default settings for a number of training items.

        Args:
            items: Number of training items.
            vectors: Whether there are pretrained vectors.
            encoder: Name of the encoder. Encoders from the literature keep the settings of their papers,
                except for the width.
        """

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        """Default settings for models with static embeddings.

        Args:
            settings: Settings for models without.
            items: Number of training items.
        """
        words = {key: value for key, value in settings["words"].items() if key != "vector_size"}
        return settings | {"words": words, "base": {"train": True}}

    def encoder_with_base(self, parts: Parts[Any]) -> Settings:
        """Settings of the encoder that suits the data with static embeddings, if it differs from the
        default and the user names none."""
        return {}

    def suggested(self, parts: Parts[Any]) -> Settings:
        """Settings that the data suggest; they override those by size."""
        return {}

    def check(self, recipe: Recipe) -> None:
        """Check that settings fit the task, before any data are read.

        Raises:
            ConfigError: They do not fit.
        """
        if recipe.train.folds and not self.crosses:
            raise ConfigError(
                f"train: folds: dev chooses a {self.title}, not {recipe.train.folds} folds; leave them out"
            )

    def announce(self, parts: Parts[Any], recipe: Recipe) -> list[Remark]:
        """Messages about data and settings before training."""
        remarks = [Remark(parts.sizes)]
        kind, config = parts.kind, recipe.model
        if not kind.sides:
            return remarks
        items = [*parts.train, *parts.dev, *parts.test]
        if needs_trees(config.encoder) and config.syntax.pipeline is None:
            bare = sum(not kind.has_heads(item) for item in items)
            if bare:
                have = f"{bare:,} of {len(items):,} {kind.nouns.many} have no parses"
                remarks.append(Remark(f"{have} (see --heads and --syntax.pipeline)"))
        return [*remarks, *long_texts(config, kind, items)]

    def shape(self, config: ModelConfig) -> str:
        """A short description of the model's architecture."""
        encoder = config.encoder
        names = [name for name in ("width", "layers", "heads") if hasattr(encoder, name)]
        shape = ", ".join(f"{name} {getattr(encoder, name)}" for name in names)
        return f"{encoder_name(encoder)} ({shape})"

    # Training -----------------------------------------------------------------------------------------

    def build(
        self, parts: Parts[Any], recipe: Recipe, vectors: WordVectors | None
    ) -> tuple[Any, Coverage | None]:
        """Build an untrained model for these data: with the vocabulary of the training texts, and
        initialised from the pretrained vectors. Returns the model and the coverage of the vocabulary by the
        vectors."""
        cut = get_tokenizer(recipe.model.words.tokenizer).words
        texts = (words for item in parts.train for words in parts.kind.words(item, cut))
        model = self.make(new_vocabulary(texts, recipe, vectors), parts, recipe)
        return model, start_from_vectors(model, vectors, recipe.train.seed)

    def make(self, words: Vocabulary, parts: Parts[Any], recipe: Recipe) -> Any:
        """Build an untrained model with this vocabulary; called by `build` only."""
        raise NotImplementedError

    @abstractmethod
    def objective(self, model: Any, parts: Parts[Any]) -> Objective:
        """The training objective."""

    def begin(self, model: Any, objective: Any) -> None:
        """Initialise parameters that are not found by gradient descent, before the first epoch."""
        if getattr(model, "probe", None) is not None:
            objective.begin_with_probe()

    @abstractmethod
    def finish(self, model: Any, objective: Any, parts: Parts[Any]) -> Finished:
        """Fit on dev what follows the last epoch: ensemble weights, calibration, thresholds."""

    def finish_again(self, model: Any, objective: Any, finished: Finished) -> None:  # noqa: B027
        """Carry the results of `finish` over to a model refitted on training and dev items together.

        Args:
            model: The model.
            objective: Objective with all items.
            finished: Result of `finish` for the first model.
        """

    def finish_crossed(self, model: Any, objective: Any, crossed: Crossed) -> Finished:
        """The same as `finish` for a model trained on all items, by out-of-fold outputs.

        Args:
            model: The model.
            objective: Objective with all items.
            crossed: The out-of-fold outputs.
        """
        raise NotImplementedError

    def ask_thresholds(self, model: Any, thresholds: str | None) -> None:
        """Change the thresholds setting of a finished model (see `ClassifierConfig.thresholds`); None keeps
        it.

        Raises:
            ConfigError: Such models have no thresholds, or not these.
        """
        raise ConfigError(f"a {self.title} has no probabilities of labels that could be calibrated")

    def calibrate(self, model: Any, items: Any) -> Finished:
        """Recalibrate: fit temperature, biases and thresholds of a finished model on other items."""
        raise NotImplementedError

    @abstractmethod
    def headline(self, parts: Parts[Any], config: ModelConfig) -> str:
        """The primary dev metric, shown after each epoch."""

    def unit(self, parts: Parts[Any]) -> str:
        """Name of the training units for the progress bar: texts, pairs, windows."""
        return parts.kind.nouns.many

    def training_summary(self, fitted: Fitted) -> list[str]:
        """Messages about a trained model, before its scores."""
        return []

    # Judging ------------------------------------------------------------------------------------------

    @abstractmethod
    def judge(self, model: Any, items: Any) -> Any:
        """Evaluate a model on items with targets; the result has a `to_json`."""

    @abstractmethod
    def baseline(self, parts: Parts[Any], model: Any, judged: Any, *, refit: bool = False) -> Rival | None:
        """The baseline on the same test items, compared with the model item by item; None where there is
        nothing to fit it on.

        Args:
            parts: Training, dev and test data.
            model: The model.
            judged: Evaluation of the model on the test items.
            refit: Whether the model was refitted on training and dev items; the baseline is then, too.
        """

    def ablations(self, model: Any, items: Any, judged: Any) -> dict[str, Rival]:
        """Further comparison systems of the report, as the members of the ensemble alone, by their name in
        the metrics."""
        return {}

    @abstractmethod
    def sheet(self, scores: Mapping[str, Any]) -> Sheet:
        """The metric table of an evaluation, which is given as JSON."""

    @abstractmethod
    def mistakes(self, model: Any, data: Any, judged: Any, count: int) -> list[dict[str, Any]]:
        """The most confident errors of a model in a file, as JSON with at least `where` and `text`."""

    @abstractmethod
    def mistaken(self, mistake: Mapping[str, Any]) -> str:
        """Describe an error in words."""

    def sureness(self, model: Any, items: Any, judged: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """The confidence of the prediction for each evaluated item, and whether it is right; None where
        there is no such probability."""
        return None

    def tally(self, model: Any, items: Any, judged: Any) -> np.ndarray:
        """The contribution of each evaluated item to the metrics that models are compared by, `[items, 3]`:
        its log loss (or error), and numerator and denominator of the primary metric."""
        raise NotImplementedError

    def tallied(self, items: Any) -> int:
        """The number of rows of `tally`."""
        return len(items)

    def tally_sheet(self, parts: Parts[Any], config: ModelConfig) -> Sheet:
        """The metric table whose primary metric `tally` computes."""
        return self.sheet({})

    def with_share(self, recipe: Recipe, share: float) -> Recipe:
        """Adapt a recipe to a share of the items."""
        return recipe

    def doubts(self, model: Any, items: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
        """The predictions for items in written form (`TaggedText`s for sentences), and their uncertainty
        from 0 to 1, `[items]`.

        Raises:
            ConfigError: The task gives no labels to texts and no tags to words.
        """
        raise ConfigError(
            f"what to label next is asked of models that give texts labels or tags, not of a {self.title}"
        )

    def least_sure(self, criterion: str, metrics: Mapping[str, Any]) -> float:
        """The confidence threshold for selective prediction.

        Args:
            criterion: A probability, or `precision=` and the share of what is sure that is to be right.
            metrics: Metrics of the model.

        Raises:
            ConfigError: The criterion is neither, the model does not reach that precision, or the task has
                no such probability.
        """
        raise ConfigError(
            f"--unsure is for models that choose one of several labels, not for a {self.title}"
        )

    def explain(self, model: Any, items: Sequence[Any]) -> list[Explanation]:
        """Explain predictions by the attributions of words.

        Raises:
            ConfigError: The task has no explanations.
        """
        raise ConfigError(f"what a {self.title} says is not explained yet; headwise predict shows it")

    # Files to judge and to predict --------------------------------------------------------------------

    def likeness(self, model: Any) -> Any:
        """The schema that a file must fit to be read for a model (see
        `headwise.data.kind.Kind.likeness`)."""
        return None

    def options(self, model: Any, options: Any) -> Any:
        """Reading options for a file, completed from the model."""
        return options

    def check_answers(self, model: Any, data: Any, where: str) -> None:
        """Check that a model can be evaluated on a file.

        Raises:
            DataError: It has no labels, or labels that the model does not have.
        """
        check_labelled(data)
        otherwise = "headwise evaluate --unknown-labels skip leaves out what has such labels"
        check_known(model.labels, data, where, otherwise)

    def remarks(
        self, info: Mapping[str, Any], scores: Mapping[str, Any], *, thresholds: bool = False
    ) -> list[Remark]:
        """Remarks on the scores of a model: for example, that a trivial guess is as good.

        Args:
            info: Metadata of the model folder.
            scores: The JSON of its evaluation.
            thresholds: Whether such models may have label thresholds, and this one has none.
        """
        return on_labels(self.sheet(scores), scores, thresholds=thresholds)

    def odd_answers(self, info: Mapping[str, Any], data: Any) -> list[Remark]:
        """Reasons why an evaluation on a file may be misleading; `info` is the metadata of the model
        folder."""
        return []

    def odd_shares(self, model: Any, items: Any, judged: Any) -> list[Remark]:
        """Remarks on label shift: labels that are more common, or rarer, among evaluated items than the
        model assumes."""
        return []

    def refuse_prediction(self) -> ConfigError:
        """The error to raise where the task makes no predictions."""
        return ConfigError(f"a {self.title} predicts nothing")


def check_labelled(data: Any) -> None:
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


def where(data: Any, number: int) -> str:
    """The place of an item, `file:line`."""
    return f"{data.path}:{data.items[number].line}"


def names_of(parts: Parts[Any]) -> Sequence[str]:
    """The labels of the training file, including those that occur only in its dev or test part; for data
    from memory, those of training and dev."""
    if "train" in parts.files:
        return list(parts.files["train"].labels)
    return list(dict.fromkeys(label for item in (*parts.train, *parts.dev) for label in item.labels))
