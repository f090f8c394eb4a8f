"""The linear baseline of pairs: its features by hand, and what it can learn."""

import numpy as np
import pytest

from headwise.data.items.examples import Pair
from headwise.linear.baselines import fit_pair_baseline, overlap, pair_tfidf_features
from headwise.linear.sklearn_models import fit_tfidf


def test_overlap_by_hand():
    features = overlap(["a", "dog", "runs"], ["a", "dog", "sleeps", "here"])
    assert features[:6] == (2 / 3, 2 / 4, 2 / 5, 1 / 2, 1 / 3, 0.0)
    assert features[6] == pytest.approx(np.log(4 / 5))
    assert features[7] == -features[6]
    assert overlap(["a", "b"], ["a", "b"])[:6] == (1, 1, 1, 1, 1, 1)
    assert overlap([], []) == (0, 0, 0, 0, 0, 1, 0, 0)


def test_features_of_what_is_shared_and_what_differs():
    pairs = [Pair("a b", "b c"), Pair("b c", "a b")]
    fitted = fit_tfidf(["a b", "b c"], "whitespace")
    assert fitted is not None
    names = fitted[0].get_feature_names_out()
    features = pair_tfidf_features(fitted[0], "whitespace", pairs).toarray()
    size = len(names)
    assert features.shape == (2, 4 * size + 8)
    shared, lost, new, second = (features[:, n * size : (n + 1) * size] for n in range(4))
    assert set(names[shared[0] > 0]) == {"b"}
    assert set(names[lost[0] > 0]) >= {"a", "a b"}
    assert set(names[new[0] > 0]) >= {"c", "b c"}
    np.testing.assert_allclose(lost[0], new[1], atol=1e-6)  # swapped
    assert set(names[second[0] > 0]) == {"b", "c", "b c"}


def problem(pairs, seed):
    """Whether both texts have the same words; the score is how many they share."""
    random = np.random.default_rng(seed)
    made, labels, scores = [], [], []
    for _ in range(pairs):
        one = list(random.choice([f"w{i}" for i in range(30)], 4, replace=False))
        keep = int(random.integers(0, 5))
        second = one[:keep] + list(random.choice([f"v{i}" for i in range(30)], 4 - keep, replace=False))
        made.append(Pair(" ".join(one), " ".join(random.permutation(second))))
        labels.append(int(keep >= 3))
        scores.append(float(keep))
    return made, np.array(labels), np.array(scores)


def test_it_learns_overlap():
    train, dev, test = problem(200, 0), problem(60, 1), problem(60, 2)
    model = fit_pair_baseline(train[:2], dev[:2], tokenizer="whitespace")
    assert model is not None
    assert (model.predict(test[0]) == test[1]).mean() > 0.95
    ridge = fit_pair_baseline((train[0], train[2]), (dev[0], dev[2]), tokenizer="whitespace", scores=True)
    assert ridge is not None
    assert np.corrcoef(ridge.predict(test[0]), test[2])[0, 1] > 0.95


def test_pairs_without_words():
    nothing = [Pair("", "")] * 4, np.array([0, 1, 0, 1])
    assert fit_pair_baseline(nothing, nothing) is None


def test_once_dev_has_chosen_it_may_learn_of_dev_too():
    train, dev = problem(100, 0), problem(40, 1)
    new = [Pair(f"{pair.first} new", pair.second) for pair in dev[0]]
    for place, scores in ((1, False), (2, True)):
        parts = (train[0], train[place]), (new, dev[place])
        one, both = (
            fit_pair_baseline(*parts, tokenizer="whitespace", scores=scores, refit=again)
            for again in (False, True)
        )
        vocabularies = [baseline.vectorizer.vocabulary_ for baseline in (one, both)]
        assert ["new" in words for words in vocabularies] == [False, True]
        refitted, fitted = (getattr(baseline.linear, "ridge", baseline.linear) for baseline in (both, one))
        assert refitted.get_params() == fitted.get_params()  # as dev has chosen
        assert refitted.n_features_in_ > fitted.n_features_in_
