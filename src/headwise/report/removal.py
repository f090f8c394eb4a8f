"""What is left of what a model says where the words that count most are removed.

Shares add up, models do not: a word may say again what another has said. So a few sets of three of the
words with the largest shares are removed in earnest, wherever they stand, and the set that leaves least is
told.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from headwise.report.explanation import Explanation

_SETS = ((0, 1, 2), (0, 1, 3), (0, 2, 3), (0, 1, 4))
"""Places among the words, the largest share first. On held-out training texts all ten sets of five words
leave as much, and words removed one after the other more, at three times the price."""
_WORDS = 5

Say = Callable[[Sequence[Any], NDArray[np.int64]], NDArray[np.float64]]
"""From encoded items and the numbers of explanations to what is then left of what each explains: the
probability of the label, or the number."""


def with_removal(model: Any, found: Sequence["Explanation"], say: Say) -> list["Explanation"]:
    """Explanations with the words that are to be removed, and what is left then."""
    tried = [(number, words) for number, own in enumerate(found) for words in _sets(own)]
    if not tried or model.features.trees != "none":  # a text without words has not their tree
        return list(found)
    numbers = np.array([number for number, _ in tried])
    left = say(model.encoded([without(found[number], words) for number, words in tried]), numbers)
    best: dict[int, tuple[float, tuple[str, ...]]] = {}
    for (number, words), value in zip(tried, left.tolist(), strict=True):
        best[number] = min(best.get(number, (np.inf, ())), (value, words))
    none = (None, ())
    return [
        replace(own, without=words, left=value)
        for own, (value, words) in zip(found, (best.get(n, none) for n in range(len(found))), strict=True)
    ]


def _sets(own: "Explanation") -> list[tuple[str, ...]]:
    words = [word for word, _ in own.first(_WORDS)]
    if len(words) < 4:
        return [tuple(words)] if words else []
    return [tuple(words[place] for place in places) for places in _SETS if places[-1] < len(words)]


def without(own: "Explanation", words: Sequence[str]) -> Any:
    """The text, or both of a pair, without some words."""
    texts = []
    for side, text in enumerate(own.texts):
        kept, last = "", 0
        for word in own.words:
            if word.side == side and word.word in words:
                kept, last = _beside(kept, text[last : word.start]), word.end
        texts.append(_beside(kept, text[last:]))
    return texts[0] if len(texts) == 1 else tuple(texts)


def _beside(before: str, after: str) -> str:
    """Two pieces of a text, whose last and first word stay two where what stood between them has gone."""
    return before + " " * (before[-1:].isalnum() and after[:1].isalnum()) + after
