"""Matrices of the user's for each text: from the batch, and computed from the words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import torch

from headwise import TextClassifier
from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.artifacts.onnx.graph import check_exportable
from headwise.artifacts.onnx.onnx_errors import ExportError
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.attention import SelfAttention
from headwise.nn.attention.reference import attention as reference
from headwise.nn.attention.sdpa import attention as fused
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.long_texts import encode_in_windows
from headwise.nn.layout import Layout
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.priors import PRIORS, Forward, GlobalTokens, Matrix, PositionPairs, TextMatrix, register
from headwise.nn.ragged import Ragged

LENGTHS = (5, 0, 1, 3, 5)


@dataclass(frozen=True)
class SameLetter(TextMatrix):
    """1 for words that begin with the same letter."""

    fault: int = 0
    name: ClassVar[str] = "same-letter"

    def matrix(self, words: Sequence[str]):
        if self.fault == 1:
            return np.zeros((len(words), len(words) + 1))
        table = [[float(a[0] == b[0]) for b in words] for a in words]
        if self.fault == 2:
            table[0][1] = float("nan")
        return table


@pytest.fixture(autouse=True, scope="module")
def registered():
    """The prior has a name while these tests run."""
    register(SameLetter)
    yield
    del PRIORS[SameLetter.name]


def layout_of(node=False) -> Layout:
    random = torch.Generator().manual_seed(3)
    layout = Layout(LENGTHS, matrices={"matrix": [torch.randn(n, n, generator=random) for n in LENGTHS]})
    return layout.prepended if node else layout


@pytest.mark.parametrize("node", [False, True], ids=["words", "classification node"])
@pytest.mark.parametrize("attend", [reference, fused])
@pytest.mark.parametrize("prior", [Matrix(), Matrix(0.5) + Forward(), GlobalTokens(Matrix(2.0))], ids=str)
def test_a_double_loop(prior, attend, node):
    layout = layout_of(node)
    scale = getattr(prior, "inner", getattr(prior, "parts", (prior,))[0]).scale
    q, k, v = torch.randn(3, layout.total, 1, 4, generator=torch.Generator().manual_seed(1)).double()
    outputs = attend(q, k, v, [prior], layout)[:, 0]
    start = 0
    for matrix, size in zip(layout_of().matrices["matrix"], LENGTHS, strict=True):
        n = size + node
        for i in range(n):
            keys = range(i + 1) if Forward() in getattr(prior, "parts", ()) else range(n)
            logits = []
            for j in keys:
                skipped = (node and 0 in (i, j)) or (isinstance(prior, GlobalTokens) and 0 in (i, j))
                added = 0.0 if skipped else scale * float(matrix[i - node, j - node])
                logits.append(q[start + i, 0] @ k[start + j, 0] / 2 + added)
            weights = torch.stack(logits).softmax(0)
            expected = sum(w * v[start + j, 0] for w, j in zip(weights, keys, strict=True))
            torch.testing.assert_close(outputs[start + i], expected, rtol=1e-6, atol=1e-6)
        start += n


def test_windows_have_their_part():
    seen = []

    def encoder(x):
        seen.extend(matrix.tolist() for matrix in x.layout.matrices["matrix"])
        return Encoded(x)

    matrix = torch.arange(16.0).reshape(4, 4)
    layout = Layout([4], matrices={"matrix": [matrix]})
    encode_in_windows(encoder, Ragged(torch.zeros(4, 2), layout), 2, 0)  # type: ignore[arg-type]
    assert seen == [matrix[:2, :2].tolist(), matrix[2:, 2:].tolist()]


def test_errors_of_layouts():
    with pytest.raises(ValueError, match=r"matrix, text 2: a matrix \[2, 3\] for 2 rows"):
        Layout([1, 2], matrices={"matrix": [torch.zeros(1, 1), torch.zeros(2, 3)]})
    with pytest.raises(HeadwiseError, match="has none of the name 'matrix'") as error:
        Matrix().bias(PositionPairs.of_length(2))
    assert error.value.code == "HW313"
    layer = SelfAttention(4, [Matrix()], 4)
    assert layer(Ragged(torch.zeros(1, 4), Layout([1], matrices={"matrix": [torch.ones(1, 1)]})))


SMALL = {
    "encoder": {"name": "transformer", "width": 8, "heads": 2, "layers": 1, "feedforward": 8},
    "base": {"name": "none"},
    "linear_model": {"kind": "none"},
    "words": {"vector_size": 8},
    "train": {"epochs": 1},
}


def settings_of(*priors: str) -> dict:
    return SMALL | {"encoder": SMALL["encoder"] | {"priors": list(priors)}}


TEXTS = [f"a{n} b a{n} {'good' if n % 2 else 'bad'}" for n in range(60)]


def test_matrices_of_words_in_a_model(tmp_path):
    rows = [f"{text},{['no', 'yes'][n % 2]}" for n, text in enumerate(TEXTS)]
    (tmp_path / "texts.csv").write_text("\n".join(["text,label", *rows, ""]))
    train_files(tmp_path / "texts.csv", tmp_path / "model", settings=settings_of("same-letter(3)"))
    model = load_model(tmp_path / "model", TextClassifierModel)
    [encoded] = model.encoded(["ant bee art"])
    assert encoded.matrices["same-letter"].tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    texts = ["ant bee art", "", "a", *TEXTS[:5]]
    together = model.predict_proba(texts)
    for text, expected in zip(texts, together, strict=True):
        np.testing.assert_allclose(model.predict_proba([text])[0], expected, atol=1e-6)
    with pytest.raises(ExportError, match="its matrices are computed by your code"):
        check_exportable(model, "texts")


def test_estimators_take_them():
    labels = [n % 2 for n in range(60)]
    classifier = TextClassifier(recipe=settings_of("same-letter", "everything")).fit(TEXTS, labels)
    assert classifier.predict_proba(TEXTS[:3]).shape == (3, 2)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (
            "same-letter(fault=1)",
            r"the matrix of the prior 'same-letter' is \[4, 5\], but the text has 4 words",
        ),
        ("same-letter(fault=2)", "is nan in row 1, column 2; expected finite numbers"),
    ],
)
def test_wrong_matrices(prior, message):
    with pytest.raises(HeadwiseError, match=message) as error:
        TextClassifier(recipe=settings_of(prior)).fit(TEXTS, [n % 2 for n in range(60)])
    assert error.value.code == "HW314"


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        (["matrix"], "the prior matrix takes its matrices from a layout"),
        (["same-letter", "same-letter(fault=1)"], "need the same settings, except for scale"),
    ],
)
def test_models_that_cannot_be(priors, message):
    with pytest.raises(ConfigError, match=message):
        TextClassifier(recipe=settings_of(*priors)).fit(TEXTS, [n % 2 for n in range(60)])
