"""What a model says of a file, of any size."""

import os
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import Any

from headwise.data.files import file_name
from headwise.data.head import has_mark
from headwise.errors import ConfigError, HeadwiseError
from headwise.predictions.file import (
    COMPRESSED,
    OutputError,
    RecordLayout,
    choose_form,
    open_output,
    telling_failures,
)
from headwise.predictions.predictor import Predictor, Said
from headwise.predictions.resume import Kept, cut_chunks, keep
from headwise.store.folder import is_ours
from headwise.store.layout import EXPORTED, MANIFEST
from headwise.store.lock import locked_file
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.sources import open_source
from headwise.verbs.workers import Chunk, said_by_workers


def predict_file(
    folder: Path | str,
    file: Path | str,
    output: Path | str | None = None,
    *,
    form: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    escape_formulas: bool = False,
    unsure: str | None = None,
    heads: Path | str | None = None,
    pipeline: str | None = None,
    batch_tokens: int = 16_384,
    device: str = "auto",
    workers: int = 1,
    reading: Mapping[str, Any] | None = None,
    listener: Listener = NOBODY,
) -> int:
    """Write what a model says of every record of a file, in the same order; memory does not grow with it.

    Args:
        folder: The model's folder, or what `headwise export` made of it.
        file: The file; "-" is standard input.
        output: File for the predictions; standard output by default.
        form: Format of the predictions, if not that of the output's suffix.
        resume: Go on with an output that was interrupted.
        overwrite: Replace an output that exists.
        escape_formulas: Put a "'" before cells of csv and tsv that a spreadsheet would compute.
        unsure: Mark predictions that are less probable than this, or than it takes to be right as often as
            `precision=SHARE` asks for.
        heads: The syntax of the texts: as many parses as the file has records.
        pipeline: See `headwise.verbs.models.open_model`.
        batch_tokens: Words that the model reads at once: fewer need less memory.
        device: See `headwise.verbs.models.open_model`.
        workers: Processes that predict, each with the model in its memory; see `said_by_workers`. A script
            that asks for several does so under `if __name__ == "__main__"`, for they import it.
        reading: How the file is read, where that is not to be guessed.
        listener: Is told what happens.

    Returns:
        How many items were predicted, without those that were kept.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used.
    """
    file, reading = Path(file_name(file)), dict(reading or {})
    output = None if output is None else Path(output)
    if batch_tokens < 1:
        raise ConfigError(f"--batch-tokens {batch_tokens}; expected 1 or more")
    if workers < 1:
        raise ConfigError(f"--workers {workers}; expected 1 or more")
    if output is not None:
        check_output_file(output, file, resume=resume, overwrite=overwrite)
    elif resume or overwrite:
        raise ConfigError("--resume and --overwrite need --output, the file they are about")
    mark = _mark(folder)
    source = open_source(folder, device, pipeline)
    if workers > 1 and not source.on_cpu:
        raise ConfigError(f"--workers {workers} are for processors; expected 1 with a GPU, or --device cpu")
    predictor = source.predictor(batch_tokens, reading, unsure)
    if heads is not None and not source.kind.sides:
        raise source.kind.refuse_parses()
    form, marked = choose_form(output, form, predictor.forms, predictor.form), has_mark(str(file))
    chunks = cut_chunks(iter(source.rows(file, reading, listener, heads)))
    first = next(chunks)
    layout = replace(predictor.layout(form, first), escape=escape_formulas, marked=marked)
    start = Kept(0, 0, chain([first], chunks))
    with nullcontext() if output is None else _alone(output, file, resume=resume, overwrite=overwrite):
        if resume and output is not None and output.is_file() and output.stat().st_size:
            with telling_failures(output):
                start = keep(output, layout, start.chunks, predictor.again)
                os.truncate(output, start.size)
            listener.note(f"{output}: the first {start.rows:,} records are kept")
        # An output that is gone on with has to end as if nothing had happened, whoever computes by then.
        with source.computing()() if output is not None else nullcontext():

            def opening() -> Callable[[], Predictor]:
                open_predictor = source.opening(batch_tokens, reading, unsure, workers)
                return partial(_open_the_same, folder, mark, open_predictor)

            predicted = _predicted(start.chunks, predictor, workers, opening, source.computing())
            seconds = _write(start, predicted, layout, predictor, output, file, listener)
    for remark in predictor.summary(seconds):
        listener.remark(remark)
    if predictor.trouble:
        listener.warn(predictor.trouble)
    return predictor.items


def _mark(folder: Path | str) -> bytes:
    """What tells a model from others that are put in its place; opening it says what is wrong with it."""
    with suppress(OSError, TypeError):
        return sha256((Path(folder) / MANIFEST).read_bytes()).digest()
    return b""


def _open_the_same(folder: Path | str, mark: bytes, opening: Callable[[], Predictor]) -> Predictor:
    """Open a model in another process.

    Raises:
        OutputError: HW608, it is not the one that this prediction has begun with: another one's
            probabilities would stand among its own, and under its labels.
    """
    predictor = opening()
    if _mark(folder) != mark:
        raise OutputError(
            f"{folder}: the model has been replaced while it was opened; give the command again, and put "
            "new versions of a model that is in use into folders of their own",
            code="HW608",
        )
    return predictor


def _predicted(
    chunks: Iterator[Chunk],
    predictor: Predictor,
    workers: int,
    opening: Callable[[], Callable[[], Predictor]],
    computing: Callable[[], AbstractContextManager[Any]],
) -> Generator[tuple[Chunk, Said], None, None]:
    """What is said of chunks, in their order; of a single one, by this process."""
    first = list(islice(chunks, 2 if workers > 1 else 0))
    chunks = chain(first, chunks)
    if len(first) == 2:
        yield from said_by_workers(chunks, workers, opening(), computing)
    for chunk in chunks:
        yield chunk, predictor.say([row.item for row in chunk])


@contextmanager
def _alone(output: Path, file: Path, *, resume: bool, overwrite: bool) -> Iterator[None]:
    """Within this, no other prediction writes to the output; what another has written by now stays. Of one
    that fails before anything is written, no file is left that was not there before."""
    new = not output.exists()
    with telling_failures(output), locked_file(output):
        check_output_file(
            output, file, resume=resume, overwrite=overwrite or not (resume or output.stat().st_size)
        )
        try:
            yield
        except BaseException:
            if new and not output.stat().st_size:
                with suppress(OSError):  # a system that removes no file which is open
                    output.unlink()
            raise


def _write(
    start: Kept,
    predicted: Generator[tuple[Chunk, Said], None, None],
    layout: RecordLayout,
    predictor: Predictor,
    output: Path | None,
    file: Path,
    listener: Listener,
) -> float:
    """Predict and write what is left; if it is interrupted, say how to go on. The seconds that it took."""
    written, began = start.rows, time.perf_counter()
    # Predictions on a terminal leave no room for a bar.
    shown = output is not None or not sys.stdout.isatty()
    try:
        reading = listener.reading(file, start.rows, shown=shown)
        with reading as update, ExitStack() as files, closing(predicted):
            target = None
            for chunk, answers in predicted:
                records = "".join(map(layout.record, chunk, predictor.take(answers)))
                if target is None:
                    # Only now: what can predict nothing leaves an earlier file as it is.
                    target = files.enter_context(open_output(output, append=start.size > 0))
                    records = records if start.size else layout.header + records
                target.write(records.encode())
                target.flush()
                written += len(chunk)
                update(written, chunk[-1].line)
    except (KeyboardInterrupt, SystemError, HeadwiseError) as error:  # the second: in compiled code
        again = getattr(error, "code", "") == "HW603"  # it would end there once more
        if written and output is not None and not again and not _compressed(output):
            listener.warn(
                f"stopped after {written:,} {predictor.nouns.many}; the same command with --resume (and "
                f"without --overwrite) goes on with {output}"
            )
        raise
    return time.perf_counter() - began


def check_output_file(output: Path, file: Path, *, resume: bool | None = None, overwrite: bool) -> None:
    """Nothing is lost by mistake, the input and a model least of all. None: such an output cannot be gone
    on with.

    Raises:
        ConfigError, OutputError: Something would be.
    """
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite exclude each other; give one of them")
    if resume and _compressed(output):
        raise OutputError(
            f"{output}: a compressed output cannot be resumed; begin anew with --overwrite, or write a "
            "plain file and compress it afterwards",
            code="HW602",
        )
    place = output.resolve().parent
    if is_ours(place) or is_ours(place, EXPORTED):
        raise OutputError(f"{output} is in the folder of a model; give another --output", code="HW604")
    if not output.exists():
        return
    if output.is_dir():
        raise OutputError(f"{output} is a folder; give a file as --output", code="HW604")
    if file.exists() and output.samefile(file):
        raise OutputError(f"{output} is the file to be read; give another --output", code="HW604")
    if not resume and not overwrite and output.is_file():
        go_on = "" if resume is None else "--resume to go on with it where it was interrupted, or "
        raise OutputError(f"{output} exists; add {go_on}--overwrite to replace it", code="HW601")


def _compressed(path: Path) -> bool:
    return path.suffix.lower() in COMPRESSED
