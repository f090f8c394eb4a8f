"""Small models, what was exported of them, and texts that are hard to agree on."""

import csv
import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.artifacts.onnx.graph import USES_TORCH_EXPORT
from headwise.artifacts.onnx.onnx_export import write_exported
from headwise.artifacts.onnx.onnx_load import load_exported
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import WindowsConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.static_embeddings.base_folder import save_base
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = [f"w{number}" for number in range(40)]
WINDOW = 9
"""Words that are read at once by the models that read long texts in windows."""
SHORT = WindowsConfig(words=100)
"""Longer than the texts of the tests, and shorter than 2048 words, at which the export of an encoder whose
heads see all words is compared with the model by default: a second, and nine with learned heads."""

SMALL = {"width": 8, "heads": 3, "head_size": 4, "layers": 2}
FLAT = SMALL | {"layers": 1}  # for further rows of an encoder
DEEP = ("ms-transformer", "ms-transformer, windows", "bilstm, two layers", "s-lstm")
"""Rows whose graph has both layers, which takes twice as long; `test_padded.py` has both of all rows."""
# id: (encoder, its settings, readout, more settings of the model)
ROWS = {
    "ms-transformer": ("ms-transformer", SMALL, "node+max", {}),
    "ms-transformer, no node, positions": (
        "ms-transformer",
        FLAT | {"classification_node": False, "positions": "learned", "max_positions": 64},
        "attentive,max",
        {"classifier": ClassifierConfig(hidden=5, normalize="batch")},
    ),
    "ms-transformer, windows": (  # with the very graph of the first row
        "ms-transformer",
        SMALL,
        "node+max",
        {"windows": WindowsConfig(words=WINDOW, overlap=3)},
    ),
    "ms-san": (
        "ms-san",
        SMALL | {"heads": 4, "distances": ("word", "none"), "feedforward": 6},
        "attentive,max",
        {"windows": WindowsConfig(words=WINDOW)},
    ),
    "ms-san, learned positions": (
        "ms-san",
        FLAT | {"heads": 4, "distances": ("shaw", "none"), "shaw_span": 2, "feedforward": 6},
        "attentive",
        {"windows": SHORT},
    ),
    "transformer": ("transformer", SMALL | {"feedforward": 6}, "mean,max", {}),
    "transformer, priors": (
        "transformer",
        FLAT
        | {
            "heads": 9,
            "feedforward": 6,
            "priors": (
                *("learned-slope", "kerple + fire(3)", "adaptive-span(2, ramp=2)"),
                *("forgetting", "cope(3)", "shifted-window(3) + sink"),
                *("later", "shaw(2)", "word-distance(0.5) + window(3)"),
            ),
        },
        "max",
        {"windows": SHORT},
    ),
    "transformer, sentences": (
        "transformer",
        FLAT
        | {
            "heads": 5,
            "feedforward": 6,
            "priors": (
                *("same-sentence", "sentence-distance(0.5, reach=1)", "same-paragraph"),
                *("t5-buckets(8, furthest=5)", "global-tokens(earlier)"),
            ),
        },
        "node,max",
        {"windows": WindowsConfig(words=WINDOW, overlap=3)},
    ),
    "bilstm": ("bilstm", {"width": 8, "hidden": 4}, "max", {}),
    "bilstm, two layers": (
        "bilstm",
        {"width": 8, "hidden": 3, "layers": 2},
        "node",
        {"windows": WindowsConfig(words=WINDOW)},
    ),
    "star-transformer": (
        "star-transformer",
        SMALL | {"max_positions": 64},
        "node,max",
        {"windows": WindowsConfig(words=WINDOW)},
    ),
    "star-transformer, truncated": (
        "star-transformer",
        FLAT | {"ring": "truncate", "variant": "fastnlp", "positions": "sinusoidal", "relays": 3},
        "max",
        {},
    ),
    "star-transformer, zeros": (
        "star-transformer",
        FLAT | {"ring": "zero", "positions": "none", "residual": True},
        "mean",
        {},
    ),
    "set-transformer": (
        "set-transformer",
        {"width": 8, "heads": 2, "layers": 2, "induced": 3},
        "node,max",
        {},
    ),
    "set-transformer, no points": (
        "set-transformer",
        {
            "width": 8,
            "heads": 2,
            "layers": 1,
            "induced": 0,
            "block": "paper",
            "norm": "pre",
            "scale": "model",
        },
        "mean,max",
        {"windows": WindowsConfig(words=WINDOW)},
    ),
    "s-lstm": ("s-lstm", {"width": 8, "layers": 2}, "node", {"windows": WindowsConfig(words=WINDOW)}),
}

PADDED_ONLY = (
    *("transformer", "bilstm", "ms-san, learned positions"),
    *("star-transformer, zeros", "set-transformer, no points"),
)
"""Rows that are not exported: all their operators are in the graphs of other rows, pairs and taggers."""
EXPORTED = tuple(row for row in ROWS if row not in PADDED_ONLY)


def hard_texts() -> list[str]:
    """Empty ones, single words, unknown words, many lengths, some longer than the windows."""
    drawn = random.Random(0)
    texts = ["", "   ", "w1", "unheard", "W1 Unheard-of w2!", "w3 w3 w3"]
    lengths = (2, 3, 4, 5, 7, 8, 9, 10, 11, 17, 30, 41)
    texts += [" ".join(drawn.choices(WORDS, k=length)) for length in lengths]
    units = ["W1 w2. W3 w4!", "\n\nw1 w2.\n\nW3. W4\r\n\r\nw5\n", ". ".join(WORDS[:20]).title()]
    return [*texts, "w5", texts[-1], *units]


@pytest.fixture(scope="session")
def needs_onnx(one_registry) -> None:
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name, reason="the extra `onnx` is not installed")


@pytest.fixture(scope="session")
def texts() -> list[str]:
    return hard_texts()


def encoder_of(row: str) -> Any:
    """The settings of the encoder of a row."""
    encoder, sizes, _, _ = ROWS[row]
    if "layers" in sizes and row not in DEEP:
        sizes = sizes | {"layers": 1}
    return ENCODERS[encoder][1](**sizes)


def draw_weights(network: torch.nn.Module, prefix: str = "") -> None:
    """Draw the weights of a network, each by its name and shape alone.

    So encoders with the same settings have the same weights, whatever else their models have, and their
    graph is written once for all of them (`same_graphs`).
    """
    for name, tensor in (*network.named_parameters(prefix), *network.named_buffers(prefix)):
        if not tensor.is_floating_point():
            continue
        seed = zlib.crc32(f"{name} {list(tensor.shape)}".encode())
        drawn = torch.rand(tensor.shape, generator=torch.Generator().manual_seed(seed))
        if not isinstance(tensor, torch.nn.Parameter):
            tensor.data += 0.3 * drawn
        elif tensor.dim() > 1 or "bias" in name or name.endswith("node.state"):
            tensor.data = 0.9 * drawn - 0.3
        else:  # of a norm, or a setting of heads
            tensor.data = 0.3 * drawn + (1.0 if name.endswith("weight") else tensor.data)


def draw_encoder(model: Any) -> None:
    """Draw the weights that the graph of the encoder has, whatever they were trained to be."""
    draw_weights(model.encoder, "encoder")
    for name in ("norm", "project"):
        if (layer := getattr(model.embedding, name, None)) is not None:
            draw_weights(layer, name)


@pytest.fixture(scope="session")
def make_model():
    """Makes a model of a row; its weights are drawn."""

    def make(row: str) -> TextClassifierModel:
        encoder, _, readout, more = ROWS[row]
        words = WordConfig(vector_size=6 if encoder == "ms-transformer" else 8)
        settings = {"classifier": ClassifierConfig(hidden=5), **more}
        config = ModelConfig(words=words, encoder=encoder_of(row), readout=readout, **settings)
        model = TextClassifierModel(config, Vocabulary.build([WORDS]), ["x", "y", "z"])
        draw_weights(model)
        model.temperature = 1.5
        return model.eval()

    return make


ENGINES = ("auto", "onnxruntime")


@pytest.fixture(scope="session")
def written(make_model, texts, tmp_path_factory, same_graphs, needs_onnx):
    """A model of a row, and the folder that it was exported to; made once. The export does not change the
    model."""
    made = {}

    def give(row: str):
        if "shaw" in str(ROWS[row]) and not USES_TORCH_EXPORT:
            pytest.skip("the exporter of this torch does not write such heads down")
        if row not in made:
            model, folder = make_model(row), tmp_path_factory.mktemp("exported") / "model"
            before, settings = model.predict_proba(texts), str(model)
            with same_graphs():
                write_exported(model, folder)
            assert str(model) == settings
            np.testing.assert_array_equal(model.predict_proba(texts), before)
            made[row] = model, folder
        return made[row]

    return give


@pytest.fixture(scope="session")
def pair_of(written):
    """A model of a row, and what was exported of it, computed by onnxruntime; made once."""
    made = {}

    def give(row: str):
        if row not in made:
            model, folder = written(row)
            made[row] = model, load_exported(folder, engine="onnxruntime")
        return made[row]

    return give


@pytest.fixture(scope="session")
def base(tmp_path_factory) -> str:
    """A base that knows some words."""
    folder = tmp_path_factory.mktemp("bases") / "base"
    drawn = np.random.default_rng(0)
    words = ("good", "fine", "bad", "poor", "a", "film", *WORDS[:20])
    rows, runs = (drawn.normal(size=(count, 6)).astype(np.float32) for count in (len(words), 64))
    weights = drawn.uniform(0.5, 1.5, size=len(words) + 1).astype(np.float32)
    save_base(
        StaticEmbeddings("tiny", words, QuantizedMatrix.of(rows), QuantizedMatrix.of(runs), weights),
        folder,
        "#\n",
    )
    return str(folder)


_TRAINED = {
    "classify": (lambda good, _: "good" if good else "bad", {"classifier": {"hidden": 8}}),
    "multi-label": (lambda good, odd: "|".join(["good"] * good + ["odd"] * odd), {}),
    "regress": (lambda good, odd: f"{1.5 * good + 0.25 * odd:.2f}", {}),
}


@pytest.fixture(scope="session")
def trained(tmp_path_factory, base):
    """The folder of a model with a linear member, with or without a base, by task, and its data."""
    made: dict[tuple[str, bool], tuple[Path, Path]] = {}

    def give(task: str, *, based: bool = True) -> tuple[Path, Path]:
        if (task, based) not in made:
            folder = tmp_path_factory.mktemp("trained")
            made[task, based] = folder / "model", folder / "data.csv"
            _write(folder / "data.csv", _TRAINED[task][0])
            settings = {
                "model": {"task": task},
                "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
                "train": {"epochs": 2, "batch-texts": 16},
                "base": {"name": base if based else "none"},
                **_TRAINED[task][1],
            }
            train_files(folder / "data.csv", folder / "model", settings=[settings])
        return made[task, based]

    return give


def _write(path: Path, answer) -> None:
    drawn = random.Random(1)
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "label"])
        for number in range(160):
            good, odd = number % 2 == 0, number % 3 == 0
            words = [drawn.choice(("good", "fine") if good else ("bad", "poor")), *("odd",) * odd]
            words += drawn.choices(WORDS, k=drawn.randrange(1, 9))
            drawn.shuffle(words)
            table.writerow([f"{' '.join(words)} n{number}", answer(good, odd)])


@pytest.fixture(scope="session")
def exported_model(trained, tmp_path_factory, same_graphs, needs_onnx):
    """A trained model with a drawn encoder (`draw_encoder`), and the folder of what was exported of it."""
    made: dict[tuple[str, bool], tuple[Any, Path]] = {}

    def give(task: str, *, based: bool = True) -> tuple[Any, Path]:
        if (task, based) not in made:
            model, folder = load_model(trained(task, based=based)[0]), tmp_path_factory.mktemp("exported")
            draw_encoder(model)
            with same_graphs():
                write_exported(model, folder / "model", columns={"text_column": "text"})
            made[task, based] = model, folder / "model"
        return made[task, based]

    return give
