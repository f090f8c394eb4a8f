"""A planned training run: files, data and settings that determine the model."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from headwise.core.config import JsonObject
from headwise.data.files.file_lists import Files, parse_file_names, paths_of
from headwise.data.items.parses import NO_PARSES, ParseFiles
from headwise.data.items.word_limits import NO_LIMIT, WordLimit
from headwise.data.splits.contamination import PartOverlap
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks.task import Task
from headwise.text.parsing import cache_warning
from headwise.text.vocabulary import WordVectors
from headwise.training.settings import RunConfig

if TYPE_CHECKING:
    from headwise.app.distillation import DistillationSet
    from headwise.training.callbacks import EpochReport
    from headwise.training.train_result import TrainResult


@dataclass(frozen=True)
class TrainingFiles:
    """The files of a training run.

    Attributes:
        train: The training file, or several; "-" is standard input.
        dev: The dev file; None to split dev items off.
        test: The test file; None to split test items off.
        parses: The parse files.
        drop: A list of lines to leave out of the training file (`headwise.data.splits.line_lists`).
        weight: A list of lines with weights.
    """

    train: Files
    dev: Files | None = None
    test: Files | None = None
    parses: ParseFiles = NO_PARSES
    drop: str | None = None
    weight: str | None = None

    def names_json(self) -> JsonObject:
        """The names of the files of each part, without their folders."""
        parts = {"train": self.train, "dev": self.dev, "test": self.test}
        return {
            part: [Path(path).name for path in paths_of(files)]
            for part, files in parts.items()
            if files is not None
        }

    def paths(self) -> list[str]:
        """All files."""
        files = self.train, self.dev, self.test, self.drop, self.weight
        paths = [path for names in files if names is not None for path in paths_of(names)]
        parses = self.parses.train, self.parses.dev, self.parses.test
        return [*paths, *(name for path in parses if path is not None for name in parse_file_names(path))]


@dataclass(frozen=True)
class InMemoryData:
    """In-memory data in place of a training file: all items and all labels."""

    items: Sequence[object]
    labels: Sequence[str]


@dataclass(frozen=True)
class RunData:
    """The data of a training run.

    Attributes:
        parts: The data to train on.
        distillation: The distillation set that `parts` include; None without a teacher.
    """

    parts: DataParts
    distillation: "DistillationSet | None" = None

    @property
    def gold_parts(self) -> DataParts:
        """The data labelled by people."""
        return self.parts if self.distillation is None else self.distillation.gold_parts


@dataclass(frozen=True)
class TrainingPlan:
    """A planned training run: data and settings that determine the model.

    Attributes:
        task: The task.
        data: The data.
        run_config: The settings.
        vectors: The word vectors of `run_config.vectors.file`; None without.
        base_note: A note for the user on the choice of the base; "" if there is none.
        limit: The limit on the words of a text.
    """

    task: Task
    data: RunData
    run_config: RunConfig
    vectors: WordVectors | None = None
    base_note: str = ""
    limit: WordLimit = NO_LIMIT

    @cached_property
    def parts(self) -> DataParts:
        """The data to train on, within the word limit."""
        return self.limit.apply(self.data.parts)

    @cached_property
    def gold_parts(self) -> DataParts:
        """The data labelled by people, within the word limit."""
        return self.limit.apply(self.data.gold_parts)

    @cached_property
    def folds(self) -> int:
        """The number of folds of a run that is cross-fitted: each training and dev item is held out once.
        0 if it is not."""
        from headwise.training.fit import uses_folds  # with it comes torch

        crosses = self.data.distillation is None and uses_folds(self.task, self.parts, self.run_config)
        return self.run_config.train.folds if crosses else 0

    @property
    def notes(self) -> list[str]:
        """Notes for the user on the parts and on the choice of settings."""
        return [note for note in ("" if self.folds else self.parts.split_note, self.base_note) if note]

    def fit(
        self,
        folder: Path,
        *,
        resume: bool = False,
        report: "Callable[[EpochReport], None]" = lambda _: None,
        stage: Callable[[str], None] = lambda _: None,
    ) -> "TrainResult":
        """Train the model; see `headwise.training.fit.fit_model` for the arguments."""
        from headwise.training.fit import fit_model  # with it comes torch

        distillation = self.data.distillation
        refit_parts = (
            None if distillation is None else lambda _: self.limit.apply(distillation.train_plus_dev())
        )
        return fit_model(
            self.task,
            self.parts,
            self.run_config,
            folder,
            resume=resume,
            vectors=self.vectors,
            refit_parts=refit_parts,
            report=report,
            stage=stage,
        )

    def overlaps(self, *, between_parts: bool = True) -> tuple[PartOverlap, ...]:
        """Dev and test items that the run also learns from, which make scores optimistic: from the other
        parts (if `between_parts`), the previous model or the teacher."""
        gold_parts = self.data.gold_parts
        overlaps = gold_parts.overlaps() if between_parts else ()
        if self.run_config.init_from is not None:
            overlaps += self.run_config.init_from.overlaps(gold_parts)
        return overlaps if self.data.distillation is None else overlaps + self.data.distillation.overlaps()

    def fingerprints_json(self) -> JsonObject:
        """The data section of the model folder: fingerprints."""
        prints = self.data.parts.fingerprints_json(self.run_config.training_fingerprint)
        return (
            prints
            if self.data.distillation is None
            else prints | {"lesson": self.data.distillation.identity()}
        )

    def warnings(self, result: "TrainResult") -> Iterator[str]:
        """Warnings about the trained model: poor coverage by word vectors, an unused parse cache."""
        coverage = result.coverage
        poor = None if coverage is None else coverage.warning(self.run_config.vectors.file)
        yield from filter(None, (poor, cache_warning(result.model)))
