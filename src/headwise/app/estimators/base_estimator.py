"""The base class of the scikit-learn estimators: parameters, fitting, saving and loading."""

import signal
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import wraps
from inspect import Parameter, signature
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, Generic, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from headwise.app.configuration import SECTIONS, Sections, read_preset
from headwise.app.estimators.estimator_inputs import Inputs, texts_of, warn_caller
from headwise.app.reporter import Reporter
from headwise.app.session import ModelSession
from headwise.app.training_request import resolve
from headwise.artifacts import save_model
from headwise.artifacts.model_card import model_html
from headwise.artifacts.model_info import ModelInfo
from headwise.core.config import JsonMapping, JsonObject, field_types, section_of
from headwise.core.errors import ConfigError, TrainingInterrupted
from headwise.data.splits.split_config import SplitConfig
from headwise.models.explanation import ExplanationList
from headwise.models.novelty_evaluation import item_novelty
from headwise.models.tasks import find_task
from headwise.nn.encoders.encoder_configs import EncoderName
from headwise.nn.networks.trained_models import ModelType
from headwise.training.callbacks import EpochReport, TrainingCallback, check_callbacks, notifying
from headwise.training.settings import TrainConfig

_TRAINING_LOCK = threading.Lock()
"""Training draws from PyTorch's global random generator: fits in parallel threads would not be
reproducible."""


class TextEstimator(BaseEstimator, Generic[ModelType]):
    """An estimator that follows scikit-learn's conventions. Settings that are not given are chosen by the
    amount of data, as in `headwise train`. Fitting seeds torch.

    Args:
        encoder: A name of `headwise.nn.encoders.ENCODERS`.
        vectors: File of pretrained word vectors, in the formats of `--vectors`.
        epochs: Maximum number of passes over the training data.
        recipe: Further settings: the sections of a TOML recipe as a dictionary, a recipe file, or a model
            folder, for the settings that it was trained with. The other arguments override it.
        random_state: Seed of the split, of the initial weights and of everything else that is random. None:
            the seeds of the recipe, or 0 where it has none.
        verbose: Print a line after each epoch.
        callbacks: Objects that follow the training run, see `TrainingCallback`.

    `set_params` and grids take single settings of the recipe: `recipe__train__learning_rate`.

    Attributes:
        model_: The fitted model.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    model_: ModelType
    recipe_: JsonMapping
    history_: Sequence[Mapping[str, float]]

    TASK: ClassVar[str]
    """A key of `headwise.models.tasks.TASKS`."""

    def __init__(
        self,
        *,
        encoder: EncoderName | None = None,
        vectors: str | PathLike[str] | None = None,
        epochs: int | None = None,
        recipe: Sections | str | PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool = False,
        callbacks: Sequence[TrainingCallback] = (),
    ):
        self.encoder = encoder
        self.vectors = vectors
        self.epochs = epochs
        self.recipe = recipe
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def __init_subclass__(cls, **kwargs: Any):
        super().__init_subclass__(**kwargs)
        if (constructor := cls.__dict__.get("__init__")) is not None:
            setattr(cls, "__init__", _with_advice(constructor))  # noqa: B010

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; `deep` also gives the settings of a recipe that is a dictionary, as
        `recipe__train__learning_rate`."""
        parameters: dict[str, Any] = super().get_params(deep)
        if deep and isinstance(self.recipe, Mapping):
            parameters |= {_RECIPE + name: value for name, value in _settings_by_name(self.recipe)}
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, and single settings of the recipe by names such as
        `recipe__train__learning_rate`.

        Raises:
            ValueError: There is no such parameter.
            ConfigError: A recipe file cannot be read.
        """
        top_level = {name: value for name, value in parameters.items() if not name.startswith(_RECIPE)}
        super().set_params(**top_level)
        nested = {name: value for name, value in parameters.items() if name not in top_level}
        if nested:
            recipe = deepcopy(dict(self._recipe()))
            for name, value in nested.items():
                *sections, setting = name.removeprefix(_RECIPE).split("__")
                if not sections:
                    raise ValueError(
                        f"{name!r} names no setting; expected recipe__SECTION__SETTING, such as "
                        "recipe__train__learning_rate"
                    )
                target: Any = recipe
                for section in sections:
                    target = target.setdefault(section, {})
                    if not isinstance(target, dict):
                        raise ValueError(
                            f"{name!r}: {section!r} of the recipe is {target!r:.80}, no section"
                        )
                target[setting] = value
            self.recipe = recipe
        return self

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a model folder, which the `headwise` command can read. A model of headwise in the folder is
        replaced; other files in its folder, such as your notes, stay.

        Raises:
            StoreError: The folder holds files but no model of headwise (HW511), or cannot be written.
        """
        check_is_fitted(self, "model_")
        save_model(self.model_, Path(folder), **self._info.records)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """A fitted estimator from a model folder, also from one that `headwise train` wrote. Its parameters
        are the settings of that training run, so that `fit` trains with the same settings.

        Raises:
            StoreError: It is not a valid model folder.
            ConfigError: It holds a model of another task.
        """
        session = ModelSession.open(Path(folder), device="cpu")
        if (task := session.task_name) != cls.TASK:
            raise ConfigError(
                f"{fspath(folder)}: a model of the task {task!r}; {cls.__name__} loads those of the task "
                f"{cls.TASK!r}"
            )
        recipe = dict(session.info.training.recipe)
        if (base := section_of(recipe, "base")) and not base.get("name"):  # else one is searched
            recipe["base"] = {**base, "name": "none"}
        loaded = cls(recipe=recipe or None)
        loaded._take(session.model, session.info)
        return loaded

    def _repr_html_inner(self) -> str:
        """HTML for notebooks: the model if the estimator is fitted, else the parameters."""
        if not hasattr(self, "model_"):
            return super()._repr_html_inner()
        return model_html(self.model_, self._info)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = super()._repr_mimebundle_(**kwargs)
        return {**shown, "text/html": self._repr_html_inner()} if "text/html" in shown else shown

    def explain(self, X: Inputs) -> ExplanationList:
        """Explain predictions by word attributions: one explanation per text or pair, or one per label of
        each; see `headwise.models.text_explanation`.

        Raises:
            ConfigError: Models of this task cannot be explained.
        """
        check_is_fitted(self, "model_")
        return ExplanationList(find_task(self.TASK).explain(self.model_, self._items(X)))

    def _items(self, X: Inputs) -> Sequence[Any]:
        return texts_of(X)

    def _take(self, model: ModelType, info: ModelInfo) -> None:
        """Set the fitted attributes from a model and the metadata of its folder."""
        self.model_, self._info = model, info
        self.recipe_, self.history_ = info.training.recipe, info.training.history

    def _fit(
        self,
        items: Sequence[object],
        dev: Sequence[object] | None,
        labels: Sequence[str] = (),
        **training: Any,
    ) -> Self:
        """Train on labelled items and set the fitted attributes.

        Args:
            items: Training items of the task, with labels.
            dev: Items that select the best epoch; split off if None.
            labels: All labels.
            training: Further values to save with the training history.
        """
        check_callbacks(self.callbacks)
        request = resolve(self._layers())
        plan = request.plan(request.split(items, dev, labels))
        report = notifying(self.callbacks, _print_epoch if self.verbose else lambda _: None)
        for callback in self.callbacks:
            callback.on_start(plan.run_config.to_json())
        with _TRAINING_LOCK, training_folder() as folder:
            result = plan.fit(folder, report=report)
        info = {
            "data": plan.fingerprints_json(),
            "training": result.training(plan.run_config, **training),
            "metrics": result.metrics(),
        }
        self._take(result.model, ModelInfo(info))
        for callback in self.callbacks:
            callback.on_end(result.metrics())
        nouns = plan.parts.item_type.nouns
        overlaps = (overlap.message(nouns) for overlap in plan.overlaps(between_parts=dev is not None))
        for warning in (*overlaps, *plan.warnings(result)):
            warn_caller(warning)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    def _recipe(self) -> Sections:
        """The sections of the recipe, which may be a file or a model folder."""
        recipe = {} if self.recipe is None else self.recipe
        if not isinstance(recipe, Mapping | str | PathLike):
            raise TypeError(f"recipe is {recipe!r:.80}; expected a dictionary of sections, or a file")
        return (
            recipe if isinstance(recipe, Mapping) else read_preset(Path(recipe), reporter=_CallerWarnings())
        )

    def _layers(self) -> tuple[JsonObject, JsonObject]:
        """Two layers of settings: those of the recipe and those of the arguments."""
        recipe = self._recipe()
        argument_sections: JsonObject = {"split": {"test": 0.0}, "train": {}, "model": {"task": self.TASK}}
        seed: Any = self.random_state
        if seed is not None:
            seed = int(seed) if isinstance(seed, Integral) else check_random_state(seed).randint(2**31 - 1)
            for name in ("split", "train"):
                argument_sections[name]["seed"] = seed
        if (task := section_of(recipe, "model").get("task", self.TASK)) != self.TASK:
            raise ConfigError(
                f"the recipe is for the task {task!r}; a {type(self).__name__} is for {self.TASK!r}"
            )
        if self.epochs is not None:
            is_integer = isinstance(self.epochs, Integral)
            argument_sections["train"]["epochs"] = int(self.epochs) if is_integer else self.epochs
        if self.encoder is not None:
            argument_sections["encoder"] = {"name": self.encoder}
        if self.vectors is not None:
            argument_sections["vectors"] = {"file": fspath(self.vectors)}
        return dict(recipe), argument_sections


class _CallerWarnings(Reporter):
    """A reporter that warns the caller in Python."""

    def warn(self, text: str) -> None:
        warn_caller(text)


_RECIPE = "recipe__"


def _with_advice(constructor: Callable[..., None]) -> Callable[..., None]:
    """A constructor whose error about an unknown argument says where the setting belongs."""
    parameters = signature(constructor).parameters
    names = sorted({*parameters} - {"self"})
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return constructor  # of a subclass, which passes them on

    @wraps(constructor)
    def construct(self: TextEstimator, *args: object, **arguments: object) -> None:
        if wrong := next((name for name in arguments if name not in names), None):
            sections = {"train": TrainConfig, "split": SplitConfig}
            section = next((name for name in sections if wrong in field_types(sections[name])), None)
            hint = ""
            if section or wrong in SECTIONS:
                value = f"{{{wrong!r}: ...}}" if section else "{SETTING: ...}"
                hint = f"; pass recipe={{{(section or wrong)!r}: {value}}}"
            expected = f"its arguments are {', '.join(names)}"
            raise TypeError(f"{type(self).__name__} has no argument {wrong!r}{hint}; {expected}")
        constructor(self, *args, **arguments)

    return construct


def _settings_by_name(sections: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """The settings of nested sections with the names of their sections before them."""
    for name, value in sections.items():
        if isinstance(value, Mapping):
            yield from _settings_by_name(value, f"{prefix}{name}__")
        else:
            yield prefix + name, value


def _print_epoch(report: EpochReport) -> None:
    """Print the scores at the end of an epoch; called after each update and epoch."""
    if report.scores is None:
        return
    part = f"{report.part}: " if report.part else ""
    scores = ", ".join(f"{name} {score:.3f}" for name, score in report.scores.items())
    print(
        f"{part}epoch {report.progress.epoch + 1}  loss {report.loss:.3f}  {report.scored} {scores}",
        flush=True,
    )


@contextmanager
def training_folder() -> Generator[Path]:
    """A temporary folder for the state of a training run; removed at the end, also after Ctrl-C."""
    try:
        with tempfile.TemporaryDirectory(prefix="headwise-") as folder:
            yield Path(folder)
    except TrainingInterrupted as stop:  # raise the signal again, now that the folder is removed
        signal.raise_signal(stop.signal)
        raise KeyboardInterrupt from None


class EmbeddingMethods(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """The methods of estimators that turn texts or pairs of texts into vectors.

    They make such an estimator a transformer, a step in front of another estimator in a `Pipeline`, a
    `FeatureUnion` or a `ColumnTransformer`. `fit_transform` returns the vectors of the texts that the
    encoder was trained on, which tell their labels better than those of new texts do.
    """

    def encode(self: Any, X: Inputs) -> NDArray[np.float32]:
        """The vector of each text or pair that the layers above the encoder read, `[items, features]`."""
        check_is_fitted(self, "model_")
        return self.model_.embeddings(self.model_.encoded(self._items(X)))

    transform = encode

    @property
    def _n_features_out(self: Any) -> int:
        return self.model_.embedding_size  # `get_feature_names_out`: textclassifier0, textclassifier1 ...


class NoveltyMethods:
    """Novelty detection, for a model fitted with `recipe={"unknown": {"detect": True}}`."""

    def novelty_score(self: Any, X: Inputs) -> NDArray[np.float64]:
        """How unlike the training texts each text is, `[texts]`: 0 is the median of held-out texts of the
        labels, 1 their standard deviation, higher is less like them.

        Raises:
            ConfigError: The model has no novelty detector.
        """
        check_is_fitted(self, "model_")
        return item_novelty(self.model_, self._items(X))

    def score_samples(self: Any, X: Inputs) -> NDArray[np.float64]:
        """The negative of `novelty_score`, `[texts]`: lower is less like the training texts, as in
        scikit-learn's outlier detectors."""
        return -self.novelty_score(X)

    def predict_unknown(self: Any, X: Inputs) -> NDArray[np.bool_]:
        """Whether each text is like none of the training texts (out of scope), `[texts]`."""
        scores = self.novelty_score(X)
        return self.model_.novelty.is_unknown(scores)
