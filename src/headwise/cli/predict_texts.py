"""`headwise predict` for classification: label the texts of a file, of any size."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from headwise.cli.console import note, percent, warn
from headwise.cli.long_texts import tell_cut
from headwise.cli.parsing import with_heads
from headwise.cli.prediction_file import (
    COMPRESSED,
    Form,
    Layout,
    check_form,
    choose_form,
    open_output,
    telling_failures,
)
from headwise.cli.progress import TextProgress
from headwise.cli.requests import PredictRequest
from headwise.cli.resume import Kept, cut_chunks, keep
from headwise.config import from_dict
from headwise.data.options import ReadOptions
from headwise.data.read import read_rows
from headwise.errors import HeadwiseError

MANY_UNKNOWN = 0.2  # share of unknown words above which predictions are doubtful
_LISTED = 12  # labels in the summary


def predict(request: PredictRequest) -> int:
    """Label the texts of a file, each with its probabilities."""
    rows = read_rows(request.file, from_dict(ReadOptions, request.read))
    for line in rows.notes:
        note(line)
    parsed = iter(rows) if request.heads is None else with_heads(iter(rows), request.heads)
    labeller = Labeller(request.model, request.batch_tokens)
    predict_rows(request, parsed, labeller, Layout.of, request.model.predict_proba)
    summarise(labeller.tally)
    return 0


def predict_rows(
    request: PredictRequest,
    rows: Iterator[Any],
    labeller: "Labeller",
    layout_of: Callable[[Form, list[Any], Sequence[str]], Layout],
    again: Callable[[list[Any]], np.ndarray],
) -> None:
    """Write the predictions of rows, or those that are missing in an output that is to be resumed.

    Args:
        request: What is asked for.
        rows: The records, with `fields`, `line` and `item`, as `headwise.data.rows.Row`.
        labeller: Predicts some of them at a time.
        layout_of: How the predictions of such rows are written down.
        again: What the model says of some examples, to see whether an output is its own.
    """
    form = choose_form(request.output, check_form(request.format_out))
    chunks = cut_chunks(rows)
    first = next(chunks)
    layout = layout_of(form, first, getattr(request.model, "labels", ()))
    start = Kept(0, 0, chain([first], chunks))
    output = request.output
    if request.resume and output is not None and output.is_file():
        with telling_failures(output):
            start = keep(output, layout, start.chunks, again)
            os.truncate(output, start.size)
        note(f"{output}: the first {start.rows:,} records are kept")
    _write(start, layout, labeller, output, request.file)


@dataclass
class Tally:
    """What was predicted, and how long it took with reading and writing."""

    labels: Counter[str] = field(default_factory=Counter)
    words: int = 0
    unknown: int = 0
    cut: int = 0
    seconds: float = 0.0


class Labeller:
    """A model at work, and a tally of what it does."""

    def __init__(self, model: Any, batch_tokens: int):
        self.model = model
        self.batch_tokens = batch_tokens
        self.tally = Tally()

    def encode(self, rows: Sequence[Any]) -> Sequence[Any]:
        """What the model reads of rows."""
        return self.model.features.encode(row.item for row in rows)

    def probabilities(self, rows: Sequence[Any]) -> np.ndarray:
        """Calibrated probabilities, `[rows, labels]`."""
        encoded = self.encode(rows)
        logits = self.model.logits(encoded, batch_tokens=self.batch_tokens)
        probabilities = self.model.probabilities(logits)
        self.count(probabilities)
        self.note_words(encoded)
        return probabilities

    def note_words(self, encoded: Sequence[Any]) -> None:
        """Note how many words there were, unknown ones, and texts that were cut short."""
        self.tally.words += sum(map(len, encoded))
        self.tally.unknown += sum(text.unknown for text in encoded)
        self.tally.cut += sum(text.cut > 0 for text in encoded)

    def count(self, probabilities: np.ndarray) -> None:
        """Note what was predicted, `[rows, labels]`."""
        self.tally.labels.update(self.model.labels[number] for number in probabilities.argmax(axis=1))


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


def summarise(tally: Tally, of: str = "texts") -> None:
    if not tally.labels:
        note("nothing was left to predict")
        return
    texts, unknown = tally.labels.total(), tally.unknown / max(tally.words, 1)
    rate = texts / max(tally.seconds, 1e-9)
    words = f"; {percent(unknown)} of their words are unknown" if of == "texts" else ""
    note(f"{texts:,} {of} predicted in {tally.seconds:,.1f} s ({rate:,.0f} {of}/s){words}")
    counts = [f"{label} {n:,} ({percent(n / texts)})" for label, n in tally.labels.most_common(_LISTED)]
    rest = len(tally.labels) - len(counts)
    note("predicted " + ", ".join(counts) + (f" and {rest:,} labels more" if rest else ""))
    tell_cut(tally.cut)
    tell_unknown(unknown)


def tell_unknown(unknown: float) -> None:
    """Warn if a large share of the words is unknown."""
    if unknown > MANY_UNKNOWN:
        warn(
            f"the model does not know {percent(unknown)} of the words; if the texts are of another kind or "
            "language than those it was trained on, its predictions mean little"
        )
