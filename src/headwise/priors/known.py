"""The priors by their names, and a prior from its description as plain data."""

from collections.abc import Mapping
from typing import Any

from headwise.errors import ConfigError
from headwise.priors.base import Prior, Sum
from headwise.priors.dilated import Dilated
from headwise.priors.direction import Backward, Earlier, Forward, Later
from headwise.priors.everything import Everything
from headwise.priors.gaussian import Gaussian
from headwise.priors.global_tokens import GlobalTokens
from headwise.priors.random_blocks import RandomBlocks
from headwise.priors.rotary import Rotary
from headwise.priors.shaw import Shaw
from headwise.priors.t5_buckets import T5Buckets
from headwise.priors.transformer_xl import TransformerXL
from headwise.priors.tree_buckets import TreeBuckets
from headwise.priors.tree_distance import TreeDistance
from headwise.priors.window import Window
from headwise.priors.word_distance import WordDistance

PRIORS: dict[str, type[Prior]] = {
    prior.name: prior
    for prior in (
        *(Everything, Window, Dilated, RandomBlocks),
        *(Forward, Backward, Earlier, Later),
        *(WordDistance, Gaussian, TreeDistance),
        *(Rotary, Shaw, TransformerXL, T5Buckets, TreeBuckets),
        *(GlobalTokens, Sum),
    )
}


def from_json(data: Mapping[str, Any]) -> Prior:
    """The prior that `Prior.to_json` described.

    Raises:
        ConfigError: The name is unknown, or the values do not fit the prior.
    """
    if not isinstance(data, Mapping):
        raise ConfigError(f'a prior is described by an object such as {{"prior": "forward"}}, got {data!r}')
    fields = dict(data)
    name = fields.pop("prior", None)
    if name not in list(PRIORS):
        raise ConfigError(f"unknown prior {name!r}; known are {', '.join(PRIORS)}")
    try:
        if name == Sum.name:
            fields["parts"] = tuple(from_json(part) for part in fields.get("parts", ()))
        if name == GlobalTokens.name:
            fields["inner"] = from_json(fields.get("inner", {}))
        return PRIORS[name](**fields)
    except TypeError as error:
        raise ConfigError(f"prior {name!r} cannot be made from {fields}: {error}") from None
