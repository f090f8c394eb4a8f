"""What a report takes from explanations."""

from headwise.app.workflows.report import _isolate_bidi, _reason, _sample_items, _top_words
from headwise.models.explanation import Explanation, WordAttribution


def told(label: str, **shares: float) -> Explanation:
    words = tuple(WordAttribution(word, 0, 0, share, {}) for word, share in shares.items())
    return Explanation(0, ("",), label, 0.9, 1.0, 0.0, words)


def test_words_that_take_from_a_label_are_not_those_that_add_to_it():
    found = _top_words([told("a", good=2.0, The=-1.0), told("a", the=0.5, fine=1.0), told("b", bad=-1.0)])
    assert found == {"a": [("good", 2.0), ("fine", 1.0)]}


def test_beside_a_mistake_stands_why_of_a_label_that_is_wrong():
    """Of a set it may be another that is explained: the most probable one, or one that is right."""
    right, wrong = told("spam", buy=1.0), told("toxic", fool=1.0)
    assert "toxic" in _reason({"wrong": {"toxic": 0.9}}, [right, wrong])
    assert _reason({"wrong": {"self-harm": 0.1}}, [wrong]) == ""
    assert "spam" in _reason({"label": "ham"}, [right])
    assert _reason({"label": "ham"}, []) == ""


def test_words_are_those_of_texts_from_the_whole_file():
    """Files are often sorted by label, and folders are read label by label."""
    texts = ["a"] * 500 + ["b"] * 500
    drawn = _sample_items(texts, 200)
    assert len(drawn) == 200
    assert 70 < drawn.count("b") < 130
    assert 70 < _sample_items(["a", "b"] * 200, 200).count("b") < 130
    order = _sample_items(range(1000), 200)
    assert order == sorted(set(order)) == _sample_items(range(1000), 200)
    assert _sample_items("abc", 200) == ["a", "b", "c"]


def test_labels_that_run_from_right_to_left_keep_their_probability_behind_them():
    hebrew = "\u05d0\u05d1"
    found = _isolate_bidi(
        {"label": hebrew, "predicted": ["b", hebrew], "wrong": {hebrew: 0.5}, "probability": 0.5}
    )
    apart = f"\u2068{hebrew}\u2069"
    assert found == {"label": apart, "predicted": ["b", apart], "wrong": {apart: 0.5}, "probability": 0.5}
