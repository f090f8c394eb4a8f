"""The settings of the papers' tables."""

import tomllib

import pytest
import torch

from benchmarks import ROOT
from benchmarks.common.runs import read_recipe
from headwise.app.configuration import build_config
from headwise.data.items.symbols import SymbolVocabulary
from headwise.nn.networks.language_model import LanguageModel

PRESETS = sorted((ROOT / "benchmarks" / "papers" / "presets").glob("*.toml"))
SYMBOLS = SymbolVocabulary("characters", tuple("abcdefg"), (1,) * 7)


@pytest.mark.parametrize("path", PRESETS, ids=lambda path: path.stem)
def test_they_can_be_built(path):
    build_config(tomllib.loads(path.read_text("utf-8")))


def test_parameters_of_the_paper():
    """enwik8 with 205 symbols: 38,678,221 in all, the softmax being the embedding."""
    symbols = SymbolVocabulary("bytes", tuple(map(chr, range(205))), (1,) * 205)
    for name in ("enwik8-bp-transformer", "text8-bp-transformer-512"):
        config = build_config(read_recipe(name)).model
        with torch.device("meta"):
            model = LanguageModel(config, symbols)
        assert sum(p.numel() for p in model.parameters()) == 38_678_221


@pytest.mark.parametrize("data", ["ptb", "war-and-peace"])
@pytest.mark.parametrize("encoder", ["transformer", "bp-transformer"])
def test_recipes_for_small_texts(data, encoder):
    config = build_config(read_recipe(f"{data}-{encoder}")).model
    assert config.task == "language-model"
    with torch.device("meta"):
        LanguageModel(config, SYMBOLS)
