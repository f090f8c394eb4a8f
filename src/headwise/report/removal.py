"""Explanations by removal: the prediction after the most important words are removed.

Attributions are additive, but models are not: two words may carry the same evidence. So all occurrences of
a few sets of three of the words with the largest attributions are removed, and the set that lowers the
prediction most is reported.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from headwise.report.explanation import Explanation

_SETS = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (0, 1, 4))
"""Ranks of the words in each set, by attribution. On held-out training texts, trying all ten sets of five
words lowers the prediction no further, and greedy removal lowers it less at three times the cost."""
_WORDS = 5

Say = Callable[[Sequence[Any], NDArray[np.int64]], NDArray[np.float64]]
"""A function of encoded items and the indices of their explanations, `[items]`, that returns the
probability of the explained label, or the predicted number, `[items]`."""


def with_removal(model: Any, explanations: Sequence["Explanation"], say: Say) -> list["Explanation"]:
    """Explanations with `without` and `left` filled in."""
    tried = [
        (number, words) for number, explanation in enumerate(explanations) for words in _sets(explanation)
    ]
    if not tried or model.features.trees != "none":  # a shortened text does not have the parse of the text
        return list(explanations)
    numbers = np.array([number for number, _ in tried])
    left = say(model.encoded([without(explanations[number], words) for number, words in tried]), numbers)
    best: dict[int, tuple[float, tuple[str, ...]]] = {}
    for (number, words), value in zip(tried, left.tolist(), strict=True):
        best[number] = min(best.get(number, (np.inf, ())), (value, words))
    none = (None, ())
    return [
        replace(explanation, without=words, left=value)
        for explanation, (value, words) in zip(
            explanations, (best.get(n, none) for n in range(len(explanations))), strict=True
        )
    ]


def _sets(explanation: "Explanation") -> list[tuple[str, ...]]:
    words = [word for word, _ in explanation.first(_WORDS)]
    if len(words) < 4:
        return [tuple(words)] if words else []
    return [tuple(words[place] for place in places) for places in _SETS if places[-1] < len(words)]


def without(explanation: "Explanation", words: Sequence[str]) -> Any:
    """The text, or both texts of a pair, with all occurrences of `words` removed."""
    texts = []
    for side, text in enumerate(explanation.texts):
        rest, last = "", 0
        for word in explanation.words:
            if word.side == side and word.word in words:
                rest, last = _beside(rest, text[last : word.start]), word.end
        texts.append(_beside(rest, text[last:]))
    return texts[0] if len(texts) == 1 else tuple(texts)


def _beside(before: str, after: str) -> str:
    """Two pieces of a text joined, with a space if their words would otherwise run together."""
    return before + " " * (before[-1:].isalnum() and after[:1].isalnum()) + after
