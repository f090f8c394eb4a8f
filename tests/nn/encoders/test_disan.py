"""DiSAN against its equations and against what follows from them."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.encoders import DiSAN, DiSANConfig, disan
from headwise.nn.encoders.pooling import Readout

WIDTH = 5
SIZES = (4, 0, 1, 9, 2, 4)


def encoder_of(**config) -> DiSAN:
    torch.manual_seed(0)
    encoder = DiSAN(DiSANConfig(**({"width": WIDTH} | config))).double().eval()
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter)
    return encoder


def by_the_paper(one, x, forward, c=5.0):
    """One direction of one text."""
    h = one.map(x)
    h = torch.where(h > 0, h, h.exp() - 1)
    states = []
    for i in range(len(x)):
        seen = torch.zeros(WIDTH, dtype=torch.float64)
        visible = range(i) if forward else range(i + 1, len(x))
        if len(visible):
            z = [one.key.weight @ h[j] + one.query.weight @ h[i] + one.query.bias for j in visible]
            weights = torch.stack([c * (score / c).tanh() for score in z]).softmax(0)
            seen = (weights * h[list(visible)]).sum(0)
        f = (one.gate_word.weight @ h[i] + one.gate_seen.weight @ seen + one.gate_seen.bias).sigmoid()
        states.append(f * h[i] + (1 - f) * seen)
    return torch.stack(states) if states else h


@pytest.mark.parametrize("bound", [5.0, 1.0])
def test_equations(bound, words):
    encoder, batch = encoder_of(bound=bound), words(SIZES, WIDTH)
    [forward], [backward] = encoder.forwards, encoder.backwards
    encoded = encoder(batch)
    assert encoded.summary is None
    for got, x in zip(encoded.tokens, batch, strict=True):
        expected = [by_the_paper(forward, x, True, bound), by_the_paper(backward, x, False, bound)]
        torch.testing.assert_close(got, torch.cat(expected, dim=-1))


def test_layers_are_stacked(words):
    encoder, batch = encoder_of(layers=2), words((6,), WIDTH)
    x = batch.values
    for forward, backward in zip(encoder.forwards, encoder.backwards, strict=True):
        x = torch.cat([by_the_paper(forward, x, True), by_the_paper(backward, x, False)], dim=-1)
    torch.testing.assert_close(encoder(batch).tokens.values, x)


def test_the_first_word_forward_and_the_last_backward_see_nothing(words):
    encoder, batch = encoder_of(), words((6, 1), WIDTH)
    rows = batch.with_values(torch.stack([batch.values] * 3, dim=1))
    forward, backward = (disan.token2token(rows, 5.0, before=before) for before in (True, False))
    assert (forward[0][0] == 0).all()
    assert (backward[0][5] == 0).all()
    assert (forward[1] == 0).all()
    assert (backward[1] == 0).all()
    torch.testing.assert_close(forward[0][1], batch.values[0])  # a single key has the weight 1
    torch.testing.assert_close(backward[0][4], batch.values[5])
    assert encoder(batch).tokens.values.isfinite().all()


def test_directions_look_one_way_and_the_diagonal_is_excluded(words):
    batch = words((6,), WIDTH)
    query, key = batch.values.clone(), batch.values.clone()
    for before, expected in ((True, [4, 5]), (False, [0, 1, 2])):
        results = []
        for change in (0.0, 1.0):
            value = batch.values.clone()
            value[3] += change
            rows = batch.with_values(torch.stack([query, key, value], dim=1))
            results.append(disan.token2token(rows, 5.0, before=before).values)
        assert (results[0] != results[1]).any(-1).nonzero().flatten().tolist() == expected


def test_reversal_swaps_the_directions_when_their_weights_are_swapped(words):
    encoder, second, batch = encoder_of(), encoder_of(), words((7,), WIDTH)
    second.forwards.load_state_dict(encoder.backwards.state_dict())
    second.backwards.load_state_dict(encoder.forwards.state_dict())
    mirrored = second(batch.map(lambda x: x.flip(0))).tokens.values.flip(0).roll(WIDTH, -1)
    torch.testing.assert_close(mirrored, encoder(batch).tokens.values)


@pytest.mark.parametrize("limit", [1, 200, 1 << 23])
def test_how_many_texts_go_together_changes_nothing(limit, words, monkeypatch):
    encoder, batch = encoder_of(), words((3, 0, 17, 1, 2, 9, 17, 3), WIDTH)
    batch.values.requires_grad_()
    results = []
    for weights in (disan._WEIGHTS, limit):
        monkeypatch.setattr(disan, "_WEIGHTS", weights)
        out = encoder(batch).tokens.values
        results.append([out, *torch.autograd.grad(out.sin().sum(), [batch.values, *encoder.parameters()])])
    for got, expected in zip(*results, strict=True):
        torch.testing.assert_close(got, expected)


def test_without_gradients_the_same(words):
    encoder, batch = encoder_of(), words(SIZES, WIDTH)
    with torch.inference_mode():
        without = encoder(batch).tokens.values
    assert torch.equal(without, encoder(batch).tokens.values)


def test_large_scores_are_bounded(words):
    batch = words((6,), WIDTH).map(lambda x: 1e6 * x)
    rows = batch.with_values(torch.stack([batch.values] * 3, dim=1).float())
    assert disan.token2token(rows, 50.0, before=True).values.isfinite().all()


def test_groups_hold_texts_of_similar_length():
    sizes = (3, 0, 40, 5, 39, 12, 0)
    texts = sorted(range(7), key=lambda t: -sizes[t])
    assert disan._group_texts(texts, sizes, 10) == [[2, 4], [5], [3, 0]]
    assert disan._group_texts(texts, sizes, 1 << 23) == [[2], [4], [5], [3], [0]]
    assert disan._group_texts([], (), 10) == []


def test_parameters_of_a_pair_classifier():
    """About DiSAN's 2.4 million (MS-SAN, Table 1) on SNLI; 600 features of a text."""
    config = DiSANConfig()
    readout = Readout(config.readout, config.output_width)
    modules = [DiSAN(config), readout, torch.nn.Linear(4 * readout.width, 300), torch.nn.Linear(300, 3)]
    parameters = sum(p.numel() for module in modules for p in module.parameters())
    assert readout.width == 600
    assert parameters == 2_344_203


@pytest.mark.parametrize("bound", [0.0, -1.0, 51.0, float("nan")])
def test_the_bound_must_be_possible(bound):
    with pytest.raises(ConfigError, match="bound"):
        encoder_of(bound=bound)
