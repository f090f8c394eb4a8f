"""attention_weights: the words of texts of all tasks on what the heads look at."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from headwise import attention_weights
from headwise.core.errors import ConfigError
from headwise.data.items.examples import TaggedSentence
from headwise.data.items.symbols import SymbolVocabulary
from headwise.models.pictures import heat_maps
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import WindowsConfig
from headwise.nn.networks.bag_model import BagFeatures, BagModel
from headwise.nn.networks.language_model import LanguageModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.networks.text_models import PairModel, TextClassifierModel
from headwise.nn.task_layers.layer_configs import LanguageConfig, PairConfig
from headwise.text.character_features import Alphabet
from headwise.text.vocabulary import Vocabulary

SIZES = {"width": 8, "heads": 2, "head_size": 4, "layers": 2, "tree_fallback": "word", "feedforward": 8}
VOCABULARY = Vocabulary.build([["the", "cat", "saw", "a", "dog"]])


def config(encoder="ms-transformer", **more) -> ModelConfig:
    kind = ENCODERS[encoder][1]
    sizes = {name: value for name, value in SIZES.items() if name in kind.__dataclass_fields__}
    return ModelConfig(encoder=kind(**sizes), readout="mean", **more)


@pytest.mark.parametrize("encoder", [name for name in ENCODERS if "lstm" not in name])
def test_every_encoder(encoder):
    model = TextClassifierModel(config(encoder), VOCABULARY, ["x", "y"]).train()
    maps = attention_weights(model, "the cat saw a dog")
    assert {attn.layer for attn in maps} == {1, 2}
    assert model.training
    for attn in maps:
        assert attn.words == ("the", "cat", "saw", "a", "dog")
        assert attn.error < 1e-5
        assert attn.between_words().shape == (len(attn.weights), 5, 5)
        assert attn.between_words().sum(-1).max() < 1 + 1e-5


def test_a_span_is_shared_by_its_words():
    maps = attention_weights(
        TextClassifierModel(config("bp-transformer"), VOCABULARY, ["x", "y"]), "the cat " * 8
    )
    for attn in maps:
        torch.testing.assert_close(attn.between_words().sum(-1), torch.ones(2, 16))
        assert {attn.name(node) for node in attn.keys if node.name == "span"} >= {"the cat"}


def test_pairs_tags_and_symbols():
    pair = attention_weights(PairModel(config(task="pair"), VOCABULARY, ["x", "y"]), ("a cat", "a dog saw"))
    assert [(attn.text, len(attn.words)) for attn in pair[:2]] == [(0, 2), (1, 3)]
    tagger = TagModel(config(task="tag"), VOCABULARY, ["O", "N"], "plain", Alphabet.build(["cat"]))
    for content in ("a cat", ["a", "cat"], TaggedSentence(("a", "cat"), ())):
        assert attention_weights(tagger, content)[0].words == ("a", "cat")
    back = ENCODERS["transformer"][1](width=8, layers=1, priors=("forward",), classification_node=False)
    symbols, language = (
        SymbolVocabulary("characters", ("a", "b"), (1, 1)),
        LanguageConfig(unit="characters"),
    )
    model = LanguageModel(ModelConfig(task="language-model", encoder=back, language=language), symbols)
    look = attention_weights(model, "abba")[0]
    assert look.words == ("", "a", "b", "b", "a")
    assert look.weights.triu(1).eq(0).all()


def test_pair_layers_look_at_the_other_text():
    sizes = {"width": 8, "heads": 2, "layers": 2, "pair_layers": 2}
    encoder = {"name": "bp-transformer", **sizes}
    settings = ModelConfig.from_json({"task": "pair", "encoder": encoder, "readout": "mean"})
    maps = attention_weights(PairModel(settings, VOCABULARY, ["x", "y"]), ("a cat", "the dog saw a"))
    assert [attn.layer for attn in maps] == [1, 1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4]
    assert max(attn.error for attn in maps) < 1e-5
    first, second = (attn for attn in maps if attn.layer == 4 and attn.module.endswith("heads"))
    for attn, words, attended in ((first, "a cat", "the dog saw a"), (second, "the dog saw a", "a cat")):
        assert (" ".join(attn.words), " ".join(attn.attended_words)) == (words, attended)
        assert [attn.name(node) for node in attn.keys] == attended.split()
        torch.testing.assert_close(attn.between_words(), attn.weights)
        torch.testing.assert_close(attn.weights.sum(-1), torch.ones(2, len(words.split())))
    page = heat_maps(maps, {})
    assert "layer 4 (second text), on the other text: a cat" in page
    drawn = page.split("layer 4 (second text), on the other text")[1]
    assert drawn.count("rotate(-90)") == 2 * 2  # the columns' words, for two heads


@pytest.mark.parametrize("encoder", ["ms-transformer", "bilstm", "star-transformer"])
@pytest.mark.parametrize("interaction", ["cross", "match"])
def test_what_stands_on_the_encoder_looks_at_the_other_text(encoder, interaction):
    long, short = ("the cat saw a dog " * 3, "a dog saw")  # the first is in several windows
    windows, pair = WindowsConfig(words=8, overlap=2), PairConfig(interaction=interaction, cross_heads=2)
    settings = replace(config(encoder, task="pair", windows=windows), pair=pair)
    maps = attention_weights(PairModel(settings, VOCABULARY, ["x", "y"]), (long, short))
    across = [attn for attn in maps if attn.module.startswith("interaction")]
    below = [attn for attn in maps if not attn.module.startswith("interaction")]
    assert {attn.layer for attn in across} == {1 + max((attn.layer for attn in below), default=0)}
    assert max(attn.error for attn in across) < 1e-5
    words = [attn for attn in across if attn.queries[0].name == "word"]
    assert [(attn.text, " ".join(attn.attended_words)) for attn in words] == [(0, short), (1, long.strip())]
    for attn in words:
        assert [attn.name(node) for node in attn.keys] == list(attn.attended_words)
        torch.testing.assert_close(attn.between_words().sum(-1), torch.ones(attn.weights.shape[:2]))
    assert [attn.text for attn in across if attn.queries[0].name == "node"] == [0, 1]


def test_long_texts_in_windows():
    windows = WindowsConfig(words=8, overlap=2)
    model = TextClassifierModel(config("transformer", windows=windows), VOCABULARY, ["x", "y"])
    maps = [attn for attn in attention_weights(model, "the cat saw a dog " * 3) if attn.layer == 1]
    assert [(attn.queries[1].start, attn.queries[-1].stop) for attn in maps] == [(0, 7), (4, 11), (8, 15)]
    assert maps[2].name(maps[2].keys[1]) == "a"


def test_what_cannot_be_shown():
    with pytest.raises(ConfigError, match="no attention"):
        attention_weights(TextClassifierModel(config("bilstm"), VOCABULARY, ["x", "y"]), "a cat")
    bags = BagModel(ModelConfig(task="bags"), BagFeatures(("a",)), ["x", "y"])
    with pytest.raises(ConfigError, match="a model of the task bags reads no texts"):
        attention_weights(bags, "a cat")


@pytest.mark.parametrize("content", [["a cat", "a dog"], None, b"a cat", 1.5])
def test_what_is_no_text(content):
    with pytest.raises(ConfigError, match="expected a text, got"):
        attention_weights(TextClassifierModel(config(), VOCABULARY, ["x", "y"]), content)


def test_threads_share_a_model_and_not_what_they_see():
    model = TextClassifierModel(config(), VOCABULARY, ["x", "y"]).eval()
    texts = ["the cat saw a dog", "a dog", "the the cat cat", "saw"]
    alone = [attention_weights(model, text) for text in texts]
    outputs = model.predict_proba(texts)

    def look(number: int) -> bool:
        actual = attention_weights(model, texts[number % 4])
        pairs = zip(actual, alone[number % 4], strict=True)
        same = [torch.equal(attn.weights, second.weights) for attn, second in pairs]
        return all(same) and np.array_equal(model.predict_proba(texts), outputs)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(look, range(60)))
    assert not any(module._forward_hooks for module in model.modules())


@pytest.mark.parametrize("encoder", [name for name in ENCODERS if "lstm" not in name])
def test_another_default_device_changes_nothing(encoder):
    model = TextClassifierModel(config(encoder), VOCABULARY, ["x", "y"])
    expected = [attn.between_words() for attn in attention_weights(model, "the cat saw a dog")]
    with torch.device("meta"):
        actual = [attn.between_words() for attn in attention_weights(model, "the cat saw a dog")]
    assert all(map(torch.equal, actual, expected))
