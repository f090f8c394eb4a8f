"""Features of pairs by hand, and cross-attention against a loop over pairs."""

import pytest
import torch

from headwise.encoders.base import Encoded
from headwise.errors import ConfigError
from headwise.layers.classify import ClassifierConfig
from headwise.layers.pair import CrossInteraction, PairConfig, PairHead, concat_absolute, product
from headwise.ragged import Ragged


def test_features_of_the_papers():
    first, second = torch.tensor([[1.0, -2.0]]), torch.tensor([[3.0, 0.5]])
    assert concat_absolute(first, second).tolist() == [[1, -2, 3, 0.5, 2, 2.5, -2, -2.5]]
    assert product(first, second).tolist() == [[1, -2, 3, 0.5, 3, -1, 2, 2.5]]


@pytest.mark.parametrize("features", ["concat-absolute", "product", "concat"])
def test_head(features):
    head = PairHead(5, 3, PairConfig(features=features), ClassifierConfig(hidden=4))
    assert head(torch.randn(7, 5), torch.randn(7, 5)).shape == (7, 3)
    assert head(torch.randn(0, 5), torch.randn(0, 5)).shape == (0, 3)


@pytest.mark.parametrize("name", ["cross_layers", "cross_heads", "cross_head_size", "cross_feedforward"])
def test_settings_out_of_range(name):
    with pytest.raises(ConfigError, match=name):
        PairConfig(**{name: 0})


CONFIG = PairConfig(
    interaction="cross", cross_layers=2, cross_heads=2, cross_head_size=3, cross_feedforward=8
)


def by_hand(block, own, other):
    """One block on one text, head by head and word by word."""
    seen = torch.zeros(len(own), block.heads * 3, dtype=own.dtype)
    for head in range(block.heads):
        part = slice(3 * head, 3 * head + 3)
        q, k, v = block.query(own)[:, part], block.key(other)[:, part], block.value(other)[:, part]
        for word in range(len(own)):
            if len(other):
                weights = torch.softmax(k @ q[word] / 3**0.5, dim=0)
                seen[word, part] = weights @ v
    z = block.norm1(own + block.out(seen))
    return block.norm2(z + block.down(torch.relu(block.up(z))))


@pytest.mark.parametrize("with_summary", [False, True])
def test_cross_attention_by_hand(with_summary):
    torch.manual_seed(0)
    interaction = CrossInteraction(6, CONFIG).double().eval()
    sizes = [4, 0, 1, 3, 2, 2, 0, 3]  # firsts 4, 0, 1, 3 with seconds 2, 2, 0, 3
    texts = [torch.randn(n, 6, dtype=torch.float64) for n in sizes]
    summary = torch.randn(8, 6, dtype=torch.float64) if with_summary else None
    found = interaction(Encoded(Ragged.from_lengths(torch.cat(texts), sizes), summary))
    for pair in range(4):
        states = [texts[pair], texts[pair + 4]]
        sums = None if summary is None else [summary[pair, None], summary[pair + 4, None]]
        for block in interaction.blocks:
            if sums is not None:
                sums = [by_hand(block, sums[0], states[1]), by_hand(block, sums[1], states[0])]
            states = [by_hand(block, states[0], states[1]), by_hand(block, states[1], states[0])]
        for side in (0, 1):
            torch.testing.assert_close(found.tokens[pair + 4 * side], states[side])
            if sums is not None:
                torch.testing.assert_close(found.summary[pair + 4 * side], sums[side][0])


def test_no_pairs():
    empty = Encoded(Ragged.from_lengths(torch.zeros(0, 6), []))
    assert len(CrossInteraction(6, CONFIG)(empty).tokens) == 0
