"""The BP-Transformer computes the same with compiled kernels and without, and for the words alone."""

import pytest
import torch

from headwise.nn.attention.cpu import edges
from headwise.nn.encoders import BPTransformer, BPTransformerConfig
from headwise.nn.ragged import Ragged

LENGTHS = (5, 1, 0, 2, 77, 16, 17, 33)
WIDTH = 12


def encoder_of(**config):
    torch.manual_seed(0)
    settings = {
        "width": WIDTH,
        "heads": 2,
        "head_size": 5,
        "layers": 3,
        "feedforward": 16,
        "k": 2,
        "clip": 2,
    }
    encoder = BPTransformer(BPTransformerConfig(**{**settings, **config})).double().eval()
    for name, parameter in encoder.named_parameters():
        if "norm" in name or "bias" in name or "relative" in name:
            torch.nn.init.normal_(parameter)
    return encoder


def results(encoder, values):
    """Outputs, and gradients of all inputs and parameters."""
    values = values.clone().requires_grad_()
    encoded = encoder(Ragged.from_lengths(values, LENGTHS))
    loss = encoded.tokens.values.sin().cumsum(0).sum() + encoded.summary.cos().cumsum(0).sum()
    gradients = torch.autograd.grad(loss, [values, *encoder.parameters()], allow_unused=True)
    return [encoded.tokens.values, encoded.summary, *(g for g in gradients if g is not None)]


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("k", [1, 4, 100])
def test_kernels_equal_graph_attention(k, causal, relative, monkeypatch):
    encoder = encoder_of(k=k, causal=causal, relative=relative)
    values = torch.randn(sum(LENGTHS), WIDTH, dtype=torch.float64)
    assert edges.unsupported_reason(values) is None
    compiled_ones = results(encoder, values)
    monkeypatch.setattr(edges, "unsupported_reason", lambda rows: "not today")
    plain = results(encoder, values)
    assert len(plain) == len(compiled_ones)
    for ours, theirs in zip(compiled_ones, plain, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernels", [True, False])
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_states_of_the_words_alone(layers, kernels, monkeypatch):
    if not kernels:
        monkeypatch.setattr(edges, "unsupported_reason", lambda rows: "not today")
    encoder = encoder_of(layers=layers)
    batch = Ragged.from_lengths(torch.randn(sum(LENGTHS), WIDTH, dtype=torch.float64), LENGTHS)
    expected = encoder(batch).tokens.values
    torch.testing.assert_close(encoder.token_states(batch).values, expected, rtol=1e-12, atol=1e-12)


def test_dropout_with_kernels_depends_on_torch_s_seed():
    encoder = encoder_of(dropout=0.0, attention_dropout=0.5).train()
    batch = Ragged.from_lengths(torch.randn(sum(LENGTHS), WIDTH, dtype=torch.float64), LENGTHS)
    runs = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        runs.append(encoder(batch).tokens.values)
    assert torch.equal(runs[0], runs[1])
    assert not torch.allclose(runs[0], runs[2])
