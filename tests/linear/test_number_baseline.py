"""The linear baseline of numbers."""

import numpy as np

from headwise.linear.baselines import predict_number_baseline

WORTH = {"poor": 1.0, "fair": 2.0, "good": 3.0}


def texts(words, count):
    chosen = [words[n % len(words)] for n in range(count)]
    return chosen, np.array([WORTH.get(word, 9.0) for word in chosen])


def test_it_learns_what_words_are_worth():
    predictions = predict_number_baseline(texts(list(WORTH), 60), texts(list(WORTH), 12), list(WORTH))
    assert predictions is not None
    np.testing.assert_allclose(predictions, list(WORTH.values()), atol=0.1)


def test_once_dev_has_chosen_it_may_learn_of_dev_too():
    parts = texts(list(WORTH), 60), texts(["superb"], 12)
    one, both = (predict_number_baseline(*parts, ["superb"], refit=again) for again in (False, True))
    assert one is not None
    assert both is not None
    assert abs(one[0] - 2) < 0.5  # an unknown word is worth what all are
    assert both[0] > 7


def test_texts_without_words():
    nothing = ["", " "], np.array([1.0, 2.0])
    assert predict_number_baseline(nothing, nothing, ["a"]) is None
