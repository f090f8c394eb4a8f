"""A model in memory that answers requests: records in, what `predict` and `explain` say of them out.

Records are read as the lines of a jsonl file are (bags: as the rows of a csv file), so that a request may
hold whatever such a file may, and what is wrong with one is told in the same words. Nothing here knows of
HTTP.
"""

import csv
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import Any

from headwise.data.errors import DataError
from headwise.data.rows import Row
from headwise.errors import ConfigError, HeadwiseError
from headwise.verbs.listener import NOBODY
from headwise.verbs.sources import open_source

_OPEN = Path("/proc/self/fd")
REQUEST = "the request"
"""What stands in messages where a file's name would."""
_OF_FILES = frozenset(("format", "header", "delimiter", "encoding"))  # how they are written
_UNFOUND = ("HW111", "HW131", "HW285")  # columns
_FLAG = re.compile(r"(?<!\w)--[a-z]")
_ASIDE = re.compile(r" \(--[a-z][^()]*\)")


class RequestError(HeadwiseError):
    """A request that cannot be answered.

    Codes: HW903 it is not what was expected, HW904 it is too large, HW907 the server has no place for it.
    """

    code = "HW903"


class Answering:
    """A model that answers one request at a time, whichever threads they come from.

    Args:
        folder: The model's folder, or an exported one.
        unsure: See `headwise.verbs.predict.predict_file`.
        pipeline: See `headwise.verbs.models.open_model`.
        batch_tokens: Words that the model reads at once.
        device: See `headwise.verbs.models.open_model`.
        reading: How records are read, where that is not to be guessed: the names of their fields.

    Attributes:
        source: The model, opened.
        model: The model itself.
        kind: What it reads.

    Raises:
        ConfigError: How files are written is said, which requests are not.
        HeadwiseError: The model cannot be used, or gives no predictions.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        unsure: str | None = None,
        pipeline: str | None = None,
        batch_tokens: int = 16_384,
        device: str = "auto",
        reading: Mapping[str, Any] | None = None,
    ):
        self.folder, self.reading = Path(folder), dict(reading or {})
        for name in _OF_FILES & self.reading.keys():
            raise ConfigError(f"{name} is for files, but requests are JSON; leave it out")
        self.source = open_source(folder, device, pipeline)
        self.model, self.kind = self.source.model, self.source.kind
        self._predictor = self.source.predictor(batch_tokens, self.reading, unsure)
        self._one = Lock()
        fields = {1: ("text",), 2: ("first", "second")}.get(self.kind.sides, ())
        self._names = [self.reading.get(f"{name}_column") or name for name in fields]

    @property
    def facts(self) -> dict[str, Any]:
        """What a client may want to know: name, task, what it reads, its labels if it has any."""
        labels = getattr(self.model, "labels", None)
        named = {} if labels is None else {"labels": list(labels)}
        return {
            "model": self.folder.name,
            "task": self.source.task,
            "reads": self.kind.nouns.many,
            **named,
        }

    def records(
        self, texts: Sequence[str] = (), pairs: Sequence[Sequence[str]] = ()
    ) -> list[dict[str, Any]]:
        """Texts, or pairs of them, as records of this model.

        Raises:
            RequestError: HW903, it reads something else.
        """
        if (texts and self.kind.sides != 1) or (pairs and self.kind.sides != 2):
            given = "texts" if texts else "pairs"
            wanted = {1: "texts", 2: "pairs"}.get(self.kind.sides, "records")
            raise RequestError(
                f"{REQUEST}: {given}, but this model reads {self.kind.nouns.many}; give {wanted}"
            )
        if texts:
            return [{self._names[0]: own} for own in texts]
        return [dict(zip(self._names, own, strict=True)) for own in pairs]

    def said(self, error: HeadwiseError) -> str:
        """What an error says to those who ask: they can give no flags, only another request."""
        said = str(error).removeprefix(f"[{error.code}] ")
        if isinstance(error, DataError) and error.code in _UNFOUND and self.kind.sides:
            fields = f"the field{'s' * (len(self._names) > 1)} {' and '.join(map(repr, self._names))}"
            tokens = self.reading.get("token_column") or "tokens"
            words = f" (or {tokens!r}, a list of words)" * hasattr(self.kind.options, "token_column")
            return f"{REQUEST}: {error.found}; expected {fields}{words} in each record"
        first, *more = said.split("; ")
        return "; ".join([_ASIDE.sub("", first), *(own for own in more if not _FLAG.search(own))])

    def warm_up(self) -> None:
        """Answer a question before anybody asks one, so that what is loaded with the first (half a second)
        is there, and what would be told to everybody is told at once.

        Raises:
            HeadwiseError: No text can be answered: there is no parser for a model of trees, say.
        """
        with suppress(DataError):  # records of this server are not read from texts alone
            self.predict([dict.fromkeys(self._names, "a")] if self._names else [])

    def predict(self, records: Sequence[Mapping[str, Any]]) -> list[str]:
        """The objects that `headwise predict --format-out jsonl` writes of records, as JSON.

        Raises:
            HeadwiseError: The records cannot be read.
        """
        if not records:
            return []
        with self._one:
            rows = self._read(records)
            layout = self._predictor.layout("jsonl", rows)
            found = self._predictor.again([row.item for row in rows])
            return [layout.record(row, own).rstrip("\n") for row, own in zip(rows, found, strict=True)]

    def explain(self, records: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Why the model says what it says of records; an `Explanation` for each, whose `item` is
        the number of the record.

        Raises:
            HeadwiseError: The records cannot be read, or what the model says is not explained.
        """
        if not records:
            return []
        with self._one:
            return self.source.explain([row.item for row in self._read(records)])

    def _read(self, records: Sequence[Mapping[str, Any]]) -> list[Row[Any]]:
        """The records as the model reads them."""
        form = "jsonl" if self.kind.sides else "csv"  # bags are read from tables alone
        text = _table(records) if form == "csv" else _lines(records)
        # Who reads it refuses halves of surrogate pairs.
        with _held(text.encode("utf-8", errors="surrogatepass"), form) as path:
            try:
                return list(self.source.rows(path, self.reading, NOBODY, None))
            except DataError as error:
                told = {"expected": error.expected, "advice": error.advice, "column": error.column}
                raise DataError(error.code, error.found, path=REQUEST, line=error.line, **told) from None


@contextmanager
def _held(text: bytes, form: str) -> Iterator[Path]:
    """A file of a request, whose content tells its form: in memory where the system has such files (Linux),
    so that it needs no disk that may be full or not to be written to.

    Raises:
        RequestError: HW907, it cannot be written.
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
            said = f"{REQUEST}: cannot be kept while it is read: {error.strerror or error}; "
            told = "the server needs a folder for temporary files (TMPDIR)"
            raise RequestError(said + told, code="HW907") from None
        yield path


def _in_memory() -> int | None:
    """A file in memory, by its number; None where there are none, or they have no names."""
    if not (hasattr(os, "memfd_create") and _OPEN.is_dir()):
        return None
    try:
        return os.memfd_create("headwise")
    except OSError:  # the sandbox forbids it
        return None


def _lines(records: Sequence[Mapping[str, Any]]) -> str:
    """A jsonl file."""
    try:
        return "".join(json.dumps(record, allow_nan=False) + "\n" for record in records)
    except ValueError:
        raise RequestError(f"{REQUEST}: a number that JSON does not have (NaN, Infinity)") from None


def _table(records: Sequence[Mapping[str, Any]]) -> str:
    """A csv file."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, list(dict.fromkeys(name for record in records for name in record)))
    writer.writeheader()
    writer.writerows(records)
    return out.getvalue()
