"""The objectives of language models and of masked-word models: the loss in training, and the scores on the
dev text.

`LanguageObjective` predicts the next symbol in windows of the training text, `MaskedObjective` the masked
words of training texts.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from headwise.core.errors import HeadwiseError
from headwise.data.items.examples import Example
from headwise.data.readers.streams import SymbolStream
from headwise.nn.embeddings.encoded_batches import batch_of
from headwise.nn.networks.language_model import LanguageModel, window_batch
from headwise.nn.networks.masked_model import MaskedModel, sampled_losses
from headwise.nn.task_layers.language_layers import LanguageWindow, training_windows, window_count


class LanguageObjective:
    """The loss on training windows and the scores on the dev text (see `headwise.training.loop`).

    The starts of windows are drawn from torch's generator, whose state is saved with the run, so a resumed
    run sees the same windows.

    Args:
        model: The language model.
        train: The training text.
        dev: The dev text.
    """

    def __init__(self, model: LanguageModel, train: SymbolStream, dev: SymbolStream):
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
        windows = [LanguageWindow(start, start, start + self.size) for start in starts.tolist()]
        inputs, targets = window_batch(self.train.ids, windows, self.model.device)
        return self.model.losses(self.model(inputs).values, targets).sum() / self.size

    def evaluate(self) -> Mapping[str, float]:
        """`loss` in nats per symbol, and the usual measure of the unit."""
        scores = self.model.score(self.dev)
        name, value = scores.primary_metric
        return {"loss": scores.loss, name: value}


LEAST = 1e-9
"""Lower bound of word probabilities, so that their logarithms are finite."""
_POWER = 0.75  # exponent of the word frequencies in negative sampling (Mikolov et al. 2013)


class MaskedObjective:
    """The loss on training texts and the scores on dev texts (see `headwise.training.loop`).

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
        is_hidden = model.is_maskable(words) & (chance < config.share)
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
