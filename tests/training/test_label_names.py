"""Names of labels as training texts."""

import numpy as np
import pytest

from headwise.core.activations import softmax
from headwise.data.items.label_types import LABEL_SET_TYPE, NUMERIC_LABEL_TYPE, SINGLE_LABEL_TYPE
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.training.label_names import WEIGHT, named_labels, names_are_predictive, with_names
from headwise.training.linear_probe import fit_linear_probe
from headwise.training.target_labels import target_labels

rng = np.random.default_rng(0)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("card_arrival", "card arrival"),
        ("cardArrival", "card Arrival"),
        ("comp.sys.ibm", "comp sys ibm"),
        ("Überweisung-fehlt", "Überweisung fehlt"),
        ("not offensive", "not offensive"),
        ("4 stars", "4 stars"),
    ],
)
def test_names_are_taken_apart(label: str, words: str) -> None:
    assert named_labels(["0", label], np.array([0, 1])) == {1: words}


def test_what_is_no_word_is_no_name() -> None:
    assert named_labels(["0", "1.5", "A", "-", "", "__1__"], np.ones(6)) == {}


def test_a_label_whose_texts_count_nothing_has_no_name() -> None:
    weights, single = np.array([0.0, 2.0, 0.0]), target_labels(SINGLE_LABEL_TYPE)
    sets = target_labels(LABEL_SET_TYPE)
    for counts in (
        single.counts(np.array([0, 1, 0]), weights, 2),
        single.counts(np.eye(2)[[0, 1, 0]], weights, 2),
        sets.counts(np.array([[False, True]]), None, 2),
    ):
        assert named_labels(["good", "bad"], counts) == {1: "bad"}


def test_names_tell_texts_apart() -> None:
    names = unit(rng.normal(size=(5, 20)))
    numbers = [0, 2, 3, 5, 6]  # 1 and 4 have no name
    targets = np.array([*numbers, 1, 4]).repeat(30)
    of = {number: place for place, number in enumerate(numbers)}
    centres = np.stack([names[of[t]] if t in of else np.zeros(20) for t in targets])
    texts = unit(centres + 0.2 * rng.normal(size=centres.shape))
    noise = unit(rng.normal(size=texts.shape))
    assert names_are_predictive(SINGLE_LABEL_TYPE, names, texts, targets, numbers)
    assert names_are_predictive(SINGLE_LABEL_TYPE, names, texts, np.eye(7)[targets], numbers)
    assert not names_are_predictive(SINGLE_LABEL_TYPE, names[::-1], texts, targets, numbers)
    assert not names_are_predictive(SINGLE_LABEL_TYPE, names, noise, targets, numbers)
    assert not names_are_predictive(SINGLE_LABEL_TYPE, names[:1], texts, targets, numbers[:1])


def test_one_name_that_always_wins_is_no_better_than_chance() -> None:
    names = unit(np.array([[1.0, 0.1], [-1.0, 0.1]]))
    texts = np.tile(names[0], (100, 1))
    assert not names_are_predictive(SINGLE_LABEL_TYPE, names, texts, np.array([0] * 90 + [1] * 10), [0, 1])


def test_targets_and_weights_go_on_with_the_names() -> None:
    targets, weights = with_names(SINGLE_LABEL_TYPE, np.array([2, 0]), None, [0, 2], 3)
    assert targets.tolist() == [2, 0, 0, 2]
    assert weights.tolist() == [1, 1, WEIGHT, WEIGHT]
    soft, weights = with_names(
        SINGLE_LABEL_TYPE, np.array([[0.5, 0.5, 0]], np.float32), np.array([3.0]), [2], 3
    )
    assert soft.dtype == np.float32
    assert soft.tolist() == [[0.5, 0.5, 0], [0, 0, 1]]
    assert weights.tolist() == [3, WEIGHT]
    sets, _ = with_names(LABEL_SET_TYPE, np.array([[True, True, False]]), None, [2], 3)
    assert sets.dtype == np.bool_
    assert sets.tolist() == [[True, True, False], [False, False, True]]


def test_texts_share_a_label() -> None:
    single, sets = target_labels(SINGLE_LABEL_TYPE), target_labels(LABEL_SET_TYPE)
    assert single.share_label(np.array([0, 1]), np.array([1, 0, 1])).tolist() == [
        [False, True, False],
        [True, False, True],
    ]
    soft = np.array([[0.9, 0.1], [0.4, 0.6]])
    assert single.share_label(soft, soft).tolist() == np.eye(2, dtype=bool).tolist()
    rows = np.array([[True, False, True], [False, True, True], [False, False, False]])
    assert sets.share_label(rows, rows).tolist() == [[True, True, False], [True, True, False], [False] * 3]


def test_numbers_have_no_labels() -> None:
    with pytest.raises(TypeError, match="TARGET_LABELS"):
        target_labels(NUMERIC_LABEL_TYPE)


def test_what_is_in_no_fold_is_trained_on_and_never_judged() -> None:
    texts = [f"{word} {n}" for n in range(15) for word in ("cat", "dog")]
    targets = np.array([0, 1] * 15)
    fitted = fit_linear(
        LinearExamples([*texts, "purring", "barking"], np.append(targets, [0, 1]), 2, label_name_count=2)
    )
    assert len(fitted.oof_scores) == len(texts)
    assert fitted.cv_score == 1
    assert fitted.model.scores(["purring", "barking"]).argmax(axis=1).tolist() == [0, 1]


def test_a_probe_with_texts_in_no_fold_chooses_as_without_them_where_they_weigh_nothing() -> None:
    drawn = np.random.default_rng(7)
    vectors = unit(drawn.normal(size=(60, 8)))
    targets = (vectors[:, 0] > 0).astype(np.int64)
    more = np.vstack([vectors, unit(drawn.normal(size=(10, 8)))])
    labels = np.append(targets, [0, 1] * 5)
    weights = np.append(np.ones(60), np.zeros(10))
    without, mixed = (
        softmax(vectors @ weight.T + bias, axis=1)
        for weight, bias in (
            fit_linear_probe(vectors, targets, 2),
            fit_linear_probe(more, labels, 2, weights=weights, label_name_count=10),
        )
    )
    np.testing.assert_allclose(mixed, without, atol=5e-3)


def test_names_tell_label_sets_apart_and_very_many_texts_are_looked_at_in_part() -> None:
    names = unit(rng.normal(size=(4, 20)))
    sets = rng.random((12_000, 5)) < 0.3
    texts = unit(sets[:, 1:].astype(float) @ names + 0.5 * rng.normal(size=(12_000, 20)))
    noise = unit(rng.normal(size=texts.shape))
    assert names_are_predictive(LABEL_SET_TYPE, names, texts, sets, [1, 2, 3, 4])
    assert not names_are_predictive(LABEL_SET_TYPE, names, noise, sets, [1, 2, 3, 4])
