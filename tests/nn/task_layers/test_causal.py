"""Which encoders a language model may have."""

import pytest

from headwise.core.errors import ConfigError
from headwise.nn.encoders import (
    BiLSTMConfig,
    BPTransformerConfig,
    DiSANConfig,
    MSSANConfig,
    MSTransformerConfig,
    SetTransformerConfig,
    StarTransformerConfig,
    TransformerConfig,
)
from headwise.nn.task_layers.language_layers import check_causal


def transformer(*priors, **settings):
    return TransformerConfig(
        **{"layers": 2, "heads": 2, "classification_node": False, **settings}, priors=priors
    )


@pytest.mark.parametrize(
    "config",
    [
        BPTransformerConfig(causal=True),
        transformer("forward"),
        transformer("forward + window(5)", "forward + word-distance(0.5)"),
        transformer("forward", "forward + shaw(4)"),
        transformer("forward + rotary"),
        transformer("forward", "earlier"),
        MSTransformerConfig(heads=2, priors=("forward + window(3)", "forward"), classification_node=False),
        MSSANConfig(heads=2, priors=("forward",)),
    ],
    ids=str,
)
def test_those_that_look_back(config):
    check_causal(config)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (BPTransformerConfig(), "set causal = true"),
        (TransformerConfig(), "classification_node = false"),
        (transformer("everything"), "head 1 of layer 1, 'everything', sees symbols to come"),
        (transformer("forward", "backward"), "head 2 of layer 1, 'backward', sees symbols to come"),
        (transformer("forward | window(3)"), "head 1 of layer 2"),
        (transformer("global-tokens(forward)"), "sees symbols to come"),
        (transformer("forward + window(n/4)"), "depends on the length of the whole text"),
        (transformer("forward + tree-distance(1)"), "needs parsed texts"),
        (MSTransformerConfig(classification_node=False), "sees symbols to come"),
        (MSSANConfig(), "needs parsed texts|sees symbols to come"),
        (MSSANConfig(distances=("word",), separate=True), "sees symbols to come"),
        *((kind(), "looks to both sides") for kind in (BiLSTMConfig, StarTransformerConfig)),
        *((kind(), "looks to both sides") for kind in (SetTransformerConfig, DiSANConfig)),
    ],
    ids=str,
)
def test_those_that_look_ahead(config, message):
    with pytest.raises(ConfigError, match=message):
        check_causal(config)
