"""A loaded model that answers requests: records in, predictions and explanations out; independent of HTTP.

Records are read by the same code as the lines of a jsonl file (bags: the rows of a csv file), so that a
request may contain whatever such a file may, with the same error messages.
"""

import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Unpack

from headwise.app.serve.serve_errors import REQUEST, AbandonedError, RequestError
from headwise.app.serve.word_budget import NO_LIMIT, WordBudget
from headwise.app.session import OpenArguments, Session, open_session
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.errors import DataError
from headwise.data.items.dataset import InputRow

_EXPLAINED_AT_ONCE = 64
"""Items that are explained between two looks at whether the client still waits."""
_OPEN = Path("/proc/self/fd")
_FILE_OPTIONS = frozenset(("format", "header", "delimiter", "quoting", "escape", "encoding"))
"""Options of file formats."""
_MISSING_COLUMN_CODES = ("HW111", "HW131", "HW147", "HW285")  # errors about missing columns
_FLAG = re.compile(r"(?<!\w)--[a-z]")
_FLAG_ASIDE = re.compile(r" \(--[a-z][^()]*\)")


class ModelService:
    """A loaded model that answers requests; thread-safe, one request at a time.

    Args:
        folder: The model's folder, or an exported one.
        unsure: See `headwise.app.workflows.predict.predict_file`.
        batch_tokens: The number of words per batch.
        reading: The names of the fields of records; missing ones are detected.
        open_arguments: How the model is opened, see `headwise.app.session.open_session`.

    Attributes:
        session: The opened model.
        model: The model.
        item_type: The item type of the model.

    Raises:
        ConfigError: `reading` has options of file formats, which do not apply to requests.
        HeadwiseError: The model cannot be loaded, or does not predict.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        unsure: str | None = None,
        batch_tokens: int = 16_384,
        reading: JsonMapping | None = None,
        **open_arguments: Unpack[OpenArguments],
    ):
        self.folder, self.reading = Path(folder), dict(reading or {})
        for name in _FILE_OPTIONS & self.reading.keys():
            raise ConfigError(f"{name} is for files, but requests are JSON; leave it out")
        self._open_arguments, self._batch_tokens, self._unsure = open_arguments, batch_tokens, unsure
        self._one = Lock()
        self._use(open_session(folder, **open_arguments))

    def _use(self, session: Session) -> None:
        predictor = session.predictor(self._batch_tokens, self.reading, self._unsure)
        self.session, self.model, self.item_type = session, session.model, session.item_type
        self._predictor = predictor
        fields = {1: ("text",), 2: ("first", "second")}.get(self.item_type.sides, ())
        self._names = [self.reading.get(f"{name}_column") or name for name in fields]
        self._tabular = [column.name for column in getattr(self.session.schema, "tabular", ())]

    def reload(self) -> None:
        """Open the folder again, which may hold another model by now. Requests are answered by the former
        model until the new one is there; if it cannot be opened, the former stays.

        Raises:
            HeadwiseError: The model cannot be loaded, or does not predict.
        """
        session = open_session(self.folder, **self._open_arguments)
        with self._one:
            self._use(session)

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.folder.name or self.folder.resolve().name

    @property
    def facts(self) -> JsonObject:
        """The name, task, item type and, if any, labels of the model; of a tagger of spans, their types."""
        labels = getattr(self.model, "labels", None)
        if self.item_type.has_tags and self.model.written != "plain":  # the types that predictions have
            labels = sorted({tag.partition("-")[2] for tag in self.model.tags} - {""})
        named = {} if labels is None else {"labels": list(labels)}
        return {
            "model": self.name,
            "task": self.session.task_name,
            "reads": self.item_type.nouns.many,
            **named,
        }

    def records(self, texts: Sequence[str] = (), pairs: Sequence[Sequence[str]] = ()) -> list[JsonObject]:
        """Texts, or pairs of texts, as records of this model.

        Raises:
            RequestError: HW903, the model does not read them.
        """
        if (texts and self.item_type.sides != 1) or (pairs and self.item_type.sides != 2):
            input_kind = "texts" if texts else "pairs"
            expected = {1: "texts", 2: "pairs"}.get(self.item_type.sides, "records")
            raise RequestError(
                f"{REQUEST}: {input_kind}, but this model reads "
                f"{self.item_type.nouns.many}; give {expected}"
            )
        if texts and self._tabular:
            raise RequestError(
                f"{REQUEST}: texts alone, but this model reads the fields "
                f"{', '.join(map(repr, self._tabular))} beside them; give records",
                code="HW147",
            )
        if texts:
            return [{self._names[0]: text} for text in texts]
        return [dict(zip(self._names, pair, strict=True)) for pair in pairs]

    def client_message(self, error: HeadwiseError) -> str:
        """The message of an error without advice about command-line flags, which clients cannot set."""
        message = str(error).removeprefix(f"[{error.code}] ")
        if isinstance(error, DataError) and error.code in _MISSING_COLUMN_CODES and self.item_type.sides:
            names = [*self._names, *self._tabular]
            fields = f"the field{'s' * (len(names) > 1)} {' and '.join(map(repr, names))}"
            tokens = self.reading.get("token_column") or "tokens"
            words = f" (or {tokens!r}, a list of words)" * hasattr(self.item_type.options, "token_column")
            return f"{REQUEST}: {error.problem}; expected {fields}{words} in each record"
        first, *more = message.split("; ")
        return "; ".join(
            [_FLAG_ASIDE.sub("", first), *(advice for advice in more if not _FLAG.search(advice))]
        )

    def warm_up(self) -> None:
        """Predict once before the first request: this loads what is loaded lazily (half a second), and
        raises the errors that every request would raise.

        Raises:
            HeadwiseError: The model cannot predict, e.g. because a parser is missing.
        """
        with suppress(DataError):  # the records of this model have other fields than texts
            record = dict.fromkeys(self._names, "a") | dict.fromkeys(self._tabular, "")
            self.predict([record] if self._names else [])

    def predict(self, records: Sequence[JsonMapping], budget: WordBudget = NO_LIMIT) -> list[str]:
        """The predictions of records: the JSON objects that `headwise predict --format-out jsonl` writes.

        Raises:
            HeadwiseError: The records cannot be read, or have too many words.
        """
        (answer,) = self.predict_requests([records], budget)
        if isinstance(answer, HeadwiseError):
            raise answer
        return answer

    def predict_requests(
        self, requests: Sequence[Sequence[JsonMapping]], budget: WordBudget = NO_LIMIT
    ) -> list[list[str] | HeadwiseError]:
        """The predictions of several requests, computed together; each is what the request alone would get.

        Args:
            requests: The records of each request.
            budget: The most words per request.

        Returns:
            For each request its predictions (see `predict`), or the error of reading it.
        """
        with self._one:
            read = [_within(part, budget) for part in self._read_requests(requests)]
            rows = [row for part in read if not isinstance(part, HeadwiseError) for row in part]
            predictions = iter(
                self._predictor.predict_uncounted([row.item for row in rows]) if rows else ()
            )
            answers: list[list[str] | HeadwiseError] = []
            for part in read:
                if isinstance(part, HeadwiseError):
                    answers.append(part)
                else:
                    layout = self._predictor.layout("jsonl", part)
                    answers.append([layout.record(row, next(predictions)).rstrip("\n") for row in part])
            return answers

    def explain(
        self,
        records: Sequence[JsonMapping],
        budget: WordBudget = NO_LIMIT,
        is_abandoned: Callable[[], bool] = lambda: False,
    ) -> list[Any]:
        """The explanations of the predictions of records: `Explanation` objects, whose `item` is the index
        of the record.

        Args:
            records: The records.
            budget: The most words.
            is_abandoned: Whether nobody waits for the explanations any more; asked before each portion.

        Raises:
            HeadwiseError: The records cannot be read or have too many words, or the model has no
                explanations.
            AbandonedError: `is_abandoned` returned true.
        """
        if not records:
            return []
        with self._one:
            if is_abandoned():  # while another request occupied the model
                raise AbandonedError
            items = [row.item for row in self._read(records)]
            budget.check_explanation(items, self.item_type)
            explanations: list[Any] = []
            for first in range(0, len(items), _EXPLAINED_AT_ONCE):
                if is_abandoned():
                    raise AbandonedError
                portion = self.session.explain(items[first : first + _EXPLAINED_AT_ONCE])
                explanations += [replace(one, item=first + one.item) for one in portion]
            return explanations

    def _read_requests(
        self, requests: Sequence[Sequence[JsonMapping]]
    ) -> list[list[InputRow[Any]] | HeadwiseError]:
        """The rows of each request. Those whose records have the same fields are read at once; columns are
        found by the names of fields, so others are read by themselves."""
        by_fields: dict[tuple[str, ...], list[int]] = {}
        for number, records in enumerate(requests):
            fields = {tuple(record) for record in records}
            if self.item_type.sides and len(fields) == 1:
                by_fields.setdefault(fields.pop(), []).append(number)
        read: dict[int, list[InputRow[Any]] | HeadwiseError] = {}
        for numbers in by_fields.values():
            if len(numbers) > 1:
                try:
                    rows = self._read([record for number in numbers for record in requests[number]])
                except HeadwiseError:  # of one of them: each is read by itself
                    continue
                if len(rows) == sum(len(requests[number]) for number in numbers):
                    remaining = iter(rows)
                    read |= {number: list(islice(remaining, len(requests[number]))) for number in numbers}
        for number, records in enumerate(requests):
            if number not in read:
                try:
                    read[number] = self._read(records) if records else []
                except HeadwiseError as error:
                    read[number] = error
        return [read[number] for number in range(len(requests))]

    def _read(self, records: Sequence[JsonMapping]) -> list[InputRow[Any]]:
        """The records as rows of the model's item type. A tagger reads texts and words one kind after the
        other."""
        words = [(self.reading.get("token_column") or "tokens") in record for record in records]
        if not self.item_type.has_tags or len({*words}) < 2:
            return self._read_alike(records)
        rows = list[InputRow[Any]]()
        for kind in (False, True):  # None in place of the others: records keep their numbers
            pairs = zip(records, words, strict=True)
            rows += self._read_alike([record if has_words == kind else None for record, has_words in pairs])
        return sorted(rows, key=lambda row: row.line)

    def _read_alike(self, records: Sequence[JsonMapping | None]) -> list[InputRow[Any]]:
        """The records as rows, without those that are None."""
        form = "jsonl" if self.item_type.sides else "csv"  # bags are read from csv only
        text = _jsonl_content(records) if form == "jsonl" else _csv_content([one or {} for one in records])
        # Unpaired surrogates are passed on: the reader rejects them with a message.
        with _temporary_file(text.encode("utf-8", errors="surrogatepass"), form) as path:
            try:
                return list(self.session.rows(path, reading=self.reading))
            except DataError as error:
                fields = {"expected": error.expected, "advice": error.advice, "column": error.column}
                raise DataError(
                    error.code, error.problem, path=REQUEST, line=error.line, **fields
                ) from None


def _within(
    part: list[InputRow[Any]] | HeadwiseError, budget: WordBudget
) -> list[InputRow[Any]] | HeadwiseError:
    """The rows of a request, or the error that they have too many words."""
    if not isinstance(part, HeadwiseError):
        try:
            budget.check_prediction(row.item for row in part)
        except RequestError as error:
            return error
    return part


@contextmanager
def _temporary_file(text: bytes, form: str) -> Generator[Path]:
    """A temporary file with the content of a request: in memory where the system supports that (Linux), so
    that a full or read-only disk does not matter.

    Raises:
        RequestError: HW907, the file cannot be written.
    """
    with ExitStack() as held:
        try:
            number = _in_memory()
            if number is None:
                folder = held.enter_context(tempfile.TemporaryDirectory(prefix="headwise-"))
                path = Path(folder) / f"a.{form}"
                path.write_bytes(text)
            else:
                file = held.enter_context(open(number, "wb"))
                file.write(text)
                file.flush()
                path = _OPEN / str(number)
        except OSError as error:
            problem = f"{REQUEST}: cannot be kept while it is read: {error.strerror or error}; "
            advice = "the server needs a folder for temporary files (TMPDIR)"
            raise RequestError(problem + advice, code="HW907") from None
        yield path


def _in_memory() -> int | None:
    """The descriptor of a new file in memory; None if the system has none that can be opened by name."""
    if not (hasattr(os, "memfd_create") and _OPEN.is_dir()):
        return None
    try:
        return os.memfd_create("headwise")
    except OSError:  # the sandbox forbids it
        return None


def _jsonl_content(records: Sequence[JsonMapping | None]) -> str:
    """The records as the content of a jsonl file, with a blank line for None."""
    try:
        lines = ["" if record is None else json.dumps(record, allow_nan=False) for record in records]
        return "".join(f"{line}\n" for line in lines)
    except ValueError:
        raise RequestError(f"{REQUEST}: a number that JSON does not have (NaN, Infinity)") from None


def _csv_content(records: Sequence[JsonMapping]) -> str:
    """The records as the content of a csv file."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(dict.fromkeys(name for record in records for name in record)))
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()
