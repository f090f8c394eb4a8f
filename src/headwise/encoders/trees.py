"""Whether an encoder goes by dependency trees."""

from typing import Any

from torch import nn

from headwise.attention import SelfAttention
from headwise.priors.base import TreeUse, strictest


def tree_use(encoder: nn.Module) -> TreeUse:
    """Whether an encoder or its heads use dependency trees, and how they treat texts without one.

    Returns:
        "none" if nothing uses the tree; "error" if some part requires it; "word" if all parts can use
        distances in words instead.
    """
    layers = [module.priors for module in encoder.modules() if isinstance(module, SelfAttention)]
    encoder_use: TreeUse = getattr(getattr(encoder, "config", None), "tree_use", "none")
    return strictest([encoder_use, *(prior.tree_use for priors in layers for prior in priors)])


def tree_use_of(config: Any) -> TreeUse:
    """`tree_use` of the encoder with this configuration, without building it.

    Raises:
        ConfigError: The priors of the configuration do not fit its heads.
    """
    encoder_use: TreeUse = getattr(config, "tree_use", "none")
    layers = getattr(config, "layer_priors", ())
    return strictest([encoder_use, *(prior.tree_use for priors in layers for prior in priors)])


def needs_trees(config: Any) -> bool:
    """Whether a head of the encoder of this configuration goes by trees, be it only where there are any.

    Raises:
        ConfigError: The priors of the configuration do not fit its heads.
    """
    return tree_use_of(config) != "none"
