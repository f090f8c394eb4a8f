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
        own = [c for c in word if c.isalpha()]
        shouted += len(own) > 1 and all(c.isupper() for c in own)
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
    found = surface_features(TEXTS)
    assert found.shape == (len(TEXTS), FEATURE_COUNT)
    np.testing.assert_allclose(found, [counted(text) for text in TEXTS], atol=1e-5)
    assert surface_features([]).shape == (0, FEATURE_COUNT)


@given(st.lists(st.text(st.characters(max_codepoint=0x24F), max_size=40), max_size=5))
@settings(max_examples=60, deadline=None)
def test_form_of_any_text(texts):
    np.testing.assert_allclose(
        surface_features(texts), np.reshape([counted(own) for own in texts], (-1, FEATURE_COUNT)), atol=1e-5
    )


@pytest.mark.parametrize(
    ("number", "value", "below", "said"),
    [
        (0, math.log1p(1200), False, "1,200 or more letters and digits"),
        (1, -math.log(5), True, "about 5.00 or more letters and digits per word"),
        (4, math.log(0.5), True, "about 0.50 or fewer marks per word"),
        (4, 0.0, True, "about 1.00 or fewer marks per word"),
        (7, 0.0, True, "no line ends"),
        (8, 0.25, False, "25.0 % or more words that begin with a capital"),
    ],
)
def test_what_a_number_says(number, value, below, said):
    assert describe_value(number, value, below=below) == said
    assert all(describe_value(own, 0.5, below=below) for own in range(FEATURE_COUNT))


def of_length(texts: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    random = np.random.default_rng(seed)
    sizes = random.integers(3, 60, texts)
    words = np.array(["ape", "bee", "cat", "dog", "eel", "fox", "gnu", "hen", "ibis", "jay"])
    return [" ".join(random.choice(words, size)) for size in sizes], np.log(sizes)


def test_numbers_that_go_by_length_are_learnt():
    texts, lengths = of_length(300)
    wanted = ((lengths - lengths.mean()) / lengths.std()).astype(np.float32)
    found = fit_linear(LinearExamples(texts, wanted, 1, label_type=NUMERIC_LABEL_TYPE))
    assert found.settings.form
    assert found.model.form
    assert found.cv_score > 0.9
    plain = fit_linear(
        LinearExamples(texts, wanted, 1, label_type=NUMERIC_LABEL_TYPE),
        settings=LinearSettings(ratios=False),
    )
    assert plain.cv_score < found.cv_score - 0.1
    others, theirs = of_length(100, 1)
    said = found.model.scores(others)[:, 0]
    assert np.corrcoef(said, theirs)[0, 1] > 0.95
    linear_model = TextLinearBuffers.of(found.model)
    np.testing.assert_allclose(linear_model(others)[:, 0], said, atol=0.02)
    again = TextLinearBuffers(linear_model.tables)
    again.load_state_dict(linear_model.state_dict())
    np.testing.assert_array_equal(again(others), linear_model(others))


def test_labels_that_go_by_capitals_are_learnt():
    texts, _ = of_length(200)
    targets = np.arange(200) % 2
    loud = [text.upper() if label else text for text, label in zip(texts, targets, strict=True)]
    found = fit_linear(LinearExamples(loud, targets, 2))
    assert found.cv_score > 0.95
    assert fit_linear(LinearExamples(loud, targets, 2), settings=LinearSettings()).cv_score < 0.8


def test_what_an_earlier_model_makes_of_the_form_is_gone_on_with():
    texts, lengths = of_length(300)
    wanted = ((lengths - lengths.mean()) / lengths.std()).astype(np.float32)
    first = fit_linear(LinearExamples(texts, wanted, 1, label_type=NUMERIC_LABEL_TYPE)).model
    few, theirs = of_length(12, 2)
    near = ((theirs - lengths.mean()) / lengths.std()).astype(np.float32)
    found = fit_linear(
        LinearExamples(few, near, 1, label_type=NUMERIC_LABEL_TYPE), previous=LinearWarmStart(first, (0,))
    )
    others, far = of_length(100, 1)
    assert found.model.form
    assert np.corrcoef(found.model.scores(others)[:, 0], far)[0, 1] > 0.95


def test_texts_that_are_not_judged_and_rare_forms_do_not_decide():
    numbers = np.zeros((5, 2))
    numbers[:, 0] = [0.0, 0.01, 0.02, 0.01, 9.0]
    found = StandardizedFeatures.of(numbers, 1.0, 0.5, text_count=4)
    assert found.values[4].tolist() == [0, 0]
    assert np.abs(found.values).max() < 0.05  # they hardly differ, whatever is to come
    assert found.values[:, 1].tolist() == [0] * 5


@pytest.mark.parametrize("form", [True, False])
def test_the_form_is_read_where_the_settings_say_so(form):
    texts, _ = of_length(60)
    found = fit_linear(LinearExamples(texts, np.arange(60) % 3, 3), settings=LinearSettings(form=form))
    assert found.model.form == form
    assert len(found.model.coefficients.dense) == FEATURE_COUNT * form
