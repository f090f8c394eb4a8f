"""What accuracy.py and pairs.py share: one label for each text, or each pair, by an
encoder alone, and by the same encoder in an ensemble with the linear model."""

import time
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.common.runs import Bench, Result, judged, show_epochs
from headwise.app.configuration import build_config
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.labels import label_targets
from headwise.data.splits.data_parts import PART_NAMES, DataParts
from headwise.models.label_evaluation import evaluate_labels
from headwise.models.tasks import find_task
from headwise.text.vocabulary import WordVectors
from headwise.training.ensembles import SingleLabelEnsembleFitter
from headwise.training.fit import fit_model
from headwise.training.settings import RunConfig
from headwise.training.text_objectives import ClassificationObjective
from headwise.training.warm_start import PreviousModel

LINEAR = "tfidf-svm"
REFIT = " + refit"  # ends names of systems: once dev has chosen, they learn again, of dev too


def named(system: str, endings: Iterable[str]) -> tuple[str, set[str]]:
    """The encoder of a system, and with which of these its name ends, one before the other."""
    suffixes = set()
    for ending in endings:
        if system.endswith(ending):
            system = system.removesuffix(ending)
            suffixes.add(ending)
    return system, suffixes


@dataclass(frozen=True)
class Task:
    """A data set.

    Attributes:
        parts: Training, dev and test.
        leaked: `[test items]`, whether the item also occurs in training or dev.
    """

    parts: DataParts[Any]
    leaked: np.ndarray

    def three(self) -> list[list[Any]]:
        return [getattr(self.parts, part) for part in PART_NAMES]


class Classifying(Bench):
    """Classifiers of texts or of pairs."""

    kind: ClassVar[str]
    """Key of `KINDS` and name of the task."""
    unit: ClassVar[str]
    once = (LINEAR, f"{LINEAR}{REFIT}")
    paired = True

    @abstractmethod
    def baseline(self, *parts: tuple[list[Any], np.ndarray], refit: bool = False) -> Any:
        """The linear model: training and dev items with the numbers of their labels."""

    @abstractmethod
    def reads_trees(self, system: str) -> bool:
        """Whether the system goes by dependency trees."""

    @abstractmethod
    def bare(self, item: Any) -> Any:
        """An item without its parse."""

    def previous_model(self, system: str) -> PreviousModel | None:
        """The model that a system begins with, if any."""
        return None

    def begun(self, run_config: RunConfig, system: str) -> tuple[RunConfig, WordVectors | None]:
        """The settings as they are on this machine, and the word vectors."""
        return run_config, self.word_vectors()

    def read(self, data: Task, system: str) -> Task:
        """The data as a system sees them: with parses or without."""
        if self.reads_trees(system):
            return data
        parts = ([self.bare(item) for item in part] for part in data.three())
        return replace(data, parts=DataParts(ITEM_TYPES_BY_TASK[self.kind], *parts))

    def prints(self, data: Task, system: str) -> list[str]:
        return [
            ITEM_TYPES_BY_TASK[self.kind].fingerprint(part).sha256
            for part in self.read(data, system).three()
        ]

    def measure(self, data: Task, task: str, system: str, seed: int, folder: Path) -> Result:
        data = self.read(data, system)
        if system.removesuffix(REFIT) == LINEAR:
            return self._measure_linear(data, refit=system.endswith(REFIT))
        recipe = build_config(*self.layers(task, system))
        bare = replace(recipe.model, base=replace(recipe.model.base, name=""))  # where recipes name none
        if (previous := self.previous_model(system)) is not None:
            previous.check(recipe)
        recipe = replace(recipe, train=replace(recipe.train, seed=seed), model=bare, init_from=previous)
        recipe, vectors = self.begun(recipe, system)
        fitted = fit_model(
            find_task(self.kind),
            data.parts,
            recipe,
            folder,
            vectors=vectors,
            resume=(folder / "state.safetensors").exists(),
            report=show_epochs(self.unit),
        )
        model = fitted.model
        train, dev, test = ((part, label_targets(part, model.labels)) for part in data.three())
        began = time.monotonic()
        alone = model.outputs_of(model.encoded(test[0])).argmax(axis=1)
        speed = len(test[1]) / (time.monotonic() - began)
        # The same model again with the linear model; its ensemble weight is chosen on dev.
        if recipe.model.linear_model.kind == "none":
            ensemble = SingleLabelEnsembleFitter(ClassificationObjective(model, train, dev))
            ensemble.fit_members(ensemble.held_out(None))
        mixed = judged(evaluate_labels(model, *test).predicted == test[1], data.leaked)
        return judged(alone == test[1], data.leaked) | {
            "with_linear_model": {key: value for key, value in mixed.items() if key.startswith("test")},
            "linear_weight": model.linear_weight,
            "dev": fitted.dev["accuracy"],
            "dev_loss": fitted.dev["loss"],
            "best_epoch": fitted.progress.best_epoch + 1,
            "seconds": fitted.progress.seconds,
            "texts_per_second": speed,
            "parameters": sum(p.numel() for p in model.parameters()),
            "encoder_parameters": sum(p.numel() for p in model.encoder.parameters()),
            **({} if previous is None else {"base": previous.digest}),
            "vector_tokens": fitted.coverage.token_percent if fitted.coverage else None,
        }

    def _measure_linear(self, data: Task, *, refit: bool) -> Result:
        """TF-IDF + linear SVM, its C chosen on dev."""
        began = time.monotonic()
        labels = sorted({item.label or "" for item in data.parts.train})
        train, dev, test = ((part, label_targets(part, labels)) for part in data.three())
        guess = self.baseline(train, dev, refit=refit)
        return judged(guess(test[0]) == test[1], data.leaked) | {
            **({} if refit else {"dev": float((guess(dev[0]) == dev[1]).mean())}),
            "seconds": time.monotonic() - began,
        }
