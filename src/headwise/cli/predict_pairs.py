"""`headwise predict` for text pairs: labels or scores of the pairs of a file, of any size."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headwise.cli.console import note
from headwise.cli.number_file import NumberLabeller, NumberLayout
from headwise.cli.predict_texts import Labeller, predict_rows, summarise
from headwise.cli.prediction_file import Layout
from headwise.cli.requests import PredictRequest
from headwise.config import from_dict
from headwise.data.pair import Pair, PairOptions
from headwise.data.pairs import read_pair_rows
from headwise.data.rows import Row
from headwise.features.parse_files import iterate_parses
from headwise.features.syntax import HeadsError
from headwise.train.pair_parts import two_files


class PairLabeller(Labeller):
    """A model of labels of pairs at work."""

    def encode(self, rows: Sequence[Any]) -> Sequence[Any]:
        return self.model.encoded([row.item for row in rows])


class PairNumberLabeller(NumberLabeller):
    """A model of scores of pairs at work."""

    def encode(self, rows: Sequence[Any]) -> Sequence[Any]:
        return self.model.encoded([row.item for row in rows])


def predict(request: PredictRequest) -> int:
    """Label the pairs of a file, each with its probabilities."""
    labeller = PairLabeller(request.model, request.batch_tokens)
    predict_rows(request, _rows(request), labeller, Layout.of, request.model.predict_proba)
    summarise(labeller.tally)
    return 0


def predict_scores(request: PredictRequest) -> int:
    """Score the pairs of a file."""
    model: Any = request.model
    labeller = PairNumberLabeller(model, request.batch_tokens)

    def again(pairs: list[Pair]) -> np.ndarray:
        return labeller.standardized(model.encoded(pairs))

    predict_rows(request, _rows(request), labeller, NumberLayout.scaled(model.scale), again)
    labeller.summarise()
    return 0


def _rows(request: PredictRequest) -> Iterator[Row[Pair]]:
    """The pairs of the file, with their parses if there are some."""
    rows = read_pair_rows(request.file, from_dict(PairOptions, request.read))
    for line in rows.notes:
        note(line)
    return iter(rows) if request.heads is None else _with_heads(iter(rows), str(request.heads))


def _with_heads(rows: Iterator[Row[Pair]], paths: str) -> Iterator[Row[Pair]]:
    """The rows with the parses of two files, one of each for each row.

    Raises:
        HeadsError: HW234, a file has more or fewer of them.
    """
    files = two_files(paths)
    parses = [iterate_parses(path) for path in files]
    number = 0
    for number, row in enumerate(rows, start=1):
        heads = [next(own, None) for own in parses]
        for path, own in zip(files, heads, strict=True):
            if own is None:
                found = f"{path}: {number - 1:,} parses, but the file to predict has more"
                raise HeadsError(found, code="HW234")
        yield replace(row, item=replace(row.item, first_heads=heads[0], second_heads=heads[1]))
    for path, own in zip(files, parses, strict=True):
        if next(own, None) is not None:
            found = f"{path}: more parses than the {number:,} records to predict"
            raise HeadsError(found, code="HW234")
