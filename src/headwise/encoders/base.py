"""The interface of all encoders."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from headwise.ragged import Ragged


@dataclass(frozen=True)
class Encoded:
    """Output of an encoder for a batch.

    Attributes:
        tokens: The state of every token, in the layout of the input.
        summary: A state of the whole text, `[texts, width]`, if the encoder has one (a classification node,
            a relay, a root); else None.
        summary_is_node: Whether the maximum over all nodes includes the summary (a classification node) or
            not (a relay, a root).
        cls: The embedding's vector of the whole text, `[texts, features]`, such as the [CLS] state of a
            pretrained encoder; None if the embedding gives none.
    """

    tokens: Ragged
    summary: Tensor | None = None
    summary_is_node: bool = True
    cls: Tensor | None = None


def output_width(config: Any) -> int:
    """Output features of the encoder with this configuration: its `output_width` if it has one, else its
    `width`, the number of input features."""
    return getattr(config, "output_width", config.width)


def text_settings(config: type[Any], width: int, heads: int, layers: int) -> dict[str, Any]:
    """Default settings of an encoder of this size in models of labelled texts; `readout` is that of the
    model. Empty if the defaults of the configuration class (its paper's) apply."""
    settings = getattr(config, "for_texts", None)
    return {} if settings is None else settings(width, heads, layers)


def causal_settings(config: type[Any]) -> dict[str, Any]:
    """Default settings of an encoder in language models; empty for an encoder that is not causal."""
    settings = getattr(config, "looking_back", None)
    return {} if settings is None else settings()


LEANING_BACK = ["forward + word-distance(1)", "forward"]
"""Priors of the heads of a language model, in turn."""


def default_readout(config: Any) -> str:
    """The readout for the encoder of this configuration (or class of configurations), where none is named:
    its `readout` where it has one, else `node+max`."""
    return getattr(config, "readout", "node+max")
