"""Attributions of words add up to the scores that they explain."""

import numpy as np
import pytest

from headwise.core.surface_features import FEATURE_COUNT, REFERENCE_TEXT
from headwise.core.tokenizer import get_tokenizer
from headwise.data.items.label_types import LABEL_SET_TYPE, SINGLE_LABEL_TYPE
from headwise.linear import linear_fit as text_fit
from headwise.linear.attributions import (
    column_coefficients,
    pair_attributions,
    surface_attributions,
    text_attributions,
    vector_attributions,
)
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import LinearSettings

TEXTS = [
    f"I don't like {word} well-made things {n}!! <br /> Naïve"
    for n in range(20)
    for word in ("red", "blue", "green")
]
VECTORS = np.random.default_rng(0).normal(size=(len(TEXTS), 5)).astype(np.float32)
ODD = [
    "don't don't DON'T",
    "İstanbul İS\u2003naïve",
    " \x1c\x85x ",
    "",
    "red",
    "nothing known: zzz",
    "a" * 70,
]


@pytest.mark.parametrize(("classes", "sets"), [(2, False), (3, False), (2, True)])
@pytest.mark.parametrize("blocks", [("words",), ("characters",), ("words", "characters")])
@pytest.mark.parametrize("least_far", [1, 1_000])
@pytest.mark.parametrize("edges", [False, True])
def test_the_words_of_any_text_have_what_its_features_say(
    classes, sets, blocks, least_far, edges, monkeypatch
):
    monkeypatch.setattr(text_fit, "LEAST_FAR", least_far)
    targets = np.arange(len(TEXTS)) % 3 % classes
    if sets:
        targets = np.eye(classes, dtype=np.bool_)[targets]
    settings = LinearSettings(blocks=blocks, edges=edges and "words" in blocks)
    label_type = LABEL_SET_TYPE if sets else SINGLE_LABEL_TYPE
    model = fit_linear(
        LinearExamples(TEXTS, targets, classes, label_type=label_type), settings=settings
    ).model
    output_weights = np.linspace(-1, 2, classes)
    for text in (*TEXTS[:3], *ODD):
        expected = (model.scores([text]) - model.scores([""]))[0] @ output_weights
        shares = text_attributions(model, text, output_weights)
        assert len(shares) == len(get_tokenizer("penn").spans(text))
        assert shares.sum() == pytest.approx(expected, abs=1e-4)


def test_a_share_stands_where_its_feature_does():
    model = fit_linear(LinearExamples(TEXTS, np.arange(len(TEXTS)) % 3, 3)).model
    text = "things red red"
    shares = text_attributions(model, text, np.eye(3)[0])
    assert shares[1] > 0
    assert shares[2] > 0
    assert abs(shares[0]) < shares[1]


def test_vectors():
    settings = LinearSettings(blocks=("words",), dense=2.0)
    model = fit_linear(
        LinearExamples(TEXTS, np.arange(len(TEXTS)) % 3, 3, dense=VECTORS), settings=settings
    ).model
    output_weights, addends = np.array([1.0, -0.5, -0.5]), np.random.default_rng(1).normal(size=(4, 5))
    shares, mean = vector_attributions(model, addends, output_weights)
    text = "red things"
    expected = model.scores([text], addends.sum(0, keepdims=True))[0] @ output_weights
    words = text_attributions(model, text, output_weights).sum()
    assert shares.sum() + mean + words + model.coefficients.bias @ column_coefficients(
        output_weights, model
    ) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_form(classes):
    """Beside a plain sentence, exactly, whether there are vectors or not."""
    texts = [text.upper() if n % 3 else text + "\n" for n, text in enumerate(TEXTS)]
    targets, output_weights = np.arange(len(texts)) % 3 % classes, np.linspace(-1, 2, classes)
    for dense, table in ((0.0, None), (2.0, VECTORS)):
        how = LinearSettings(blocks=("words",), dense=dense, form=True)
        model = fit_linear(LinearExamples(texts, targets, classes, dense=table), settings=how).model
        assert model.form
        vectors = None if table is None else np.repeat(table[:1], 2, axis=0)
        for text in (texts[0], *ODD):
            both = [text, REFERENCE_TEXT]
            scores = model.scores(both, vectors) @ output_weights
            words = [text_attributions(model, text, output_weights).sum() for text in both]
            shares = surface_attributions(model, both, np.stack([output_weights, output_weights]))
            assert shares.shape == (2, FEATURE_COUNT)
            assert shares[0].sum() == pytest.approx(scores[0] - words[0] - scores[1] + words[1], abs=1e-4)
            assert not shares[1].any()
        assert surface_attributions(model, [], np.zeros((0, classes))).shape == (0, FEATURE_COUNT)


PAIRS = [
    (TEXTS[n], f"I {word} like {colour} things {n}")
    for n, word in enumerate(["don't", "do"] * 20)
    for colour in ("blue",)
]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("blocks", [("words",), ("characters",), ("words", "characters")])
def test_the_words_of_any_pair_have_what_its_features_say(classes, blocks):
    settings = LinearSettings(blocks=blocks)
    model = fit_linear(
        LinearExamples(PAIRS, np.arange(len(PAIRS)) % classes, classes, pairs=True), settings=settings
    ).model
    output_weights = np.linspace(-1, 2, classes)
    for pair in (*PAIRS[:3], *zip(ODD, reversed(ODD), strict=True), ("red red red", "red red")):
        expected = (model.scores([pair]) - model.scores([("", "")]))[0] @ output_weights
        shares = pair_attributions(model, pair, output_weights)
        assert [len(side) for side in shares] == [len(get_tokenizer("penn").spans(text)) for text in pair]
        assert sum(side.sum() for side in shares) == pytest.approx(expected, abs=1e-4)


def test_what_both_texts_have_is_divided_evenly():
    model = fit_linear(
        LinearExamples(PAIRS, np.arange(len(PAIRS)) % 2, 2, pairs=True), settings=LinearSettings(("words",))
    ).model
    size = len(model.blocks["words"])
    model.coefficients.weights[size:] = 0  # all but what both have
    first, second = pair_attributions(model, ("blue things", "blue things"), np.array([0.0, 1.0]))
    np.testing.assert_allclose(first, second)
    assert first.any()
