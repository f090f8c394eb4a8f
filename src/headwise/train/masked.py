"""Masked-word training: the loss on hidden words of training texts, and the score on those of dev texts."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.data.example import Example
from headwise.features.encoded import batch_of
from headwise.layers.masked import sampled_losses
from headwise.models.masked_model import MaskedModel

LEAST = 1e-9
"""Lower bound of word probabilities, so that their logarithms are finite."""
_POWER = 0.75  # exponent of the word frequencies in negative sampling (Mikolov et al. 2013)


class MaskedObjective:
    """The loss on training texts and the scores on dev texts (see `headwise.train.objective`).

    The hidden words and the negative samples are drawn from torch's generator, whose state is saved with
    the run, so a resumed run sees the same ones.

    Args:
        model: The model.
        train: Training texts.
        dev: Dev texts.
    """

    def __init__(self, model: MaskedModel, train: Sequence[Example], dev: Sequence[Example]):
        self.model = model
        self.texts, self.dev = model.encoded(train), model.encoded(dev)
        words = model.embedding.vectors.num_embeddings
        counts = torch.tensor(model.features.vocabulary.counts[:words], dtype=torch.float64)
        counts[0] = 0  # the unknown word is never drawn
        self.often = counts / counts.sum().clamp(min=1)
        self.chances = (counts**_POWER).clamp(min=1e-12)
        self.chances[0] = 0
        self.chances /= self.chances.sum().clamp(min=1e-12)
        expected = self.chances * model.config.masked.negatives
        self.logs = expected.clamp(min=1e-30).log().float().to(model.device)

    def begin(self) -> None:
        """Initialise the output biases by the log frequencies of the words."""
        with torch.no_grad():
            self.model.guess.bias.copy_(self.often.clamp(min=LEAST).log())

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(text) for text in self.texts], dtype=np.int64)

    def loss(self, texts: Sequence[int]) -> Tensor:
        """The mean loss of the hidden words of a batch, times its number of texts."""
        model, config = self.model, self.model.config.masked
        batch = batch_of([self.texts[text] for text in texts], model.device)
        words = batch.words.values
        chance = torch.rand(len(words), device=words.device)
        is_hidden = model.can_be_hidden(words) & (chance < config.share)
        places = is_hidden.nonzero().flatten()
        if not len(places):
            return 0.0 * model.hidden.sum()
        guesses = model.guesses(batch, places, is_hidden & (chance >= config.share * config.kept))
        drawn = torch.multinomial(self.chances, config.negatives, replacement=True).to(words.device)
        table = model.embedding.vectors.weight
        losses = sampled_losses(guesses, words[places], drawn, self.logs, table, model.guess.bias)
        return losses.mean() * len(texts)

    def evaluate(self) -> Mapping[str, float]:
        """`loss` in nats per word, `perplexity` and `accuracy`."""
        scores = self.model.score(self.dev)
        return {"loss": scores.loss, "perplexity": scores.perplexity, "accuracy": scores.accuracy}
