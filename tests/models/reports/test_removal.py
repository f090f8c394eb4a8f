"""Words are removed in earnest: what is told is what the model says of the text without them."""

from types import SimpleNamespace

import numpy as np

from headwise.models.explanation import Explanation, WordAttribution
from headwise.models.text_explanation import add_removal_effects, remove_words


def of(*texts: str) -> Explanation:
    """An explanation of texts of one-letter words, in which letters that come first count most."""
    words = tuple(
        WordAttribution(word, place, place + 1, 26.0 - (ord(word) - ord("a")), {}, side)
        for side, text in enumerate(texts)
        for place, word in enumerate(text)
        if word != " "
    )
    return Explanation(0, texts, "x", 0.9, 1.0, 0.0, words)


MODEL = SimpleNamespace(features=SimpleNamespace(trees="none"), encoded=list)


def test_the_set_that_leaves_least_is_told():
    """`b` says again what `a` has said, so that both are worth no more than one: all goes with a, c, d."""
    worth = {"b": 0.0, "a": 0.2, "c": 0.3, "d": 0.3, "e": 0.0}

    def say(texts, numbers):
        assert set(numbers) == {0}
        return np.array([0.1 + sum(worth[word] for word in text.split()) for text in texts])

    (explanation,) = add_removal_effects(MODEL, [of("a b c d e a")], say)
    assert explanation.removed_words == ("a", "c", "d")
    assert (
        explanation.value_after_removal
        == say([remove_words(explanation, explanation.removed_words)], [0])[0]
    )
    assert remove_words(explanation, explanation.removed_words).split() == ["b", "e"]
    assert explanation.tail == 'x without "a", "c", "d": 10.0 %'
    assert explanation.to_json()["removed_words"] == ["a", "c", "d"]
    assert 'without "<bdi>a</bdi>", "<bdi>c</bdi>", "<bdi>d</bdi>"' in explanation.to_html()


def test_few_words_are_all_removed_and_both_texts_of_a_pair_lose_them():
    pair = of("a b", "b a a")
    (explanation,) = add_removal_effects(
        MODEL, [pair], lambda items, _: np.array([len(items[0][0].strip())])
    )
    assert (explanation.removed_words, explanation.value_after_removal) == (("a", "b"), 0)
    assert remove_words(pair, ("a",)) == (" b", "b  ")


def test_nothing_is_told_where_nothing_can_be_removed():
    empty = Explanation(0, ("",), "x", 0.5, 0.0, 0.0, ())
    assert add_removal_effects(MODEL, [empty, empty], lambda *_: np.zeros(0)) == [empty, empty]
    trees = SimpleNamespace(features=SimpleNamespace(trees="error"), encoded=list)
    assert add_removal_effects(trees, [of("a b")], lambda *_: np.zeros(1))[0].value_after_removal is None
    (explanation, same) = add_removal_effects(
        MODEL, [of("a b"), empty], lambda items, _: np.zeros(len(items))
    )
    assert (explanation.value_after_removal, same.value_after_removal, same.tail) == (0.0, None, "")


def test_words_stay_apart_where_what_stood_between_them_goes():
    text = "good,bad - a,b"
    words = tuple(
        WordAttribution(text[start:end], start, end, 1.0, {})
        for start, end in [(0, 4), (4, 5), (5, 8), (9, 10), (11, 12), (12, 13), (13, 14)]
    )
    explanation = Explanation(0, (text,), "x", 0.9, 1.0, 0.0, words)
    assert remove_words(explanation, (",",)) == "good bad - a b"
    assert remove_words(explanation, (",", "a")) == "good bad - b"
    assert remove_words(explanation, ("-", "good")) == ",bad  a,b"
