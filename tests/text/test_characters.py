"""Vectors of words from their spelling."""

import copy

import pytest
import torch

from headwise.core.config import from_dict, to_dict
from headwise.core.errors import ConfigError
from headwise.nn.embeddings.character_embedding import CharacterEmbedding
from headwise.text import character_features as spelling
from headwise.text.character_features import SHAPES, Alphabet, ngram_buckets, word_shape
from headwise.text.text_configs import CharacterConfig

TEXTS = [["The", "film", "the", "1990s"], [], ["film", "“", "x"]]
ALPHABET = Alphabet.build(word for text in TEXTS for word in text)
EVERY_VIEW = {
    "cnn": {},
    "lstm": {"network": "lstm", "features": 8},
    "ngrams": {"network": "none", "ngrams": 6, "buckets": 50},
    "shape": {"network": "none", "shape": 4},
    "all": {"features": 4, "ngrams": 3, "shape": 2},
}


def make(**settings) -> CharacterEmbedding:
    torch.manual_seed(0)
    return CharacterEmbedding(CharacterConfig(**settings), ALPHABET).eval()


@pytest.mark.parametrize("settings", EVERY_VIEW.values(), ids=EVERY_VIEW)
class TestEveryView:
    def test_a_batch_is_its_words(self, settings):
        embedding = make(**settings)
        together = embedding(TEXTS)
        assert together.shape == (7, embedding.config.size)
        alone = torch.cat([embedding([[word]]) for text in TEXTS for word in text])
        torch.testing.assert_close(together, alone)

    def test_no_words(self, settings):
        embedding = make(**settings)
        for texts in ([], [[], []]):
            assert embedding(texts).shape == (0, embedding.config.size)

    def test_encoded_ahead(self, settings):
        embedding = make(**settings)
        torch.testing.assert_close(embedding.embed(embedding.encode(TEXTS)), embedding(TEXTS))

    def test_every_parameter_learns(self, settings):
        embedding = make(**settings).train()
        embedding(TEXTS).square().sum().backward()
        for name, parameter in embedding.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name

    def test_odd_words(self, settings):
        embedding = make(**settings)
        odd = [["", " ", "\ud800", "é" * 300, "\u200d", "中国", "\x02", "a\x00b"]]
        assert embedding(odd).isfinite().all()

    def test_configuration_as_data(self, settings):
        config = CharacterConfig(**settings)
        assert from_dict(CharacterConfig, to_dict(config)) == config


def test_views_stand_side_by_side():
    embedding = make(**EVERY_VIEW["all"])
    ngrams, shape = embedding.ngrams, embedding.shape
    words = embedding([["film", "1990s"]])
    assert embedding.config.size == words.shape[1] == 9
    for row, word in zip(words, ["film", "1990s"], strict=True):
        buckets = torch.from_numpy(ngram_buckets(word, 4, 32_768))
        torch.testing.assert_close(row[4:7], ngrams.weight[buckets].mean(0))
        torch.testing.assert_close(row[7:], shape(torch.from_numpy(word_shape(word))))


def test_different_words_are_computed_once():
    spellings = make().encode(TEXTS)
    assert spellings.words.tolist() == [0, 1, 2, 3, 1, 4, 5]
    assert len(spellings.characters) == len(spellings.ngrams) == len(spellings.shapes) == 6
    assert spellings.shapes.shape == (6, len(SHAPES))


def test_quotes_and_brackets_are_spelled_as_in_the_vocabulary():
    embedding = make(**EVERY_VIEW["all"])
    straight, curly, penn = embedding([['"', "“", "``"]])
    torch.testing.assert_close(straight, curly)
    torch.testing.assert_close(straight, penn)


def test_case_is_kept():
    for settings in EVERY_VIEW.values():
        upper, lower = make(**settings)([["The", "the"]])
        assert not torch.allclose(upper, lower)


def test_dropout_only_in_training():
    embedding = make(dropout=0.5)
    torch.testing.assert_close(embedding(TEXTS), embedding(TEXTS))
    embedding.train()
    assert not torch.allclose(embedding(TEXTS), embedding(TEXTS))


def test_spellings_are_remembered_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(spelling, "_CACHED", 2)
    embedding = make()
    for _ in range(2):
        words = embedding([["a", "b", "c"]])
        torch.testing.assert_close(words[2:], embedding([["c"]]))
    assert len(embedding._spell) == 2


def test_copies():
    embedding = make()
    second = copy.deepcopy(embedding)
    torch.testing.assert_close(second(TEXTS), embedding(TEXTS))
    torch.testing.assert_close(second([["new"]]), embedding([["new"]]))


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"window": 4}, "odd"),
        ({"network": "lstm", "features": 7}, "even"),
        ({"features": 0}, "features"),
        ({"ngrams": -1}, "ngrams"),
        ({"dropout": 1.0}, "dropout"),
    ],
)
def test_wrong_settings(settings, match):
    with pytest.raises(ConfigError, match=match):
        CharacterConfig(**settings)


def test_no_view():
    assert CharacterConfig(network="none").size == 0
    with pytest.raises(ConfigError, match="choose one"):
        make(network="none")
