"""Language modelling: windows of a text, the loss of the next symbol, and a check that an encoder is
causal.

A window predicts the symbols `start .. end` of a text, each from the previous symbols of the window and the
symbol right before the window. Evaluation windows overlap by half, and only the second half of each is
scored (of the first window, all). So every symbol is scored exactly once, with at least half a window of
context (BP-Transformer, Ye et al. 2019; its language models). `check_causal` raises an error where the
state of a symbol could depend on later symbols.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, linear

from headwise.core.errors import ConfigError
from headwise.nn.encoders import BPTransformerConfig
from headwise.nn.encoders.encoder_configs import HasWidth, output_width
from headwise.nn.priors import PositionPairs, Prior
from headwise.nn.task_layers.layer_configs import LanguageConfig
from headwise.nn.torch_modes import checkpointed

_LOGITS = 1 << 22  # maximum number of logits held at once: with many words they would dominate memory


class LanguageWindow(NamedTuple):
    """A window of a text: it predicts the symbols `start .. end`; those from `scored` on are scored."""

    start: int
    scored: int
    end: int


def evaluation_windows(length: int, context: int) -> Iterator[LanguageWindow]:
    """Windows of `context` symbols that overlap by half; every symbol is scored in exactly one.

    Args:
        length: Number of symbols of the text.
        context: Number of symbols of a window; the last one may have fewer.
    """
    if length:
        yield LanguageWindow(0, 0, min(length, context))
    step = max(1, context // 2)
    for scored in range(context, length, step):
        yield LanguageWindow(scored + step - context, scored, min(length, scored + step))


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
    return torch.cat([checkpointed(losses, *part) for part in parts])


_LENGTHS = (1, 2, 3, 7, 16, 61)  # lengths of test texts, each a prefix of the next


def check_causal(config: HasWidth) -> None:
    """Check that the state of a symbol depends only on the symbols up to it, and not on the number of later
    ones.

    Args:
        config: Configuration of the encoder.

    Raises:
        ConfigError: The encoder looks ahead; the message says what to set.
    """
    if isinstance(config, BPTransformerConfig):
        if not config.causal:
            raise _looks_ahead("the encoder bp-transformer looks to both sides; set causal = true")
        if config.pair_layers:
            raise _looks_ahead("pair_layers are for pairs of texts; set pair_layers = 0")
    elif (layers := getattr(config, "layer_priors", None)) is None:
        raise _looks_ahead(
            f"the encoder of {type(config).__name__} looks to both sides; take bp-transformer with "
            'causal = true, or an encoder with priors = ["forward"], such as transformer'
        )
    else:
        _check_heads(config, layers)
    if output_width(config) != config.width:
        raise ConfigError(
            f"a language model needs states of the width of its symbols, {config.width}; the encoder's "
            f"have {output_width(config)}"
        )


def _check_heads(config: HasWidth, layers: Sequence[Sequence[Prior]]) -> None:
    if getattr(config, "classification_node", False):
        raise _looks_ahead("the node in front of a text is of no use; set classification_node = false")
    for layer, priors in enumerate(layers, start=1):
        for head, prior in enumerate(priors, start=1):
            reason = _noncausal_reason(prior)
            if reason:
                raise _looks_ahead(
                    f"head {head} of layer {layer}, {str(prior)!r}, {reason}; give priors that look back, "
                    'such as priors = ["forward"] or ["forward + window(9)"]'
                )


def _noncausal_reason(prior: Prior) -> str | None:
    """The reason why a prior is not causal; None if it is."""
    if prior.tree_use != "none" or prior.marks or prior.matrices:
        return "needs parsed texts"
    with torch.device("cpu"):  # also if the model is built on the meta device
        biases = [prior.bias(PositionPairs.of_length(n), torch.float64).expand(n, n) for n in _LENGTHS]
    for n, bias in zip(_LENGTHS, biases, strict=True):
        if bias.triu(1).isneginf().sum() != n * (n - 1) // 2:
            return "sees symbols to come"
    if any(not torch.equal(short, long[: len(short), : len(short)]) for short, long in pairwise(biases)):
        return "depends on the length of the whole text"
    return None


def _looks_ahead(reason: str) -> ConfigError:
    return ConfigError(f"a language model must not see what it is to predict: {reason}")
