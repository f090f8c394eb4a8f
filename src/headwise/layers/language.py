"""Language modelling: the next character or word of a text, and how well it is guessed.

A window predicts the symbols `start .. end` of a text, each from those before it in the window and the one
right before the window. Windows for evaluation overlap by half, and only the second half of each counts
(all of the first window), so that every symbol is scored exactly once, with at least half a window before
it (BP-Transformer, Ye et al. 2019; its language models).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, linear

from headwise.attention.recomputed import recomputed
from headwise.config import check_choice, check_range
from headwise.data.symbols import Unit

_LOGITS = 1 << 22  # of a batch at once: with many words they would be most of the memory


@dataclass(frozen=True)
class LanguageConfig:
    """What a language model reads, and how it is trained on it."""

    unit: Unit = "characters"
    """What the model predicts: characters, words (between spaces), or bytes."""
    max_symbols: int = 100_000
    """Largest vocabulary, the most frequent symbols first."""
    min_count: int = 1
    """Symbols seen less often in the training text are unknown."""
    context: int = 512
    """Symbols of a window: what the model may look back to."""
    dropout: float = 0.1
    """On the vectors of the symbols, while training."""
    windows: int = 0
    """Windows of an epoch; 0 = as many as make up the text once."""

    def __post_init__(self) -> None:
        check_choice(self, "unit", ("characters", "words", "bytes"))
        check_range(self, "context", "max_symbols", "min_count", low=1)
        check_range(self, "windows", low=0)
        check_range(self, "dropout", low=0, high=1, open=True)


class Window(NamedTuple):
    """A part of a text to predict: the symbols `start .. end`, of which those from `scored` on count."""

    start: int
    scored: int
    end: int


def evaluation_windows(length: int, context: int) -> Iterator[Window]:
    """Windows of `context` symbols that overlap by half; every symbol counts in exactly one.

    Args:
        length: Symbols of the text.
        context: Symbols of a window; the last one may have less.
    """
    if length:
        yield Window(0, 0, min(length, context))
    step = max(1, context // 2)
    for scored in range(context, length, step):
        yield Window(scored + step - context, scored, min(length, scored + step))


def training_windows(
    length: int, context: int, count: int, numbers: np.ndarray, random: Tensor
) -> np.ndarray:
    """Where training windows begin, `[windows]`, int64: window `i` of `count` at a random place of the
    `i`-th of `count` equal parts of the text.

    So an epoch sees every part of the text equally often, however few windows it has, and no two epochs are
    the same.

    Args:
        length: Symbols of the text.
        context: Symbols of a window; all of the text, where that has less.
        count: Windows of an epoch.
        numbers: Which of them, `[windows]`.
        random: Of each window, at least 0 and less than 1, `[windows]`.
    """
    places = max(0, length - context) + 1
    return ((numbers + random.numpy()) * (places / count)).astype(np.int64).clip(0, places - 1)


def window_count(length: int, config: LanguageConfig) -> int:
    """Windows of an epoch."""
    return config.windows or -(-length // config.context)


def symbol_losses(states: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """`-log softmax(weight state + bias)[target]` of each row, `[rows]`, in nats.

    Computed part by part where there are many symbols, and then again for the gradient, so that not all
    logits need be held at once.

    Args:
        states: `[rows, width]`.
        weight: `[symbols, width]`.
        bias: `[symbols]`.
        targets: `[rows]`, int64.
    """

    def losses(states: Tensor, targets: Tensor) -> Tensor:
        return cross_entropy(linear(states, weight, bias).float(), targets, reduction="none")

    rows = max(1, _LOGITS // len(weight))
    if len(states) <= rows:
        return losses(states, targets)
    parts = zip(states.split(rows), targets.split(rows), strict=True)
    return torch.cat([recomputed(losses, *part) for part in parts])
