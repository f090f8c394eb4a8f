"""`headwise predict` for bags of instances: a label for each bag of a file."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headwise.cli.console import note
from headwise.cli.predict_texts import Labeller, predict_rows, summarise
from headwise.cli.prediction_file import Layout
from headwise.cli.requests import PredictRequest
from headwise.config import from_dict
from headwise.data.bags import BagOptions, read_bags
from headwise.data.rows import Row
from headwise.errors import ConfigError


class BagLabeller(Labeller):
    """A model of bags at work."""

    def probabilities(self, rows: Sequence[Any]) -> np.ndarray:
        logits = self.model.logits([row.item.instances for row in rows], batch_tokens=self.batch_tokens)
        probabilities = self.model.probabilities(logits)
        self.tally.labels.update(self.model.labels[number] for number in probabilities.argmax(axis=1))
        return probabilities


def predict(request: PredictRequest) -> int:
    """Label the bags of a file, each with its probabilities.

    The instances of a bag need not follow each other, so the whole file is read first.
    """
    model: Any = request.model
    if request.heads is not None:
        raise ConfigError("--heads is the syntax of texts, but bags have none")
    options = from_dict(BagOptions, request.read)
    data = read_bags(request.file, options, features=model.features.names, labelled=False)
    for line in data.notes:
        note(line)
    labeller = BagLabeller(model, request.batch_tokens)
    rows: Any = iter(
        [Row(bag.line, {"bag": bag.id, "instances": len(bag.instances)}, bag) for bag in data.bags]
    )

    def again(bags: Sequence[Any]) -> np.ndarray:
        return model.predict_proba([bag.instances for bag in bags])

    predict_rows(request, rows, labeller, Layout.of, again)
    summarise(labeller.tally, of="bags")
    return 0
