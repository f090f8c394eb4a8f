"""A linear model as buffers of bytes."""

import numpy as np
import pytest
import torch

from headwise.linear.text_expert import TextExpert
from headwise.linear.text_fit import LinearSettings, fit_linear

TEXTS = [f"{word} text of number {n}" for n in range(30) for word in ("red", "green", "blue")]
VECTORS = np.random.default_rng(0).normal(size=(len(TEXTS), 5)).astype(np.float32)


def fitted(classes: int, settings: LinearSettings, dense: bool = False, sets: bool = False):
    targets = np.arange(len(TEXTS)) % 3 % classes
    if sets:
        targets = np.eye(classes, dtype=np.bool_)[targets]
    return fit_linear(TEXTS, targets, classes, dense=VECTORS if dense else None, settings=settings).model


def empty(like: TextExpert, sets: bool) -> TextExpert:
    return TextExpert(like.features, like.words, like.vectors, like.classes, like.tokenizer, sets=sets)


@pytest.mark.parametrize(("classes", "sets"), [(2, False), (3, False), (2, True)])
@pytest.mark.parametrize("blocks", [("words",), ("characters",), ("words", "characters")])
@pytest.mark.parametrize("dense", [0.0, 2.0])
def test_says_what_the_model_says_also_when_it_was_saved(classes, sets, blocks, dense):
    model = fitted(classes, LinearSettings(blocks=blocks, dense=dense), dense > 0, sets)
    vectors = VECTORS if dense else None
    expert = TextExpert.of(model)
    scores = expert(TEXTS, vectors)
    np.testing.assert_allclose(scores, model.scores(TEXTS, vectors), atol=0.03)
    loaded = empty(expert, sets)
    loaded(["something that is asked before the weights are there"], VECTORS[:1])
    loaded.load_state_dict(expert.state_dict())
    np.testing.assert_array_equal(loaded(TEXTS, vectors), scores)
    assert expert.features == sum(map(len, model.blocks.values()))


def test_does_not_take_part_in_training():
    expert = TextExpert.of(fitted(3, LinearSettings()))
    assert not list(expert.parameters())
    assert expert.weights.dtype == torch.int8


def test_no_features():
    model = fit_linear(["", ""], np.array([0, 1]), 2).model
    assert TextExpert.of(model)(["a text"]).shape == (1, 2)
