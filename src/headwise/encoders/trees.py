"""Whether an encoder goes by dependency trees."""

from typing import Any

from torch import nn

from headwise.attention import SelfAttention
from headwise.priors.base import TreeUse, strictest


def tree_use(encoder: nn.Module) -> TreeUse:
    """What an encoder, or its heads, make of dependency trees, and of texts without one.

    Returns:
        "none" if nothing goes by the tree; else "error" if something needs it, "word" if all can
        take the distance from word to word in its place.
    """
    layers = [module.priors for module in encoder.modules() if isinstance(module, SelfAttention)]
    own: TreeUse = getattr(getattr(encoder, "config", None), "tree_use", "none")
    return strictest([own, *(prior.tree_use for priors in layers for prior in priors)])


def tree_use_of(config: Any) -> TreeUse:
    """The same of the configuration of an encoder, before there is one; see `tree_use`.

    Raises:
        ConfigError: The priors of the configuration do not fit its heads.
    """
    own: TreeUse = getattr(config, "tree_use", "none")
    layers = getattr(config, "layer_priors", ())
    return strictest([own, *(prior.tree_use for priors in layers for prior in priors)])


def needs_trees(config: Any) -> bool:
    """Whether a head of the encoder of this configuration goes by trees, be it only where there are any.

    Raises:
        ConfigError: The priors of the configuration do not fit its heads.
    """
    return tree_use_of(config) != "none"
