"""Encoders on padded texts whose sizes are no numbers say what they say of ragged ones."""

import pytest
import torch

from headwise.artifacts.onnx.padded_encoders import PaddedLayout, on_padded
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import output_width
from headwise.nn.encoders.pooling import Readout
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged

from .conftest import ROWS, SMALL

MORE = {
    "global node": ("ms-transformer", SMALL | {"global_node": True, "width": 8}, "node", {}),
    "separate": ("ms-san", {"width": 8, "heads": 4, "head_size": 2, "separate": True}, "attentive,max", {}),
    "buckets": (
        "transformer",
        SMALL | {"priors": ("t5-buckets(8, furthest=5)", "rotary", "transformer-xl")},
        "max",
        {},
    ),
}
SIZES = [[7, 4, 0, 1], [1], [0], [20, 3, 3], [0, 0]]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("row", [*ROWS, *MORE])
def test_padding_changes_nothing(row, sizes):
    name, settings, readout, _ = {**ROWS, **MORE}[row]
    torch.manual_seed(0)
    kind, config = ENCODERS[name]
    if row == "separate":
        settings = settings | {"distances": ("word", "none")}
    encoder = kind(config(**settings)).eval()
    readout = Readout(readout, output_width(encoder.config))
    padded_encoder = on_padded(encoder, 8, 32)
    texts = [torch.randn(size, 8) for size in sizes]
    longest = max(1, *sizes)
    padded = torch.full((len(sizes), longest, 8), 1e3)  # what nobody may read
    for row_of, text in zip(padded, texts, strict=True):
        row_of[: len(text)] = text
    with torch.no_grad():
        units = {"sentence": torch.arange(longest) // 2, "paragraph": torch.arange(longest) // 5}
        marks = {name: [unit[:size] for size in sizes] for name, unit in units.items()}
        expected = encoder(Ragged(torch.cat(texts), Layout(sizes, marks=marks)))
        padded_marks = {name: unit.repeat(len(sizes), 1) for name, unit in units.items()}
        layout = PaddedLayout(torch.tensor(sizes), longest, padded_marks)
        actual = padded_encoder(Ragged(padded.flatten(0, 1), layout))
        states = actual.tokens.values.unflatten(0, (len(sizes), longest))
        for state, text in zip(states, expected.tokens, strict=True):
            torch.testing.assert_close(state[: len(text)], text, rtol=1e-5, atol=1e-5)
        assert (actual.summary is None) == (expected.summary is None)
        torch.testing.assert_close(readout(actual), readout(expected), rtol=1e-5, atol=1e-5)


def test_a_layout_without_sizes():
    layout = PaddedLayout(torch.tensor([2, 0]), 3, {"sentence": torch.tensor([[0, 1, 0], [0, 0, 0]])})
    assert layout.texts == 2
    assert layout.total == 6
    assert layout.text_of.tolist() == [0, 0, 0, 1, 1, 1]
    assert layout.positions.tolist() == [0, 1, 2, 0, 1, 2]
    assert layout.offsets.tolist() == [0, 3, 6]
    assert layout.prepended.lengths.tolist() == [3, 1]
    assert layout.prepended.without_first.lengths.tolist() == [2, 0]
    assert layout.prepended.without_first.longest == 3
    assert layout.prepended.padded_marks["sentence"].tolist() == [[-1, 0, 1, 0], [-1, 0, 0, 0]]
    assert layout.prepended.without_first.padded_marks["sentence"].tolist() == [[0, 1, 0], [0, 0, 0]]
    with pytest.raises(AttributeError):
        layout.sizes  # noqa: B018
