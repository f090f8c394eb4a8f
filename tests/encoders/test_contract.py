"""What every encoder promises, with every readout. A new encoder joins by a row in `ROWS`."""

import json
from dataclasses import asdict, fields, is_dataclass

import pytest
import torch

from headwise.encoders import ENCODERS
from headwise.encoders.base import default_readout, output_width
from headwise.model import ModelConfig
from headwise.pooling import READOUTS, Readout
from headwise.ragged import Ragged

WIDTH = 8
SMALL = {"width": WIDTH, "heads": 2, "head_size": 3, "layers": 2}
MS_TRANS = SMALL | {"heads": 5, "scales": ("1", "3", "n/3", "n")}
MS_SAN = {"width": WIDTH, "heads": 6, "head_size": 2, "feedforward": 5, "tree_fallback": "word"}
BPT = SMALL | {"feedforward": 10, "k": 2, "relative_rows": 30, "attention_dropout": 0.0}
SET = {"width": WIDTH, "heads": 2, "layers": 2}

# id: (name in ENCODERS, configuration)
ROWS = {
    "ms-transformer": ("ms-transformer", MS_TRANS),
    "ms-transformer, bare": ("ms-transformer", MS_TRANS | {"classification_node": False, "bias": True}),
    "ms-transformer, positions": (
        "ms-transformer",
        MS_TRANS | {"positions": "learned", "max_positions": 40},
    ),
    "ms-transformer, global node": ("ms-transformer", MS_TRANS | {"global_node": True}),
    "ms-transformer, reference": ("ms-transformer", MS_TRANS | {"attention": "reference"}),
    "ms-san": ("ms-san", MS_SAN | {"distances": ("word", "none")}),
    "ms-san, two layers": ("ms-san", MS_SAN | {"layers": 2, "bias": True, "activation": "elu"}),
    "ms-san, separate": ("ms-san", MS_SAN | {"separate": True, "attention": "reference"}),
    "ms-san, relative": ("ms-san", MS_SAN | {"distances": ("shaw", "xl"), "shaw_span": 2}),
    "star-transformer": ("star-transformer", SMALL | {"max_positions": 40}),
    "star-transformer, truncate": (
        "star-transformer",
        SMALL | {"ring": "truncate", "positions": "sinusoidal", "residual": True, "bias": False},
    ),
    "star-transformer, fastnlp": (
        "star-transformer",
        SMALL | {"ring": "zero", "variant": "fastnlp", "positions": "none"},
    ),
    "bp-transformer": ("bp-transformer", BPT),
    "bp-transformer, absolute": (
        "bp-transformer",
        BPT | {"k": 3, "relative": False, "positions": "learned", "max_positions": 40},
    ),
    "bp-transformer, causal": ("bp-transformer", BPT | {"k": 1, "clip": 0, "causal": True}),
    "set-transformer": ("set-transformer", SET | {"induced": 3}),
    "set-transformer, SAB": ("set-transformer", SET | {"induced": 0, "block": "tf", "norm": "post"}),
    "set-transformer, paper": (
        "set-transformer",
        SET | {"induced": 2, "block": "paper", "norm": "pre", "scale": "head", "positions": "sinusoidal"},
    ),
    "transformer": ("transformer", SMALL | {"feedforward": 10}),
    "bilstm": ("bilstm", {"width": WIDTH, "hidden": 4}),
    "bilstm, two layers": ("bilstm", {"width": WIDTH, "hidden": 3, "layers": 2}),
    "disan": ("disan", {"width": WIDTH}),
    "disan, two layers": ("disan", {"width": WIDTH, "layers": 2, "bound": 2.0}),
    "transformer, bare": ("transformer", SMALL | {"classification_node": False, "positions": "none"}),
}
NAMES = [*READOUTS, "attentive", "attentive,max"]
LENGTHS = (3, 0, 17, 1, 2, 9)


def encoder_of(row, dtype=torch.float64, **changes):
    name, config = ROWS[row]
    module, configuration = ENCODERS[name]
    torch.manual_seed(3)
    return module(configuration(**(config | changes))).to(dtype).eval()


def readout_of(name, row, dtype=torch.float64) -> Readout:
    width = output_width(encoder_of(row).config)
    torch.manual_seed(4)
    return Readout(name, width).to(dtype)


def keeps_summary(row) -> bool:
    nothing = Ragged.from_lengths(torch.zeros(0, WIDTH, dtype=torch.float64), [])
    return encoder_of(row)(nothing).summary is not None


every_row = pytest.mark.parametrize("row", list(ROWS))
every_row_and_readout = pytest.mark.parametrize(
    ("row", "readout"),
    [(row, name) for row in ROWS for name in NAMES if "node" not in name or keeps_summary(row)],
)


def test_every_encoder_has_a_row():
    assert {name for name, _ in ROWS.values()} == set(ENCODERS)


@pytest.mark.parametrize("name", list(ENCODERS))
def test_configurations_are_plain_data(name):
    module, configuration = ENCODERS[name]
    assert is_dataclass(configuration)
    assert configuration.__doc__
    config = configuration()
    with pytest.raises(AttributeError):  # frozen
        config.width = 1
    again = configuration(**json.loads(json.dumps(asdict(config))))
    assert {f.name for f in fields(again)} == set(asdict(config))
    assert module(configuration(width=12, layers=1)).config == configuration(width=12, layers=1)


@every_row_and_readout
def test_batch_equals_single_and_order_does_not_matter(row, readout, words):
    encoder, batch = encoder_of(row), words(LENGTHS, WIDTH)
    together = encoder(batch)
    pool = readout_of(readout, row)
    vectors = pool(together)
    assert together.tokens.layout == batch.layout
    assert vectors.shape == (len(LENGTHS), pool.width)
    for order in [[t] for t in range(len(LENGTHS))] + [[5, 2, 0, 4, 1, 3]]:
        encoded = encoder(batch[order])
        torch.testing.assert_close(pool(encoded), vectors[order], rtol=1e-10, atol=1e-10)
        wanted = together.tokens[order].values
        torch.testing.assert_close(encoded.tokens.values, wanted, rtol=1e-10, atol=1e-10)


@every_row
@pytest.mark.parametrize("bad", [0, 2])
def test_a_poisoned_text_spoils_only_itself(row, bad, words):
    encoder, batch = encoder_of(row), words(LENGTHS, WIDTH)
    spoilt = batch.with_values(
        batch.values.masked_fill((batch.layout.text_of == bad)[:, None], float("nan"))
    )
    keep = [text for text in range(len(LENGTHS)) if text != bad]
    wanted, got = encoder(batch), encoder(spoilt)
    torch.testing.assert_close(got.tokens[keep].values, wanted.tokens[keep].values)
    if wanted.summary is not None:
        torch.testing.assert_close(got.summary[keep], wanted.summary[keep])


@every_row_and_readout
@pytest.mark.parametrize("lengths", [(), (0,), (1,), (2,), (0, 0), (1, 0, 2)])
def test_shortest_texts(row, readout, lengths, words):
    encoder, batch = encoder_of(row).train(), words(lengths, WIDTH)
    batch.values.requires_grad_()
    encoded = encoder(batch)
    vectors = readout_of(readout, row)(encoded)
    assert vectors.shape[0] == len(lengths)
    assert vectors.isfinite().all()
    assert encoded.tokens.values.isfinite().all()
    (vectors.sum() + encoded.tokens.values.sum()).backward()
    assert batch.values.grad is not None
    gradients = [p.grad for p in encoder.parameters() if p.grad is not None]
    assert all(gradient.isfinite().all() for gradient in (batch.values.grad, *gradients))


def unread(row, readout) -> tuple[str, ...]:
    """Parameters of the last layer that this readout cannot see."""
    if row.startswith("star") and "node" not in readout:
        return ("steps.1.relay",)
    if row.startswith("bp") and readout == "node":
        return ("blocks.1.attention.relative",)  # the root sees its words without relative positions
    if row.startswith("set") and "node" not in readout:
        return ("pma",)
    return ()


@every_row_and_readout
def test_gradients_reach_every_parameter(row, readout, words):
    encoder, batch = encoder_of(row), words((37, 5, 1), WIDTH)
    encoded = encoder(batch)
    pool = readout_of(readout, row)
    vectors, random = pool(encoded), torch.Generator().manual_seed(5)
    (vectors * torch.randn(vectors.shape, generator=random)).sum().backward()
    for name, parameter in [*encoder.named_parameters(), *pool.named_parameters()]:
        if name.endswith((".key.bias", "attentive.down.bias")):
            continue  # a constant on all logits of a softmax: its gradient is 0
        if name.startswith(unread(row, readout)):
            continue
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 1e-9, name


@every_row
def test_eval_is_deterministic_and_training_drops_out(row, words):
    batch = words(LENGTHS, WIDTH)
    encoder = encoder_of(row, dropout=0.5)
    assert torch.equal(encoder(batch).tokens.values, encoder(batch).tokens.values)
    evaluated = encoder(batch).tokens.values
    encoder.train()
    assert not torch.equal(encoder(batch).tokens.values, encoder(batch).tokens.values)
    calm = encoder_of(row, dropout=0.0).train()
    assert torch.equal(calm(batch).tokens.values, evaluated)


@every_row
def test_state_dict_round_trip(row, words):
    batch = words(LENGTHS, WIDTH)
    encoder, other = encoder_of(row), encoder_of(row)
    for parameter in other.parameters():
        torch.nn.init.normal_(parameter)
    wanted = encoder(batch).tokens.values
    assert not torch.allclose(other(batch).tokens.values, wanted)
    other.load_state_dict(encoder.state_dict())
    assert torch.equal(other(batch).tokens.values, wanted)


@every_row_and_readout
def test_bfloat16(row, readout, words):
    exact = encoder_of(row)(words(LENGTHS, WIDTH))
    encoder, batch = encoder_of(row, torch.bfloat16), words(LENGTHS, WIDTH, torch.bfloat16)
    encoded = encoder(batch)
    vectors = readout_of(readout, row, torch.bfloat16)(encoded)
    assert vectors.dtype == encoded.tokens.values.dtype == torch.bfloat16
    vectors.sum().backward()
    torch.testing.assert_close(encoded.tokens.values.double(), exact.tokens.values, rtol=0.1, atol=0.1)
    wanted = readout_of(readout, row)(exact)
    torch.testing.assert_close(vectors.double(), wanted, rtol=0.1, atol=0.15)


@every_row
def test_gradcheck(row, words):
    # The relay of an empty text is ReLU(0), where there is no derivative.
    lengths = (3, 1) if row.startswith("star") else (3, 0, 1)
    encoder, batch = encoder_of(row), words(lengths, WIDTH)

    def run(values, *_):
        encoded = encoder(batch.with_values(values))
        return (
            encoded.tokens.values if encoded.summary is None else (encoded.tokens.values, encoded.summary)
        )

    inputs = [batch.values.requires_grad_(), *encoder.parameters()]
    assert torch.autograd.gradcheck(run, inputs, fast_mode=True)


@every_row
def test_default_configuration_can_be_left_out(row):
    module, configuration = ENCODERS[ROWS[row][0]]
    assert module().config == configuration()


@pytest.mark.parametrize("row", [row for row in ROWS if "bare" not in row])  # without the node it needs
def test_the_default_readout_works(row, words):
    name, _ = ROWS[row]
    readout = ModelConfig.from_json({"encoder": {"name": name}}).readout
    assert readout == default_readout(ENCODERS[name][1])
    pool = readout_of(readout, row)
    assert pool(encoder_of(row)(words(LENGTHS, WIDTH))).shape == (len(LENGTHS), pool.width)
