"""The base class of the scikit-learn estimators: parameters, fitting, saving and loading."""

import signal
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from headwise.app.configuration import Sections, read_preset
from headwise.app.session import ModelSession
from headwise.app.training_plan import resolve
from headwise.artifacts import save_model
from headwise.artifacts.model_card import model_html
from headwise.artifacts.model_info import ModelInfo
from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError
from headwise.models.explanation import Explanation
from headwise.models.metric_table import section_of
from headwise.models.tasks import find_task
from headwise.training.loop import EpochReporter
from headwise.training.run_state import TrainingInterrupted

UNORDERED_TYPES = (set, frozenset)
"""Types whose iteration order differs between processes (that of dictionary keys does not)."""

_TRAINING_LOCK = threading.Lock()
"""Training draws from PyTorch's global random generator: fits in parallel threads would not be
reproducible."""


class TextEstimator(BaseEstimator):
    """An estimator that follows scikit-learn's conventions. Settings that are not given are chosen by the
    amount of data, as in `headwise train`. Fitting seeds torch.

    Args:
        encoder: A name of `headwise.nn.encoders.ENCODERS`.
        vectors: File of pretrained word vectors, in the formats of `--vectors`.
        epochs: Maximum number of passes over the training data.
        recipe: Further settings: the sections of a TOML recipe as a dictionary, or a recipe file. The other
            arguments override it.
        random_state: Seed of the split, of the initial weights and of everything else that is random; None
            draws one. If it is 0, seeds in the recipe take precedence.
        verbose: Print a line after each epoch.

    Attributes:
        model_: The fitted model.
        recipe_: The settings that were used, as the sections of a recipe.
        history_: Dev scores, one dictionary per epoch.
    """

    TASK: ClassVar[str]
    """A key of `headwise.models.tasks.TASKS`."""

    def __init__(
        self,
        *,
        encoder: str | None = None,
        vectors: str | PathLike[str] | None = None,
        epochs: int | None = None,
        recipe: Sections | str | PathLike[str] | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: bool = False,
    ):
        self.encoder = encoder
        self.vectors = vectors
        self.epochs = epochs
        self.recipe = recipe
        self.random_state = random_state
        self.verbose = verbose

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a model folder, which the `headwise` command can read.

        Raises:
            StoreError: The folder holds other files, or cannot be written.
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
        loaded = cls(recipe=recipe or None, random_state=section_of(recipe, "train").get("seed", 0))
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

    def explain(self, X: Any) -> list[Explanation]:
        """Explain predictions by word attributions: one explanation per text or pair, or one per label of
        each; see `headwise.models.explanation`.

        Raises:
            ConfigError: Models of this task cannot be explained.
        """
        check_is_fitted(self, "model_")
        return find_task(self.TASK).explain(self.model_, self._items(X))

    def _items(self, X: Any) -> Sequence[Any]:
        """The items of X as the model reads them."""
        return texts_of(X)

    def _take(self, model: Any, info: ModelInfo) -> None:
        """Set the fitted attributes from a model and the metadata of its folder."""
        self.model_, self._info = model, info
        self.recipe_, self.history_ = info.training.recipe, info.training.history

    def _fit(
        self,
        items: Sequence[Any],
        dev: Sequence[Any] | None,
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
        request = resolve(self._layers())
        plan = request.plan(request.split(items, dev, labels))
        with _TRAINING_LOCK, training_folder() as folder:
            result = plan.fit(folder, report=_print_epoch if self.verbose else lambda _: None)
        info = {
            "data": plan.prints(),
            "training": result.training(plan.config, **training),
            "metrics": result.metrics(),
        }
        self._take(result.model, ModelInfo(info))
        nouns = plan.parts.kind.nouns
        overlaps = (overlap.message(nouns) for overlap in plan.overlaps(between_parts=dev is not None))
        for warning in (*overlaps, *plan.warnings(result)):
            warnings.warn(warning, stacklevel=3)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    def _layers(self) -> tuple[JsonObject, JsonObject]:
        """Two layers of settings: those of the recipe and those of the arguments."""
        recipe = {} if self.recipe is None else self.recipe
        if not isinstance(recipe, Mapping | str | PathLike):
            raise TypeError(f"recipe is {recipe!r:.80}; expected a dictionary of sections, or a file")
        if not isinstance(recipe, Mapping):
            recipe = read_preset(Path(recipe))
        seed: Any = self.random_state
        seed = int(seed) if isinstance(seed, Integral) else check_random_state(seed).randint(2**31 - 1)
        argument_sections: JsonObject = {
            "split": {"test": 0.0},
            "train": {},
            "model": {"task": self.TASK},
        }
        for name in ("split", "train"):
            if seed or "seed" not in section_of(recipe, name):
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


def _print_epoch(report: EpochReporter) -> None:
    """Print the scores at the end of an epoch; called after each update and epoch."""
    if report.scores is None:
        return
    part = f"{report.part}: " if report.part else ""
    scores = ", ".join(f"{name} {score:.3f}" for name, score in report.scores.items())
    print(f"{part}epoch {report.progress.epoch + 1}  loss {report.loss:.3f}  dev {scores}", flush=True)


@contextmanager
def training_folder() -> Iterator[Path]:
    """A temporary folder for the state of a training run; removed at the end, also after Ctrl-C."""
    try:
        with tempfile.TemporaryDirectory(prefix="headwise-") as folder:
            yield Path(folder)
    except TrainingInterrupted as stop:  # raise the signal again, now that the folder is removed
        signal.raise_signal(stop.signal)
        raise KeyboardInterrupt from None


def check_is_list(X: Any, items: str) -> None:
    """Check that X is a list of items. A single text would be read as its letters, a dictionary as its
    keys, and a set in arbitrary order.

    Raises:
        TypeError: X is one text, a mapping, a set, or not iterable.
    """
    if not np.iterable(X):
        raise TypeError(f"X is {X!r:.80}; expected a list of {items}")
    if isinstance(X, str):
        raise TypeError(f"X is one text; give a list of {items}")
    if isinstance(X, Mapping):
        keys = list(X)
        key_list, column = ", ".join(map(repr, keys)), f", such as X[{keys[0]!r}]" if keys else ""
        raise TypeError(f"X is a {type(X).__name__} of {key_list}; give a list of {items}{column}")
    if isinstance(X, UNORDERED_TYPES):
        raise TypeError(f"X is a {type(X).__name__}, which has no order; give a list of {items}")


def unpack_dev(dev: Any) -> tuple[Any, Any]:
    """The items and their labels in the argument `dev`.

    Raises:
        TypeError: `dev` is not a pair.
    """
    if (
        not isinstance(dev, tuple | list)
        or len(dev) != 2
        or any(isinstance(element, str) for element in dev)
    ):
        raise TypeError("dev is not a pair; expected (X, y) of items and their answers")
    return dev[0], dev[1]


def plain_str(text: Any) -> str:
    """A label as a plain `str`. Of a string Enum it is the value, where `str()` would return the name."""
    return str.__str__(text) if isinstance(text, str) else str(text)


def dimensions(X: Any) -> int:
    """Number of dimensions: 1 for a list or a column, 2 for a table. (Polars has no `ndim`.)"""
    return len(getattr(X, "shape", (0,)))


def texts_of(X: Any) -> list[str]:
    """A column of texts as a list of plain strings.

    Raises:
        TypeError, ValueError: X is not a column of texts.
    """
    check_is_list(X, "texts")
    if dimensions(X) == 2 and X.shape[1] == 1:  # a DataFrame, or a list after resampling
        X = np.asarray(X, dtype=object)[:, 0]
    if (count := dimensions(X)) != 1:
        raise ValueError(f"X has {count} dimensions; expected a list or one column of texts")
    texts: Sequence[Any] = list(X)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"X[{place}] is {text!r:.80}; expected a text")
    return [plain_str(text) for text in texts]


def check_targets(y: Any, answers: str) -> Any:
    """Check the labels or numbers `y`; iterators and views (a generator, the values of a dictionary) become
    a list.

    Raises:
        TypeError: y is None, a scalar, a mapping, or a set.
    """
    if isinstance(y, (str, Mapping, *UNORDERED_TYPES)) or not np.iterable(y):
        raise TypeError(f"y is {y!r:.80}; expected {answers}, as many as X has items")
    return y if isinstance(y, Sequence) or hasattr(y, "__array__") else list(y)


def check_columns(names: Sequence[Any]) -> None:
    """Check that column names are unique.

    Raises:
        ValueError: Two columns have the same name; one of them would be lost.
    """
    if len(set(map(plain_str, names))) < len(names):
        raise ValueError(f"y has columns of the same name: {list(names)}; expected one for each label")


def weights_for(texts: Sequence[Any], weights: Any) -> list[float]:
    """The sample weights as a list `[texts]`; 1.0 each if `weights` is None.

    Raises:
        ValueError: They are not one finite number >= 0 per text, or all are 0.
    """
    weight_array = np.ones(len(texts)) if weights is None else np.asarray(weights, dtype=object)
    if weight_array.ndim != 1 and weight_array.shape[1:] != (1,):
        raise ValueError(
            f"sample_weight has the shape {weight_array.shape}; expected one number for each of X"
        )
    try:
        counts = weight_array.ravel().astype(np.float64)
    except (TypeError, ValueError):
        counts = np.array([np.nan])
    if not (np.isfinite(counts).all() and (counts >= 0).all() and (not len(counts) or counts.any())):
        raise ValueError("sample_weight must be finite numbers, 0 or more, and not all 0")
    check_consistent_length(texts, counts)
    return counts.tolist()
