"""What a task is: from items of a kind to answers, with everything that is its own.

Training, evaluating, predicting and reporting are written once over this (`headwise.verbs`); a task says
how its model is built, what it learns, what is fitted after the last epoch, what it is compared with, how
it is judged, and which rows its report and its predictions have.
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
    """What one task does; made without arguments, and without a state."""

    name: ClassVar[str]
    """Its key in `TASKS`, and in `KINDS`."""
    title: ClassVar[str]
    """What its models are called: `text classifier`."""
    purpose: ClassVar[str]
    """What they do, in a few words."""
    model: ClassVar[type[Any]]
    """The class of its models."""
    sections: ClassVar[tuple[str, ...]]
    """The sections of its settings."""
    encoder: ClassVar[str] = DEFAULT_ENCODER
    """The encoder that it begins with."""
    predictor: ClassVar[type[Predictor] | None]
    """How its predictions are made and written down; None where it makes none."""
    based: ClassVar[bool] = False
    """Whether its models begin with a base by themselves."""
    after: ClassVar[str] = "scores on dev"
    """What comes after the epochs, in the words of a progress bar."""
    crosses: ClassVar[bool] = False
    """Whether what is fitted after training can be fitted to outputs of models of folds."""
    judged_parts: ClassVar[str] = ""
    """What is right or wrong where it is not a whole item: its `words`."""
    new_file: ClassVar[str] = "NEW_TEXTS"
    """What to call a file to predict."""
    answered_file: ClassVar[str] = "LABELLED_TEXTS"
    """What to call a file with true answers."""
    predictions: ClassVar[str] = "predictions.csv"
    """What to call a file of predictions."""
    then: ClassVar[str] = "predict {model} {new} --output {predictions}"
    """The command that a new model is for, after `headwise`."""
    usage: ClassVar[str] = "On the command line, one text a line:"
    """How to use a model, for its card."""
    example_file: ClassVar[str] = "texts.txt"
    """A file to predict, for its card."""
    in_python: ClassVar[bool] = False
    """Whether its models predict plain texts, for its card."""
    advice: ClassVar[str] = (
        "try pretrained word vectors (--vectors FILE), more labelled texts, or use the baseline"
    )
    """What to do where the baseline is better."""

    @property
    def kind(self) -> Kind[Any]:
        """What it reads."""
        return KINDS[self.name]

    def kind_for(self, config: ModelConfig) -> Kind[Any]:
        """What it reads with these settings."""
        return self.kind

    # Settings -----------------------------------------------------------------------------------------

    @abstractmethod
    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Sensible settings for a number of training items.

        Args:
            items: How many there are.
            vectors: Whether there are pretrained vectors.
            encoder: Its name. Encoders other than ours keep what their papers say, but for the width.
        """

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        """The same for models that begin with a base.

        Args:
            settings: Those for models without.
            items: Training items.
        """
        words = {key: value for key, value in settings["words"].items() if key != "vector_size"}
        return settings | {"words": words, "base": {"train": True}}

    def encoder_with_base(self, parts: Parts[Any]) -> Settings:
        """The encoder that suits data with a base, if it is not the usual one and the user names none: its
        name and what goes with it."""
        return {}

    def suggested(self, parts: Parts[Any]) -> Settings:
        """Settings that the data suggest, over those by size."""
        return {}

    def check(self, recipe: Recipe) -> None:
        """Check that settings make sense for the task, before anything is read.

        Raises:
            ConfigError: They do not.
        """
        if recipe.train.folds and not self.crosses:
            raise ConfigError(
                f"train: folds: dev chooses a {self.title}, not {recipe.train.folds} folds; leave them out"
            )

    def announce(self, parts: Parts[Any], recipe: Recipe) -> list[Remark]:
        """What there is to say of data and settings before training."""
        found = [Remark(parts.sizes)]
        kind, config = parts.kind, recipe.model
        if not kind.sides:
            return found
        items = [*parts.train, *parts.dev, *parts.test]
        if needs_trees(config.encoder) and config.syntax.pipeline is None:
            bare = sum(not kind.has_heads(item) for item in items)
            if bare:
                have = f"{bare:,} of {len(items):,} {kind.nouns.many} have no parses"
                found.append(Remark(f"{have} (see --heads and --syntax.pipeline)"))
        return [*found, *long_texts(config, kind, items)]

    def shape(self, config: ModelConfig) -> str:
        """The model in a few words."""
        encoder = config.encoder
        names = [name for name in ("width", "layers", "heads") if hasattr(encoder, name)]
        shape = ", ".join(f"{name} {getattr(encoder, name)}" for name in names)
        return f"{encoder_name(encoder)} ({shape})"

    # Training -----------------------------------------------------------------------------------------

    def build(
        self, parts: Parts[Any], recipe: Recipe, vectors: WordVectors | None
    ) -> tuple[Any, Coverage | None]:
        """An untrained model for these data, with the vocabulary of the training texts and the pretrained
        vectors in place, and how many of the training words have one."""
        cut = get_tokenizer(recipe.model.words.tokenizer).words
        texts = (words for item in parts.train for words in parts.kind.words(item, cut))
        model = self.make(new_vocabulary(texts, recipe, vectors), parts, recipe)
        return model, start_from_vectors(model, vectors, recipe.train.seed)

    def make(self, words: Vocabulary, parts: Parts[Any], recipe: Recipe) -> Any:
        """An untrained model that knows some words; asked by `build` alone."""
        raise NotImplementedError

    @abstractmethod
    def objective(self, model: Any, parts: Parts[Any]) -> Objective:
        """What the model learns."""

    def begin(self, model: Any, objective: Any) -> None:
        """Put in place what is found by other means than by gradient, before the first epoch."""
        if getattr(model, "probe", None) is not None:
            objective.begin_with_probe()

    @abstractmethod
    def finish(self, model: Any, objective: Any, parts: Parts[Any]) -> Finished:
        """Fit on dev what is fitted after the last epoch: calibration, expert, thresholds."""

    def finish_again(self, model: Any, objective: Any, finished: Finished) -> None:  # noqa: B027
        """Give a model that was trained again, on training and dev items together, what `finish` found.

        Args:
            model: The model.
            objective: With all items.
            finished: What `finish` said of the first model.
        """

    def finish_crossed(self, model: Any, objective: Any, crossed: Crossed) -> Finished:
        """The same as `finish` for a model trained on all items, by what other models said of those that
        they were not trained on.

        Args:
            model: The model.
            objective: With all items.
            crossed: What the others said.
        """
        raise NotImplementedError

    def ask_thresholds(self, model: Any, asked: str | None) -> None:
        """Let the settings of a finished model ask for other thresholds, as `ClassifierConfig.thresholds`
        does; None: for those that they ask for anyway.

        Raises:
            ConfigError: Such models have none, or not such.
        """
        raise ConfigError(f"a {self.title} has no probabilities of labels that could be calibrated")

    def calibrate(self, model: Any, items: Any) -> Finished:
        """Fit temperature, biases and thresholds of a finished model to other items."""
        raise NotImplementedError

    @abstractmethod
    def headline(self, parts: Parts[Any], config: ModelConfig) -> str:
        """The dev score that is shown after each epoch."""

    def unit(self, parts: Parts[Any]) -> str:
        """What is trained on, for the progress: texts, pairs, windows."""
        return parts.kind.nouns.many

    def told(self, fitted: Fitted) -> list[str]:
        """What there is to say of a trained model before its scores."""
        return []

    # Judging ------------------------------------------------------------------------------------------

    @abstractmethod
    def judge(self, model: Any, items: Any) -> Any:
        """Let a model answer items, and compare with their true answers: an evaluation with a `to_json`."""

    @abstractmethod
    def baseline(self, parts: Parts[Any], model: Any, judged: Any, *, refit: bool = False) -> Rival | None:
        """A simple model on the same test items, compared with the model item by item; None where there is
        nothing to fit it on.

        Args:
            parts: Training, dev and test data.
            model: The model.
            judged: Its evaluation on the test items.
            refit: The model was trained again on training and dev items, so what is fitted here is, too.
        """

    def others(self, model: Any, items: Any, judged: Any) -> dict[str, Rival]:
        """What else stands beside a model in the report, by its name in the metrics."""
        return {}

    @abstractmethod
    def sheet(self, scores: Mapping[str, Any]) -> Sheet:
        """The rows of the report on an evaluation, which is given as JSON."""

    @abstractmethod
    def mistakes(self, model: Any, data: Any, judged: Any, count: int) -> list[dict[str, Any]]:
        """What the model is surest of and wrong about in a file, the surest first, as JSON: at least
        `where` and `text`."""

    @abstractmethod
    def mistaken(self, mistake: Mapping[str, Any]) -> str:
        """What is wrong, in words."""

    def sureness(self, model: Any, items: Any, judged: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """Of each judged item the probability of what the model says, and whether it is right; None where
        there is no such probability."""
        return None

    def tally(self, model: Any, items: Any, judged: Any) -> np.ndarray:
        """What each judged item adds to what models are compared by, `[items, 3]`: its log loss (or error),
        and two numbers whose sums over items are to each other as the headline of the sheet says."""
        raise NotImplementedError

    def tallied(self, items: Any) -> int:
        """How many rows `tally` has of items."""
        return len(items)

    def tally_sheet(self, parts: Parts[Any], config: ModelConfig) -> Sheet:
        """The sheet with the headline that `tally` is of."""
        return self.sheet({})

    def with_share(self, recipe: Recipe, share: float) -> Recipe:
        """A recipe for a share of the items that it was chosen for."""
        return recipe

    def doubts(self, model: Any, items: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
        """What a model guesses of items, as it is written (of sentences as `TaggedText`s), and how much in
        doubt it is, from 0 to 1, `[items]`.

        Raises:
            ConfigError: Such models give no labels to texts and no tags to words.
        """
        raise ConfigError(
            f"what to label next is asked of models that give texts labels or tags, not of a {self.title}"
        )

    def least_sure(self, asked: str, metrics: Mapping[str, Any]) -> float:
        """The least probability with which what a model says is sure enough.

        Args:
            asked: A probability, or `precision=` and the share of what is sure that is to be right.
            metrics: Of the model.

        Raises:
            ConfigError: It is neither, the model is not so right, or its task has no such probability.
        """
        raise ConfigError(
            f"--unsure is for models that choose one of several labels, not for a {self.title}"
        )

    def explain(self, model: Any, items: Sequence[Any]) -> list[Explanation]:
        """Which words made a model say what it says of items.

        Raises:
            ConfigError: What such models say is not explained.
        """
        raise ConfigError(f"what a {self.title} says is not explained yet; headwise predict shows it")

    # Files to judge and to predict --------------------------------------------------------------------

    def likeness(self, model: Any) -> Any:
        """What a file must fit to be read for a model (see `headwise.data.kind.Kind.likeness`)."""
        return None

    def options(self, model: Any, options: Any) -> Any:
        """How a file is read for a model, where the user has said nothing else."""
        return options

    def check_answers(self, model: Any, data: Any, where: str) -> None:
        """Check that a model may be judged on a file.

        Raises:
            DataError: It has no answers, or such as the model does not give.
        """
        check_labelled(data)
        otherwise = "headwise evaluate --unknown-labels skip leaves out what has such labels"
        check_known(model.labels, data, where, otherwise)

    def remarks(
        self, info: Mapping[str, Any], scores: Mapping[str, Any], *, thresholds: bool = False
    ) -> list[Remark]:
        """What there is to say of a model beside its scores: that a guess is as good, for one.

        Args:
            info: What its folder says of it.
            scores: The JSON of its evaluation.
            thresholds: Whether such models may have a threshold for each label, and this one has none.
        """
        return on_labels(self.sheet(scores), scores, thresholds=thresholds)

    def odd_answers(self, info: Mapping[str, Any], data: Any) -> list[Remark]:
        """What speaks against judging a model, of which its folder says `info`, on a file that it may be
        judged on."""
        return []

    def odd_shares(self, model: Any, items: Any, judged: Any) -> list[Remark]:
        """What there is to say of labels that are more common, or rarer, among judged items than the model
        takes them for."""
        return []

    def refuse_prediction(self) -> ConfigError:
        """What to say where the task makes no predictions."""
        return ConfigError(f"a {self.title} predicts nothing")


def check_labelled(data: Any) -> None:
    """Check that the items of a file have answers.

    Raises:
        DataError: HW163, its format has none.
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
    """The place of an item in its file."""
    return f"{data.path}:{data.items[number].line}"


def names_of(parts: Parts[Any]) -> Sequence[str]:
    """The labels of the training file, also where only its dev or test part has them; of data from memory
    those of training and dev."""
    if "train" in parts.files:
        return list(parts.files["train"].labels)
    return list(dict.fromkeys(label for item in (*parts.train, *parts.dev) for label in item.labels))
