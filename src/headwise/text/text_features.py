"""TextFeatures: encodes texts and pairs of texts to the input of a model; does not import torch."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headwise.core.errors import HeadwiseError
from headwise.data.columns.tabular_columns import TabularRow
from headwise.data.items.dataset import require_list
from headwise.data.items.examples import Example, Pair, as_example
from headwise.text.document_structure import MarkName, WordMarks, joined_text, word_marks
from headwise.text.static_embeddings.base_vectors import BaseTokens
from headwise.text.syntax import DependencyHeads, ParseError, TreeUse, validate_heads
from headwise.text.text_reader import TokenizedTexts, text_reader
from headwise.text.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class EncodedText:
    """The model input for one text.

    Attributes:
        words: Word ids, int64 `[words]`.
        spelling: Further inputs of the embedding (word pieces, characters), if it reads any.
        parse: Dependency head of each word if the text is parsed, else None.
        cut: Number of words truncated at the end of the text.
        text: The original text; empty if only its words are known.
        tabular: Features of the columns beside the text, `[features]`; None where they are not known.
        row: The values of these columns.
        marks: By name, the number of the sentence or paragraph of each word, int64 `[words]`; those that
            the heads of the model compare.
        matrices: By name, a number of each pair of words, float32 `[words, words]`, that heads add to their
            scores.
    """

    words: NDArray[np.int64]
    spelling: Any = None
    parse: DependencyHeads | None = None
    cut: int = 0
    text: str = ""
    tabular: NDArray[np.float32] | None = None
    row: TabularRow | None = None
    marks: WordMarks = field(default_factory=dict)
    matrices: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Number of words."""
        return len(self.words)

    @property
    def unknown(self) -> int:
        """Number of out-of-vocabulary words (of a model with a base, of words that the base does not
        list)."""
        pieces = getattr(self.spelling, "pieces", self.spelling)  # taggers wrap them in `CharacterInput`
        return pieces.unknown if isinstance(pieces, BaseTokens) else int((self.words == 0).sum())

    @property
    def empty(self) -> bool:
        """Whether the text has no word."""
        return len(self.words) == 0


Parser = Callable[[Sequence[Sequence[str]]], Sequence[DependencyHeads]]
"""A dependency parser: from tokenised texts to the heads of their words (`headwise.text.parsing`)."""


MatrixFunction = Callable[[Sequence[str]], ArrayLike]
"""From the words of a text to a number of each pair, `[words, words]`."""


class LongTextError(HeadwiseError):
    """HW226: a text has more words than a model reads."""

    code = "HW226"


class TextFeatures:
    """Encodes texts: tokenizer, vocabulary, dependency trees and further inputs of the embedding.

    Args:
        tokenizer: Name of the tokenizer, see `headwise.core.tokenizer`.
        trees: Whether dependency trees are read: `none`; `error`: a text without one is an error; `word`: a
            text without one gets a chain, so distances are those in words.
        marks: Names of the marks of words that are made (`headwise.text.document_structure`).
        matrices: By name, functions from the words of a text to a matrix `[words, words]`.
        parser: Parses the texts that come without a parse.
        character_encoder: From tokenised texts to `EncodedText.spelling`; None if the embedding reads
            word ids only.
        most: Returns the maximum number of words read of a text, 0 for no limit; None for no limit.
        cut: Whether longer texts are truncated; else they are an error.
    """

    def __init__(
        self,
        tokenizer: str,
        vocabulary: Vocabulary,
        *,
        trees: TreeUse = "none",
        marks: frozenset[MarkName] = frozenset(),
        matrices: Mapping[str, MatrixFunction] | None = None,
        parser: Parser | None = None,
        character_encoder: Callable[[Sequence[Sequence[str]]], Sequence[object]] | None = None,
        most: Callable[[], int] | None = None,
        cut: bool = False,
    ):
        self.reader = text_reader(tokenizer)
        self.tokenizer = self.reader.tokenizer
        self.vocabulary = vocabulary
        self.trees: TreeUse = trees
        self.marks = marks
        self.matrices = dict(matrices or {})
        self.parser = parser
        self.character_encoder = character_encoder
        self.most, self.cut = most, cut

    def encode(self, texts: Iterable[str | Example]) -> list[EncodedText]:
        """Encode texts; an `Example` may have a parse.

        Raises:
            ParseError: HW234, a parse has more or fewer words than its text; HW235, there is none.
            LongTextError: HW226, a text has more words than are read.
            ConfigError: It is one text, and no list; or one of them is no text.
        """
        examples = [as_example(text) for text in require_list(texts)]
        return self.encode_words(self.reader.read([example.text for example in examples]), examples)

    def encode_words(
        self, words: Sequence[Sequence[str]], examples: Sequence[Example]
    ) -> list[EncodedText]:
        """Encode tokenised texts; of each example only its parse and its text are used.

        Raises:
            ParseError, LongTextError: As `encode`.
        """
        most = 0 if self.most is None else self.most()
        read = self._truncate(words, examples, most) if most else words
        spelling = [None] * len(read) if self.character_encoder is None else self.character_encoder(read)
        if isinstance(read, TokenizedTexts):
            ids, bounds = self.vocabulary.encode_read(read), pairwise(read.ends.tolist())
            encoded = [
                EncodedText(ids[start:end], spelled, text=example.text)
                for (start, end), spelled, example in zip(bounds, spelling, examples, strict=True)
            ]
        else:
            encoded = self._encode_lists(read, spelling, words, examples)
        if self.marks:
            units = self._marks(words, examples)
            encoded = [
                replace(text, marks={name: numbers[: len(text)] for name, numbers in marks.items()})
                for text, marks in zip(encoded, units, strict=True)
            ]
        if self.matrices:
            encoded = [
                replace(text, matrices=self._matrices(tokens, number, example))
                for number, (text, tokens, example) in enumerate(
                    zip(encoded, read, examples, strict=True), start=1
                )
            ]
        if self.trees == "none":
            return encoded
        heads = self._heads(examples, words)
        return [replace(text, parse=parse) for text, parse in zip(encoded, heads, strict=True)]

    def _encode_lists(
        self,
        read: Sequence[Sequence[str]],
        spelling: Sequence[object],
        words: Sequence[Sequence[str]],
        examples: Sequence[Example],
    ) -> list[EncodedText]:
        texts = [
            example.text
            if len(tokens) == len(full)
            else example.text[: self.tokenizer.spans(example.text)[len(tokens) - 1][1]]
            for tokens, full, example in zip(read, words, examples, strict=True)
        ]
        return [
            EncodedText(self.vocabulary.encode(tokens), spelled, cut=len(full) - len(tokens), text=text)
            for tokens, spelled, full, text in zip(read, spelling, words, texts, strict=True)
        ]

    def _truncate(
        self, words: Sequence[Sequence[str]], examples: Sequence[Example], most: int
    ) -> list[Sequence[str]]:
        """The first `most` words of each text."""
        for tokens, example in zip(words, examples, strict=True):
            if len(tokens) > most and not self.cut:
                raise LongTextError(
                    f"{_where(example) or 'a text'}: {len(tokens):,} words, but the model reads at most "
                    f"{most:,} (--windows.long error); train with --windows.long split, which reads such "
                    "texts in windows (in Python: recipe={'windows': {'long': 'split'}}), or split the text"
                )
        return [tokens[:most] for tokens in words]

    def _marks(self, words: Sequence[Sequence[str]], examples: Sequence[Example]) -> Iterator[WordMarks]:
        """The marks of all words of each text; of texts that came in words, those of the words with a space
        between any two."""
        for tokens, example in zip(words, examples, strict=True):
            if example.text:
                text, spans = example.text, self.tokenizer.spans(example.text)
            else:
                text, spans = joined_text(tokens)
            yield word_marks(self.marks, text, spans)

    def _matrices(
        self, words: Sequence[str], number: int, example: Example
    ) -> dict[str, NDArray[np.float32]]:
        """The matrices of the words of a text, which is text `number` of those that are read together."""
        matrices = {}
        for name, compute in self.matrices.items():
            matrix = np.asarray(compute(words), dtype=np.float32)
            size, where = len(words), _where(example) or f"text {number}"
            if not size:
                matrix = matrix.reshape(0, 0) if not matrix.size else matrix
            if matrix.shape != (size, size):
                raise HeadwiseError(
                    f"{where}: the matrix of the prior {name!r} is {list(matrix.shape)}, but the text has "
                    f"{size} words; expected [{size}, {size}]",
                    code="HW314",
                )
            if not np.isfinite(matrix).all():
                row, column = np.argwhere(~np.isfinite(matrix))[0].tolist()
                raise HeadwiseError(
                    f"{where}: the matrix of the prior {name!r} is {matrix[row, column]} in row {row + 1}, "
                    f"column {column + 1}; expected finite numbers",
                    code="HW314",
                )
            matrices[name] = matrix
        return matrices

    def _heads(self, examples: Sequence[Example], words: Sequence[Sequence[str]]) -> list[DependencyHeads]:
        parses = {
            place: validate_heads(example.parse, len(words[place]), _where(example))
            for place, example in enumerate(examples)
            if example.parse is not None
        }
        rest = [place for place in range(len(examples)) if place not in parses]
        if self.parser is not None and rest:
            parses |= zip(rest, self.parser([words[place] for place in rest]), strict=True)
        elif self.trees == "word":
            # A chain: each word depends on the one before it.
            parses |= {place: np.arange(len(words[place]), dtype=np.int64) for place in rest}
        elif rest:
            raise ParseError(
                f"{_where(examples[rest[0]]) or 'a text'}: no parse, but the encoder goes by "
                "dependency trees. Give the parses in a file (--parses), name a spaCy pipeline that makes "
                "them (--syntax.pipeline, of a model --pipeline), or train with --encoder.tree-fallback "
                "word: then the way from word to word takes their place. In Python these are sections of "
                "the recipe, {'syntax': {'pipeline': ...}} and {'encoder': {'tree_fallback': 'word'}}",
                code="HW235",
            )
        return [parses[place] for place in range(len(examples))]


def _where(example: Example) -> str:
    return f"line {example.line}" if example.line else ""


@dataclass(frozen=True, slots=True)
class EncodedPair:
    """The model input for a pair of texts.

    Attributes:
        first: The first text.
        second: The second text.
        compared: Comparison features from the vectors of a base, `[size]`, if they are precomputed.
    """

    first: EncodedText
    second: EncodedText
    compared: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        """Number of words of both."""
        return len(self.first) + len(self.second)

    @property
    def unknown(self) -> int:
        """Number of out-of-vocabulary words of both texts."""
        return self.first.unknown + self.second.unknown

    @property
    def cut(self) -> int:
        """Number of truncated words of both texts."""
        return self.first.cut + self.second.cut

    @property
    def empty(self) -> bool:
        """Whether one of the texts has no word."""
        return self.first.empty or self.second.empty


def encode_pairs(features: TextFeatures, pairs: Sequence[Pair]) -> list[EncodedPair]:
    """Encode pairs of texts.

    Raises:
        ParseError: As `TextFeatures.encode`.
    """
    firsts = features.encode([Example(pair.first, None, pair.line, pair.first_parse) for pair in pairs])
    seconds = features.encode([Example(pair.second, None, pair.line, pair.second_parse) for pair in pairs])
    return [EncodedPair(first, second) for first, second in zip(firsts, seconds, strict=True)]


def comparison_features(pairs: Sequence[EncodedPair]) -> NDArray[np.float32] | None:
    """The precomputed comparison features, `[pairs, size]`; None unless all pairs have them."""
    vectors = [pair.compared for pair in pairs if pair.compared is not None]
    return np.stack(vectors) if vectors and len(vectors) == len(pairs) else None
