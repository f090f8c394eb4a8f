"""What all estimators share: parameters, fitting that leaves nothing behind, and model folders."""

import signal
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted

from headwise.data.parts import Parts
from headwise.errors import ConfigError
from headwise.features.parse_cache import trouble_of
from headwise.recipe import Sections, build_recipe, choose_settings, read_recipe
from headwise.report.explanation import Explanation
from headwise.report.sheet import section
from headwise.store import load_model, read_info, save_model
from headwise.store.shown import model_html
from headwise.tasks import find_task
from headwise.train.fit import fit
from headwise.train.fitted import Fitted
from headwise.train.loop import Report
from headwise.train.recipe import Recipe
from headwise.train.stop import TrainingInterrupted
from headwise.verbs.models import former_of


@dataclass(frozen=True)
class InMemory:
    """What stands for a training file where the data come from memory: all items, and all labels."""

    items: Sequence[Any]
    labels: Sequence[str]


UNORDERED = (set, frozenset)
"""What says its items in another order in each process. (The keys of a dictionary have one.)"""

_ONE_BY_ONE = threading.Lock()
"""Trainings draw from the generator of PyTorch: side by side in threads none would repeat itself."""


class TextEstimator(BaseEstimator):
    """An estimator that follows scikit-learn's conventions. What is not given is chosen by the amount of
    data, as `headwise train` does. Fitting seeds torch.

    Args:
        encoder: A name of `headwise.encoders.ENCODERS`.
        vectors: File of pretrained word vectors, as `--vectors` takes it.
        epochs: Most passes over the training data.
        recipe: Further settings: the sections of a TOML recipe as a dictionary, or the file. The arguments
            beside it go before what it says.
        random_state: Seed of the split, the first weights and all else that is random; None draws one. For
            0 stand the seeds of the recipe, where it names them.
        verbose: Whether fitting prints a line after each epoch.

    Attributes:
        model_: The fitted model.
        recipe_: The settings that were used, in the sections of a recipe.
        history_: Scores on dev, one dictionary for each epoch.
    """

    TASK: ClassVar[str]
    """A key of `headwise.tasks.TASKS`."""

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
        """Write a model folder, which the `headwise` command reads too.

        Raises:
            StoreError: The folder holds something else, or cannot be written.
        """
        check_is_fitted(self, "model_")
        save_model(self.model_, Path(folder), **self._info)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """A fitted estimator from a model folder, also from one that `headwise train` wrote. Its parameters
        are the settings that the model was trained with: fitted again, it is trained as that was.

        Raises:
            StoreError: It is not a sound model folder.
            ConfigError: It holds a model of another task.
        """
        model, info = load_model(folder), read_info(folder)
        if (task := model.config.task) != cls.TASK:
            raise ConfigError(
                f"{fspath(folder)}: a model of the task {task!r}; {cls.__name__} loads those of the task "
                f"{cls.TASK!r}"
            )
        recipe = dict(section(info["training"], "recipe"))
        if (base := section(recipe, "base")) and not base.get("name"):  # what is not named is looked for
            recipe["base"] = {**base, "name": "none"}
        loaded = cls(recipe=recipe or None, random_state=section(recipe, "train").get("seed", 0))
        loaded._take(model, {part: info[part] for part in ("data", "training", "metrics")})
        return loaded

    def _repr_html_inner(self) -> str:
        """What a notebook shows: of a fitted estimator the model, else the parameters."""
        if not hasattr(self, "model_"):
            return super()._repr_html_inner()
        return model_html(self.model_, self._info)

    def _repr_mimebundle_(self, **asked: Any) -> dict[str, str]:
        shown = super()._repr_mimebundle_(**asked)
        return {**shown, "text/html": self._repr_html_inner()} if "text/html" in shown else shown

    def explain(self, X: Any) -> list[Explanation]:
        """Which words made the model say what it says of texts (or pairs): one explanation for each, or for
        each label of each; see `headwise.report.explanation`.

        Raises:
            ConfigError: What models of this task say is not explained.
        """
        check_is_fitted(self, "model_")
        return find_task(self.TASK).explain(self.model_, self._items(X))

    def _items(self, X: Any) -> Sequence[Any]:
        """What the model reads of X."""
        return texts_of(X)

    def _take(self, model: Any, info: dict[str, Any]) -> None:
        """Be fitted."""
        self.model_, self._info = model, info
        self.recipe_ = info["training"].get("recipe", {})
        self.history_ = info["training"].get("history", [])

    def _fit(
        self,
        items: Sequence[Any],
        dev: Sequence[Any] | None,
        labels: Sequence[str] = (),
        **training: Any,
    ) -> Self:
        """Train on answered items, and be fitted.

        Args:
            items: What the task reads, with answers.
            dev: Items that choose the best epoch; split off where None.
            labels: All labels there are.
            training: What to keep with the history of the training.
        """
        former, layers = former_of(self._layers())
        asked, task = build_recipe(*layers), find_task(self.TASK)
        task.check(asked)
        kind = task.kind_for(asked.model)
        files = {"train": InMemory([*items, *(dev or ())], labels)} if labels else {}
        if dev is not None:
            files["dev"] = InMemory(dev, labels)
        train, notes = items, ()
        if dev is None:
            split = kind.split(items, asked.split.dev, seed=asked.split.seed)
            train, dev, notes = split.train, split.dev, split.notes
        parts = Parts[Any](kind, train, dev, [], notes, files)
        former = former and former.beside(parts)
        recipe, vectors, _ = choose_settings(parts, layers, former)
        with _ONE_BY_ONE, training_folder() as folder:
            report = _print_epoch if self.verbose else lambda _: None
            fitted = fit(task, parts, recipe, folder, vectors=vectors, report=report)
        info = {
            "data": parts.prints(recipe.seen),
            "training": fitted.training(recipe, **training),
            "metrics": fitted.metrics(),
        }
        self._take(fitted.model, info)
        for trouble in _troubles(parts, recipe, fitted):
            warnings.warn(trouble, stacklevel=3)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    def _layers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the recipe says, and what the arguments say."""
        recipe = {} if self.recipe is None else self.recipe
        if not isinstance(recipe, Mapping | str | PathLike):
            raise TypeError(f"recipe is {recipe!r:.80}; expected a dictionary of sections, or a file")
        if not isinstance(recipe, Mapping):
            recipe = read_recipe(Path(recipe))
        seed: Any = self.random_state
        seed = int(seed) if isinstance(seed, Integral) else check_random_state(seed).randint(2**31 - 1)
        own: dict[str, Any] = {"split": {"test": 0.0}, "train": {}, "model": {"task": self.TASK}}
        for name in ("split", "train"):
            if seed or "seed" not in section(recipe, name):
                own[name]["seed"] = seed
        if (task := section(recipe, "model").get("task", self.TASK)) != self.TASK:
            raise ConfigError(
                f"the recipe is for the task {task!r}; a {type(self).__name__} is for {self.TASK!r}"
            )
        if self.epochs is not None:
            whole = isinstance(self.epochs, Integral)
            own["train"]["epochs"] = int(self.epochs) if whole else self.epochs
        if self.encoder is not None:
            own["encoder"] = {"name": self.encoder}
        if self.vectors is not None:
            own["vectors"] = {"file": fspath(self.vectors)}
        return dict(recipe), own


def _print_epoch(report: Report) -> None:
    """Called after each update and epoch."""
    if report.scores is None:
        return
    part = f"{report.part}: " if report.part else ""
    scores = ", ".join(f"{name} {score:.3f}" for name, score in report.scores.items())
    print(f"{part}epoch {report.progress.epoch + 1}  loss {report.loss:.3f}  dev {scores}", flush=True)


def _troubles(parts: Parts[Any], recipe: Recipe, fitted: Fitted) -> Iterator[str]:
    """What may be wrong with a model, as the command tells it."""
    if "dev" in parts.files:
        yield from (own.told(parts.kind.nouns) for own in parts.overlaps())
    if recipe.former is not None:
        yield from (own.told(parts.kind.nouns) for own in recipe.former.overlaps(parts))
    known = fitted.coverage
    yield from filter(None, (known and known.trouble(recipe.vectors.file), trouble_of(fitted.model)))


@contextmanager
def training_folder() -> Iterator[Path]:
    """A folder for the state of a run, which is gone afterwards, also after Ctrl-C."""
    try:
        with tempfile.TemporaryDirectory(prefix="headwise-") as folder:
            yield Path(folder)
    except TrainingInterrupted as stop:  # the signal goes on, now that nothing is left behind
        signal.raise_signal(stop.signal)
        raise KeyboardInterrupt from None


def check_listed(X: Any, items: str) -> None:
    """Whether X can be a list of items: a text would be read as its letters, a dictionary as its keys,
    and a set in an order of its own.

    Raises:
        TypeError: It is one text, a mapping, a set, or no list at all.
    """
    if not np.iterable(X):
        raise TypeError(f"X is {X!r:.80}; expected a list of {items}")
    if isinstance(X, str):
        raise TypeError(f"X is one text; give a list of {items}")
    if isinstance(X, Mapping):
        keys = list(X)
        found, column = ", ".join(map(repr, keys)), f", such as X[{keys[0]!r}]" if keys else ""
        raise TypeError(f"X is a {type(X).__name__} of {found}; give a list of {items}{column}")
    if isinstance(X, UNORDERED):
        raise TypeError(f"X is a {type(X).__name__}, which has no order; give a list of {items}")


def pair_of(dev: Any) -> tuple[Any, Any]:
    """What is given as `dev`: items and their answers.

    Raises:
        TypeError: It is something else.
    """
    if not isinstance(dev, tuple | list) or len(dev) != 2 or any(isinstance(own, str) for own in dev):
        raise TypeError("dev is not a pair; expected (X, y) of items and their answers")
    return dev[0], dev[1]


def plain(text: Any) -> str:
    """A label as a text of Python's own, for which `str` would give an Enum's name and not its value."""
    return str.__str__(text) if isinstance(text, str) else str(text)


def dimensions(X: Any) -> int:
    """1 of a list or a column, 2 of a table, also of one of Polars, which does not say it itself."""
    return len(getattr(X, "shape", (0,)))


def texts_of(X: Any) -> list[str]:
    """A column of texts as a list of plain strings.

    Raises:
        TypeError, ValueError: It is something else.
    """
    check_listed(X, "texts")
    if dimensions(X) == 2 and X.shape[1] == 1:  # a DataFrame, or what resampling makes of a list
        X = np.asarray(X, dtype=object)[:, 0]
    if (found := dimensions(X)) != 1:
        raise ValueError(f"X has {found} dimensions; expected a list or one column of texts")
    texts: Sequence[Any] = list(X)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"X[{place}] is {text!r:.80}; expected a text")
    return [plain(text) for text in texts]


def check_answered(y: Any, answers: str) -> Any:
    """A list, array or column of answers; what can only be gone through (a generator, the values of a
    dictionary) as a list.

    Raises:
        TypeError: It is None, one answer, a mapping, or a set.
    """
    if isinstance(y, (str, Mapping, *UNORDERED)) or not np.iterable(y):
        raise TypeError(f"y is {y!r:.80}; expected {answers}, as many as X has items")
    return y if isinstance(y, Sequence) or hasattr(y, "__array__") else list(y)


def check_columns(names: Sequence[Any]) -> None:
    """Whether each column of answers has a name of its own.

    Raises:
        ValueError: Two have the same, and one of them would be lost.
    """
    if len(set(map(plain, names))) < len(names):
        raise ValueError(f"y has columns of the same name: {list(names)}; expected one for each label")


def weights_for(texts: Sequence[Any], weights: Any) -> list[float]:
    """How much each text counts.

    Raises:
        ValueError: These are not as many numbers, or not all 0 or more, or all 0.
    """
    given = np.ones(len(texts)) if weights is None else np.asarray(weights, dtype=object)
    if given.ndim != 1 and given.shape[1:] != (1,):
        raise ValueError(f"sample_weight has the shape {given.shape}; expected one number for each of X")
    try:
        counts = given.ravel().astype(np.float64)
    except (TypeError, ValueError):
        counts = np.array([np.nan])
    if not (np.isfinite(counts).all() and (counts >= 0).all() and (not len(counts) or counts.any())):
        raise ValueError("sample_weight must be finite numbers, 0 or more, and not all 0")
    check_consistent_length(texts, counts)
    return counts.tolist()
