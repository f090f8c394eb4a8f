"""Products of 16-bit integers are those of float32 within their rounding, and so are the outputs of wide
encoders."""

import numpy as np
import pytest
import torch

from headwise.artifacts import save_model
from headwise.artifacts.offline_page.page_network import page_network
from headwise.artifacts.runtime_load import load_for_prediction
from headwise.core import native
from headwise.nn.encoders.encoder_configs import MSTransformerConfig
from headwise.nn.encoders.transformer_configs import MSSANConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.runtime.layers import Affine, Int16Affine, encoder_affine
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

SHAPES = [(1, 1, 1), (5, 7, 33), (13, 256, 96), (200, 31, 64), (0, 8, 8), (97, 600, 40), (64, 64, 16)]


def products(rows, weight, bias, kernel=""):
    out = np.full((len(rows), weight.shape[1]), np.nan, np.float32)
    native.Int16Matrix(weight, bias, kernel).multiply(rows, out)
    return out


def random_layer(shape, random):
    count, inputs, outputs = shape
    rows = (random.normal(size=(count, inputs)) * 10.0 ** random.integers(-6, 6, (count, 1))).astype("f4")
    weight = (random.normal(size=(inputs, outputs)) * 10.0 ** random.integers(-3, 3, outputs)).astype("f4")
    return rows, weight, random.normal(size=outputs).astype("f4")


@pytest.mark.parametrize("kernel", native.int16_kernels())
@pytest.mark.parametrize("shape", SHAPES)
def test_products_are_off_by_little_of_the_lengths(shape, kernel):
    inputs = shape[1]
    rows, weight, bias = random_layer(shape, np.random.default_rng(0))
    exact = rows.astype("f8") @ weight + bias
    lengths = np.linalg.norm(rows, axis=1)[:, None] * np.linalg.norm(weight, axis=0)
    errors = np.abs(products(rows, weight, bias, kernel) - exact)
    assert (errors <= (inputs**0.5 + 1) / 46_000 * lengths + 1e-6 * np.abs(bias)).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_tiles_of_bytes_give_the_bits_of_16_bit_products(shape):
    if native.int16_kernels()[:2] != ["amx", "vnni"]:
        pytest.skip("this processor has no tiles (AMX)")
    layer = random_layer(shape, np.random.default_rng(3))
    np.testing.assert_array_equal(products(*layer, "amx"), products(*layer, "vnni"))


@pytest.mark.parametrize("kernel", native.int16_kernels())
def test_the_longest_sums_do_not_overflow(kernel):
    # Equal directions reach the bound of Cauchy-Schwarz: no sum is longer.
    for numbers in (np.ones(4096), np.r_[1.0, np.zeros(999)], np.tile([1.0, -1.0], 500)):
        rows = numbers[None].astype("f4")
        out = products(rows, -rows.T.copy(), np.zeros(1, np.float32), kernel)
        np.testing.assert_allclose(out, [[-(numbers**2).sum()]], rtol=1.5e-3)


@pytest.mark.parametrize("kernel", native.int16_kernels())
def test_rows_that_are_zero_tiny_or_not_finite(kernel):
    rows = np.ones((5, 3), np.float32)
    rows[0], rows[1], rows[2, 1], rows[3, 0] = 0, 1e-40, np.nan, np.inf
    out = products(rows, np.ones((3, 2), np.float32), np.full(2, 7, np.float32), kernel)
    np.testing.assert_array_equal(out[:2], 7)
    assert np.isnan(out[2:4]).all()
    np.testing.assert_allclose(out[4], 10, rtol=1e-4)


def test_arguments_that_do_not_fit_are_refused():
    matrix = native.Int16Matrix(np.ones((3, 2), np.float32), np.zeros(2, np.float32))
    for rows, out in (((1, 2), (1, 2)), ((1, 3), (2, 2)), ((1, 3), (1, 3))):
        with pytest.raises(ValueError, match="as the matrix has"):
            matrix.multiply(np.ones(rows, np.float32), np.ones(out, np.float32))
    with pytest.raises(ValueError, match="one bias"):
        native.Int16Matrix(np.ones((3, 2), np.float32), np.zeros(3, np.float32))
    with pytest.raises(ValueError, match="a kernel that this processor runs"):
        native.Int16Matrix(np.ones((3, 2), np.float32), np.zeros(2, np.float32), "wide")
    with pytest.raises(ValueError, match="inputs"):
        native.Int16Matrix(np.ones((0, 2), np.float32), np.zeros(2, np.float32))


def test_several_threads_multiply_to_the_same_bits(monkeypatch):
    random = np.random.default_rng(1)
    affine = Int16Affine(Affine(random.normal(size=(40, 50)).astype("f4")))
    rows = random.normal(size=(1000, 40)).astype("f4")
    alone = affine(rows)
    monkeypatch.setattr("headwise.runtime.layers.usable_threads", lambda: 3)
    np.testing.assert_array_equal(affine(rows), alone)


def test_small_matrices_and_other_processors_keep_float32(monkeypatch):
    wide, narrow = (Affine(np.ones((128, size), np.float32)) for size in (128, 127))
    monkeypatch.setattr(native, "has_int16_products", lambda: False)
    assert encoder_affine(wide) is wide
    monkeypatch.setattr(native, "has_int16_products", lambda: True)
    assert encoder_affine(narrow) is narrow
    assert isinstance(encoder_affine(wide), Int16Affine)


WIDE = {"width": 128, "head_size": 32, "heads": 4}
ENCODERS = [
    (MSTransformerConfig(**WIDE, layers=3, scales=("3", "9", "n/2")), "node+max"),
    (MSSANConfig(**WIDE, feedforward=256, layers=2, distances=("word",), bias=True), "attentive,max"),
]


@pytest.mark.parametrize(("encoder", "readout"), ENCODERS)
def test_outputs_of_a_wide_encoder_are_those_of_torch(encoder, readout, tmp_path, monkeypatch):
    monkeypatch.setattr(native, "has_int16_products", lambda: True)
    words = [f"w{number}" for number in range(200)]
    torch.manual_seed(0)
    config = ModelConfig(
        task="classify", words=WordConfig(vector_size=128), encoder=encoder, readout=readout
    )
    model = TextClassifierModel(config, Vocabulary.build([words]), ["x", "y"]).eval()
    save_model(model, tmp_path / "m", data={}, training={}, metrics={})
    runtime = load_for_prediction(tmp_path / "m")
    random = np.random.default_rng(2)
    texts = [" ".join(random.choice(words, random.integers(1, 60))) for _ in range(40)]
    outputs = runtime.outputs_of(runtime.encoded(texts))
    expected = np.asarray(model.outputs_of(model.encoded(texts)))
    assert 0 < np.abs(outputs - expected).max() < 1e-3


def test_an_offline_page_has_the_weights_of_a_wide_encoder_in_float32(monkeypatch):
    monkeypatch.setattr(native, "has_int16_products", lambda: True)
    encoder, readout = ENCODERS[0]
    config = ModelConfig(
        task="classify", words=WordConfig(vector_size=128), encoder=encoder, readout=readout
    )
    model = TextClassifierModel(config, Vocabulary.build([["word"]], min_count=1), ["x", "y"]).eval()
    page = page_network(model)
    layer = page.settings["layers"][0]["out"]
    arrays = page.tables
    state = model.state_dict()
    (name,) = (name for name in state if name.endswith(".0.attention.out.weight"))
    np.testing.assert_array_equal(arrays[layer["weight"]], state[name].numpy().T)
    assert layer["bias"] is None
