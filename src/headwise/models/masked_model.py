"""MaskedModel: an encoder that tells hidden words from the others, for other models to begin with."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from headwise.data.example import Example
from headwise.encoders.base import output_width
from headwise.features.embedding import WordEmbedding
from headwise.features.encoded import Batch
from headwise.features.encoded_text import EncodedText
from headwise.features.vocabulary import Vocabulary
from headwise.layers.language import symbol_losses
from headwise.layers.masked import WordGuess
from headwise.models.model_config import ModelConfig
from headwise.models.text_model import TextModel
from headwise.scores.masked import MaskedScores

_SEED = 0  # of the words that a judgement hides
_ROWS = 256  # hidden words whose logits of all words are held at once


class MaskedModel(TextModel):
    """Words and an encoder as models of labelled texts have them, and above it a guess of hidden words.

    Only words of the training texts are hidden; those that are known through pretrained vectors alone, and
    unknown ones, never are.

    Args:
        config: Its `words`, `encoder`, `windows` and `masked` count.
        vocabulary: The words that it knows.
    """

    embedding: WordEmbedding

    def __init__(self, config: ModelConfig, vocabulary: Vocabulary):
        super().__init__(config, vocabulary)
        self.hidden = nn.Parameter(torch.randn(config.encoder.width) * 0.1)  # stands for every hidden word
        words, size = self.embedding.vectors.weight.shape
        self.guess = WordGuess(output_width(config.encoder), size, words)

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        return {}

    def outputs_json(self) -> dict[str, Any]:
        """Nothing: the outputs are the words."""
        return {}

    def encoded(self, items: Sequence[str | Example]) -> list[EncodedText]:
        """What the model reads of texts."""
        return self.features.encode(items)

    def guesses(self, batch: Batch, places: Tensor, unseen: Tensor) -> Tensor:
        """What the model says of hidden words, to be compared with the vectors of words.

        Args:
            batch: Texts.
            places: Which words of the batch are asked for, `[hidden]`.
            unseen: Which words the encoder does not see, `[total]`, true or false.

        Returns:
            `[hidden, vector size]`.
        """
        words, _ = self.embed(batch)
        seen = torch.where(unseen[:, None], self.hidden.to(words.values.dtype), words.values)
        return self.guess(self.encode_words(words.with_values(seen)).tokens.values.index_select(0, places))

    def hidden_words(
        self, encoded: Sequence[EncodedText]
    ) -> Iterator[tuple[list[int], Batch, Tensor, Tensor]]:
        """Of batches of encoded texts: the numbers of the texts, the batch, where it has words that are
        hidden, `[hidden]`, and their numbers. Which are hidden depends on a text's place and length."""
        for texts, batch in self.batches(encoded):
            drawn = [np.random.default_rng([_SEED, text]).random(len(encoded[text])) for text in texts]
            chosen = torch.from_numpy(np.concatenate(drawn) < self.config.masked.share).to(self.device)
            words = batch.words.values
            places = (chosen & self.can_be_hidden(words)).nonzero().flatten()
            yield texts, batch, places, words[places]

    @torch.no_grad()
    def nats(self, encoded: Sequence[EncodedText]) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor]]:
        """The same of hidden words that are told from the others: the numbers of the texts, the place of
        each hidden word's text among these, its negative log-likelihood among all words, and whether it is
        the likeliest one, `[hidden]` each."""
        table, bias = self.embedding.vectors.weight, self.guess.bias
        for texts, batch, places, targets in self.hidden_words(encoded):
            unseen = torch.zeros_like(batch.words.values, dtype=torch.bool).index_fill(0, places, True)
            guesses = self.guesses(batch, places, unseen)
            sizes = torch.tensor(batch.layout.sizes, device=self.device)
            owner = torch.repeat_interleave(torch.arange(len(texts), device=self.device), sizes)[places]
            told = [linear(part, table, bias).argmax(1) for part in guesses.split(_ROWS)]
            right = torch.cat([targets[:0], *told]) == targets
            yield texts, owner, symbol_losses(guesses, table, bias, targets), right

    def can_be_hidden(self, words: Tensor) -> Tensor:
        """Which words of these numbers have been learnt from texts, true or false, `[total]`."""
        return (words > 0) & (words < self.embedding.vectors.num_embeddings)

    def score(self, encoded: Sequence[EncodedText]) -> MaskedScores:
        """How well hidden words of encoded texts are told."""
        words, nats, right = 0, 0.0, 0
        for _, _, losses, told in self.nats(encoded):
            words += len(losses)
            nats += float(losses.cpu().double().sum())
            right += int(told.sum())
        return MaskedScores(words, nats, right)
