"""Check that an encoder is causal: the state of a symbol must not depend on later symbols."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch

from headwise.encoders import BPTransformerConfig
from headwise.encoders.base import output_width
from headwise.errors import ConfigError
from headwise.priors import Pairs, Prior

_LENGTHS = (1, 2, 3, 7, 16, 61)  # lengths of test texts, each a prefix of the next


def check_causal(config: Any) -> None:
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
    elif getattr(config, "layer_priors", None) is None:
        raise _looks_ahead(
            f"the encoder of {type(config).__name__} looks to both sides; take bp-transformer with "
            'causal = true, or an encoder with priors = ["forward"], such as transformer'
        )
    else:
        _check_heads(config)
    if output_width(config) != config.width:
        raise ConfigError(
            f"a language model needs states of the width of its symbols, {config.width}; the encoder's "
            f"have {output_width(config)}"
        )


def _check_heads(config: Any) -> None:
    if getattr(config, "classification_node", False):
        raise _looks_ahead("the node in front of a text is of no use; set classification_node = false")
    layers: Sequence[Sequence[Prior]] = config.layer_priors
    for layer, priors in enumerate(layers, start=1):
        for head, prior in enumerate(priors, start=1):
            reason = _why_not(prior)
            if reason:
                raise _looks_ahead(
                    f"head {head} of layer {layer}, {str(prior)!r}, {reason}; give priors that look back, "
                    'such as priors = ["forward"] or ["forward + window(9)"]'
                )


def _why_not(prior: Prior) -> str | None:
    """The reason why a prior is not causal; None if it is."""
    if prior.tree_use != "none":
        return "needs parsed texts"
    with torch.device("cpu"):  # also if the model is built on the meta device
        biases = [prior.bias(Pairs.of_length(n), torch.float64).expand(n, n) for n in _LENGTHS]
    for n, bias in zip(_LENGTHS, biases, strict=True):
        if bias.triu(1).isneginf().sum() != n * (n - 1) // 2:
            return "sees symbols to come"
    if any(not torch.equal(short, long[: len(short), : len(short)]) for short, long in pairwise(biases)):
        return "depends on the length of the whole text"
    return None


def _looks_ahead(reason: str) -> ConfigError:
    return ConfigError(f"a language model must not see what it is to predict: {reason}")
