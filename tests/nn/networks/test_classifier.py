"""Model: predictions in order, in streams, calibrated, and the same in any company."""

import tracemalloc
from itertools import count, islice

import numpy as np
import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.encoders import ENCODERS, MSTransformerConfig
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = [f"w{i}" for i in range(20)]
LABELS = ["bad", "good", "mixed"]


@pytest.fixture(scope="module")
def model() -> TextClassifierModel:
    torch.manual_seed(0)
    config = ModelConfig(
        words=WordConfig(vector_size=8),
        encoder=MSTransformerConfig(width=12, heads=3, head_size=4, layers=2),
        classifier=ClassifierConfig(hidden=8),
    )
    made = TextClassifierModel(config, Vocabulary.build([WORDS]), LABELS)
    for parameter in made.parameters():
        parameter.data += 0.5 * torch.randn_like(parameter)  # or all texts would get the same label
    return made.eval()


def random_texts(texts: int, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(0, 15))) for _ in range(texts)]


def test_predictions_in_the_order_of_the_texts(model):
    texts = random_texts(60)
    one_by_one = [next(iter(model.predict([text]))) for text in texts]
    together = list(model.predict(texts))
    assert [p.label for p in together] == [p.label for p in one_by_one]
    assert len({p.label for p in together}) > 1
    for one, second in zip(one_by_one, together, strict=True):
        assert one.probabilities == pytest.approx(second.probabilities, abs=1e-6)


def test_the_label_is_the_most_probable_one(model):
    for prediction in model.predict(random_texts(20)):
        assert LABELS.index(prediction.label) == np.argmax(prediction.probabilities)


@pytest.mark.parametrize("limits", [(1, 10_000), (3, 10_000), (256, 1), (256, 40)])
def test_the_size_of_batches_does_not_matter(model, limits):
    encoded = model.features.encode(random_texts(40))
    texts, tokens = limits
    expected = model.logits(encoded)
    np.testing.assert_allclose(
        model.logits(encoded, batch_texts=texts, batch_tokens=tokens), expected, atol=1e-5
    )


@pytest.mark.parametrize("chunk", [1, 7, 40, 100])
def test_the_size_of_chunks_does_not_matter(model, chunk):
    texts = random_texts(40)
    actual = [p.probabilities for p in model.predict(iter(texts), chunk=chunk)]
    np.testing.assert_allclose(actual, model.predict_proba(texts), atol=1e-6)


def test_probabilities_add_up_to_one(model):
    texts = ["", " ", "unseen words only", *random_texts(30)]
    probabilities = model.predict_proba(texts)
    assert probabilities.dtype == np.float64
    assert probabilities.shape == (33, 3)
    assert (probabilities >= 0).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-12)


def test_texts_without_words_get_a_prediction(model):
    empty, spaces, one = model.predict(["", " \n", "w1"])
    assert empty == spaces
    assert empty.unknown_words == 0.0
    assert empty.probabilities != one.probabilities
    assert list(model.predict([])) == []
    assert model.predict_proba([]).shape == (0, 3)


def test_share_of_unknown_words(model):
    assert [p.unknown_words for p in model.predict(["w1 w2", "w1 zzz", "zzz", "zzz w1 w2 w3"])] == [
        *(0, 0.5, 1, 0.25),
    ]


def test_temperature_divides_logits_and_keeps_the_label(model):
    logits = np.array([[2.0, 0.0, -1.0], [1000.0, 0.0, 999.0]], dtype=np.float32)
    before = model.probabilities(logits)
    model.temperature = 2.0
    try:
        after = model.probabilities(logits)
    finally:
        model.temperature = 1.0
    exp = np.exp(np.array([1.0, 0.0, -0.5]))
    assert after[0] == pytest.approx(exp / exp.sum())
    assert np.isfinite(after).all()
    assert (after.argmax(axis=1) == before.argmax(axis=1)).all()
    assert (after.max(axis=1) < before.max(axis=1)).all()


def test_a_stream_is_read_chunk_by_chunk(model):
    read = 0

    def stream():
        nonlocal read
        for number in count():
            read += 1
            yield f"w{number % 20}"

    predictions = model.predict(stream(), chunk=10)
    assert read == 0
    assert len(list(islice(predictions, 15))) == 15
    assert read == 20


def test_an_endless_stream_needs_constant_memory(model):
    predictions = model.predict((f"w{number % 20} w1 unseen{number % 50}" for number in count()), chunk=200)

    def peak(texts: int) -> int:
        tracemalloc.reset_peak()
        for _ in islice(predictions, texts):
            pass
        return tracemalloc.get_traced_memory()[1]

    tracemalloc.start()
    try:
        for _ in range(3):
            first = peak(400)
        assert peak(3200) < 1.5 * first
    finally:
        tracemalloc.stop()


def test_logits_leave_the_mode_as_it_was(model):
    encoded = model.features.encode(random_texts(5))
    expected = model.logits(encoded)
    model.train()
    try:
        np.testing.assert_array_equal(model.logits(encoded), expected)  # without dropout
        assert model.training
    finally:
        model.eval()


@pytest.mark.parametrize("labels", [[], ["a"], ["a", "a"]])
def test_a_classifier_needs_two_labels(labels):
    with pytest.raises(ConfigError, match="two or more different labels"):
        TextClassifierModel(ModelConfig(), Vocabulary.build([WORDS]), labels)


@pytest.mark.parametrize("name", ENCODERS)
def test_every_encoder_has_its_name(name):
    assert encoder_name(ENCODERS[name][1]()) == name


@pytest.mark.parametrize("call", [["w1 w2"], "w1 w2", (), None, 3])
def test_a_model_is_not_called_with_texts(model, call):
    with pytest.raises(ConfigError, match=r"use model.predict\(\[text\]\)"):
        model(call)


class Frame:
    """What has columns with types and iterates over their names, as a DataFrame."""

    columns = ("label", "text")
    dtypes = ("object", "object")

    def __iter__(self):
        return iter(self.columns)


@pytest.mark.parametrize("ask", ["predict", "predict_proba"])
def test_the_columns_of_a_table_are_not_taken_for_texts(model, ask):
    with pytest.raises(ConfigError, match=r"a Frame with the columns 'label', 'text'; give one"):
        list(getattr(model, ask)(Frame()))
