"""Surface features of texts, against a plain count."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.surface_features import FEATURE_COUNT, describe_value, surface_features
from headwise.data.items.label_types import NUMERIC_LABEL_TYPE
from headwise.linear.dense_features import StandardizedFeatures
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import LinearSettings
from headwise.linear.linear_warm_start import LinearWarmStart
from headwise.nn.networks.linear_members import TextLinearBuffers

TEXTS = ["Hello WORLD! 42\nok?", "", "日本語のテキスト", "ÉCOLE U.S. a 😀", "...!!!", "\n\n", "a" * 1000]


def counted(text: str) -> list[float]:
    words = text.split()
    letters = [c for c in text if c.isalpha()]
    written = [c for c in text if c.isalpha() or c.isdigit()]
    marks = [c for c in text if not (c.isalpha() or c.isdigit() or c.isspace())]
    begun = sum(word[0].isupper() for word in words)
    shouted = 0
    for word in words:
        word_letters = [c for c in word if c.isalpha()]
        shouted += len(word_letters) > 1 and all(c.isupper() for c in word_letters)
    log = math.log1p
    return [
        log(len(written)),
        log(len(words)) - log(len(written)),
        sum(c.isupper() for c in text) / max(len(letters), 1),
        sum(c.isdigit() and not c.isalpha() for c in text) / max(len(written), 1),
        log(len(marks)) - log(len(words)),
        log(text.count("!")),
        log(text.count("?")),
        log(text.count("\n")),
        begun / max(len(words), 1),
        shouted / max(len(words), 1),
    ]


def test_form_is_what_is_counted():
    features = surface_features(TEXTS)
    assert features.shape == (len(TEXTS), FEATURE_COUNT)
    np.testing.assert_allclose(features, [counted(text) for text in TEXTS], atol=1e-5)
    assert surface_features([]).shape == (0, FEATURE_COUNT)


@given(st.lists(st.text(st.characters(max_codepoint=0x24F), max_size=40), max_size=5))
@settings(max_examples=60, deadline=None)
def test_form_of_any_text(texts):
    np.testing.assert_allclose(
        surface_features(texts),
        np.reshape([counted(text) for text in texts], (-1, FEATURE_COUNT)),
        atol=1e-5,
    )


@pytest.mark.parametrize(
    ("number", "value", "below", "description"),
    [
        (0, math.log1p(1200), False, "1,200 or more letters and digits"),
        (1, -math.log(5), True, "about 5.00 or more letters and digits per word"),
        (4, math.log(0.5), True, "about 0.50 or fewer marks per word"),
        (4, 0.0, True, "about 1.00 or fewer marks per word"),
        (7, 0.0, True, "no line ends"),
        (8, 0.25, False, "25.0 % or more words that begin with a capital"),
    ],
)
def test_what_a_number_says(number, value, below, description):
    assert describe_value(number, value, below=below) == description
    assert all(describe_value(feature, 0.5, below=below) for feature in range(FEATURE_COUNT))


def of_length(texts: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    random = np.random.default_rng(seed)
    sizes = random.integers(3, 60, texts)
    words = np.array(["ape", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"])
    return [" ".join(random.choice(words, size)) for size in sizes], np.log(sizes)


def test_numbers_that_go_by_length_are_learnt():
    texts, lengths = of_length(300)
    standardized = ((lengths - lengths.mean()) / lengths.std()).astype(np.float32)
    fitted = fit_linear(LinearExamples(texts, standardized, 1, label_type=NUMERIC_LABEL_TYPE))
    assert fitted.settings.form
    assert fitted.model.form
    assert fitted.cv_score > 0.9
    plain = fit_linear(
        LinearExamples(texts, standardized, 1, label_type=NUMERIC_LABEL_TYPE),
        settings=LinearSettings(ratios=False),
    )
    assert plain.cv_score < fitted.cv_score - 0.1
    new_texts, theirs = of_length(100, 1)
    predictions = fitted.model.scores(new_texts)[:, 0]
    assert np.corrcoef(predictions, theirs)[0, 1] > 0.95
    linear_model = TextLinearBuffers.of(fitted.model)
    np.testing.assert_allclose(linear_model(new_texts)[:, 0], predictions, atol=0.02)
    again = TextLinearBuffers(linear_model.tables)
    again.load_state_dict(linear_model.state_dict())
    np.testing.assert_array_equal(again(new_texts), linear_model(new_texts))


def test_labels_that_go_by_capitals_are_learnt():
    texts, _ = of_length(200)
    targets = np.arange(200) % 2
    loud = [text.upper() if label else text for text, label in zip(texts, targets, strict=True)]
    fitted = fit_linear(LinearExamples(loud, targets, 2))
    assert fitted.cv_score > 0.95
    assert fit_linear(LinearExamples(loud, targets, 2), settings=LinearSettings()).cv_score < 0.8


def test_what_an_earlier_model_makes_of_the_form_is_gone_on_with():
    texts, lengths = of_length(300)
    standardized = ((lengths - lengths.mean()) / lengths.std()).astype(np.float32)
    first = fit_linear(LinearExamples(texts, standardized, 1, label_type=NUMERIC_LABEL_TYPE)).model
    few, theirs = of_length(12, 2)
    few_targets = ((theirs - lengths.mean()) / lengths.std()).astype(np.float32)
    fitted = fit_linear(
        LinearExamples(few, few_targets, 1, label_type=NUMERIC_LABEL_TYPE),
        previous=LinearWarmStart(first, (0,)),
    )
    new_texts, far = of_length(100, 1)
    assert fitted.model.form
    assert np.corrcoef(fitted.model.scores(new_texts)[:, 0], far)[0, 1] > 0.95


def test_texts_that_are_not_judged_and_rare_forms_do_not_decide():
    numbers = np.zeros((5, 2))
    numbers[:, 0] = [0.0, 0.01, 0.02, 0.01, 9.0]
    features = StandardizedFeatures.of(numbers, 1.0, 0.5, text_count=4)
    assert features.values[4].tolist() == [0, 0]
    assert np.abs(features.values).max() < 0.05  # they hardly differ, whatever is to come
    assert features.values[:, 1].tolist() == [0] * 5


@pytest.mark.parametrize("form", [True, False])
def test_the_form_is_read_where_the_settings_say_so(form):
    texts, _ = of_length(60)
    fitted = fit_linear(LinearExamples(texts, np.arange(60) % 3, 3), settings=LinearSettings(form=form))
    assert fitted.model.form == form
    assert len(fitted.model.coefficients.dense) == FEATURE_COUNT * form
