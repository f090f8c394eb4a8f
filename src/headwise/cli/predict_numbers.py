"""`headwise predict` for numbers of texts: a number for each text of a file, of any size."""

from typing import Any

import numpy as np

from headwise.cli.console import note
from headwise.cli.number_file import NumberLabeller, NumberLayout
from headwise.cli.parsing import with_heads
from headwise.cli.predict_texts import predict_rows
from headwise.cli.requests import PredictRequest
from headwise.config import from_dict
from headwise.data.example import Example
from headwise.data.options import ReadOptions
from headwise.data.read import read_rows


def predict(request: PredictRequest) -> int:
    """Give the texts of a file numbers."""
    model: Any = request.model
    rows = read_rows(request.file, from_dict(ReadOptions, request.read))
    for line in rows.notes:
        note(line)
    parsed = iter(rows) if request.heads is None else with_heads(iter(rows), request.heads)
    labeller = NumberLabeller(model, request.batch_tokens)

    def again(examples: list[Example]) -> np.ndarray:
        return labeller.standardized(model.features.encode(examples))

    predict_rows(request, parsed, labeller, NumberLayout.scaled(model.scale), again)
    labeller.summarise()
    return 0
