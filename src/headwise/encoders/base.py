"""What every encoder takes and gives."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from headwise.ragged import Ragged


@dataclass(frozen=True)
class Encoded:
    """What an encoder says of a batch.

    Attributes:
        tokens: The state of every token, in the layout of the input.
        summary: `[texts, width]`, a state of the text as a whole where the encoder keeps one (a
            classification node, a relay, a root); None where it does not.
        summary_is_node: Whether the summary is one more node beside the tokens, which the maximum over all
            nodes includes (a classification node), or stands apart from them (a relay, a root).
        cls: `[texts, features]`, what the embedding under the encoder says of the text as a whole: the
            [CLS] state of a pretrained encoder; None where there is no such embedding.
    """

    tokens: Ragged
    summary: Tensor | None = None
    summary_is_node: bool = True
    cls: Tensor | None = None


def output_width(config: Any) -> int:
    """Features of the states that the encoder of this configuration gives: its `output_width` where the
    configuration has one, else its `width`, which is what it takes."""
    return getattr(config, "output_width", config.width)


def text_settings(config: type[Any], width: int, heads: int, layers: int) -> dict[str, Any]:
    """What a model of labelled texts of this size begins with, as the configuration's class says it;
    nothing where it keeps what its paper says. The readout is `readout`."""
    own = getattr(config, "for_texts", None)
    return {} if own is None else own(width, heads, layers)


def causal_settings(config: type[Any]) -> dict[str, Any]:
    """What a language model begins with; nothing for an encoder that looks ahead."""
    own = getattr(config, "looking_back", None)
    return {} if own is None else own()


LEANING_BACK = ["forward + word-distance(1)", "forward"]
"""Priors of the heads of a language model, in turn."""


def default_readout(config: Any) -> str:
    """The readout for the encoder of this configuration (or class of configurations), where none is named:
    its `readout` where it has one, else `node+max`."""
    return getattr(config, "readout", "node+max")
