"""The metadata of a model folder. It is untrusted: a value that is not of the expected type counts as
missing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from headwise.core.config import JsonMapping, JsonObject, is_number, lookup, section_of
from headwise.metrics.metric_keys import SELECTIVE_PREDICTION
from headwise.models.report_parts import ComparisonSystem


@dataclass(frozen=True)
class PartInfo:
    """A part of the data of a training run.

    Attributes:
        sha256: The hash of its items and answers.
        items: The number of its items.
        labels: How many of them have each label.
    """

    sha256: str | None = None
    items: float | None = None
    labels: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, data: object) -> Self:
        """The part in a JSON object, see `headwise.data.files.fingerprint.Fingerprint`."""
        sha256, items, labels = (lookup(data, name) for name in ("sha256", "texts", "labels"))
        return cls(
            sha256 if isinstance(sha256, str) else None,
            items if is_number(items) else None,
            labels if isinstance(labels, Mapping) else {},
        )


@dataclass(frozen=True)
class DataInfo:
    """The data of a training run.

    Attributes:
        train: The training part.
        dev: The part that chose the model.
        test: The part that it was tested on.
        file: The training file, where other parts were split off it.
        training_fingerprint: The training-set fingerprint, see
            `headwise.data.splits.contamination.in_fingerprint`.
        files: The names of the files of each part; empty if unknown.
    """

    train: PartInfo
    dev: PartInfo
    test: PartInfo
    file: PartInfo
    training_fingerprint: object
    files: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, data: object) -> Self:
        """The data in a JSON object."""
        train, dev, test, file = (
            PartInfo.of(lookup(data, name)) for name in ("train", "dev", "test", "file")
        )
        files = {
            part: [name for name in names if isinstance(name, str)]
            for part, names in section_of(data, "files").items()
            if isinstance(names, list)
        }
        return cls(train, dev, test, file, lookup(data, "seen"), files)

    def is_training_file(self, sha256: str) -> bool:
        """Whether the model was trained on items of this hash, or on a part of them."""
        return sha256 in (self.train.sha256, self.file.sha256)


@dataclass(frozen=True)
class TrainingInfo:
    """A training run.

    Attributes:
        recipe: Its settings.
        columns: The columns that the data were read from, by the options that name them.
        history: The scores of each epoch.
        seconds: How long it took.
        label_type: The type of numeric labels in Python, of an estimator.
        label_matrix: The labels of the columns of a label matrix, of an estimator; or whether it was fitted
            to a matrix.
        finished: When it ended, in UTC; None if unknown.
        previous: The name of the folder of the model that it started from; None without one.
    """

    recipe: JsonMapping
    columns: JsonMapping
    history: list[Any]
    seconds: float | None
    label_type: object
    label_matrix: list[Any] | bool
    finished: str | None = None
    previous: str | None = None

    @classmethod
    def of(cls, data: object) -> Self:
        """The training run in a JSON object."""
        history, seconds, label_matrix = (
            lookup(data, name) for name in ("history", "seconds", "label_matrix")
        )
        finished, previous = lookup(data, "finished"), lookup(data, "previous.name")
        return cls(
            section_of(data, "recipe"),
            section_of(data, "columns"),
            history if isinstance(history, list) else [],
            seconds if is_number(seconds) else None,
            lookup(data, "label_type"),
            label_matrix if isinstance(label_matrix, list | bool) else False,
            finished if isinstance(finished, str) else None,
            previous if isinstance(previous, str) else None,
        )

    @property
    def is_refitted(self) -> bool:
        """Whether the model was fitted again to training and dev items together."""
        return bool(lookup(self.recipe, "train.refit"))


@dataclass(frozen=True)
class MetricsInfo:
    """The scores of a model in its training run.

    Attributes:
        test: The scores on the test part; None where there are none.
        dev: The scores on the dev part, or out of fold; empty where there are none.
        baseline: The baseline on the test part.
        systems: All comparison systems on the test part by their keys, the baseline last.
        calibration: The calibration errors before and after temperature scaling.
        texts_per_second: How many texts a distilled model reads in a second.
    """

    test: JsonMapping | None
    dev: JsonMapping
    baseline: ComparisonSystem | None
    systems: Mapping[str, ComparisonSystem]
    calibration: JsonMapping
    texts_per_second: float | None

    @classmethod
    def of(cls, data: object) -> Self:
        """The scores in a JSON object."""
        test, baseline = lookup(data, "test"), section_of(data, "baseline")
        speed = lookup(data, "teaching.texts_per_second.model")
        return cls(
            test if isinstance(test, Mapping) else None,
            section_of(data, "dev"),
            ComparisonSystem.from_json(baseline) if baseline else None,
            ComparisonSystem.all_from_metrics(data if isinstance(data, Mapping) else {}),
            section_of(data, "calibration"),
            speed if is_number(speed) else None,
        )

    @property
    def scored_part(self) -> str:
        """What the scores are about: test, or `held_out_part` where there are none on test."""
        return self.held_out_part if self.test is None else "test"

    @property
    def held_out_part(self) -> str:
        """What the dev scores are about: dev, or `out of fold` where folds chose the epoch."""
        return "out of fold" if self.dev.get("folds") else "dev"

    @property
    def scores(self) -> JsonMapping:
        """The scores on `scored_part`."""
        return self.dev if self.test is None else self.test

    @property
    def unknown_words(self) -> float:
        """The fraction of unknown words in the test texts; 0 if it is not known."""
        share = lookup(self.test, "unknown_words")
        return share if is_number(share) else 0.0

    @property
    def risk_coverage(self) -> object:
        """The saved `headwise.metrics.operating_points.RiskCoverageCurve` of the dev part."""
        return self.dev.get(SELECTIVE_PREDICTION)


@dataclass(frozen=True)
class ModelInfo(JsonMapping):
    """The metadata of a model folder. As a mapping it has the contents of the JSON files, by their names
    without `.json`: config, labels, calibration, environment, data, training and metrics.

    Args:
        contents: These contents; what is missing counts as empty.
    """

    contents: JsonMapping

    def __getitem__(self, name: str) -> Any:
        return self.contents[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.contents)

    def __len__(self) -> int:
        return len(self.contents)

    @cached_property
    def data(self) -> DataInfo:
        """The data of the training run."""
        return DataInfo.of(self.contents.get("data"))

    @cached_property
    def training(self) -> TrainingInfo:
        """The training run."""
        return TrainingInfo.of(self.contents.get("training"))

    @cached_property
    def metrics(self) -> MetricsInfo:
        """The scores of the model in its training run."""
        return MetricsInfo.of(self.contents.get("metrics"))

    @property
    def task_name(self) -> object:
        """The task of the model."""
        return lookup(self.contents, "config.model.task")

    @property
    def records(self) -> JsonObject:
        """What `save_model` saves of data, training and metrics."""
        return {part: self.contents[part] for part in ("data", "training", "metrics")}
