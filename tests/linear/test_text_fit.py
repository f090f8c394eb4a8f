"""fit_linear: choices, out-of-fold scores, weights, soft labels, vectors."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from headwise.data.items.label_types import LABEL_SET_TYPE, NUMERIC_LABEL_TYPE, SINGLE_LABEL_TYPE
from headwise.linear import linear_fit as text_fit
from headwise.linear import training_data as text_data
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import LinearSettings
from headwise.linear.linear_warm_start import LinearWarmStart
from headwise.linear.tfidf_features import MIN_TEXTS
from headwise.nn.networks.linear_members import TextLinearBuffers

from .conftest import corpus

FIXED = LinearSettings(strength=1.0)


def accuracy(scores: np.ndarray, targets: np.ndarray) -> float:
    return float((scores.argmax(axis=1) == targets).mean())


@pytest.mark.parametrize("classes", [2, 4])
def test_learns_and_says_how_well(classes):
    texts, targets = corpus(classes, noise=0.3, texts=300)
    fitted = fit_linear(LinearExamples(texts, targets, classes))
    new_texts, new_targets = corpus(classes, noise=0.3, seed=1, texts=600)
    scores = fitted.model.scores(new_texts)
    assert scores.shape == (600, classes)
    assert fitted.oof_scores.shape == (300, classes)
    assert fitted.cv_score == accuracy(fitted.oof_scores, targets)
    assert accuracy(scores, new_targets) == pytest.approx(fitted.cv_score, abs=0.08)
    assert accuracy(scores, new_targets) > 0.6
    # Calibrated: as sure as it is right.
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert chances.max(axis=1).mean() == pytest.approx(accuracy(scores, new_targets), abs=0.08)


def test_the_same_data_give_the_same_model():
    texts, targets = corpus(3)
    one, second = (
        fit_linear(LinearExamples(texts, targets, 3)),
        fit_linear(LinearExamples(texts, targets, 3)),
    )
    np.testing.assert_array_equal(one.oof_scores, second.oof_scores)
    np.testing.assert_array_equal(one.model.coefficients.weights, second.model.coefficients.weights)


def test_scores_of_the_search_are_those_of_another_pass(monkeypatch):
    texts, targets = corpus(3)
    searched = fit_linear(LinearExamples(texts, targets, 3))
    monkeypatch.setattr(text_fit.SettingSearch, "scores_of", lambda *_: None)
    again = fit_linear(LinearExamples(texts, targets, 3)).oof_scores  # both within the solver's tolerance
    np.testing.assert_allclose(searched.oof_scores, again, atol=0.2)
    assert np.abs(searched.oof_scores - again).mean() < 0.05


def test_without_calibration_scores_are_margins():
    texts, targets = corpus(3)
    calibrated = fit_linear(LinearExamples(texts, targets, 3))
    plain = fit_linear(LinearExamples(texts, targets, 3), calibrated=False)
    assert plain.settings == calibrated.settings
    assert not plain.oof_scores.any()
    scores, margins = (fit.model.scores(texts) for fit in (calibrated, plain))
    factor = float((scores * margins).sum() / (margins**2).sum())
    np.testing.assert_allclose(scores, factor * margins, atol=1e-4)
    assert factor != pytest.approx(1, abs=0.01)


def test_out_of_fold_scores_do_not_know_the_label():
    """Of random labels nothing can be learned."""
    texts = [f"text {n} word{n} other{n}" for n in range(200)]
    targets = np.random.default_rng(0).integers(0, 2, 200)
    fitted = fit_linear(LinearExamples(texts, targets, 2), settings=FIXED)
    assert accuracy(fitted.oof_scores, targets) < 0.65
    assert accuracy(fitted.model.scores(texts), targets) > 0.9


@pytest.mark.parametrize("most", [text_fit.MOST_CROSSED, 100])
def test_a_double_tells_nothing_out_of_fold(most, monkeypatch):
    """Texts that stand there twice with labels that a coin gave them."""
    monkeypatch.setattr(text_fit, "MOST_CROSSED", most)
    monkeypatch.setattr(text_fit, "MOST_COMPARED", 150)
    random = np.random.default_rng(0)
    texts = [f"word{n} and {'x' * n}" for n in range(100)]
    targets = random.integers(0, 2, 100)
    fitted = fit_linear(LinearExamples([*texts, *(text.upper() for text in texts)], np.tile(targets, 2), 2))
    assert 0.3 < fitted.cv_score < 0.7
    assert np.abs(fitted.oof_scores).mean() < 0.5  # it is not sure of what it cannot know


def test_pairs_are_out_of_fold_with_their_first_text():
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 80)
    pairs = [(f"premise number{n}", f"second{k}") for n in range(80) for k in range(3)]
    fitted = fit_linear(LinearExamples(pairs, np.repeat(labels, 3), 2, pairs=True))
    assert 0.3 < fitted.cv_score < 0.7


def test_all_folds_have_texts_where_few_are_different():
    fitted = fit_linear(LinearExamples(["a", "b", "c"] * 4, np.tile([0, 1, 1], 4), 2))
    assert fitted.oof_scores.shape == (12, 2)
    assert np.isfinite(fitted.oof_scores).all()
    assert fit_linear(LinearExamples(["a"] * 4, np.array([0, 1, 0, 1]), 2)).oof_scores.shape == (4, 2)


@pytest.mark.parametrize("sets", [False, True])
def test_texts_that_count_nothing_do_not_calibrate(sets):
    texts, targets = corpus(2, noise=0.1)
    wrong = np.random.default_rng(1).integers(0, 2, len(texts))
    weights = np.repeat([1.0, 0.0], len(texts))
    shown = np.append(targets, wrong)
    every = np.eye(2, dtype=np.bool_)[shown] if sets else shown
    label_type = LABEL_SET_TYPE if sets else SINGLE_LABEL_TYPE
    alone = fit_linear(LinearExamples(texts, every[: len(texts)], 2, label_type), settings=FIXED)
    both = LinearExamples([*texts, *texts], every, 2, label_type, sample_weight=weights)
    mixed = fit_linear(both, settings=FIXED)
    size = [np.abs(fitted.model.scores(texts)).mean() for fitted in (alone, mixed)]
    assert size[1] == pytest.approx(size[0], rel=0.2)


def test_soft_labels_calibrate_as_they_are():
    """All texts say the same, which is right in 6 of 10."""
    texts = [f"word{n % 7} more{n}" for n in range(200)]
    shares = np.tile([0.4, 0.6], (200, 1))
    scores = fit_linear(LinearExamples(texts, shares, 2)).model.scores(texts)
    chances = 1 / (1 + np.exp(scores[:, 0] - scores[:, 1]))
    assert chances == pytest.approx(np.full(200, 0.6), abs=0.05)


def test_first_and_last_words_are_read_as_such_where_that_helps():
    """What tells is which of two words a text begins with; both are in each."""
    random = np.random.default_rng(0)
    targets = random.integers(0, 2, 300)
    texts = []
    for label in targets:
        middle = [*(f"w{n}" for n in random.integers(0, 5000, 6)), ("no", "yes")[label]]
        random.shuffle(middle)
        texts.append(" ".join([("yes", "no")[label], *middle]))
    shuffled = [" ".join(random.permutation(text.split())) for text in texts]
    fitted = fit_linear(LinearExamples(texts, targets, 2))
    assert fitted.settings.edges
    assert fitted.model.edges
    assert fitted.cv_score > 0.95
    assert not fit_linear(LinearExamples(shuffled, targets, 2)).settings.edges
    linear_model = TextLinearBuffers.of(fitted.model)
    again = TextLinearBuffers(linear_model.tables)
    again.load_state_dict(linear_model.state_dict())
    np.testing.assert_allclose(again(texts), fitted.model.scores(texts), atol=0.1)
    gone_on = fit_linear(
        LinearExamples(texts[:50], targets[:50], 2), previous=LinearWarmStart(fitted.model, (0, 1))
    ).model
    assert gone_on.edges
    assert accuracy(gone_on.scores(texts), targets) > 0.95


def test_class_weights_move_the_border():
    texts, targets = corpus(2, noise=0.4, texts=400)
    plain = fit_linear(LinearExamples(texts, targets, 2), settings=FIXED).model.scores(texts)
    heavy = fit_linear(
        LinearExamples(texts, targets, 2, class_weight=np.array([1.0, 8.0])), settings=FIXED
    ).model.scores(texts)
    assert (heavy.argmax(1) == 1).mean() > (plain.argmax(1) == 1).mean() + 0.1


def test_a_weight_is_as_many_texts():
    texts, targets = corpus(3, noise=0.3)
    weights = np.random.default_rng(1).integers(1, 4, len(texts))
    weighed = fit_linear(LinearExamples(texts, targets, 3, sample_weight=weights), settings=FIXED, folds=1)
    # The weights are relative: the same cost is three texts of a third of the strength each.
    half = fit_linear(LinearExamples(texts, targets, 3, sample_weight=weights / 3), settings=FIXED, folds=1)
    np.testing.assert_allclose(
        weighed.model.coefficients.weights, half.model.coefficients.weights, atol=1e-6
    )
    none = fit_linear(
        LinearExamples(texts, targets, 3, sample_weight=(targets != 2) + 0.0), settings=FIXED, folds=1
    )
    assert not (none.model.scores(texts).argmax(1) == 2).any()


@pytest.mark.parametrize("classes", [2, 3])
def test_certain_soft_labels_are_labels(classes):
    texts, targets = corpus(classes, noise=0.3)
    hard = fit_linear(LinearExamples(texts, targets, classes), settings=FIXED).model.scores(texts)
    soft = fit_linear(
        LinearExamples(texts, np.eye(classes)[targets], classes), settings=FIXED
    ).model.scores(texts)
    np.testing.assert_allclose(soft, hard, atol=0.15)


def test_soft_labels_are_learned_as_they_are():
    texts, targets = corpus(2, texts=300)
    shares = np.where(targets == 1, 0.9, 0.4)
    fitted = fit_linear(
        LinearExamples(texts, np.stack([1 - shares, shares], axis=1), 2),
        settings=LinearSettings(strength=10),
    )
    coefficients = fitted.model.coefficients.scores(fitted.model.rows(texts))[:, 0]
    assert coefficients[targets == 0].mean() < 0 < coefficients[targets == 1].mean()
    assert abs(coefficients[targets == 0].mean()) < coefficients[targets == 1].mean() / 2


def test_vectors_stand_beside_the_words():
    random = np.random.default_rng(0)
    targets = random.integers(0, 3, 150)
    texts = [f"nothing {n} to{n} read{n}" for n in range(150)]
    vectors = (np.eye(3)[targets] + 0.3 * random.normal(size=(150, 3))).astype(np.float32) + 50
    fitted = fit_linear(LinearExamples(texts, targets, 3, dense=vectors))
    assert fitted.settings.dense > 0
    assert fitted.cv_score > 0.9
    assert accuracy(fitted.model.scores(texts, vectors), targets) > 0.95
    with pytest.raises(ValueError, match="vectors"):
        fitted.model.scores(texts)


@pytest.mark.parametrize(("limit", "most"), [("MOST_CROSSED", 50), ("MOST_CELLS", 300)])
def test_many_texts_or_labels_are_compared_on_some_that_are_held_out(limit, most, monkeypatch):
    monkeypatch.setattr(text_fit, limit, most)
    monkeypatch.setattr(text_fit, "MOST_COMPARED", 100)
    texts, targets = corpus(3, noise=0.2, texts=300)
    fitted = fit_linear(LinearExamples(texts, targets, 3))
    assert fitted.cv_score > 0.7
    assert fitted.oof_scores.shape == (300, 3)


def test_too_much_work_takes_the_defaults_and_two_folds(monkeypatch):
    monkeypatch.setattr(text_fit, "MOST_WORK", 1.0)
    texts, targets = corpus(3)
    fitted = fit_linear(LinearExamples(texts, targets, 3))
    assert fitted.settings == LinearSettings()
    assert fitted.cv_score > 0.9


def test_few_features_are_kept_for_many_labels(monkeypatch):
    monkeypatch.setattr(text_data, "LEAST_FEATURES", 10)
    monkeypatch.setattr(text_data, "MOST_WEIGHTS", 4 * 43)
    texts, targets = corpus(4)
    fitted = fit_linear(LinearExamples(texts, targets, 4), settings=FIXED)
    assert sum(map(len, fitted.model.blocks.values())) <= 43
    words = fit_linear(
        LinearExamples(texts, targets, 4), settings=LinearSettings(blocks=("words",))
    ).model.blocks
    assert 43 // 2 < len(words["words"]) <= 43


def test_of_many_texts_words_tell_by_those_that_are_near(monkeypatch):
    random = np.random.default_rng(0)
    sides = random.integers(0, 2, (400, 2))
    texts = [f"{'xy'[a]} word{n} {'xy'[b]}" for n, (a, b) in enumerate(sides)]
    targets = (sides[:, 0] == sides[:, 1]).astype(np.int64)
    train, new = slice(None, 300), slice(300, None)
    few = fit_linear(LinearExamples(texts[train], targets[train], 2), settings=FIXED).model
    monkeypatch.setattr(text_fit, "LEAST_FAR", 300)
    many = fit_linear(LinearExamples(texts[train], targets[train], 2), settings=FIXED).model
    assert accuracy(few.scores(texts[new]), targets[new]) < 0.7
    assert accuracy(many.scores(texts[new]), targets[new]) > 0.95
    again = fit_linear(
        LinearExamples(texts[:20], targets[:20], 2), settings=FIXED, previous=LinearWarmStart(many, (0, 1))
    ).model
    assert (few.reach, many.reach, again.reach) == (1, text_fit.PAIR_REACH, text_fit.PAIR_REACH)
    more = fit_linear(
        LinearExamples(texts[train], targets[train], 2),
        settings=FIXED,
        previous=LinearWarmStart(few, (0, 1)),
    ).model
    assert accuracy(more.scores(texts[new]), targets[new]) > 0.95


@pytest.mark.parametrize("texts", [["", " "], ["one"], ["one", "one"]])
def test_hardly_anything_to_learn_from(texts):
    fitted = fit_linear(LinearExamples(texts, np.arange(len(texts)), 2))
    assert fitted.model.scores(["one", ""]).shape == (2, 2)
    assert np.isfinite(fitted.oof_scores).all()


@pytest.mark.parametrize("labels", [1, 2, 3])
def test_label_sets_are_a_machine_a_label(labels):
    texts, targets = corpus(4, texts=240)
    sets = np.stack([targets == 0, targets % 2 == 0, targets > 1], axis=1)[:, :labels]
    settings = LinearSettings(strength=1.0, ratios=False)
    fitted = fit_linear(LinearExamples(texts, sets, labels, label_type=LABEL_SET_TYPE), settings=settings)
    new_texts, new_targets = corpus(4, texts=300, seed=1)
    scores = fitted.model.scores(new_texts)
    assert scores.shape == (300, labels)
    assert fitted.oof_scores.shape == (240, labels)
    assert fitted.cv_score == pytest.approx(((fitted.oof_scores > 0) == sets).mean())
    assert (
        (scores > 0)
        == np.stack([new_targets == 0, new_targets % 2 == 0, new_targets > 1], axis=1)[:, :labels]
    ).mean() > 0.9
    for label in range(labels):
        alone = fit_linear(LinearExamples(texts, sets[:, label].astype(np.int64), 2), settings=settings)
        margin = np.diff(alone.model.scores(new_texts), axis=1)[:, 0]
        assert np.corrcoef(margin, scores[:, label])[0, 1] > 0.999


def test_settings_for_label_sets_are_chosen_and_weights_of_labels_count():
    texts, targets = corpus(4, noise=0.3, texts=300)
    sets = np.stack([targets == 0, targets > 1], axis=1)
    plain, heavy = (
        fit_linear(
            LinearExamples(texts, sets, 2, label_type=LABEL_SET_TYPE, class_weight=weight),
            calibrated=False,
        ).model.scores(texts)
        for weight in (None, [8.0, 1.0])
    )
    assert (heavy[:, 0] > 0).mean() > (plain[:, 0] > 0).mean()


@pytest.mark.parametrize("size", [0, 3])
def test_numbers_are_learnt(size):
    random = np.random.default_rng(0)
    counts = random.integers(0, 5, 300)
    texts = [" ".join(["good"] * n + ["bad"] * (4 - n) + [f"w{random.integers(40)}"]) for n in counts]
    standardized = (counts - counts.mean()) / counts.std()
    vectors = random.normal(size=(300, size)).astype(np.float32) if size else None
    fitted = fit_linear(
        LinearExamples(texts, standardized, 1, label_type=NUMERIC_LABEL_TYPE, dense=vectors)
    )
    assert not fitted.settings.ratios
    assert fitted.oof_scores.shape == (300, 1)
    assert fitted.cv_score > 0.9
    predictions = fitted.model.scores(texts, vectors)[:, 0]
    assert np.corrcoef(predictions, counts)[0, 1] > 0.97
    np.testing.assert_allclose(
        TextLinearBuffers.of(fitted.model)(texts, vectors)[:, 0], predictions, atol=0.05
    )


def test_features_of_many_texts_are_read_beyond_those_that_may_be_rare(monkeypatch):
    random = np.random.default_rng(0)
    texts = [" ".join(f"w{number}" for number in random.integers(0, 40, 12)) for _ in range(120)]
    targets = np.array([("w1" in text.split()) ^ (random.random() < 0.1) for text in texts], dtype=int)
    monkeypatch.setattr(text_data, "RARE", 50)
    read = fit_linear(LinearExamples(texts, targets, 2), settings=FIXED)
    spread = Counter(key for text in texts for key in features_of(text))
    often = sum(times >= MIN_TEXTS for times in spread.values())
    assert 50 < often < len(spread)
    assert len(read.model.blocks["words"]) == often


def features_of(text):
    words = text.split()
    return {*words, *pairwise(words)}
