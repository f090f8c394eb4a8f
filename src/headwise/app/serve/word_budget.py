"""The words of a request, which decide how long it occupies a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from headwise.app.serve.serve_errors import REQUEST, TOO_LARGE, RequestError
from headwise.core.tokenizer import count_words
from headwise.data.items.examples import Example, Pair, TaggedSentence
from headwise.data.items.item_type import ItemType

_EXPLANATION = 10
"""An explanation counts as so many predictions of its text."""
_OCCLUSIONS = 3
"""A tagger predicts a text again without each word; so many of these count as a prediction of the text."""


@dataclass(frozen=True)
class WordBudget:
    """The most words that a model predicts for a request. An explanation counts as what takes as long.

    Args:
        most_words: The limit; 0 for none.
    """

    most_words: int = 0

    def check_prediction(self, items: Iterable[object]) -> None:
        """Check the items of a request that are to be predicted.

        Raises:
            RequestError: HW904, they have too many words.
        """
        if self.most_words and (words := sum(map(_words, items))) > self.most_words:
            raise RequestError(
                f"{REQUEST}: {words:,} words; expected at most {self.most_words:,}; ask in parts",
                code=TOO_LARGE,
            )

    def check_explanation(self, items: Sequence[object], item_type: ItemType) -> None:
        """Check the items of a request that are to be explained.

        Raises:
            RequestError: HW904, they have too many words.
        """
        if not self.most_words:
            return
        lengths = [_words(item) for item in items]
        cost = sum(
            words * (max(_EXPLANATION, words // _OCCLUSIONS) if item_type.has_tags else _EXPLANATION)
            for words in lengths
        )
        if cost > self.most_words:
            raise RequestError(
                f"{REQUEST}: {sum(lengths):,} words to explain, which takes as long as to predict "
                f"{cost:,}; expected at most {self.most_words:,}; ask in parts, or for shorter texts",
                code=TOO_LARGE,
            )


NO_LIMIT = WordBudget()


def _words(item: object) -> int:
    """About the number of words of an item; 0 where it has no text."""
    if isinstance(item, TaggedSentence):
        return len(item.tokens)
    if isinstance(item, Pair):
        return count_words(item.first) + count_words(item.second)
    return count_words(item.text) if isinstance(item, Example) else 0
