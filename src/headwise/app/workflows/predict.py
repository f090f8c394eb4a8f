"""Predict the records of a file of any size."""

import os
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Final, Literal, Unpack

from headwise.app.output_checks import check_output_file
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.session import FileArguments, Session, open_session
from headwise.app.workflows.prediction_tables import TableOutput
from headwise.core.config import JsonMapping
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.file_lock import locked_file
from headwise.core.folder_layout import MANIFEST
from headwise.core.threads import usable_threads
from headwise.data.files.file_lists import Files, FilesArgument, first_path, list_files, paths_of
from headwise.data.findings import abbreviate
from headwise.data.items.dataset import InputRow
from headwise.data.readers.spreadsheet_dialect import SpreadsheetDialect
from headwise.models.output_file import (
    OutputError,
    choose_format,
    is_compressed,
    open_output,
    reporting_write_errors,
)
from headwise.models.prediction_file import RecordLayout
from headwise.models.prediction_resume import Chunk, ResumePoint, cut_chunks, find_resume_point
from headwise.models.predictor import PredictionBatch, Predictor

AUTO: Final = "auto"
"""As the number of workers: as many as there are processors, for files that take long enough."""
MAX_SHOWN = 8
"""Labels whose probabilities a terminal shows."""
_ALONE = 10.0  # seconds after which `AUTO` starts workers: a file that takes twice as long gains by them


@renamed_parameters(heads="parses", listener="reporter")
def predict_file(
    folder: Path | str,
    file: FilesArgument,
    output: Path | str | None = None,
    *,
    form: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    escape_formulas: bool = False,
    shard_rows: int | None = None,
    unsure: str | None = None,
    batch_tokens: int = 16_384,
    workers: int | Literal["auto"] = 1,
    device: str = "auto",
    pipeline: str | None = None,
    **file_arguments: Unpack[FileArguments],
) -> int:
    """Write the predictions for all records of a file, in the same order, in constant memory.

    Args:
        folder: The model's folder, or an exported one.
        file: The file, or several, which are read as one; "-" is standard input.
        output: File for the predictions; standard output by default.
        form: Format of the predictions; by default that of the output's suffix. Only if it is None, csv has
            semicolons and decimal commas like the input.
        resume: Resume an interrupted output.
        overwrite: Replace an existing output.
        escape_formulas: Put a "'" before cells of csv and tsv that a spreadsheet would evaluate.
        shard_rows: The largest number of rows in each of several files; the output is then a folder (of
            Parquet files, or of those of `form`), or a name with `{}` for their numbers.
        unsure: Mark predictions whose confidence is below this probability, or below the threshold that
            gives the precision requested by `precision=SHARE`.
        batch_tokens: Maximum number of words in a batch; fewer need less memory.
        workers: Processes that predict, each with the model in its memory; see
            `headwise.app.workflows.prediction_workers`. With "auto", this process predicts alone for ten
            seconds; the rest is predicted by as many workers as there are processors. A script that uses
            several workers needs `if __name__ == "__main__"`, as each worker imports it.
        device: The device: cpu, cuda, or auto for a GPU if there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        file_arguments: How the file is read; see `headwise.app.session.FileArguments`.

    Returns:
        The number of items predicted by this call, without those of a resumed output.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used.
    """
    job = _PredictionJob(
        folder=folder,
        files=list_files(file),
        output=None if output is None else Path(output),
        form=form,
        follows_input=form is None,
        resume=resume,
        overwrite=overwrite,
        escape_formulas=escape_formulas,
        unsure=unsure,
        batch_tokens=batch_tokens,
        workers=workers,
        device=device,
        pipeline=pipeline,
        file_arguments=file_arguments,
    )
    table = TableOutput.of(job.output, form, shard_rows)
    if table is None:
        return job.run()
    resumed = resume and table.records.exists()
    table.check(overwrite=overwrite or resumed)
    count = replace(
        job, output=table.records, form=table.record_form, resume=resumed, overwrite=not resumed
    ).run()
    table.convert()
    return count


@dataclass(frozen=True, kw_only=True)
class _PredictionJob:
    """The predictions of a file as lines of text; `predict_file` has the arguments."""

    folder: Path | str
    files: Files
    output: Path | None
    form: str | None
    follows_input: bool
    resume: bool
    overwrite: bool
    escape_formulas: bool
    unsure: str | None
    batch_tokens: int
    workers: int | Literal["auto"]
    device: str
    pipeline: str | None
    file_arguments: FileArguments

    @property
    def reporter(self) -> Reporter:
        return self.file_arguments.get("reporter", NULL_REPORTER)

    @property
    def predictor_arguments(self) -> tuple[int, JsonMapping, str | None]:
        """The arguments of `Session.predictor`."""
        return self.batch_tokens, dict(self.file_arguments.get("reading") or {}), self.unsure

    def run(self) -> int:
        """Write the predictions; returns the number of predicted items."""
        self.check()
        mark = _model_digest(self.folder)
        session = open_session(self.folder, device=self.device, pipeline=self.pipeline)
        workers = self.workers_of(session)
        predictor = session.predictor(*self.predictor_arguments)
        if self.file_arguments.get("parses") is not None and not session.item_type.sides:
            raise session.item_type.no_parses_error()
        form = choose_format(self.output, self.form, predictor.formats, predictor.form)
        dialect = SpreadsheetDialect()
        if form in ("csv", "tsv"):
            reading = self.file_arguments.get("reading") or {}
            dialect = SpreadsheetDialect.of(first_path(self.files), reading)
            if form == "tsv" or not self.follows_input:
                dialect = SpreadsheetDialect(marked=dialect.marked)
        rows = session.rows(self.files, **self.file_arguments)
        chunks = cut_chunks(iter(rows))
        first = next(chunks, [])
        # A header without rows is an empty batch: its output is a header, too.
        shown = first or [InputRow(0, dict.fromkeys(rows.empty_header, ""), None)]
        layout = replace(
            predictor.layout(form, shown),
            escape=self.escape_formulas,
            dialect=dialect,
            headings=rows.headings,
        )
        if layout.renamed:
            pairs = abbreviate([f"{new!r} for {name!r}" for name, new in layout.renamed.items()])
            self.reporter.notes([f"the file has fields of these names; those of the model are {pairs}"])
        if dialect.note:
            self.reporter.note(f"{dialect.note} - override with --format-out csv")
        if self.form is None and form == "csv":
            layout = self.without_many_labels(layout)

        def opening(workers: int) -> Callable[[], Predictor]:
            opener = session.opener(workers)
            return partial(_open_unchanged, self.folder, mark, opener, self.predictor_arguments)

        start = ResumePoint(0, 0, chain([first] if first else [], chunks))
        with self.exclusive_output():
            start = self.resumed(start, layout, predictor)
            predicted = _predicted(start.chunks, predictor, workers, opening)
            seconds = self.write(start, predicted, layout, predictor)
        self.reporter.notes(rows.closing_notes)
        for message in predictor.summary(seconds):
            self.reporter.message(message)
        if predictor.parse_cache_warning:
            self.reporter.warn(predictor.parse_cache_warning)
        return predictor.items

    def check(self) -> None:
        """Check what can be checked before the model is loaded.

        Raises:
            ConfigError, OutputError: An argument cannot be used, or the output must not be written.
        """
        if self.batch_tokens < 1:
            raise ConfigError(f"--batch-tokens {self.batch_tokens}; expected 1 or more")
        if self.workers != AUTO and self.workers < 1:
            raise ConfigError(f"--workers {self.workers}; expected 1 or more, or auto")
        if self.output is not None:
            for path in paths_of(self.files):
                check_output_file(self.output, Path(path), resume=self.resume, overwrite=self.overwrite)
        elif self.resume or self.overwrite:
            raise ConfigError("--resume and --overwrite need --output, the file they are about")

    def workers_of(self, session: Session) -> int | Literal["auto"]:
        """The number of workers; a GPU has none beside this process.

        Raises:
            ConfigError: Several are requested for a GPU.
        """
        if session.on_cpu or self.workers == 1:
            return self.workers
        if self.workers == AUTO:
            return 1
        raise ConfigError(
            f"--workers {self.workers} are for processors; expected 1 with a GPU, or --device cpu"
        )

    def without_many_labels(self, layout: RecordLayout) -> RecordLayout:
        """On a terminal, a layout without the probabilities of more than `MAX_SHOWN` labels."""
        if self.output is not None or not sys.stdout.isatty() or len(layout.labels) <= MAX_SHOWN:
            return layout
        self.reporter.note(
            f"the probabilities of all {len(layout.labels)} labels are not shown on a terminal; a file "
            "(--output FILE), a pipe and --format-out csv have them"
        )
        return layout.without_label_probabilities()

    @contextmanager
    def exclusive_output(self) -> Generator[None]:
        """Lock the output within this context and check that it may be written; a new file is removed if
        the prediction fails before it has written anything."""
        output = self.output
        if output is None:
            yield
            return
        new = not output.exists()
        with reporting_write_errors(output), locked_file(output):
            overwrite = self.overwrite or not (self.resume or output.stat().st_size)
            file = Path(first_path(self.files))
            check_output_file(output, file, resume=self.resume, overwrite=overwrite)
            try:
                yield
            except BaseException:
                if new and not output.stat().st_size:
                    with suppress(OSError):  # Windows cannot remove open files
                        output.unlink()
                raise

    def resumed(self, start: ResumePoint, layout: RecordLayout, predictor: Predictor) -> ResumePoint:
        """The point at which the prediction goes on: behind the complete records of the output if that is
        resumed, else `start`."""
        output = self.output
        if not self.resume or output is None or not output.is_file() or not output.stat().st_size:
            return start
        with reporting_write_errors(output):
            start = find_resume_point(output, layout, start.chunks, predictor.predict_uncounted)
            os.truncate(output, start.size)
        self.reporter.note(f"{output}: the first {start.rows:,} records are kept")
        return start

    def write(
        self,
        start: ResumePoint,
        predicted: Generator[tuple[Chunk, PredictionBatch], None, None],
        layout: RecordLayout,
        predictor: Predictor,
    ) -> float:
        """Predict and write the remaining records; returns the seconds. If interrupted, the reporter is
        informed how to resume."""
        output, reporter = self.output, self.reporter
        written, began = start.rows, time.perf_counter()
        # Predictions that are printed on a terminal leave no room for a progress bar.
        shown = output is not None or not sys.stdout.isatty()
        try:
            reading = reporter.reading(Path(str(self.files)), start.rows, shown=shown)
            with reading as update, ExitStack() as files, closing(predicted):
                target = None
                for chunk, answers in predicted:
                    records = layout.records(chunk, predictor.take(answers))
                    if target is None:
                        # Opened late: if prediction fails at once, an existing file stays as it is.
                        target = files.enter_context(open_output(output, append=start.size > 0))
                        records = records if start.size else layout.header + records
                    target.write(records.encode())
                    target.flush()
                    written += len(chunk)
                    update(written, chunk[-1].line)
                if target is None and not start.rows:
                    files.enter_context(open_output(output)).write(layout.header.encode())
        # SystemError: Ctrl-C in compiled code
        except (KeyboardInterrupt, SystemError, HeadwiseError) as error:
            again = getattr(error, "code", "") == "HW603"  # a resumed run would fail again
            if written and output is not None and not again and not is_compressed(output):
                reporter.warn(
                    f"stopped after {written:,} {predictor.nouns.many}; the same command with --resume "
                    f"(and without --overwrite) continues {output}"
                )
            raise
        return time.perf_counter() - began


def _model_digest(folder: Path | str) -> bytes:
    """A digest of the folder's manifest, to detect that the model was replaced; empty if it cannot be
    read (opening the folder reports why)."""
    with suppress(OSError, TypeError):
        return sha256((Path(folder) / MANIFEST).read_bytes()).digest()
    return b""


def _open_unchanged(
    folder: Path | str,
    mark: bytes,
    opener: Callable[[], Session],
    predictor_arguments: tuple[int, JsonMapping, str | None],
) -> Predictor:
    """Open a model in a worker.

    Raises:
        OutputError: HW608, the model was replaced since the prediction began, so the output would mix the
            predictions of two models.
    """
    session = opener()
    if _model_digest(folder) != mark:
        raise OutputError(
            f"{folder}: the model was replaced while it was opened; run the command again, and save new "
            "versions of a model that is in use in other folders",
            code="HW608",
        )
    return session.predictor(*predictor_arguments)


def _predicted(
    chunks: Iterator[Chunk],
    predictor: Predictor,
    workers: int | Literal["auto"],
    opening: Callable[[int], Callable[[], Predictor]],
) -> Generator[tuple[Chunk, PredictionBatch], None, None]:
    """Predict chunks, in their order; a single one in this process."""
    if workers == AUTO:
        yield from _predicted_here(chunks, predictor, _ALONE)
        workers = usable_threads()
    first = list(islice(chunks, 2 if workers > 1 else 0))
    chunks = chain(first, chunks)
    if len(first) == 2:
        from headwise.app.workflows.prediction_workers import predict_in_workers

        yield from predict_in_workers(chunks, workers, opening(workers))
    yield from _predicted_here(chunks, predictor)


def _predicted_here(
    chunks: Iterator[Chunk], predictor: Predictor, seconds: float = float("inf")
) -> Generator[tuple[Chunk, PredictionBatch], None, None]:
    """Predict chunks in this process, for at most this number of seconds."""
    end = time.monotonic() + seconds
    for chunk in chunks:
        yield chunk, predictor.predict([row.item for row in chunk])
        if time.monotonic() >= end:
            return
