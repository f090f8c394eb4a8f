"""Training of language models: the loss on windows of the training text, and the score on the dev text."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.data.streams import Stream
from headwise.errors import HeadwiseError
from headwise.layers.language import Window, training_windows, window_count
from headwise.models.language_model import LanguageModel, window_batch


class LanguageObjective:
    """The loss on training windows and the scores on the dev text (see `headwise.train.objective`).

    The starts of windows are drawn from torch's generator, whose state is saved with the run, so a resumed
    run sees the same windows.

    Args:
        model: The language model.
        train: The training text.
        dev: The dev text.
    """

    def __init__(self, model: LanguageModel, train: Stream, dev: Stream):
        for name, text in (("training", train), ("dev", dev)):
            if not len(text):
                raise HeadwiseError(f"the {name} text has no symbols", code="HW405")
        self.model, self.train, self.dev = model, train, dev
        self.size = min(model.context, len(train))
        self.windows = window_count(len(train), model.config.language)

    @property
    def lengths(self) -> np.ndarray:
        return np.full(self.windows, self.size, dtype=np.int64)

    def loss(self, texts: Sequence[int]) -> Tensor:
        """Sum over the windows of the mean loss of a symbol, in nats."""
        random = torch.rand(len(texts), dtype=torch.float64)
        starts = training_windows(len(self.train), self.size, self.windows, np.array(texts), random)
        windows = [Window(start, start, start + self.size) for start in starts.tolist()]
        inputs, targets = window_batch(self.train.ids, windows, self.model.device)
        return self.model.losses(self.model(inputs).values, targets).sum() / self.size

    def evaluate(self) -> Mapping[str, float]:
        """`loss` in nats per symbol, and the usual measure of the unit."""
        scores = self.model.score(self.dev)
        name, value = scores.headline
        return {"loss": scores.loss, name: value}
