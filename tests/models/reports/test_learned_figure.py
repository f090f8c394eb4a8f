"""The picture of what heads have learned."""

from typing import Any, cast
from xml.etree import ElementTree

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.models.pictures import learned_priors_figure
from headwise.nn.encoders import BiLSTM, BiLSTMConfig, Transformer, TransformerConfig
from headwise.nn.networks.head_pruning import trained_priors
from headwise.nn.priors import PositionPairs


def encoder_of(*priors: str) -> Transformer:
    torch.manual_seed(0)
    return Transformer(TransformerConfig(width=8, heads=len(priors), head_size=4, layers=2, priors=priors))


def test_learned_scores_are_those_of_the_head():
    encoder = encoder_of("learned-slope + forward", "window(3)", "adaptive-span(2, ramp=2)")
    [slopes, spans] = cast(Any, encoder.blocks[0]).attention.learned
    torch.nn.init.constant_(slopes.raw, 0.25)
    torch.nn.init.constant_(spans.raw, 0.1)
    first, window, span = (prior.bias(PositionPairs.of_length(5)) for prior in trained_priors(encoder)[0])
    slope = 2**-8 * torch.e  # ALiBi's slope of one head, and its factor exp(4 * 0.25)
    expected = torch.tensor(
        [[-slope * (i - j) if j <= i else -torch.inf for j in range(5)] for i in range(5)]
    )
    torch.testing.assert_close(first, expected)
    assert window.isfinite().sum() == 13
    width = 2 * torch.tensor(0.4).exp()
    torch.testing.assert_close(span[0, :3].exp(), torch.tensor([1.0, 1.0, 1.0]))
    torch.testing.assert_close(span[0, 3].exp(), (2 + width - 3) / 2)


def test_a_picture_of_all_kinds():
    priors = ("t5-buckets", "fire", "shaw", "cope", "forgetting", "kerple", "transformer-xl", "sink")
    trees = ("tree-buckets", "parent", "tree-distance + same-sentence", "rotary")
    picture = learned_priors_figure(encoder_of(*priors, *trees), "The heads of a model")
    root = ElementTree.fromstring(picture)
    titles = [element.text for element in root.iter() if element.text]
    assert "The heads of a model" in titles
    assert sum("kerple log (log, r1 0.1, r2 1)" in title for title in titles) >= 2
    uses = list(root.iter("{http://www.w3.org/2000/svg}use"))
    assert len(uses) == 2 * len((*priors, *trees))


def test_drawing_changes_no_model():
    encoder = encoder_of("learned-slope").half()
    learned_priors_figure(encoder, "x")
    assert {parameter.dtype for parameter in encoder.parameters()} == {torch.float16}


def test_no_heads():
    with pytest.raises(ConfigError, match="no heads with priors"):
        learned_priors_figure(BiLSTM(BiLSTMConfig(width=8, hidden=4)), "x")
