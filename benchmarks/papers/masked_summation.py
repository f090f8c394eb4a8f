"""Masked summation (Star-Transformer, Guo et al. 2019): add up the few vectors that are marked.

    x_i = [m_i; a_i],  a_i ~ U(0, 1)^(d-1),  m_i = 1 for k of N places        y = sum of the marked a_i

The paper shows a figure only; the sizes here, N 200, d 10, k 10, and the width 100 in 10 heads are ours. So
is how `star-no-ring` and `star-no-radial`, its ablations, go without edges: a word sees no neighbours, or
words and relay do not see each other.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.papers.set_tasks_training import EVALUATION, PART, Scores, Task
from headwise.core.errors import ConfigError
from headwise.nn.attention.graph_attention import Edges, Graph
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import output_width
from headwise.nn.encoders.pooling import Readout
from headwise.nn.encoders.star_transformer import StarStep, StarTransformer
from headwise.nn.encoders.transformer_configs import StarTransformerConfig
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged

LENGTH, FEATURES, MARKED, WIDTH = 200, 10, 10, 100
_HEADS = {"heads": 10, "head_size": 10, "layers": 2}
ABLATIONS = ("star-no-ring", "star-no-radial")
SETTINGS: dict[str, dict[str, Any]] = {
    "star-transformer": _HEADS,
    **dict.fromkeys(ABLATIONS, _HEADS),
    "transformer": _HEADS | {"feedforward": 4 * WIDTH},
    "ms-transformer": _HEADS,
    "bilstm": {"hidden": WIDTH // 2},
}


def masked_sums(
    seed: int | Sequence[int],
    sequences: int = 32,
    *,
    marked: int = MARKED,
    length: int = LENGTH,
    features: int = FEATURES,
) -> tuple[Ragged, Tensor]:
    """Sequences `[features]` a row, the first one the mark, and their sums `[sequences, features - 1]`.

    Raises:
        ConfigError: More places are marked than there are.
    """
    if not 1 <= marked <= length:
        raise ConfigError(f"marked must be between 1 and the length {length}, got {marked}")
    random = np.random.default_rng(seed)
    rows = random.random((sequences, length, features), dtype=np.float32)
    order = random.random((sequences, length)).argsort(1)
    rows[..., 0] = order < marked
    sums = (rows[..., 1:] * rows[..., :1]).sum(1)
    flat = torch.from_numpy(rows.reshape(-1, features))
    return Ragged.from_lengths(flat, [length] * sequences), torch.from_numpy(sums)


class PartOfStar(StarTransformer):
    """A Star-Transformer without the edges of its ring, or without those between words and relay."""

    def __init__(self, config: StarTransformerConfig, *, ring: bool, radial: bool):
        super().__init__(config)
        self.steps_seen, self.radial = (-1, 0, 1) if ring else (0,), radial
        if not radial:
            for step in self.steps:
                step.relay = partial(_relay_alone, step)

    def ring(self, layout: Layout) -> Graph:
        """What each word sees of the rows `[H; E; s]`."""
        total, text, row = layout.total, layout.text_of, torch.arange(layout.total)
        length, start = layout.lengths[text], layout.offsets[:-1][text]
        columns = [start + (layout.positions + step) % length for step in self.steps_seen]
        columns += [total + row, *([2 * total + text] if self.radial else [])]
        return Graph.of(total, [Edges(None, torch.stack(columns, dim=1))])


def _relay_alone(step: StarStep, s: Tensor, h: Tensor, layout: Layout) -> Tensor:
    """`StarStep.relay` of relays that see no words."""
    return StarStep.relay(step, s, h[:0], Layout([0] * layout.texts))


class Summation(nn.Module):
    """Linear, encoder, summary + maximum, two-layer perceptron."""

    def __init__(self, encoder: str):
        super().__init__()
        if encoder not in SETTINGS:
            raise ConfigError(f"unknown model {encoder!r}; expected one of {', '.join(SETTINGS)}")
        module, kind = ENCODERS["star-transformer" if encoder in ABLATIONS else encoder]
        config = kind(width=WIDTH, dropout=0.0, **SETTINGS[encoder])
        self.inputs = nn.Linear(FEATURES, WIDTH)
        if isinstance(config, StarTransformerConfig) and encoder in ABLATIONS:
            gone = encoder.removeprefix("star-no-")
            self.encoder = PartOfStar(config, ring=gone != "ring", radial=gone != "radial")
        else:
            self.encoder = module(config)
        self.readout = Readout("node+max", output_width(config))
        self.outputs = nn.Sequential(
            nn.Linear(self.readout.width, WIDTH), nn.ReLU(), nn.Linear(WIDTH, FEATURES - 1)
        )

    def forward(self, rows: Ragged) -> Tensor:
        """`[sequences, features - 1]`; it begins at the mean of the sums."""
        return MARKED / 2 + self.outputs(self.readout(self.encoder(rows.map(self.inputs))))


class MaskedSummation(Task):
    """Mean squared error of a feature of the sum."""

    name = "masked-summation"
    metrics = ("mse",)
    model = "star-transformer"
    steps, rate, decay_at, precision = 20_000, 1e-3, 0.7, "float32"
    evaluation_sets, evaluate_every = 2000, 1000
    paper: Mapping[str, tuple[float, ...]] = {}  # a figure only

    def make(self, model: str) -> Summation:
        return Summation(model)

    def loss(self, model: Summation, seed: list[int]) -> Tensor:
        rows, sums = masked_sums(seed)
        return (model(rows).float() - sums).square().mean()

    def evaluate(self, model: Summation, sets: int) -> Scores:
        error = 0.0
        for part in range(sets // PART):
            rows, sums = masked_sums([EVALUATION, part], PART)
            error += (model(rows) - sums).square().mean(1).sum().item()
        return {"mse": error / sets}

    def references(self, sets: int) -> dict[str, Scores]:
        return {"best constant guess": {"mse": MARKED / 12}}
