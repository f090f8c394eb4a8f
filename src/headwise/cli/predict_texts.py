"""`headwise predict`: label the texts of a file, of any size."""

# The flags' type is made at run time, from the configuration.
# pyright: reportInvalidTypeForm=false

import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np
from cyclopts import Parameter

from headwise.cli.console import note, percent, warn
from headwise.cli.file_argument import FileArgument
from headwise.cli.flags import flags, given
from headwise.cli.parsing import tell_trouble, use_pipeline, with_heads
from headwise.cli.prediction_file import (
    COMPRESSED,
    Form,
    Layout,
    OutputError,
    choose_form,
    open_output,
    telling_failures,
)
from headwise.cli.progress import TextProgress
from headwise.cli.resume import Kept, cut_chunks, keep
from headwise.data.options import ReadOptions
from headwise.data.read import Row, read_rows
from headwise.errors import ConfigError, HeadwiseError
from headwise.memory import keep_freed_memory
from headwise.model import Model
from headwise.store import load_model

MANY_UNKNOWN = 0.2  # share of unknown words above which predictions are doubtful
_LISTED = 12  # labels in the summary

# Files to predict may have labels, but they are not used.
ReadFlags = flags(
    "ReadFlags", {"": ReadOptions}, prefix="*", group="Reading files", order=1, hidden={"label_column"}
)


def predict(
    model: Path,
    file: FileArgument,
    /,
    *,
    output: Annotated[Path | None, Parameter(alias="-o")] = None,
    format_out: Form | None = None,
    resume: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    overwrite: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    heads: Path | None = None,
    pipeline: str | None = None,
    batch_tokens: int = 16_384,
    read: ReadFlags = None,
) -> int:
    """Label the texts of a file, of any size.

    Every record of the file gives one of the output, in the same order: its own fields, and then the
    prediction, its probability and the probabilities of all labels. Memory does not grow with the file.

    Args:
        model: Folder of the model.
        file: A csv, tsv or jsonl file, or one text a line, compressed or not; "-" is standard input.
        output: File for the predictions: .csv, .tsv or .jsonl, with .gz or .xz after it to compress.
            Standard output by default.
        format_out: Format of the predictions, if not that of the output's suffix.
        resume: Go on with an output that was interrupted.
        overwrite: Replace an output that exists.
        heads: Dependency syntax of the texts, for a model that goes by it, as `headwise train` takes it: as
            many parses as the file has records.
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        batch_tokens: Words that the model reads at once: fewer need less memory.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used.
    """
    if batch_tokens < 1:
        raise ConfigError(f"--batch-tokens {batch_tokens}; expected 1 or more")
    form = choose_form(output, format_out)
    if output is not None:
        _check_output(output, file, resume=resume, overwrite=overwrite)
    elif resume or overwrite:
        raise ConfigError("--resume and --overwrite need --output, the file they are about")
    keep_freed_memory()
    loaded = load_model(model)
    use_pipeline(loaded, pipeline)
    rows = read_rows(file, ReadOptions(**given(read)))
    for line in rows.notes:
        note(line)
    parsed = iter(rows) if heads is None else with_heads(iter(rows), heads)
    chunks = cut_chunks(parsed)
    first = next(chunks)
    layout = Layout.of(form, first, loaded.labels)
    start = Kept(0, 0, chain([first], chunks))
    if resume and output is not None and output.is_file():
        with telling_failures(output):
            start = keep(output, layout, start.chunks, loaded.predict_proba)
            os.truncate(output, start.size)
        note(f"{output}: the first {start.rows:,} records are kept")
    labeller = Labeller(loaded, batch_tokens)
    _write(start, layout, labeller, output, file)
    _summarise(labeller.tally)
    tell_trouble(loaded)
    return 0


def _check_output(output: Path, file: Path, *, resume: bool, overwrite: bool) -> None:
    """Nothing is lost by mistake, the input least of all."""
    if resume and overwrite:
        raise ConfigError("--resume and --overwrite exclude each other; give one of them")
    if resume and output.suffix.lower() in COMPRESSED:
        raise OutputError(
            f"{output}: a compressed output cannot be resumed; begin anew with --overwrite, or write a "
            "plain file and compress it afterwards",
            code="HW602",
        )
    if not output.exists():
        return
    if file.exists() and output.samefile(file):
        raise OutputError(f"{output} is the file to be read; give another --output", code="HW604")
    if not resume and not overwrite and output.is_file():
        raise OutputError(
            f"{output} exists; add --resume to go on with it where it was interrupted, or --overwrite to "
            "replace it",
            code="HW601",
        )


@dataclass
class Tally:
    """What was predicted, and how long it took with reading and writing."""

    labels: Counter[str] = field(default_factory=Counter)
    words: int = 0
    unknown: int = 0
    seconds: float = 0.0


class Labeller:
    """A model at work, and a tally of what it does."""

    def __init__(self, model: Model, batch_tokens: int):
        self.model = model
        self.batch_tokens = batch_tokens
        self.tally = Tally()

    def probabilities(self, rows: Sequence[Row]) -> np.ndarray:
        """Calibrated probabilities, `[rows, labels]`."""
        encoded = self.model.features.encode(row.example for row in rows)
        logits = self.model.logits(encoded, batch_tokens=self.batch_tokens)
        probabilities = self.model.probabilities(logits)
        tally = self.tally
        tally.labels.update(self.model.labels[number] for number in probabilities.argmax(axis=1))
        tally.words += sum(map(len, encoded))
        tally.unknown += sum(text.unknown for text in encoded)
        return probabilities


def _write(start: Kept, layout: Layout, labeller: Labeller, output: Path | None, file: Path) -> None:
    """Predict and write what is left; if it is interrupted, say how to go on."""
    written, began = start.rows, time.perf_counter()
    # Predictions on a terminal leave no room for a bar.
    shown = output is not None or not sys.stdout.isatty()
    try:
        with (
            open_output(output, append=start.size > 0) as target,
            TextProgress(file, kept=start.rows, show=shown) as progress,
        ):
            if not start.size:
                target.write(layout.header.encode())
            for chunk in start.chunks:
                records = map(layout.record, chunk, labeller.probabilities(chunk))
                target.write("".join(records).encode())
                target.flush()
                written += len(chunk)
                progress.update(written, chunk[-1].line)
    except (KeyboardInterrupt, HeadwiseError):
        if written and output is not None and output.suffix.lower() not in COMPRESSED:
            warn(
                f"stopped after {written:,} texts; the same command with --resume (and without "
                f"--overwrite) goes on with {output}"
            )
        raise
    labeller.tally.seconds = time.perf_counter() - began


def _summarise(tally: Tally) -> None:
    if not tally.labels:
        note("nothing was left to predict")
        return
    texts, unknown = tally.labels.total(), tally.unknown / max(tally.words, 1)
    rate = texts / max(tally.seconds, 1e-9)
    note(
        f"{texts:,} texts predicted in {tally.seconds:,.1f} s ({rate:,.0f} texts/s); "
        f"{percent(unknown)} of their words are unknown"
    )
    counts = [f"{label} {n:,} ({percent(n / texts)})" for label, n in tally.labels.most_common(_LISTED)]
    rest = len(tally.labels) - len(counts)
    note("predicted " + ", ".join(counts) + (f" and {rest:,} labels more" if rest else ""))
    if unknown > MANY_UNKNOWN:
        warn(
            f"the model does not know {percent(unknown)} of the words; if the texts are of another kind or "
            "language than those it was trained on, its predictions mean little"
        )
