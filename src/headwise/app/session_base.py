"""Session: an opened model, and how files are read for it and predicted."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from headwise.app.model_columns import reading_options_as_trained
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.artifacts.model_info import ModelInfo
from headwise.core.config import JsonMapping
from headwise.core.errors import ConfigError
from headwise.data.errors import NO_LABEL_CODES, DataError
from headwise.data.files.file_lists import FilesArgument, first_path, list_files, paths_of
from headwise.data.items.dataset import InputRows
from headwise.data.items.item_type import ItemType
from headwise.data.items.item_types import options_for, rows_to_predict
from headwise.linear.tabular_features import unseen_notes, unseen_values
from headwise.models.predictor import Predictor

if TYPE_CHECKING:
    from headwise.models.explanation import Explanation
    from headwise.models.tasks.task import Task


class OpenArguments(TypedDict, total=False):
    """How a session is opened; see `headwise.app.session.open_session`."""

    device: str
    pipeline: str | None


class FileArguments(TypedDict, total=False):
    """How a session reads a file; see `Session.rows` and
    `headwise.app.session_base.TaskSession.read`.

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
    """An opened model that predicts; see `headwise.app.session.open_session`.

    Attributes:
        folder: The folder of the model.
        model: The model.
        info: The metadata of the folder.
        task_name: The task of the model, a key of `headwise.data.items.item_types.ITEM_TYPES_BY_TASK`.
        item_type: The item type that the model reads.
        schema: The schema that a file must fit, see `headwise.data.items.item_type.ItemType.rows`.
        uses_trees: Whether the model uses dependency trees.
        on_cpu: Whether the model computes on the processor.
    """

    folder: Path | str
    model: Any
    info: ModelInfo
    task_name: str
    item_type: ItemType
    schema: Any = None
    uses_trees = False
    on_cpu = True

    def rows(
        self,
        file: FilesArgument,
        *,
        parses: Path | str | None = None,
        reading: JsonMapping | None = None,
        reporter: Reporter = NULL_REPORTER,
    ) -> InputRows:
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
            from headwise.data.readers.file_sets import rows_of_files

            rows = rows_of_files(rows, (self._rows_of_file(path, reading or {})[0] for path in rest))
        reporter.notes((*rows.notes, *column_notes, *self._unused_parses_notes(parses)))
        if parses is None:
            return rows
        from headwise.data.items.parses import rows_with_parses
        from headwise.text.parse_files import iterate_parses

        return replace(rows, rows=rows_with_parses(self.item_type, iter(rows), str(parses), iterate_parses))

    def _check_features(self, reading: JsonMapping) -> None:
        if reading.get("features") is not None:
            names = ", ".join(repr(column.name) for column in getattr(self.schema, "tabular", ()))
            reads = f"the columns {names}" if names else "no columns"
            raise ConfigError(f"--features is for training: this model reads {reads} beside the text")

    def _rows_of_file(self, path: str, reading: JsonMapping) -> tuple[InputRows, tuple[str, ...]]:
        """The records of one file to predict, and notes on its columns."""
        options, notes = reading_options_as_trained(self.item_type, self.info, path, reading, answers=False)
        return rows_to_predict(self.item_type, self.task_name, path, options, schema=self.schema), notes

    def _unused_parses_notes(self, parses: Path | str | None) -> list[str]:
        if parses is None or self.uses_trees:
            return []
        return [f"--parses {parses}: not used, as no head of the model uses dependency trees"]

    def predictor(self, batch_tokens: int, reading: JsonMapping, unsure: str | None) -> Predictor:
        """A predictor of the model; see `headwise.app.workflows.predict.predict_file`.

        Raises:
            ConfigError: Such models give no predictions, or have no such confidence threshold.
        """
        predictor = self.predictor_type()(self.model, self.item_type.nouns, batch_tokens, reading)
        predictor.usual = self.info.metrics.unknown_words
        if unsure is not None:
            predictor.least = self.confidence_threshold(unsure)
        return predictor

    @abstractmethod
    def predictor_type(self) -> type[Predictor]:
        """The class of `predictor`."""

    def confidence_threshold(self, criterion: str) -> float:
        """The confidence threshold of selective prediction: a probability, or `precision=` and the share of
        what is sure that is to be right.

        Raises:
            ConfigError: It is neither, the model does not reach that precision, or its predictions have no
                such probability.
        """
        if not (self.item_type.label_type.one_label or self.item_type.has_tags):
            from headwise.models.tasks import find_task

            raise find_task(self.task_name).no_threshold_error()
        from headwise.metrics.operating_points import confidence_threshold

        return confidence_threshold(criterion, self.info.metrics.risk_coverage)

    @abstractmethod
    def explain(self, items: Sequence[object]) -> "list[Explanation]":
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


class TaskSession(Session):
    """An opened model whose task evaluates it."""

    @property
    def task(self) -> "Task[Any, Any, Any, Any]":
        """The task of the model."""
        from headwise.models.tasks import find_task

        return find_task(self.task_name)

    def read(
        self,
        file: FilesArgument,
        *,
        parses: Path | str | None = None,
        reading: JsonMapping | None = None,
        reporter: Reporter = NULL_REPORTER,
        skip_unknown_labels: bool = False,
    ) -> Any:
        """The items of a file with their true answers, and their parses; see `read_scoped`."""
        return self.read_scoped(
            file, parses=parses, reading=reading, reporter=reporter, skip_unknown_labels=skip_unknown_labels
        )[0]

    def read_scoped(
        self,
        file: FilesArgument,
        *,
        parses: Path | str | None = None,
        reading: JsonMapping | None = None,
        reporter: Reporter = NULL_REPORTER,
        skip_unknown_labels: bool = False,
        unknown_label: str | None = None,
    ) -> tuple[Any, Sequence[Any]]:
        """The items of a file with their true answers and their parses; and, separately, the out-of-scope
        items, which belong to no label.

        Args:
            file: The file, or several, which are read as one; "-" is standard input.
            parses: See `FileArguments`.
            reading: See `FileArguments`.
            reporter: See `FileArguments`.
            skip_unknown_labels: Leave out items with labels that the model does not have.
            unknown_label: The label of out-of-scope items; None for that of the training run, if it had
                one.

        Raises:
            HeadwiseError: The file cannot be read, an answer is not one of the model's, or no item or every
                item has the unknown label.
        """
        from headwise.core.tokenizer import get_tokenizer
        from headwise.data.items.parses import ParseReader, with_parses
        from headwise.data.readers.file_sets import read_files_as_one
        from headwise.models.novelty_evaluation import split_off_unknown
        from headwise.text.parse_files import read_parses, read_phrase_parses

        item_type, model = self.item_type, self.model
        if parses is not None and not item_type.sides:
            raise item_type.no_parses_error()
        files = list_files(file)
        self._check_features(reading or {})
        requested, column_notes = reading_options_as_trained(
            item_type, self.info, first_path(files), reading or {}
        )
        options = self.task.options(model, options_for(self.task_name, requested))
        try:
            data = read_files_as_one(item_type, files, options, schema=self.schema)
        except DataError as error:
            if error.code in NO_LABEL_CODES and not getattr(options, "label_column", None):
                reporter.note("a file without answers is one for headwise predict")
            raise
        tokenize = get_tokenizer(model.config.words.tokenizer).words
        reader = ParseReader(tokenize, read_parses, read_phrase_parses)
        data = with_parses(item_type, data, None if parses is None else str(parses), reader)
        labels = getattr(model, "labels", ())
        data, spelling_notes = item_type.label_type.respell_as_training(labels, data)
        parses_notes = self._unused_parses_notes(parses)
        reporter.notes((*data.notes, *column_notes, *spelling_notes, *parses_notes))
        data, outside = split_off_unknown(
            model, data, unknown_label, str(self.folder), item_type.nouns.many
        )
        if encodings := model.config.linear_model.tabular:
            reporter.notes(unseen_notes(unseen_values(encodings, data.items), len(data.items)))
        if skip_unknown_labels:
            data, warnings = item_type.label_type.without_unknown_labels(labels, data, item_type.nouns)
            for warning in warnings:
                reporter.warn(warning)
        self.task.check_labels(model, data, str(self.folder))
        return data, outside

    def predictor_type(self) -> type[Predictor]:
        if self.task.predictor is None:
            raise self.task.no_prediction_error()
        return self.task.predictor

    def evaluate(self, items: Any) -> Any:
        """The evaluation of the model on items with their true answers."""
        return self.task.evaluate(self.model, items)

    def explain(self, items: Sequence[object]) -> "list[Explanation]":
        return self.task.explain(self.model, items)
