"""Recorded attention: every attention module is recorded, and its outputs follow from the weights."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.attention import reference
from headwise.nn.encoders import BiLSTM
from headwise.nn.encoders.head_weights import AttentionNode, record_attention

WIDTH = 8
LENGTHS = (5, 0, 17, 1, 2)


def looks_of(encoder, batch):
    with record_attention(encoder) as looks:
        encoder(batch)
    return looks


def test_the_output_follows_from_the_weights(encoder_row, encoder_of, words, rows):
    if rows[encoder_row][0] in ("bilstm", "s-lstm", "tree-lstm"):
        pytest.skip("it has no attention")
    encoder, batch = encoder_of(encoder_row), words(LENGTHS, WIDTH)
    expected = encoder(batch)
    looks = looks_of(encoder, batch)
    assert torch.equal(encoder(batch).tokens.values, expected.tokens.values)
    assert {look.text for look in looks} == set(range(len(LENGTHS)))
    for look in looks:
        assert look.error < 1e-10
        assert look.weights.shape[1:] == (len(look.queries), len(look.keys))
        sums = look.weights.sum(-1)
        assert ((sums - 1).abs().lt(1e-10) | sums.eq(0)).all()
        assert all(node.stop <= LENGTHS[look.text] for node in look.queries + look.keys)


def test_looks_across_a_pair_too(encoder_of, words):
    encoder, batch = encoder_of("bp-transformer", pair_layers=2), words((5, 0, 4, 1, 3, 0), WIDTH)
    looks = looks_of(encoder, batch)
    across = [look for look in looks if look.module == "pair_blocks.1.heads"]
    assert [len(look.keys) for look in across] == [1, 3, 0, 5, 0, 4]
    assert {node.name for look in across for node in look.keys} == {"other"}
    for look in looks:
        assert look.error < 1e-10
        sums = look.weights.sum(-1)
        assert ((sums - 1).abs().lt(1e-10) | sums.eq(0)).all()


def test_in_single_precision_the_compiled_paths_agree(encoder_row, encoder_of, words, rows):
    if rows[encoder_row][0] in ("bilstm", "s-lstm", "tree-lstm"):
        pytest.skip("it has no attention")
    looks = looks_of(encoder_of(encoder_row, torch.float32), words(LENGTHS, WIDTH, torch.float32))
    assert max(look.error for look in looks) < 1e-4


def test_other_weights_would_be_found_out(encoder_of, words, monkeypatch):
    right = reference.head_weights
    monkeypatch.setattr(reference, "head_weights", lambda *arguments: right(*arguments).flip(-1))
    assert max(look.error for look in looks_of(encoder_of("transformer"), words(LENGTHS, WIDTH))) > 0.01


def test_windows_show(encoder_of, words):
    encoder = encoder_of("ms-transformer", scales=("3",), heads=2)
    look = looks_of(encoder, words((6,), WIDTH))[0]
    assert look.heads == ("window 3",) * 2
    assert (
        look.queries
        == look.keys
        == (AttentionNode("node"), *(AttentionNode("word", n, n + 1) for n in range(6)))
    )
    place = torch.arange(7)
    assert torch.equal(look.weights[0] > 0, (place[:, None] - place).abs() <= 1)


def test_words_of_a_bp_transformer_see_the_text_once(encoder_of, words):
    look = looks_of(encoder_of("bp-transformer"), words((3, 21), WIDTH))[1]
    for query, row in zip(look.queries, look.weights[0], strict=True):
        seen = sorted(
            place
            for key, weight in zip(look.keys, row, strict=True)
            if weight > 0
            for place in range(key.start, key.stop)
        )
        assert seen == list(range(query.start, query.stop) if query.name == "span" else range(21))


@pytest.mark.parametrize("relays", [1, 3])
def test_satellites_see_four_rows_and_the_relays_and_those_all(relays, encoder_of, words):
    ring, relay = looks_of(encoder_of("star-transformer", relays=relays), words((6,), WIDTH))[:2]
    assert (ring.weights > 0).sum(-1).eq(4 + relays).all()
    assert relay.queries == (AttentionNode("relay"),) * relays
    assert relay.weights.shape == (2, relays, 6 + relays)


def test_an_lstm_has_none(words):
    with pytest.raises(ConfigError, match="BiLSTM has no attention"), record_attention(BiLSTM()):
        pass
