"""Encoders and batches for the tests of encoders. A new encoder joins by a row in `ROWS`: a test that asks
for `encoder_row` runs for every row, and `encoder_of(encoder_row)` makes the encoder."""

import pytest
import torch

from headwise.nn.encoders import ENCODERS
from headwise.nn.ragged import Ragged

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
    "star-transformer, relays": ("star-transformer", SMALL | {"relays": 2, "max_positions": 40}),
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
    "transformer, bare": ("transformer", SMALL | {"classification_node": False, "positions": "none"}),
    "transformer, priors": (
        "transformer",
        SMALL | {"heads": 3, "priors": ("later", "shaw(2)", "global-tokens(t5-buckets(8, furthest=5))")},
    ),
    "bilstm": ("bilstm", {"width": WIDTH, "hidden": 4}),
    "bilstm, two layers": ("bilstm", {"width": WIDTH, "hidden": 3, "layers": 2}),
    "s-lstm": ("s-lstm", {"width": WIDTH, "layers": 2}),
    "tree-lstm": ("tree-lstm", {"width": WIDTH, "hidden": 6, "tree_fallback": "word"}),
    "tree-lstm, brackets": (
        "tree-lstm",
        {"width": WIDTH, "hidden": 6, "tree_fallback": "word", "trees": "constituency"},
    ),
    "disan": ("disan", {"width": WIDTH}),
    "disan, two layers": ("disan", {"width": WIDTH, "layers": 2, "bound": 2.0}),
}


def pytest_generate_tests(metafunc):
    if "encoder_row" in metafunc.fixturenames:
        metafunc.parametrize("encoder_row", list(ROWS))


def _words(lengths, width, dtype=torch.float64, seed=0) -> Ragged:
    random = torch.Generator().manual_seed(seed)
    values = torch.randn(sum(lengths), width, generator=random, dtype=torch.float64)
    return Ragged.from_lengths(values.to(dtype), lengths)


def _encoder_of(row, dtype=torch.float64, **changes):
    name, config = ROWS[row]
    module, configuration = ENCODERS[name]
    torch.manual_seed(3)
    return module(configuration(**(config | changes))).to(dtype).eval()


@pytest.fixture(scope="session")
def words():
    """`words(lengths, width, dtype, seed)`: random word vectors as a batch."""
    return _words


@pytest.fixture(scope="session")
def encoder_of():
    """`encoder_of(row, dtype, **changes)`: the encoder of a row, with other settings where given."""
    return _encoder_of


@pytest.fixture(scope="session")
def rows():
    """All rows: name in `ENCODERS` and configuration."""
    return ROWS
