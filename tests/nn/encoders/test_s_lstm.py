"""The S-LSTM against a loop over words, and against what follows from it."""

import pytest
import torch

from headwise.nn.encoders import SLSTM, SLSTMConfig, s_lstm

WIDTH = 5
SIZES = (4, 0, 1, 7)


def encoder_of(**config) -> SLSTM:
    torch.manual_seed(0)
    return SLSTM(SLSTMConfig(**({"width": WIDTH} | config))).double().eval()


def loop(encoder, x):
    """Word by word, gate by gate."""
    h, c, nothing = list(x), list(x), torch.zeros(WIDTH, dtype=torch.float64)
    g = c_g = x.mean(0) if len(x) else nothing
    for _ in range(encoder.config.layers):
        new_h, new_c = [], []
        for i in range(len(x)):
            left, right = h[i - 1] if i else nothing, h[i + 1] if i + 1 < len(x) else nothing
            nearby = torch.cat([h[i], left, right])
            gates = (encoder.near(nearby) + encoder.word(x[i]) + encoder.sentence(g)).sigmoid().chunk(6)
            share = torch.stack(gates[:5]).exp()
            share = share / share.sum(0)
            left, right = c[i - 1] if i else nothing, c[i + 1] if i + 1 < len(x) else nothing
            cell = share[0] * left + share[1] * right + share[2] * x[i] + share[3] * c_g + share[4] * c[i]
            new_c.append(cell)
            new_h.append(gates[5] * cell.tanh())
        mean = sum(h, start=nothing) / max(len(h), 1)
        gate_parts, average = encoder.own_gates(g).chunk(3), encoder.mean_gates(mean).chunk(2)
        keep = (gate_parts[0] + average[0]).sigmoid().exp()
        words = [(gate_parts[2] + encoder.word_gate(row)).sigmoid().exp() for row in h]
        total = sum(words, start=keep)
        c_g = (
            keep * c_g + sum((w * cell for w, cell in zip(words, c, strict=True)), start=nothing)
        ) / total
        g = (gate_parts[1] + average[1]).sigmoid() * c_g.tanh()
        h, c = new_h, new_c
    return h, g


@pytest.mark.parametrize("layers", [1, 3])
def test_equals_a_loop(layers, words):
    encoder, batch = encoder_of(layers=layers), words(SIZES, WIDTH)
    encoded = encoder(batch)
    for rows, got, summary in zip(batch, encoded.tokens, encoded.summary, strict=True):
        states, sentence = loop(encoder, rows)
        if states:
            torch.testing.assert_close(got, torch.stack(states))
        torch.testing.assert_close(summary, sentence)


def test_a_step_reaches_one_word_and_the_mean(words):
    """Of another word a state hears at once where it is a neighbour; of the rest through the sentence."""
    batch = words((9,), WIDTH)
    second = batch.values.clone()
    second[2] += torch.tensor([1.0, -1.0, 0, 0, 0], dtype=torch.float64)
    second[8] -= torch.tensor([1.0, -1.0, 0, 0, 0], dtype=torch.float64)  # the mean stays
    encoder = encoder_of(layers=1)
    change = (encoder(batch).tokens.values - encoder(batch.with_values(second)).tokens.values).abs().sum(1)
    assert (change > 1e-9).nonzero().flatten().tolist() == [1, 2, 3, 7, 8]
    encoder = encoder_of(layers=2)
    change = (encoder(batch).tokens.values - encoder(batch.with_values(second)).tokens.values).abs().sum(1)
    assert (change > 1e-9).all()


def test_the_steps_share_their_weights():
    sizes = {sum(p.numel() for p in encoder_of(layers=layers).parameters()) for layers in (1, 9)}
    assert sizes == {(18 + 6 + 6 + 3 + 2 + 1) * WIDTH**2 + (6 + 3) * WIDTH}


def test_large_batches_keep_less_and_give_the_same_bits(words, monkeypatch):
    """Steps that are computed again on the way back are those of the way there, in eval and in training."""
    batch, actual, stored = words(SIZES, WIDTH), [], []
    for most in (1 << 30, 0):
        monkeypatch.setattr(s_lstm, "MAX_STORED_BYTES", most)
        encoder, sizes = encoder_of(layers=4, dropout=0.5).train(), []
        x = batch.values.clone().requires_grad_()
        torch.manual_seed(1)

        def keep(tensor, sizes=sizes):
            sizes.append(tensor.numel())
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            encoded = encoder(batch.with_values(x))
        stored.append(sum(sizes))
        (encoded.tokens.values.square().sum() + encoded.summary.sum()).backward()
        grads = [parameter.grad for parameter in encoder.parameters()]
        actual.append([encoded.tokens.values, encoded.summary, x.grad, *grads])
    assert all(torch.equal(one, second) for one, second in zip(*actual, strict=True))
    assert 4 * stored[1] < stored[0]
    with torch.no_grad():  # nothing is kept, so nothing need be computed again
        monkeypatch.setattr(s_lstm, "checkpointed", None)
        encoder_of(layers=4)(batch)
