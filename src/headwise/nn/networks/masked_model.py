"""MaskedModel: masked language modelling, to pretrain the encoder of other models."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, linear

from headwise.core.config import JsonMapping, JsonObject
from headwise.data.items.examples import Example
from headwise.metrics.perplexity import MaskedScores
from headwise.nn.embeddings.encoded_batches import TextBatch
from headwise.nn.embeddings.word_embedding import WordEmbedding
from headwise.nn.encoders.encoder_configs import output_width
from headwise.nn.networks.base_model import predict_nothing
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.word_model import WordModel
from headwise.nn.task_layers.language_layers import symbol_losses
from headwise.text.text_features import EncodedText
from headwise.text.vocabulary import Vocabulary


class MaskedWordHead(nn.Module):
    """Projection from states of masked words to the space of word vectors, `g`, with the output biases.

    Args:
        width: Features of a state.
        size: Dimensions of a word vector.
        words: Number of words that can be predicted.
    """

    def __init__(self, width: int, size: int, words: int):
        super().__init__()
        self.inner = nn.Linear(width, size)
        self.norm = nn.LayerNorm(size)
        self.outer = nn.Linear(size, size)
        self.bias = nn.Parameter(torch.zeros(words))
        self.scale = size**-0.5  # vectors of unit deviation would give logits far too large

    def forward(self, states: Tensor) -> Tensor:
        """`[hidden, width]` -> `[hidden, size]`."""
        return self.scale * self.outer(self.norm(gelu(self.inner(states))))


def sampled_losses(
    guesses: Tensor, targets: Tensor, drawn: Tensor, logs: Tensor, table: Tensor, bias: Tensor
) -> Tensor:
    """Sampled softmax: the negative log-likelihood of each masked word, `[hidden]`, with the partition
    function estimated from random words (Bengio & Senecal 2003).

    `exp(logit)` of a drawn word is divided by its expected count among the drawn words, so the expected sum
    is that of the softmax. Draws of the target itself are left out, as the sum includes it already.

    Args:
        guesses: Predicted vectors, `[hidden, size]`.
        targets: Ids of the masked words, `[hidden]`.
        drawn: Ids of the random words, `[drawn]`.
        logs: Logarithm of the expected count of each word, `[words]`.
        table: The word vectors, `[words, size]`.
        bias: Output biases, `[words]`.
    """
    right = (guesses * table[targets]).sum(1).float() + bias[targets]
    negatives = (guesses @ table[drawn].t().to(guesses.dtype)).float() + bias[drawn] - logs[drawn]
    negatives = negatives.masked_fill(drawn == targets[:, None], -torch.inf)
    logits = torch.cat([right[:, None], negatives], dim=1)
    return cross_entropy(logits, torch.zeros_like(targets), reduction="none")


_SEED = 0  # of the choice of masked words in evaluation
_ROWS = 256  # masked words whose full logits are held at once


class MaskedModel(WordModel):
    """A masked language model with the embedding and encoder of models of labelled texts.

    Only words of the training texts are masked, never unknown words or words that only pretrained vectors
    have.

    Args:
        config: The configuration; only `words`, `encoder`, `windows` and `masked` are used.
        vocabulary: The word vocabulary.
    """

    embedding: WordEmbedding

    predict = predict_nothing

    def __init__(self, config: ModelConfig, vocabulary: Vocabulary):
        super().__init__(config, vocabulary)
        self.hidden = nn.Parameter(torch.randn(config.encoder.width) * 0.1)  # the mask embedding
        words, size = self.embedding.vectors.weight.shape
        self.guess = MaskedWordHead(output_width(config.encoder), size, words)

    @staticmethod
    def read_outputs(outputs: JsonMapping) -> JsonObject:
        return {}

    def outputs_json(self) -> JsonObject:
        """Empty: the outputs are the words."""
        return {}

    def encoded(self, items: Sequence[str | Example]) -> list[EncodedText]:
        """Encode texts."""
        return self.features.encode(items)

    def guesses(self, batch: TextBatch, places: Tensor, unseen: Tensor) -> Tensor:
        """Predicted vectors of masked words; logits are their products with the word vectors.

        Args:
            batch: A batch of texts.
            places: Rows of the masked words, `[hidden]`.
            unseen: Which words are replaced by the mask embedding, bool `[total]`.

        Returns:
            `[hidden, vector size]`.
        """
        words, _ = self.embed(batch)
        seen = torch.where(unseen[:, None], self.hidden.to(words.values.dtype), words.values)
        return self.guess(self.encode_words(words.with_values(seen)).tokens.values.index_select(0, places))

    def masked_batches(
        self, encoded: Sequence[EncodedText]
    ) -> Iterator[tuple[list[int], TextBatch, Tensor, Tensor]]:
        """Batches with masked words for evaluation: indices of the texts, the batch, rows of the masked
        words `[hidden]`, and their ids. The choice depends on the index and length of a text only."""
        for texts, batch in self.batches(encoded):
            drawn = [np.random.default_rng([_SEED, text]).random(len(encoded[text])) for text in texts]
            chosen = torch.from_numpy(np.concatenate(drawn) < self.config.masked.share).to(self.device)
            words = batch.words.values
            places = (chosen & self.is_maskable(words)).nonzero().flatten()
            yield texts, batch, places, words[places]

    @torch.no_grad()
    def nats(self, encoded: Sequence[EncodedText]) -> Iterator[tuple[list[int], Tensor, Tensor, Tensor]]:
        """Evaluation batches: indices of the texts, and for each masked word the index of its text among
        them, its negative log-likelihood in nats, and whether it has the highest probability,
        `[hidden]`."""
        table, bias = self.embedding.vectors.weight, self.guess.bias
        for texts, batch, places, targets in self.masked_batches(encoded):
            unseen = torch.zeros_like(batch.words.values, dtype=torch.bool).index_fill(0, places, True)
            guesses = self.guesses(batch, places, unseen)
            sizes = torch.tensor(batch.layout.sizes, device=self.device)
            owner = torch.repeat_interleave(torch.arange(len(texts), device=self.device), sizes)[places]
            predicted = [linear(part, table, bias).argmax(1) for part in guesses.split(_ROWS)]
            right = torch.cat([targets[:0], *predicted]) == targets
            yield texts, owner, symbol_losses(guesses, table, bias, targets), right

    def is_maskable(self, words: Tensor) -> Tensor:
        """Whether words may be masked, by their ids, bool `[total]`: words of the training texts may."""
        return (words > 0) & (words < self.embedding.vectors.num_embeddings)

    def score(self, encoded: Sequence[EncodedText]) -> MaskedScores:
        """Evaluate the prediction of masked words of encoded texts."""
        words, nats, right = 0, 0.0, 0
        for _, _, losses, correct in self.nats(encoded):
            words += len(losses)
            nats += float(losses.cpu().double().sum())
            right += int(correct.sum())
        return MaskedScores(words, nats, right)
