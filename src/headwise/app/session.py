"""An opened model: what its folder says of it, and how files are read for it and predicted.

Models of both runtimes are opened here, and torch is imported only when a model needs it.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypedDict

from headwise.app.model_columns import reading_options_as_trained
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.artifacts.model_folder import VerifiedFolder, is_headwise_folder
from headwise.artifacts.model_info import ModelInfo
from headwise.artifacts.onnx.onnx_errors import ExportError, installed
from headwise.artifacts.onnx.onnx_load import exported_info, load_exported
from headwise.artifacts.onnx.onnx_runner import requested_threads
from headwise.core.config import JsonMapping
from headwise.core.errors import ConfigError
from headwise.core.folder_layout import EXPORTED
from headwise.core.tokenizer import get_tokenizer
from headwise.data.errors import NO_LABEL_CODES, DataError
from headwise.data.files.file_lists import FilesArgument, first_path, list_files, paths_of
from headwise.data.items.dataset import InputRows
from headwise.data.items.item_type import ItemType
from headwise.data.items.item_types import ITEM_TYPES, options_for, rows_to_predict
from headwise.data.items.parses import ParseReader, rows_with_parses, with_parses
from headwise.data.readers.file_sets import read_files_as_one, rows_of_files
from headwise.linear.tabular_features import unseen_notes, unseen_values
from headwise.metrics.operating_points import confidence_threshold
from headwise.models.novelty_evaluation import split_off_unknown
from headwise.models.predictor import Predictor
from headwise.text.parse_files import iterate_parses, read_parses, read_phrase_parses
from headwise.text.parsing import new_parser
from headwise.text.text_configs import SyntaxConfig

if TYPE_CHECKING:
    from headwise.models.explanation import Explanation
    from headwise.models.tasks.task import Task


class OpenArguments(TypedDict, total=False):
    """How a session is opened; see `Session.open`."""

    device: str
    pipeline: str | None


class FileArguments(TypedDict, total=False):
    """How a session reads a file; see `Session.rows` and `ModelSession.read`.

    Attributes:
        parses: A file with the syntax of the texts, one parse for each.
        reading: How the file is read, where that is neither as in training nor to be guessed: names of
            columns, format, encoding (see `headwise.data.columns.reading_options`).
        reporter: Receives notes and warnings.
    """

    parses: Path | str | None
    reading: JsonMapping | None
    reporter: Reporter


class Session(ABC):
    """An opened model that predicts; see `Session.open`.

    Attributes:
        folder: The folder of the model.
        model: The model.
        info: The metadata of the folder.
        task_name: The task of the model, a key of `headwise.data.items.item_types.ITEM_TYPES`.
        kind: The item type that the model reads.
        schema: The schema that a file must fit, see `headwise.data.items.item_type.ItemType.rows`.
        uses_trees: Whether the model uses dependency trees.
        on_cpu: Whether the model computes on the processor.
    """

    folder: Path | str
    model: Any
    info: ModelInfo
    task_name: str
    kind: ItemType[Any]
    schema: Any = None
    uses_trees = False
    on_cpu = True

    @classmethod
    def open(cls, folder: Path | str, *, device: str = "auto", pipeline: str | None = None) -> "Session":
        """Open a model folder, or an exported one.

        Args:
            folder: The folder.
            device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.
            pipeline: A spaCy pipeline that parses texts for the model, in place of the one that it names.

        Raises:
            StoreError: It is not a sound model folder.
            ConfigError: The device cannot be used, or the model reads no texts.
        """
        if isinstance(folder, str | PathLike) and is_headwise_folder(Path(folder), EXPORTED):
            return ExportedSession(folder, device)
        VerifiedFolder(folder)  # reports a folder without a model even where torch is not installed
        with installed():
            return ModelSession.open(folder, device=device, pipeline=pipeline)

    def rows(
        self,
        file: FilesArgument,
        *,
        parses: Path | str | None = None,
        reading: JsonMapping | None = None,
        reporter: Reporter = NULL_REPORTER,
    ) -> InputRows[Any]:
        """The records of a file to predict, with their parses.

        Args:
            file: The file, or several, which are read as one; "-" is standard input.
            parses: See `FileArguments`.
            reading: See `FileArguments`.
            reporter: See `FileArguments`.

        Raises:
            HeadwiseError: The file cannot be read.
        """
        first, *rest = paths_of(list_files(file))
        self._check_features(reading or {})
        rows, column_notes = self._rows_of_file(first, reading or {})
        if rest:
            rows = rows_of_files(rows, (self._rows_of_file(path, reading or {})[0] for path in rest))
        reporter.notes((*rows.notes, *column_notes, *self._unused_parses_notes(parses)))
        if parses is None:
            return rows
        return replace(rows, rows=rows_with_parses(self.kind, iter(rows), str(parses), iterate_parses))

    def _check_features(self, reading: JsonMapping) -> None:
        if reading.get("features") is not None:
            names = ", ".join(repr(column.name) for column in getattr(self.schema, "tabular", ()))
            reads = f"the columns {names}" if names else "no columns"
            raise ConfigError(f"--features is for training: this model reads {reads} beside the text")

    def _rows_of_file(self, path: str, reading: JsonMapping) -> tuple[InputRows[Any], tuple[str, ...]]:
        """The records of one file to predict, and notes on its columns."""
        options, notes = reading_options_as_trained(self.kind, self.info, path, reading, answers=False)
        return rows_to_predict(self.kind, self.task_name, path, options, like=self.schema), notes

    def _unused_parses_notes(self, parses: Path | str | None) -> list[str]:
        if parses is None or self.uses_trees:
            return []
        return [f"--parses {parses}: not used, as no head of the model uses dependency trees"]

    @abstractmethod
    def predictor(self, batch_tokens: int, reading: JsonMapping, unsure: str | None) -> Predictor:
        """A predictor of the model; see `headwise.app.workflows.predict.predict_file`.

        Raises:
            ConfigError: Such models give no predictions, or have no such confidence threshold.
        """

    @abstractmethod
    def explain(self, items: Sequence[Any]) -> "list[Explanation]":
        """The explanations of the predictions of items.

        Raises:
            HeadwiseError: Such models are not explained.
        """

    @abstractmethod
    def to_html(self) -> str:
        """The description and scores of the model as an HTML fragment."""

    @abstractmethod
    def opener(self, workers: int) -> "Callable[[], Session]":
        """A function that opens the model in one of `workers` processes that share the processor;
        picklable."""


class ExportedSession(Session):
    """An exported model, opened: onnxruntime computes, without torch.

    Args:
        folder: The folder.
        device: cpu or auto.
        threads: The number of threads, see `load_exported`.

    Raises:
        ConfigError: It is another device.
        StoreError, ExportError: As `load_exported`.
    """

    def __init__(self, folder: Path | str, device: str = "auto", threads: int | None = None):
        if device not in ("auto", "cpu"):
            raise ConfigError(
                f"--device {device}: exported models compute on the processor; expected cpu or auto"
            )
        self.folder, self.model = folder, load_exported(folder, threads=threads)
        self.info = exported_info(folder)
        self.task_name = self.model.settings.task
        self.kind = ITEM_TYPES[self.task_name].with_tokenizer(self.model.settings.tokenizer)

    def predictor(self, batch_tokens: int, reading: JsonMapping, unsure: str | None) -> Predictor:
        predictor = self.model.predictor(self.model, self.kind.nouns, batch_tokens, reading)
        metrics = self.info.metrics
        predictor.usual = metrics.unknown_words
        if unsure is not None:
            if not self.kind.answer.one_label:
                raise ConfigError("--unsure is for models that choose one of several labels")
            predictor.least = confidence_threshold(unsure, metrics.risk_coverage)
        return predictor

    def explain(self, items: Sequence[Any]) -> "list[Explanation]":
        raise ExportError(
            "this model was exported: it predicts, and explains nothing; ask the folder that it was "
            "exported from",
            code="HW958",
        )

    def to_html(self) -> str:
        return (
            "<p>It was exported: it predicts without PyTorch. How good it is, and why it says what it "
            "says, is told by the model folder.</p>"
        )

    def opener(self, workers: int) -> Callable[[], Session]:
        threads = max(1, (requested_threads() or os.cpu_count() or 1) // workers)
        return partial(ExportedSession, self.folder, "cpu", threads)


class ModelSession(Session):
    """A model of a model folder, opened: PyTorch computes.

    Args:
        folder: The folder.
        model: The model.
        pipeline: A spaCy pipeline that parses texts for it, in place of the one that it names.

    Attributes:
        task: The task of the model.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: The model reads no texts that could be parsed.
    """

    def __init__(self, folder: Path | str, model: Any, pipeline: str | None = None):
        from headwise.artifacts import read_info
        from headwise.models.tasks import find_task

        self.folder, self.model, self._pipeline = folder, model, pipeline
        self.info = read_info(folder)
        self.task: Task = find_task(model.config.task)
        self.task_name, self.kind = self.task.name, self.task.item_type_for(model.config)
        if pipeline is not None:
            if not self.kind.sides:
                raise ConfigError("--pipeline parses texts, but this model reads none")
            model.features.parser = new_parser(SyntaxConfig(pipeline))
        self.schema = self.task.schema(model)
        self.uses_trees = getattr(getattr(model, "features", None), "trees", "none") != "none"
        self.on_cpu = model.device.type == "cpu"

    @classmethod
    def open(cls, folder: Path | str, *, device: str = "auto", pipeline: str | None = None) -> Self:
        """Open a model folder, not an exported one; see `Session.open`."""
        from headwise.artifacts import load_model

        return cls(folder, load_model(folder, device=device), pipeline)

    def read(
        self,
        file: FilesArgument,
        *,
        parses: Path | str | None = None,
        reading: JsonMapping | None = None,
        reporter: Reporter = NULL_REPORTER,
        known_only: bool = False,
    ) -> Any:
        """The items of a file with their true answers, and their parses; see `read_scoped`."""
        return self.read_scoped(
            file, parses=parses, reading=reading, reporter=reporter, known_only=known_only
        )[0]

    def read_scoped(
        self,
        file: FilesArgument,
        *,
        parses: Path | str | None = None,
        reading: JsonMapping | None = None,
        reporter: Reporter = NULL_REPORTER,
        known_only: bool = False,
        unknown_label: str | None = None,
    ) -> tuple[Any, Sequence[Any]]:
        """The items of a file with their true answers, and their parses; and apart from these the items of
        no label.

        Args:
            file: The file, or several, which are read as one; "-" is standard input.
            parses: See `FileArguments`.
            reading: See `FileArguments`.
            reporter: See `FileArguments`.
            known_only: Leave out items with labels that the model does not have.
            unknown_label: The label of items of no label (out of scope); None for that of the training
                run, if it had one.

        Raises:
            HeadwiseError: The file cannot be read, an answer is not one of the model's, or no item or every
                item has the unknown label.
        """
        kind, model = self.kind, self.model
        if parses is not None and not kind.sides:
            raise kind.no_parses_error()
        files = list_files(file)
        self._check_features(reading or {})
        requested, column_notes = reading_options_as_trained(
            kind, self.info, first_path(files), reading or {}
        )
        options = self.task.options(model, options_for(self.task_name, requested))
        try:
            data = read_files_as_one(kind, files, options, like=self.schema)
        except DataError as error:
            if error.code in NO_LABEL_CODES and not getattr(options, "label_column", None):
                reporter.note("a file without answers is one for headwise predict")
            raise
        tokenize = get_tokenizer(model.config.words.tokenizer).words
        reader = ParseReader(tokenize, read_parses, read_phrase_parses)
        data = with_parses(kind, data, None if parses is None else str(parses), reader)
        labels = getattr(model, "labels", ())
        data, spelling_notes = kind.answer.respell_as_training(labels, data)
        parses_notes = self._unused_parses_notes(parses)
        reporter.notes((*data.notes, *column_notes, *spelling_notes, *parses_notes))
        data, outside = split_off_unknown(model, data, unknown_label, str(self.folder), kind.nouns.many)
        if encodings := model.config.linear_model.tabular:
            reporter.notes(unseen_notes(unseen_values(encodings, data.items), len(data.items)))
        if known_only:
            data, warnings = kind.answer.without_unknown_labels(labels, data, kind.nouns)
            for warning in warnings:
                reporter.warn(warning)
        self.task.check_labels(model, data, str(self.folder))
        return data, outside

    def predictor(self, batch_tokens: int, reading: JsonMapping, unsure: str | None) -> Predictor:
        if self.task.predictor is None:
            raise self.task.no_prediction_error()
        predictor = self.task.predictor(self.model, self.kind.nouns, batch_tokens, reading)
        predictor.usual = self.info.metrics.unknown_words
        if unsure is not None:
            predictor.least = self.confidence_threshold(unsure)
        return predictor

    def confidence_threshold(self, criterion: str) -> float:
        """The confidence threshold of selective prediction, see `Task.confidence_threshold`."""
        return self.task.confidence_threshold(criterion, self.info.metrics.risk_coverage)

    def evaluate(self, items: Any) -> Any:
        """The evaluation of the model on items with their true answers."""
        return self.task.judge(self.model, items)

    def explain(self, items: Sequence[Any]) -> "list[Explanation]":
        return self.task.explain(self.model, items)

    def to_html(self) -> str:
        from headwise.artifacts.model_card import model_html

        return model_html(self.model, self.info)

    def opener(self, workers: int) -> Callable[[], Session]:
        import torch

        threads = max(1, torch.get_num_threads() // workers)
        return partial(_open_with_threads, self.folder, self._pipeline, threads)


def _open_with_threads(folder: Path | str, pipeline: str | None, threads: int) -> ModelSession:
    """A model on the processor, opened in another process."""
    import torch

    torch.set_num_threads(threads)
    return ModelSession.open(folder, device="cpu", pipeline=pipeline)
