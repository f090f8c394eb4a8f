"""What every encoder promises, with every readout; the encoders are the rows of conftest.py.

Readouts are functions of what an encoder gives (tests/test_pooling.py has theirs), so one encoding serves
all of them.
"""

import json
from dataclasses import asdict, fields, is_dataclass

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from headwise.core.errors import ConfigError
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import default_readout, output_width
from headwise.nn.encoders.pooling import READOUTS, Readout
from headwise.nn.networks.model_config import ModelConfig

WIDTH = 8
NAMES = [*READOUTS, "attentive", "attentive,max"]
LENGTHS = (3, 0, 17, 1, 2, 9)


def readouts_of(encoded, width, dtype=torch.float64) -> list[Readout]:
    """All readouts that can be had of what an encoder gives."""
    torch.manual_seed(4)
    names = [name for name in NAMES if "node" not in name or encoded.summary is not None]
    return [Readout(name, width).to(dtype) for name in names]


def test_every_encoder_has_a_row(rows):
    assert {name for name, _ in rows.values()} == set(ENCODERS)


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
    assert module(configuration(width=12)).config == configuration(width=12)
    assert module().config == configuration()


@pytest.mark.parametrize("name", list(ENCODERS))
def test_padded_rows_are_told_how_to_become_ragged(name):
    module, configuration = ENCODERS[name]
    expected = r"takes a Ragged, got a tensor \[2, 5, 12\]; Ragged.from_padded\(x, mask\)"
    with pytest.raises(TypeError, match=expected):
        module(configuration(width=12))(torch.zeros(2, 5, 12))


SIZES = {"width", "layers", "heads", "head_size", "hidden", "feedforward", "max_positions", "k"}


@pytest.mark.parametrize("name", list(ENCODERS))
def test_settings_that_cannot_be_are_told(name):
    module, configuration = ENCODERS[name]
    for field in fields(configuration):
        wrong: tuple = ()
        if field.name in SIZES:
            wrong = (-1,)
        elif field.name.endswith("dropout"):
            wrong = (-0.5, 1.0, float("nan"))
        elif isinstance(field.default, str):
            wrong = ("nothing like it",)
        for value in wrong:
            with pytest.raises(ConfigError, match=field.name.partition("_")[2] or field.name):
                module(configuration(**{field.name: value}))


def test_batch_equals_single_and_order_does_not_matter(encoder_row, encoder_of, words):
    encoder, batch = encoder_of(encoder_row), words(LENGTHS, WIDTH)
    together = encoder(batch)
    readouts = readouts_of(together, output_width(encoder.config))
    assert together.tokens.layout.sizes == batch.layout.sizes
    for order in [[t] for t in range(len(LENGTHS))] + [[5, 2, 0, 4, 1, 3]]:
        encoded = encoder(batch[order])
        expected = together.tokens[order].values
        torch.testing.assert_close(encoded.tokens.values, expected, rtol=1e-10, atol=1e-10)
        for readout in readouts:
            vectors = readout(together)
            assert vectors.shape == (len(LENGTHS), readout.width)
            torch.testing.assert_close(readout(encoded), vectors[order], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("bad", [0, 2])
def test_a_poisoned_text_spoils_only_itself(encoder_row, bad, encoder_of, words):
    encoder, batch = encoder_of(encoder_row), words(LENGTHS, WIDTH)
    spoilt = batch.with_values(
        batch.values.masked_fill((batch.layout.text_of == bad)[:, None], float("nan"))
    )
    keep = [text for text in range(len(LENGTHS)) if text != bad]
    expected, got = encoder(batch), encoder(spoilt)
    torch.testing.assert_close(got.tokens[keep].values, expected.tokens[keep].values)
    if expected.summary is not None:
        torch.testing.assert_close(got.summary[keep], expected.summary[keep])


@pytest.mark.parametrize("lengths", [(), (0,), (1,), (2,), (0, 0), (1, 0, 2)])
def test_shortest_texts(encoder_row, lengths, encoder_of, words):
    encoder, batch = encoder_of(encoder_row).train(), words(lengths, WIDTH)
    batch.values.requires_grad_()
    encoded = encoder(batch)
    assert encoded.tokens.values.isfinite().all()
    total = encoded.tokens.values.sum()
    for readout in readouts_of(encoded, output_width(encoder.config)):
        vectors = readout(encoded)
        assert vectors.shape[0] == len(lengths)
        assert vectors.isfinite().all()
        total = total + vectors.sum()
    total.backward()
    assert batch.values.grad is not None
    gradients = [p.grad for p in encoder.parameters() if p.grad is not None]
    assert all(gradient.isfinite().all() for gradient in (batch.values.grad, *gradients))


@pytest.mark.parametrize("lengths", [(0,), (0, 0)])
def test_a_batch_of_empty_texts_can_be_trained_on(encoder_row, lengths, encoder_of, words):
    encoded = encoder_of(encoder_row).train()(words(lengths, WIDTH))
    total = encoded.tokens.values.sum()
    if encoded.summary is not None:
        assert encoded.summary.requires_grad
        total = total + encoded.summary.sum()
    total.backward()


def unread(encoder_row, readout) -> tuple[str, ...]:
    """Parameters of the last layer that this readout cannot see."""
    if encoder_row.startswith("star") and "node" not in readout:
        return ("steps.1.relay",)
    if encoder_row.startswith("bp") and readout == "node":
        return ("blocks.1.attention.relative",)  # the root sees its words without relative positions
    if encoder_row == "tree-lstm" and "attentive" in readout:
        return ("attentive.up.bias",)  # small states: the same rectifiers are open for all words
    if encoder_row == "tree-lstm, brackets" and "node" not in readout:
        return ("below",)  # the words are leaves
    if encoder_row.startswith("set") and "node" not in readout:
        return ("pma",)
    return ()


def test_gradients_reach_every_parameter(encoder_row, encoder_of, words):
    encoder, batch = encoder_of(encoder_row), words((37, 5, 1), WIDTH)
    encoded = encoder(batch)
    for readout in readouts_of(encoded, output_width(encoder.config)):
        vectors, random = readout(encoded), torch.Generator().manual_seed(5)
        named = dict([*encoder.named_parameters(), *readout.named_parameters()])
        total = (vectors * torch.randn(vectors.shape, generator=random)).sum()
        gradients = torch.autograd.grad(total, [*named.values()], retain_graph=True, allow_unused=True)
        for name, gradient in zip(named, gradients, strict=True):
            if name.endswith((".key.bias", "attentive.down.bias")):
                continue  # a constant on all logits of a softmax: its gradient is 0
            if not name.startswith(unread(encoder_row, readout.name)):
                assert gradient is not None, name
                assert gradient.abs().max() > 1e-9, name


def test_eval_is_deterministic_and_training_drops_out(encoder_row, encoder_of, words):
    batch = words(LENGTHS, WIDTH)
    encoder = encoder_of(encoder_row, dropout=0.5)
    evaluated = encoder(batch).tokens.values
    assert torch.equal(encoder(batch).tokens.values, evaluated)
    encoder.train()
    assert not torch.equal(encoder(batch).tokens.values, encoder(batch).tokens.values)
    calm = encoder_of(encoder_row, dropout=0.0).train()
    assert torch.equal(calm(batch).tokens.values, evaluated)


def test_state_dict_round_trip(encoder_row, encoder_of, words):
    batch = words(LENGTHS, WIDTH)
    encoder, second = encoder_of(encoder_row), encoder_of(encoder_row)
    for parameter in second.parameters():
        torch.nn.init.normal_(parameter)
    expected = encoder(batch).tokens.values
    assert not torch.allclose(second(batch).tokens.values, expected)
    second.load_state_dict(encoder.state_dict())
    assert torch.equal(second(batch).tokens.values, expected)


def test_another_default_device_changes_nothing(encoder_row, encoder_of, words):
    """What is made for a batch is made where the batch is, or on the CPU where NumPy is to read it."""
    encoder, lengths = encoder_of(encoder_row), (4, 0, 19, 1, 2)
    expected = encoder(words(lengths, WIDTH)).tokens.values
    batch = words(lengths, WIDTH)
    batch.values.requires_grad_()
    with torch.device("meta"):
        actual = encoder(batch).tokens.values
        actual.sum().backward()
    assert torch.equal(actual, expected)


def test_bfloat16(encoder_row, encoder_of, words):
    exact = encoder_of(encoder_row)(words(LENGTHS, WIDTH))
    encoder, batch = encoder_of(encoder_row, torch.bfloat16), words(LENGTHS, WIDTH, torch.bfloat16)
    encoded, width = encoder(batch), output_width(encoder.config)
    assert encoded.tokens.values.dtype == torch.bfloat16
    torch.testing.assert_close(encoded.tokens.values.double(), exact.tokens.values, rtol=0.1, atol=0.1)
    total = encoded.tokens.values.sum()
    for rough, fine in zip(
        readouts_of(exact, width, torch.bfloat16), readouts_of(exact, width), strict=True
    ):
        vectors = rough(encoded)
        assert vectors.dtype == torch.bfloat16
        torch.testing.assert_close(vectors.double(), fine(exact), rtol=0.1, atol=0.15)
        total = total + vectors.sum()
    total.backward()


def test_gradcheck(encoder_row, encoder_of, words):
    # The relay of an empty text is ReLU(0), where there is no derivative.
    lengths = (3, 1) if encoder_row.startswith("star") else (3, 0, 1)
    encoder, batch = encoder_of(encoder_row), words(lengths, WIDTH)

    def run(values, *_):
        encoded = encoder(batch.with_values(values))
        return (
            encoded.tokens.values if encoded.summary is None else (encoded.tokens.values, encoded.summary)
        )

    inputs = [batch.values.requires_grad_(), *encoder.parameters()]
    assert torch.autograd.gradcheck(run, inputs, fast_mode=True)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_the_transforms_of_torch_func(encoder_row, encoder_of, words):
    encoder, batch = encoder_of(encoder_row), words((3, 0, 5), WIDTH)
    weights = {name: weight.detach() for name, weight in encoder.named_parameters()}

    def states(weights):
        encoded = torch.func.functional_call(encoder, weights, (batch,))
        summary = [] if encoded.summary is None else [encoded.summary]
        return torch.cat([encoded.tokens.values, *summary])

    gradients = torch.func.grad(lambda weights: states(weights).sin().sum())(weights)
    states(dict(encoder.named_parameters())).sin().sum().backward()
    for name, weight in encoder.named_parameters():
        if weight.grad is not None:
            torch.testing.assert_close(gradients[name], weight.grad)
    if not encoder_row.startswith("bilstm"):  # PyTorch's LSTM knows no vmap
        stacked = {name: torch.stack([weight, weight / 2]) for name, weight in weights.items()}
        together = torch.vmap(states)(stacked)
        for place in range(2):
            alone = states({name: weight[place] for name, weight in stacked.items()})
            torch.testing.assert_close(together[place], alone)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_second_derivatives_by_torch_func(encoder_row, encoder_of, words):
    """They are the differences of the first ones, and leave nothing behind in what is kept of a batch."""
    encoder, batch = encoder_of(encoder_row), words((3, 2), WIDTH)

    def scalar(values):
        return encoder(batch.with_values(values)).tokens.values.sin().sum()

    first, values = torch.func.grad(scalar), batch.values.detach()
    with sdpa_kernel(SDPBackend.MATH):
        second = torch.func.jacrev(torch.func.jacrev(scalar))(values)
    step = torch.zeros_like(values)
    step[1, 2] = 1e-5
    expected = (first(values + step) - first(values - step)) / 2e-5
    torch.testing.assert_close(second[1, 2], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", list(ENCODERS))
def test_the_default_readout_works(name, encoder_of, words):
    readout = ModelConfig.from_json({"encoder": {"name": name}}).readout
    assert readout == default_readout(ENCODERS[name][1])
    encoder = encoder_of(name)
    pool = Readout(readout, output_width(encoder.config)).double()
    assert pool(encoder(words(LENGTHS, WIDTH))).shape == (len(LENGTHS), pool.width)
