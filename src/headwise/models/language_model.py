"""LanguageModel: predicts the next character, word or byte of a text."""

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
"""Id of the start-of-text symbol."""


class SymbolEmbedding(nn.Module):
    """Vectors of symbols, with dropout. The start-of-text symbol has the vector 0.

    The vectors are also the weights of the softmax (tied). They are initialised with a small norm, for
    moderate logits, and scaled by `sqrt(width)` on input (Vaswani et al. 2017, 3.4).
    """

    def __init__(self, symbols: int, width: int, dropout: float):
        super().__init__()
        self.vectors = nn.Embedding(symbols, width)
        nn.init.normal_(self.vectors.weight, std=width**-0.5)
        self.dropout = nn.Dropout(dropout)

    def forward(self, numbers: Ragged) -> Ragged:
        """Symbol ids `[total]` -> vectors `[total, width]`."""
        ids = numbers.values
        vectors = self.vectors(ids.clamp(min=0)) * self.vectors.embedding_dim**0.5
        return numbers.with_values(self.dropout(vectors.masked_fill((ids < 0)[:, None], 0.0)))


@dataclass(frozen=True)
class SymbolFeatures:
    """The symbols of a language model; a model folder saves them in the place of a word vocabulary."""

    vocabulary: Symbols


class LanguageModel(AnyModel):
    """A causal encoder between symbol vectors and a softmax with tied weights.

    Args:
        config: The configuration; only its sections `encoder` and `language` are used.
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
        """Empty: the outputs are the symbols."""
        return {}

    @property
    def symbols(self) -> Symbols:
        """The vocabulary."""
        return self.features.vocabulary

    @property
    def context(self) -> int:
        """Number of previous symbols that the model can attend to."""
        return self.config.language.context

    def forward(self, inputs: Ragged) -> Ragged:
        """Input symbols `[total]`, each the one before the symbol to predict -> states `[total, width]`."""
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
        """Logits of the symbol after these, `[symbols]`; only the last `context` symbols are read."""
        inputs = [NOTHING, *before][-self.context :]
        states = self(Ragged.from_lengths(torch.tensor(inputs, device=self.device), [len(inputs)]))
        return self.logits(states.values[-1])

    def score(
        self, text: Stream, *, batch_tokens: int = 16_384, report: Callable[[int], None] = lambda _: None
    ) -> LanguageScores:
        """Evaluate the model on a text, in windows that overlap by half; every symbol counts once.

        Args:
            text: Symbol ids of this model's vocabulary.
            batch_tokens: Maximum number of symbols per batch.
            report: Called after each batch with the number of symbols scored so far.
        """
        nats, done = 0.0, 0
        for losses in self.nats(text, batch_tokens=batch_tokens):
            nats += float(losses.cpu().double().sum())
            done += len(losses)
            report(done)
        return LanguageScores(self.symbols.unit, done, nats, text.unknown)

    @torch.no_grad()
    def nats(self, text: Stream, *, batch_tokens: int = 16_384) -> Iterator[Tensor]:
        """Negative log-likelihoods of the symbols in nats, in order, batch by batch."""
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
    """Check that learned positions cover the context.

    Raises:
        ConfigError: The context is longer.
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
    """Input symbols of windows of a text, `[total]`, and their targets, `[total]`."""
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
    """The rows of a batch of windows that are scored."""
    rows, first = [], 0
    for window in windows:
        length = window.end - window.start
        rows.append(np.arange(first + window.scored - window.start, first + length))
        first += length
    return torch.from_numpy(np.concatenate(rows)).to(device)


def _batches(windows: Iterator[Window], most: int) -> Iterator[list[Window]]:
    """Batches of consecutive windows with at most `most` symbols (but at least one window)."""
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
