"""Which encoders go by dependency trees."""

import pytest

from headwise.nn.encoders import MSSAN, MSSANConfig, StarTransformer, StarTransformerConfig
from headwise.nn.encoders.encoder import needs_trees, tree_use, tree_use_of

SIZES = {"width": 8, "heads": 4, "head_size": 2}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "error"),
        ({"tree_fallback": "word"}, "word"),
        ({"distances": ("word", "none")}, "none"),
        ({"separate": True, "direction": True}, "error"),
        ({"priors": ("forward + tree-distance(fallback=word)", "shaw")}, "word"),
        ({"priors": ("global-tokens(window(3) + tree-buckets(4))", "everything")}, "error"),
        ({"priors": ("everything",)}, "none"),
    ],
)
def test_ms_san(settings, expected):
    config = MSSANConfig(**SIZES, **settings)
    assert tree_use(MSSAN(config)) == expected
    assert tree_use_of(config) == expected
    assert needs_trees(config) == (expected != "none")


def test_an_encoder_without_self_attention():
    config = StarTransformerConfig(**SIZES)
    assert tree_use(StarTransformer(config)) == "none"
    assert not needs_trees(config)
