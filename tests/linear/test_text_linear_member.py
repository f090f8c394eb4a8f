"""A linear model as 8-bit buffers."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import softmax

from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.label_types import LABEL_SET_TYPE, SINGLE_LABEL_TYPE
from headwise.linear import linear_fit as text_fit
from headwise.linear import linear_tables as text_tables
from headwise.linear.attributions import text_attributions
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_model import LinearModel
from headwise.linear.linear_settings import LinearSettings
from headwise.nn.networks.linear_members import TextLinearBuffers

TEXTS = [f"{word} text of number {n}" for n in range(30) for word in ("red", "green", "blue")]
VECTORS = np.random.default_rng(0).normal(size=(len(TEXTS), 5)).astype(np.float32)


def fitted(classes: int, settings: LinearSettings, dense: bool = False, sets: bool = False):
    targets = np.arange(len(TEXTS)) % 3 % classes
    if sets:
        targets = np.eye(classes, dtype=np.bool_)[targets]
    label_type = LABEL_SET_TYPE if sets else SINGLE_LABEL_TYPE
    vectors = VECTORS if dense else None
    return fit_linear(
        LinearExamples(TEXTS, targets, classes, label_type=label_type, dense=vectors), settings=settings
    ).model


def empty(like: TextLinearBuffers, sets: bool) -> TextLinearBuffers:
    return TextLinearBuffers(replace(like.tables, sets=sets))


ANSWERS = [(2, False), (3, False), (2, True)]
BLOCKS = [("words",), ("characters",), ("words", "characters")]
DENSE = [(0.0, 1_000), (2.0, 1_000), (2.0, 1)]
# Each of these with each of the others, two at a time.
ROWS = [(ANSWERS[n], BLOCKS[m], DENSE[(n + m) % 3]) for n in range(3) for m in range(3)]


@pytest.mark.parametrize(("answers", "blocks", "inputs"), ROWS)
def test_says_what_the_model_says_also_when_it_was_saved(answers, blocks, inputs, monkeypatch):
    (classes, sets), (dense, least_far) = answers, inputs
    monkeypatch.setattr(text_fit, "LEAST_FAR", least_far)
    model = fitted(classes, LinearSettings(blocks=blocks, dense=dense), dense > 0, sets)
    vectors = VECTORS if dense else None
    linear_model = TextLinearBuffers.of(model)
    scores = linear_model(TEXTS, vectors)
    np.testing.assert_allclose(scores, model.scores(TEXTS, vectors), atol=0.03)
    loaded = empty(linear_model, sets)
    loaded(["something that is asked before the weights are there"], VECTORS[:1])
    loaded.load_state_dict(linear_model.state_dict())
    np.testing.assert_array_equal(loaded(TEXTS, vectors), scores)
    assert linear_model.tables.features == sum(map(len, model.blocks.values()))


def test_does_not_take_part_in_training():
    linear_model = TextLinearBuffers.of(fitted(3, LinearSettings()))
    assert not list(linear_model.parameters())
    assert linear_model.weights.dtype == torch.int8


def test_no_features():
    model = fit_linear(LinearExamples(["", ""], np.array([0, 1]), 2)).model
    assert TextLinearBuffers.of(model)(["a text"]).shape == (1, 2)


def of_many_labels(classes: int = 40) -> tuple[LinearModel, list[str]]:
    texts = [
        f"{word}{n % classes} text of {n // classes}" for n in range(3 * classes) for word in ("a", "b")
    ]
    targets = np.repeat(np.arange(3 * classes) % classes, 2)
    return fit_linear(
        LinearExamples(texts, targets, classes), settings=LinearSettings(ratios=False)
    ).model, texts


@pytest.mark.parametrize("most_dense", [0, text_tables.MOST_DENSE])
def test_of_many_labels_keeps_only_the_weights_that_are_worth_it(most_dense, monkeypatch):
    monkeypatch.setattr(text_tables, "MOST_DENSE", most_dense)
    model, texts = of_many_labels()
    linear_model = TextLinearBuffers.of(model)
    assert 0 < linear_model.tables.stored_weights < model.coefficients.weights.size / 2
    pruned, complete = softmax(linear_model(texts), axis=1), softmax(model.scores(texts), axis=1)
    np.testing.assert_allclose(pruned, complete, atol=0.02)
    loaded = TextLinearBuffers(linear_model.tables)
    loaded.load_state_dict(linear_model.state_dict())
    np.testing.assert_array_equal(loaded(texts), linear_model(texts))


def test_what_each_word_adds_is_the_same_of_sparse_weights(monkeypatch):
    model, texts = of_many_labels()
    linear_model, output_weights = TextLinearBuffers.of(model), np.linspace(-1, 1, 40)
    dense = text_attributions(linear_model.contents(), texts[0], output_weights)
    monkeypatch.setattr(text_tables, "MOST_DENSE", 0)
    sparse = text_attributions(TextLinearBuffers.of(model).contents(), texts[0], output_weights)
    np.testing.assert_allclose(sparse, dense, atol=1e-6)
    assert np.abs(dense).sum() > 0


def test_words_may_hold_the_sign_that_separates_words_elsewhere():
    model, _ = of_many_labels()
    model = TextLinearBuffers.of(model).contents()
    text = 'see <a b="x\x1fy"> red now'
    words = get_tokenizer(model.tokenizer).words(text)
    assert any("\x1f" in word for word in words)
    assert text_attributions(model, text, np.linspace(-1, 1, 40)).shape[0] == len(words)


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(("ends", 0, -1), ("ends", 0, 1 << 30), ("ends", -1, 5), ("ends", 0, -(1 << 31))),
        *(("columns", 0, 40), ("columns", 3, -1)),
    ],
)
def test_places_of_weights_that_are_not_there_are_refused(name, place, value):
    linear_model = TextLinearBuffers.of(of_many_labels()[0])
    state = {key: tensor.clone() for key, tensor in linear_model.state_dict().items()}
    state[name][place] = value
    with pytest.raises(RuntimeError, match=f"{name}: they (do not part|are not all)"):
        linear_model.load_state_dict(state)
