"""The interface of all encoders.

Whether an encoder goes by dependency trees.
"""

from dataclasses import dataclass

from torch import Tensor, nn

from headwise.nn.attention import SelfAttention
from headwise.nn.priors.base import TreeUse, strictest
from headwise.nn.ragged import Ragged


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


def tree_use(encoder: nn.Module) -> TreeUse:
    """Whether an encoder or its heads use dependency trees, and how they treat texts without one.

    Returns:
        "none" if nothing uses the tree; "error" if some part requires it; "word" if all parts can use
        distances in words instead.
    """
    layers = [module.priors for module in encoder.modules() if isinstance(module, SelfAttention)]
    encoder_use: TreeUse = getattr(getattr(encoder, "config", None), "tree_use", "none")
    return strictest([encoder_use, *(prior.tree_use for priors in layers for prior in priors)])


def tree_use_of(config: object) -> TreeUse:
    """`tree_use` of the encoder with this configuration, without building it.

    Raises:
        ConfigError: The priors of the configuration do not fit its heads.
    """
    encoder_use: TreeUse = getattr(config, "tree_use", "none")
    layers = getattr(config, "layer_priors", ())
    return strictest([encoder_use, *(prior.tree_use for priors in layers for prior in priors)])


def needs_trees(config: object) -> bool:
    """Whether a head of the encoder of this configuration goes by trees, be it only where there are any.

    Raises:
        ConfigError: The priors of the configuration do not fit its heads.
    """
    return tree_use_of(config) != "none"
