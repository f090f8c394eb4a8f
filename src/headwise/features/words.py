"""TextFeatures: from texts to what a model reads of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headwise.data.chunks import several
from headwise.data.example import Example, as_example
from headwise.errors import HeadwiseError
from headwise.features.encoded_text import EncodedText
from headwise.features.syntax import Heads, HeadsError, TreeUse, checked_heads
from headwise.features.tokenize import get_tokenizer
from headwise.features.vocabulary import Vocabulary

Parser = Callable[[Sequence[Sequence[str]]], Sequence[Heads]]
"""From the words of texts to the heads of these words (`headwise.features.parse`)."""


class LongTextError(HeadwiseError):
    """HW226: a text has more words than a model reads."""

    code = "HW226"


class TextFeatures:
    """A tokeniser, a vocabulary, and how texts get their dependency trees.

    Args:
        tokenizer: Its name, see `headwise.features.tokenize`.
        vocabulary: Numbers of the words.
        trees: Whether parses are read: not at all, of every text (`error`: one without is an error), or
            of those that have one (`word`: in the others the distance is that from word to word).
        parser: Parses the texts that bring no parse of their own.
        spell: From the words of texts to what the embedding reads of them beside their numbers.
        most: Gives the most words that are read of a text, 0 for all; None for all.
        cut: Whether what is more is left out; else such a text is an error.
    """

    def __init__(
        self,
        tokenizer: str,
        vocabulary: Vocabulary,
        *,
        trees: TreeUse = "none",
        parser: Parser | None = None,
        spell: Callable[[Sequence[Sequence[str]]], Sequence[Any]] | None = None,
        most: Callable[[], int] | None = None,
        cut: bool = False,
    ):
        self.tokenizer = get_tokenizer(tokenizer)
        self.vocabulary = vocabulary
        self.trees: TreeUse = trees
        self.parser = parser
        self.spell = spell
        self.most, self.cut = most, cut

    def encode(self, texts: Iterable[str | Example]) -> list[EncodedText]:
        """What the model reads of each text; an `Example` may bring its parse.

        Raises:
            HeadsError: HW234, a parse has more or fewer words than its text; HW235, there is none.
            LongTextError: HW226, a text has more words than are read.
            ConfigError: It is one text, and no list; or one of them is no text.
        """
        examples = [as_example(text) for text in several(texts)]
        return self.encode_words([self.tokenizer.words(example.text) for example in examples], examples)

    def encode_words(
        self, words: Sequence[Sequence[str]], examples: Sequence[Example]
    ) -> list[EncodedText]:
        """The same of texts that are cut into words already; of the examples only the parses count, and
        the texts that are handed on.

        Raises:
            HeadsError, LongTextError: As `encode`.
        """
        most = 0 if self.most is None else self.most()
        read = self._beginnings(words, examples, most) if most else words
        spelling = [None] * len(read) if self.spell is None else self.spell(read)
        texts = [
            example.text if len(own) == len(whole) else self._until(example.text, len(own))
            for own, whole, example in zip(read, words, examples, strict=True)
        ]
        encoded = [
            EncodedText(self.vocabulary.encode(own), spelled, cut=len(whole) - len(own), text=text)
            for own, spelled, whole, text in zip(read, spelling, words, texts, strict=True)
        ]
        if self.trees == "none":
            return encoded
        heads = self._heads(examples, words)
        return [replace(text, heads=own) for text, own in zip(encoded, heads, strict=True)]

    def _beginnings(
        self, words: Sequence[Sequence[str]], examples: Sequence[Example], most: int
    ) -> list[Sequence[str]]:
        """What is read of texts."""
        for own, example in zip(words, examples, strict=True):
            if len(own) > most and not self.cut:
                raise LongTextError(
                    f"{_where(example) or 'a text'}: {len(own):,} words, but the model reads at most "
                    f"{most:,} (--windows.long error); train with --windows.long split, which reads such "
                    "texts in windows, or split the text"
                )
        return [own[:most] for own in words]

    def _until(self, text: str, words: int) -> str:
        """A text as far as so many words, for whatever reads it as it was written."""
        return text[: self.tokenizer.spans(text)[words - 1][1]]

    def _heads(self, examples: Sequence[Example], words: Sequence[Sequence[str]]) -> list[Heads]:
        given = {
            place: checked_heads(example.heads, len(words[place]), _where(example))
            for place, example in enumerate(examples)
            if example.heads is not None
        }
        rest = [place for place in range(len(examples)) if place not in given]
        if self.parser is not None and rest:
            given |= zip(rest, self.parser([words[place] for place in rest]), strict=True)
        elif self.trees == "word":
            # A chain: each word depends on the one before it.
            given |= {place: np.arange(len(words[place]), dtype=np.int64) for place in rest}
        elif rest:
            raise HeadsError(
                f"{_where(examples[rest[0]]) or 'a text'}: no parse, but the encoder goes by "
                "dependency trees. Give the parses in a file (--heads), name a spaCy pipeline that makes "
                "them (--syntax.pipeline, of a model --pipeline), or train with --encoder.tree-fallback "
                "word: then the way from word to word takes their place. In Python these are sections of "
                "the recipe, {'syntax': {'pipeline': ...}} and {'encoder': {'tree_fallback': 'word'}}",
                code="HW235",
            )
        return [given[place] for place in range(len(examples))]


def _where(example: Example) -> str:
    return f"line {example.line}" if example.line else ""
