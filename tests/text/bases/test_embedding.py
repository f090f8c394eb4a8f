import copy

import numpy as np
import pytest
import torch

from headwise import TextClassifier
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged
from headwise.text.static_embeddings.base_vectors import (
    BaseError,
    BaseTokens,
    QuantizedMatrix,
    StaticEmbeddings,
)
from headwise.text.text_configs import BaseConfig

WORDS = ("good", "bad", "well", "made")
TEXTS = [["good", "zebra", "well-made"], [], ["Bad"]]
SIZE, RUNS = 8, 16


@pytest.fixture
def base() -> StaticEmbeddings:
    random = np.random.default_rng(0)
    tables = [
        QuantizedMatrix.of(random.normal(size=(rows, SIZE)).astype(np.float32))
        for rows in (len(WORDS), RUNS)
    ]
    return StaticEmbeddings("tiny", WORDS, *tables, np.linspace(0.5, 1, len(WORDS) + 1, dtype=np.float32))


def embedding(base: StaticEmbeddings, *, train: bool = False, width: int = 6) -> BaseEmbedding:
    torch.manual_seed(0)
    config = BaseConfig("tiny", train=train, dropout=0.0, size=SIZE, subwords=RUNS)
    return BaseEmbedding(base, 3, width, config)


def read(layer: BaseEmbedding, texts=TEXTS):
    pieces = layer.prepare(texts)
    layout = Layout([len(words) for words in texts])
    return layer(Ragged(torch.zeros(layout.total, dtype=torch.int64), layout), pieces)


def test_words_and_texts_are_those_of_the_base(base):
    layer = embedding(base, width=SIZE)
    words, means = read(layer)
    vectors, _ = base.vectors([word for text in TEXTS for word in text])
    expected = torch.nn.functional.layer_norm(torch.from_numpy(vectors), (SIZE,))
    assert torch.allclose(words.values, expected, atol=1e-5)
    assert torch.allclose(means, torch.from_numpy(base.texts(TEXTS)), atol=1e-5)
    assert np.allclose(layer.texts(layer.prepare(TEXTS)), base.texts(TEXTS), atol=1e-5)


def test_a_batch_says_the_same_as_each_text_alone(base):
    layer = embedding(base)
    words, means = read(layer)
    for number, text in enumerate(TEXTS):
        alone, mean = read(layer, [text])
        assert torch.allclose(words[number], alone.values, atol=1e-6)
        assert torch.allclose(means[number], mean[0], atol=1e-6)


@pytest.mark.parametrize("cache_size", [0, 1 << 16])
def test_a_word_is_computed_once_unless_its_numbers_differ_or_it_is_trained(base, cache_size, monkeypatch):
    monkeypatch.setattr("headwise.nn.embeddings.base_embedding._CACHED_WORDS", cache_size)
    layer = embedding(base, train=True)
    torch.nn.init.normal_(layer.vectors.weight)
    texts = [["good", "zebra", "good", "well-made"], ["zebra", "bad"], ["good", "zebra"]]
    pieces = [*layer.prepare(texts[:1]), *layer.prepare(texts[1:])]
    layout = Layout([4, 2, 2])
    same_ids, second = [1, 0, 1, 2, 0, 0, 1, 0], [1, 0, 2, 2, 0, 0, 1, 0]
    for numbers in (same_ids, second):
        ids = Ragged(torch.tensor(numbers), layout)
        per_word, means = layer.train()(ids, pieces)  # without dropout
        actual = layer.eval()(ids, pieces)
        torch.testing.assert_close(actual[0].values, per_word.values, rtol=0, atol=1e-6)
        torch.testing.assert_close(actual[1], means, rtol=0, atol=1e-6)


def test_no_text_at_all(base):
    words, means = read(embedding(base), [])
    assert words.values.shape == (0, 6)
    assert means.shape == (0, SIZE)


def test_corrections_begin_at_0_and_take_gradients_of_known_words_alone(base):
    layer = embedding(base, train=True)
    pieces = layer.prepare([["good", "bad"]])
    ids = Ragged(torch.tensor([2, 0]), Layout([2]))
    words, means = layer(ids, pieces)
    assert torch.allclose(means, read(embedding(base), [["good", "bad"]])[1])
    (words.values.sum() + means.sum()).backward()
    assert layer.vectors is not None
    rows = layer.vectors.weight.grad.abs().sum(dim=1)
    assert (rows > 0).tolist() == [False, False, True]


def test_unknown_words_are_those_made_of_letters(base):
    assert [pieces.unknown for pieces in BaseTokens.of(base, TEXTS)] == [1, 0, 0]


def test_files_bring_it_back(base):
    layer = embedding(base)
    again = BaseEmbedding.from_files(layer.to_files(), 3, 6, layer.config)
    again.load_state_dict(layer.state_dict())
    for one, second in zip(read(layer), read(again), strict=True):
        values = [x.values if isinstance(x, Ragged) else x for x in (one, second)]
        assert torch.equal(*values)


@pytest.mark.parametrize(
    "files",
    [{}, {"base.json": {}}, {"base.json": {"words": ["a", 1]}}, {"base.json": {"words": ["a", "a"]}}],
)
def test_files_that_describe_no_base_are_refused(base, files):
    with pytest.raises(BaseError, match="different words"):
        BaseEmbedding.from_files(files, 3, 6, embedding(base).config)


@pytest.fixture(scope="module")
def trained():
    """A model that begins with the base of the package, and its texts."""
    texts = [f"{word} film {number}" for number in range(20) for word in ("good", "bad")]
    return TextClassifier(epochs=1).fit(texts, ["yes", "no"] * 20).model_, texts


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_a_model_with_a_base_of_another_precision(dtype, trained):
    model, texts = trained
    texts = [*texts, ""]
    plain = model.predict_proba(texts)
    cast_model = copy.deepcopy(model).to(dtype)
    np.testing.assert_allclose(cast_model.predict_proba(texts), plain, atol=1e-2)
    cast_model.train()
    cast_model(cast_model.collate(cast_model.encoded(texts), cast_model.device)).sum().backward()
