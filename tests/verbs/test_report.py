"""What a report takes from explanations."""

from headwise.report.explanation import Explanation, WordShare
from headwise.verbs.report import _words_of


def told(label: str, **shares: float) -> Explanation:
    words = tuple(WordShare(word, 0, 0, share, {}) for word, share in shares.items())
    return Explanation(0, ("",), label, 0.9, 1.0, 0.0, words)


def test_words_that_take_from_a_label_are_not_those_that_add_to_it():
    found = _words_of([told("a", good=2.0, The=-1.0), told("a", the=0.5, fine=1.0), told("b", bad=-1.0)])
    assert found == {"a": [("good", 2.0), ("fine", 1.0)]}
