"""TaskSession: an opened model of a task, which can be evaluated on a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwise.app.model_columns import reading_options_as_trained
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.session_base import Session
from headwise.core.config import JsonMapping
from headwise.data.errors import NO_LABEL_CODES, DataError
from headwise.data.files.file_lists import FilesArgument, first_path, list_files
from headwise.data.items.item_types import options_for
from headwise.linear.tabular_features import unseen_notes, unseen_values
from headwise.models.predictor import Predictor

if TYPE_CHECKING:
    from headwise.models.explanation import Explanation
    from headwise.models.tasks.task import Task


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
        """The items of a file with their true answers, and their parses; and apart from these the items of
        no label.

        Args:
            file: The file, or several, which are read as one; "-" is standard input.
            parses: See `FileArguments`.
            reading: See `FileArguments`.
            reporter: See `FileArguments`.
            skip_unknown_labels: Leave out items with labels that the model does not have.
            unknown_label: The label of items of no label (out of scope); None for that of the training
                run, if it had one.

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

    def predictor(self, batch_tokens: int, reading: JsonMapping, unsure: str | None) -> Predictor:
        if self.task.predictor is None:
            raise self.task.no_prediction_error()
        predictor = self.task.predictor(self.model, self.item_type.nouns, batch_tokens, reading)
        predictor.usual = self.info.metrics.unknown_words
        if unsure is not None:
            predictor.least = self.confidence_threshold(unsure)
        return predictor

    def confidence_threshold(self, criterion: str) -> float:
        """The confidence threshold of selective prediction, see `Task.confidence_threshold`."""
        return self.task.confidence_threshold(criterion, self.info.metrics.risk_coverage)

    def evaluate(self, items: Any) -> Any:
        """The evaluation of the model on items with their true answers."""
        return self.task.evaluate(self.model, items)

    def explain(self, items: Sequence[object]) -> "list[Explanation]":
        return self.task.explain(self.model, items)
