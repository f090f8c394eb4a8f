"""Masked summation: marked rows add up to the target."""

import pytest
import torch

from headwise.core.errors import ConfigError


def test_sums():
    from benchmarks.papers.masked_summation import masked_sums

    rows, sums = masked_sums(2, 5, marked=3, length=7, features=4)
    for text, target in zip(rows, sums, strict=True):
        assert text[:, 0].sum() == 3
        torch.testing.assert_close(text[text[:, 0] == 1][:, 1:].sum(0), target)
    with pytest.raises(ConfigError, match="between 1 and the length 7"):
        masked_sums(2, marked=8, length=7)


def star(sizes, **edges):
    from benchmarks.papers.masked_summation import PartOfStar
    from headwise.nn.encoders.transformer_configs import StarTransformerConfig
    from headwise.nn.ragged import Ragged

    torch.manual_seed(0)
    config = StarTransformerConfig(width=8, heads=2, head_size=4, layers=2, positions="none")
    x = Ragged.from_lengths(torch.randn(sum(sizes), 8, dtype=torch.float64), sizes)
    return PartOfStar(config, **edges).double(), x


def test_with_all_edges_it_is_the_star():
    from headwise.nn.encoders.star_transformer import StarTransformer

    part, x = star([5, 1, 9], ring=True, radial=True)
    complete = StarTransformer(part.config).double()
    complete.load_state_dict(part.state_dict())
    output, expected = part(x), complete(x)
    torch.testing.assert_close(output.tokens.values, expected.tokens.values)
    torch.testing.assert_close(output.summary, expected.summary)


def test_without_radial_edges_words_hear_of_neighbours_alone():
    part, x = star([20], ring=True, radial=False)
    moved = x.values.clone()
    moved[10] += 1
    before, after = part(x), part(x.with_values(moved))
    changed = (before.tokens.values - after.tokens.values).abs().sum(1) > 0
    assert changed.nonzero().flatten().tolist() == [8, 9, 10, 11, 12]  # two steps


def test_without_a_ring_words_have_no_order():
    part, x = star([6], ring=False, radial=True)
    order = torch.tensor([3, 1, 5, 0, 2, 4])
    before, after = part(x), part(x.with_values(x.values[order]))
    torch.testing.assert_close(before.tokens.values[order], after.tokens.values)
    torch.testing.assert_close(before.summary, after.summary)


@pytest.mark.parametrize("name", ["star-no-ring", "star-no-radial"])
def test_ablations_by_name(name):
    from benchmarks.papers.masked_summation import PartOfStar, Summation, masked_sums

    model = Summation(name)
    assert isinstance(model.encoder, PartOfStar)
    rows, sums = masked_sums(0, 2)
    assert model(rows).shape == sums.shape
