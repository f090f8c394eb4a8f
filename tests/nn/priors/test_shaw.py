"""Shaw's tables. What they do to attention: tests/nn/attention/test_learned.py."""

import torch

from headwise.nn.priors import PositionPairs, Shaw


def test_distances_are_signed_and_clipped():
    terms = Shaw(1).module(2, 3, 8)
    with torch.no_grad():
        terms.keys.copy_(torch.tensor([[1.0], [2.0], [3.0]]).expand(3, 3))  # before, the same, after
        terms.values.copy_(torch.tensor([[1.0], [2.0], [3.0]]).expand(3, 3))
    pairs = PositionPairs.of_length(4)
    query = torch.ones(4, 3)
    expected = torch.tensor([[2, 3, 3, 3], [1, 2, 3, 3], [1, 1, 2, 3], [1, 1, 1, 2]])
    torch.testing.assert_close(terms.score(query, query, pairs, 0), expected * 3**0.5)
    torch.testing.assert_close(terms.value(torch.eye(4), pairs, 0), torch.full((4, 3), 2.0))
    first = torch.zeros(4, 4)
    first[:, 0] = 1.0
    torch.testing.assert_close(terms.value(first, pairs, 1)[:, 0], torch.tensor([2.0, 1.0, 1.0, 1.0]))


def test_values_are_optional():
    terms = Shaw(2, values=False).module(2, 3, 8)
    assert [name for name, _ in terms.named_parameters()] == ["keys"]
    assert terms.value(torch.eye(4), PositionPairs.of_length(4), 0) is None


def test_nothing_as_large_as_pairs_times_features(monkeypatch):
    sizes = []
    original = torch.Tensor.gather
    monkeypatch.setattr(torch.Tensor, "gather", lambda x, *a: sizes.append(x.numel()) or original(x, *a))
    terms, query = Shaw(2).module(1, 64, 64), torch.randn(100, 64)
    terms.score(query, query, PositionPairs.of_length(100), 0)
    assert sizes == [100 * 5]


def test_str():
    assert (str(Shaw()), str(Shaw(4, values=False))) == ("shaw 16", "shaw 4 keys only")
