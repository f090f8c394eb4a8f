"""Language modelling: windows of a text, and the loss of the next character, word or byte.

A window predicts the symbols `start .. end` of a text, each from the previous symbols of the window and the
symbol right before the window. Evaluation windows overlap by half, and only the second half of each is
scored (of the first window, all), so every symbol is scored exactly once, with at least half a window of
context (BP-Transformer, Ye et al. 2019; its language models).
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
from headwise.scores.language import Unit

_LOGITS = 1 << 22  # maximum number of logits held at once: with many words they would dominate memory


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
    """A window of a text: it predicts the symbols `start .. end`; those from `scored` on are scored."""

    start: int
    scored: int
    end: int


def evaluation_windows(length: int, context: int) -> Iterator[Window]:
    """Windows of `context` symbols that overlap by half; every symbol is scored in exactly one.

    Args:
        length: Number of symbols of the text.
        context: Number of symbols of a window; the last one may have fewer.
    """
    if length:
        yield Window(0, 0, min(length, context))
    step = max(1, context // 2)
    for scored in range(context, length, step):
        yield Window(scored + step - context, scored, min(length, scored + step))


def training_windows(
    length: int, context: int, count: int, numbers: np.ndarray, random: Tensor
) -> np.ndarray:
    """Start positions of training windows, int64 `[windows]`: window `i` of `count` starts at a random
    position of the `i`-th of `count` equal parts of the text.

    So an epoch covers all parts of the text equally, however few windows it has, and epochs differ.

    Args:
        length: Number of symbols of the text.
        context: Number of symbols of a window; a shorter text is one window.
        count: Number of windows of an epoch.
        numbers: Indices of the windows, `[windows]`.
        random: A random number in [0, 1) for each window, `[windows]`.
    """
    places = max(0, length - context) + 1
    return ((numbers + random.numpy()) * (places / count)).astype(np.int64).clip(0, places - 1)


def window_count(length: int, config: LanguageConfig) -> int:
    """Number of windows of an epoch."""
    return config.windows or -(-length // config.context)


def symbol_losses(states: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
    """`-log softmax(weight state + bias)[target]` of each row, `[rows]`, in nats.

    With many symbols it is computed in parts, and recomputed for the gradient, so that not all logits are
    held at once.

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
