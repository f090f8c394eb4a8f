"""LanguageModel: the probabilities of the next character, word or byte of a text."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear

from headwise.data.streams import Stream
from headwise.data.symbols import Symbols
from headwise.encoders import ENCODERS, BPTransformer, EncoderConfig
from headwise.errors import ConfigError
from headwise.layers.causal import check_causal
from headwise.layers.language import Window, evaluation_windows, symbol_losses
from headwise.models.any_model import AnyModel
from headwise.models.model_config import ModelConfig, encoder_name
from headwise.ragged import Ragged
from headwise.scores.language import LanguageScores

NOTHING = -1
"""What stands before the first symbol of a text."""


class SymbolEmbedding(nn.Module):
    """Vectors of symbols, with dropout. What stands before a text has the vector 0.

    The vectors are also the weights of the softmax. They begin short, for moderate logits, and are made
    `sqrt(width)` times as long where they are read (Vaswani et al. 2017, 3.4).
    """

    def __init__(self, symbols: int, width: int, dropout: float):
        super().__init__()
        self.vectors = nn.Embedding(symbols, width)
        nn.init.normal_(self.vectors.weight, std=width**-0.5)
        self.dropout = nn.Dropout(dropout)

    def forward(self, numbers: Ragged) -> Ragged:
        """Symbol numbers `[total]` -> vectors `[total, width]`."""
        ids = numbers.values
        vectors = self.vectors(ids.clamp(min=0)) * self.vectors.embedding_dim**0.5
        return numbers.with_values(self.dropout(vectors.masked_fill((ids < 0)[:, None], 0.0)))


@dataclass(frozen=True)
class SymbolFeatures:
    """What the model reads; a model folder keeps the symbols where other models have their words."""

    vocabulary: Symbols


class LanguageModel(AnyModel):
    """A causal encoder between the vectors of symbols and a softmax with the same vectors.

    Args:
        config: Its `encoder` and `language` count.
        symbols: The vocabulary.

    Raises:
        ConfigError: The encoder looks ahead, or its learned positions end before the context.
    """

    read_vocabulary = Symbols.from_json

    def __init__(self, config: ModelConfig, symbols: Symbols):
        super().__init__()
        encoder, language = config.encoder, config.language
        check_causal(encoder)
        check_positions(encoder, language.context)
        if len(symbols) < 2 or symbols.unit != language.unit:
            raise ConfigError(
                f"a vocabulary of {len(symbols)} {symbols.unit}; a language model of {language.unit} needs "
                "two or more of these"
            )
        self.config, self.features = config, SymbolFeatures(symbols)
        self.embedding = SymbolEmbedding(len(symbols), encoder.width, language.dropout)
        self.encoder = ENCODERS[encoder_name(encoder)][0](encoder)
        self.bias = nn.Parameter(torch.zeros(len(symbols)))

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        return {}

    def outputs_json(self) -> dict[str, Any]:
        """Nothing: the outputs are the symbols."""
        return {}

    @property
    def symbols(self) -> Symbols:
        """The vocabulary."""
        return self.features.vocabulary

    @property
    def context(self) -> int:
        """Symbols that the model may look back to."""
        return self.config.language.context

    def forward(self, inputs: Ragged) -> Ragged:
        """The symbols before those to predict `[total]` -> states `[total, width]`."""
        vectors = self.embedding(inputs)
        if isinstance(self.encoder, BPTransformer):
            return self.encoder.token_states(vectors)
        return self.encoder(vectors).tokens

    def logits(self, states: Tensor) -> Tensor:
        """States `[rows, width]` -> logits of the next symbol `[rows, symbols]`."""
        return linear(states, self.embedding.vectors.weight, self.bias)

    def losses(self, states: Tensor, targets: Tensor) -> Tensor:
        """Negative log-likelihood of the next symbols `[rows]`, in nats, `[rows]`."""
        return symbol_losses(states, self.embedding.vectors.weight, self.bias, targets)

    @torch.no_grad()
    def next_logits(self, before: Sequence[int]) -> Tensor:
        """Logits of the symbol after these, `[symbols]`; what is beyond the context is left out."""
        inputs = [NOTHING, *before][-self.context :]
        states = self(Ragged.from_lengths(torch.tensor(inputs, device=self.device), [len(inputs)]))
        return self.logits(states.values[-1])

    def score(
        self, text: Stream, *, batch_tokens: int = 16_384, told: Callable[[int], None] = lambda _: None
    ) -> LanguageScores:
        """How well a text is predicted, in windows that overlap by half, every symbol once.

        Args:
            text: Numbers of this model's vocabulary.
            batch_tokens: Most symbols of the windows that are read at once.
            told: Called now and then with the number of symbols that are done.
        """
        nats, done = 0.0, 0
        for losses in self.nats(text, batch_tokens=batch_tokens):
            nats += float(losses.cpu().double().sum())
            done += len(losses)
            told(done)
        return LanguageScores(self.symbols.unit, done, nats, text.unknown)

    @torch.no_grad()
    def nats(self, text: Stream, *, batch_tokens: int = 16_384) -> Iterator[Tensor]:
        """The negative log-likelihoods that `score` adds up, of each symbol in turn, in pieces."""
        training = self.training
        self.eval()
        try:
            for windows in _batches(evaluation_windows(len(text), self.context), batch_tokens):
                inputs, targets = window_batch(text.ids, windows, self.device)
                states, keep = self(inputs).values, scored_rows(windows, self.device)
                yield self.losses(states.index_select(0, keep), targets.index_select(0, keep))
        finally:
            self.train(training)


def check_positions(encoder: EncoderConfig, context: int) -> None:
    """Check that learned positions reach as far as the context.

    Raises:
        ConfigError: They do not.
    """
    last = getattr(encoder, "max_positions", context)
    if getattr(encoder, "positions", "none") == "learned" and last < context:
        raise ConfigError(
            f"the context has {context} symbols, but the encoder's learned positions end at {last}; set "
            "max_positions to at least the context"
        )


def window_batch(
    ids: NDArray, windows: Sequence[Window], device: torch.device | str = "cpu"
) -> tuple[Ragged, Tensor]:
    """The inputs of windows of a text `[total]`, and the symbols that they are to predict `[total]`."""
    pieces = [np.asarray(ids[max(0, w.start - 1) : w.end], dtype=np.int64) for w in windows]
    targets = [piece[-(w.end - w.start) :] for piece, w in zip(pieces, windows, strict=True)]
    inputs = [
        piece[:-1] if w.start else np.concatenate([[NOTHING], piece[:-1]])
        for piece, w in zip(pieces, windows, strict=True)
    ]
    before = torch.from_numpy(np.concatenate(inputs)).to(device)
    lengths = [w.end - w.start for w in windows]
    return Ragged.from_lengths(before, lengths), torch.from_numpy(np.concatenate(targets)).to(device)


def scored_rows(windows: Sequence[Window], device: torch.device | str = "cpu") -> Tensor:
    """The rows of a batch of windows that count."""
    rows, first = [], 0
    for window in windows:
        length = window.end - window.start
        rows.append(np.arange(first + window.scored - window.start, first + length))
        first += length
    return torch.from_numpy(np.concatenate(rows)).to(device)


def _batches(windows: Iterator[Window], most: int) -> Iterator[list[Window]]:
    """Windows in their order, of at most so many symbols together (but at least one)."""
    batch: list[Window] = []
    total = 0
    for window in windows:
        length = window.end - window.start
        if batch and total + length > most:
            yield batch
            batch, total = [], 0
        batch.append(window)
        total += length
    if batch:
        yield batch
