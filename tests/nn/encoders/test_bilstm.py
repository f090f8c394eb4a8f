"""The bidirectional LSTM against a step by step loop and against what follows from it."""

import pytest
import torch

from headwise.nn.encoders import BiLSTM, BiLSTMConfig

WIDTH, HIDDEN = 5, 3
SIZES = (4, 0, 1, 9, 4)


def encoder_of(**config) -> BiLSTM:
    torch.manual_seed(0)
    return BiLSTM(BiLSTMConfig(**({"width": WIDTH, "hidden": HIDDEN} | config))).double().eval()


def one_direction(lstm, rows):
    """The states of one LSTM that reads the rows in their order."""
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    w, u, b, c = (getattr(lstm, f"{name}_l0") for name in names)
    state = cell = torch.zeros(HIDDEN, dtype=torch.float64)
    states = []
    for row in rows:
        i, f, g, o = (w @ row + b + u @ state + c).chunk(4)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        state = o.sigmoid() * cell.tanh()
        states.append(state)
    return torch.stack(states)


@pytest.mark.parametrize("layers", [1, 2])
def test_equals_a_loop(layers, words):
    encoder, batch = encoder_of(layers=layers), words(SIZES, WIDTH)
    encoded = encoder(batch)
    for rows, got, summary in zip(batch, encoded.tokens, encoded.summary, strict=True):
        if not len(rows):
            assert (summary == 0).all()
            continue
        for layer in range(layers):
            forward = one_direction(encoder.forwards[layer], rows)
            backward = one_direction(encoder.backwards[layer], rows.flip(0)).flip(0)
            rows = torch.cat([forward, backward], dim=-1)
        torch.testing.assert_close(got, rows)
        torch.testing.assert_close(summary, torch.cat([forward[-1], backward[0]]))


def test_reversal_swaps_the_directions_when_their_weights_are_swapped(words):
    encoder, second, batch = encoder_of(), encoder_of(), words((7,), WIDTH)
    second.forwards.load_state_dict(encoder.backwards.state_dict())
    second.backwards.load_state_dict(encoder.forwards.state_dict())
    straight, mirrored = encoder(batch), second(batch.map(lambda x: x.flip(0)))
    swapped = mirrored.tokens.values.flip(0).roll(HIDDEN, -1)
    torch.testing.assert_close(swapped, straight.tokens.values)
    torch.testing.assert_close(mirrored.summary.roll(HIDDEN, -1), straight.summary)
    assert not torch.allclose(encoder(batch.map(lambda x: x.flip(0))).tokens.values.flip(0), swapped)


def test_padding_leaves_no_trace(words):
    encoder, batch = encoder_of(layers=2), words((2, 30, 0, 3), WIDTH)
    together = encoder(batch)
    for t in range(4):
        alone = encoder(batch[[t]])
        torch.testing.assert_close(alone.tokens.values, together.tokens[t])
        torch.testing.assert_close(alone.summary[0], together.summary[t])


def test_directions_look_one_way(words):
    encoder, batch = encoder_of(), words((6,), WIDTH)
    edited = batch.values.clone()
    edited[3] += 1.0
    changed = encoder(batch.with_values(edited)).tokens.values != encoder(batch).tokens.values
    forward, backward = (half.any(-1).nonzero().flatten().tolist() for half in changed.split(HIDDEN, -1))
    assert (forward, backward) == ([3, 4, 5], [0, 1, 2, 3])


def test_the_width_of_the_output_is_that_of_both_directions():
    assert BiLSTMConfig().output_width == 300
    assert BiLSTMConfig(hidden=100).output_width == 200


def test_long_texts_are_read_in_pieces(words, monkeypatch):
    """All at once they are too long for the library that computes LSTMs."""
    encoder, batch = encoder_of(layers=2), words(SIZES, WIDTH)
    full = encoder(batch)
    monkeypatch.setattr("headwise.nn.encoders.bilstm._AT_ONCE", 3)
    pieces = encoder(batch)
    torch.testing.assert_close(pieces.tokens.values, full.tokens.values)
    torch.testing.assert_close(pieces.summary, full.summary)
