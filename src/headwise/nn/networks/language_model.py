"""LanguageModel: predicts the next character, word or byte of a text; `generate` samples continuations."""

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.items.symbols import END_OF_LINE, UNKNOWN, SymbolVocabulary
from headwise.data.readers.streams import SymbolStream
from headwise.metrics.perplexity import LanguageScores
from headwise.nn.encoders import ENCODERS, BPTransformer, EncoderConfig
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.layers.dropout import Dropout
from headwise.nn.networks.base_model import BaseModel, predict_nothing
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.language_layers import (
    LanguageWindow,
    check_causal,
    evaluation_windows,
    symbol_losses,
)
from headwise.nn.task_layers.layer_configs import SampleConfig

START_OF_TEXT = -1
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
        self.dropout = Dropout(dropout)

    def forward(self, numbers: Ragged) -> Ragged:
        """Symbol ids `[total]` -> vectors `[total, width]`."""
        ids = numbers.values
        vectors = self.vectors(ids.clamp(min=0)) * self.vectors.embedding_dim**0.5
        return numbers.with_values(self.dropout(vectors.masked_fill((ids < 0)[:, None], 0.0)))


@dataclass(frozen=True)
class SymbolFeatures:
    """The symbols of a language model; a model folder saves them in the place of a word vocabulary."""

    vocabulary: SymbolVocabulary


class LanguageModel(BaseModel):
    """A causal encoder between symbol vectors and a softmax with tied weights.

    Args:
        config: The configuration; only its sections `encoder` and `language` are used.
        symbols: The vocabulary.

    Raises:
        ConfigError: The encoder looks ahead, or its learned positions end before the context.
    """

    read_vocabulary = SymbolVocabulary.from_json
    predict = predict_nothing

    def __init__(self, config: ModelConfig, symbols: SymbolVocabulary):
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
    def read_outputs(outputs: JsonMapping) -> JsonObject:
        return {}

    def outputs_json(self) -> JsonObject:
        """Empty: the outputs are the symbols."""
        return {}

    @property
    def symbols(self) -> SymbolVocabulary:
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
        inputs = [START_OF_TEXT, *before][-self.context :]
        states = self(Ragged.from_lengths(torch.tensor(inputs, device=self.device), [len(inputs)]))
        return self.logits(states.values[-1])

    def score(self, text: SymbolStream, *, batch_tokens: int = 16_384) -> LanguageScores:
        """Evaluate the model on a text, in windows that overlap by half; every symbol counts once.

        Args:
            text: Symbol ids of this model's vocabulary.
            batch_tokens: Maximum number of symbols per batch.
        """
        nats, done = 0.0, 0
        for losses in self.nats(text, batch_tokens=batch_tokens):
            nats += float(losses.cpu().double().sum())
            done += len(losses)
        return LanguageScores(self.symbols.unit, done, nats, text.unknown)

    @torch.no_grad()
    def nats(self, text: SymbolStream, *, batch_tokens: int = 16_384) -> Iterator[Tensor]:
        """Negative log-likelihoods of the symbols in nats, in order, batch by batch."""
        training = self.training
        self.eval()
        try:
            for windows in _window_batches(evaluation_windows(len(text), self.context), batch_tokens):
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
    ids: NDArray, windows: Sequence[LanguageWindow], device: torch.device | str = "cpu"
) -> tuple[Ragged, Tensor]:
    """Input symbols of windows of a text, `[total]`, and their targets, `[total]`."""
    pieces = [np.asarray(ids[max(0, w.start - 1) : w.end], dtype=np.int64) for w in windows]
    targets = [piece[-(w.end - w.start) :] for piece, w in zip(pieces, windows, strict=True)]
    inputs = [
        piece[:-1] if w.start else np.concatenate([[START_OF_TEXT], piece[:-1]])
        for piece, w in zip(pieces, windows, strict=True)
    ]
    before = torch.from_numpy(np.concatenate(inputs)).to(device)
    lengths = [w.end - w.start for w in windows]
    return Ragged.from_lengths(before, lengths), torch.from_numpy(np.concatenate(targets)).to(device)


def scored_rows(windows: Sequence[LanguageWindow], device: torch.device | str = "cpu") -> Tensor:
    """The rows of a batch of windows that are scored."""
    rows, first = [], 0
    for window in windows:
        length = window.end - window.start
        rows.append(np.arange(first + window.scored - window.start, first + length))
        first += length
    return torch.from_numpy(np.concatenate(rows)).to(device)


def _window_batches(windows: Iterator[LanguageWindow], most: int) -> Iterator[list[LanguageWindow]]:
    """Batches of consecutive windows with at most `most` symbols (but at least one window)."""
    batch: list[LanguageWindow] = []
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


def encode_prompt(symbols: SymbolVocabulary, prompt: str) -> list[int]:
    """Symbol ids of a prompt.

    Raises:
        DataError: HW280, a symbol is not in the vocabulary, even if that has a symbol for unknown ones.
    """
    if symbols.unit == "words":
        lines = prompt.split("\n")
        prompt_symbols = [
            word for line in lines for word in [*line.replace("\t", " ").split(), END_OF_LINE]
        ][:-1]
    elif symbols.unit == "bytes":
        prompt_symbols = [chr(byte) for byte in prompt.encode("utf-8", "surrogateescape")]
    else:
        prompt_symbols = list(prompt)
    listed = set(symbols.names)
    strange = list(dict.fromkeys(repr(one) for one in prompt_symbols if one not in listed))
    if strange:
        shown = ", ".join(strange[:5]) + (f" and {len(strange) - 5} more" if len(strange) > 5 else "")
        raise DataError(
            "HW280",
            f"the prompt has {symbols.unit} that the model does not know: {shown}",
            advice=f"it knows the {len(symbols):,} {symbols.unit} of its training text, such as "
            + " ".join(map(repr, symbols.names[:8])),
        )
    numbers = {name: number for number, name in enumerate(symbols.names)}
    return [numbers[one] for one in prompt_symbols]


def sample_symbol(logits: Tensor, config: SampleConfig, generator: torch.Generator) -> int:
    """Draw a symbol from logits `[symbols]`; returns its id."""
    if config.temperature == 0 or config.top_k == 1:
        return int(logits.argmax())
    logits = logits.cpu().double()
    logits = (logits - logits.max()) / config.temperature
    if 0 < config.top_k < len(logits):
        logits = logits.masked_fill(logits < logits.topk(config.top_k).values[-1], float("-inf"))
    return int(torch.multinomial(logits.softmax(0), 1, generator=generator))


def generate(model: LanguageModel, prompt: Sequence[int], config: SampleConfig) -> Iterator[int]:
    """Generate the continuation of a prompt, one symbol id at a time.

    Args:
        model: A language model in eval mode.
        prompt: Symbol ids; may be empty.
        config: See `SampleConfig`.
    """
    if model.training:
        raise ConfigError("a model that samples must be in eval mode")
    generator = torch.Generator().manual_seed(config.seed)
    symbols, before = model.symbols, list(prompt)
    # If no training symbol was unknown, the probability of the unknown symbol is untrained.
    never = symbols.unknown if symbols.unknown is not None and not symbols.counts[symbols.unknown] else None
    for _ in range(config.length):
        logits = model.next_logits(before)
        if never is not None:
            logits[never] = float("-inf")
        before.append(sample_symbol(logits, config, generator))
        yield before[-1]
        del before[: -model.context]


def text_of(symbols: SymbolVocabulary, numbers: Iterator[int], *, after: str = "") -> Iterator[str]:
    """Decode a stream of symbol ids to text: characters, words with spaces between, or decoded bytes.

    Args:
        symbols: The vocabulary.
        numbers: Symbol ids.
        after: The preceding text; decides whether a space comes first.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    start = after == "" or after.endswith(("\n", " "))
    for number in numbers:
        name = symbols.names[number]
        if symbols.unit == "bytes":
            yield decoder.decode(name.encode("latin-1"))
        elif symbols.unit == "characters":
            yield "\ufffd" if name == UNKNOWN else name
        elif name == END_OF_LINE:
            yield "\n"
            start = True
        else:
            yield name if start else " " + name
            start = False
    if symbols.unit == "bytes":
        yield decoder.decode(b"", final=True)
