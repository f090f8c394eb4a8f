"""LinearModel: a linear model of texts as arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.hashing import Codes, Ends, joined_code_points
from headwise.core.surface_features import FEATURE_COUNT, surface_features
from headwise.core.tokenizer import get_tokenizer
from headwise.linear.linear_weights import DesignMatrix, Floats, LinearWeights
from headwise.linear.pair_features import GROUPS
from headwise.linear.tfidf_features import (
    LONGEST,
    SHORTEST,
    BlockName,
    BlockReader,
    FeatureVocabulary,
    LinearTexts,
)
from headwise.text.text_reader import Lexicon, TokenizedTexts, text_reader

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


_NOTHING = FeatureVocabulary(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.float32))


@dataclass
class SparseScores:
    """The products of the features of texts with the weights of a linear model; threads may share it.

    Attributes:
        blocks: The vocabularies of words, then of character n-grams.
        weights: Weights of the features, block after block, `[features, columns]` float32.
        reach: Maximum distance between the words of a pair.
        edges: Whether words also form pairs with the beginning and the end of a text.
        pairs: Whether it scores pairs of texts, with the weights of
            `headwise.linear.pair_features.compare_matrices`.
    """

    blocks: Mapping[BlockName, FeatureVocabulary]
    weights: NDArray[np.float32]
    reach: int
    edges: bool
    pairs: bool = False

    def __post_init__(self) -> None:
        words, runs = (self.blocks.get(name, _NOTHING) for name in ("words", "characters"))
        self._scorer = native.SparseScorer(
            *(words.keys, words.idf, runs.keys, runs.idf),
            np.ascontiguousarray(self.weights, dtype=np.float32),
            *(self.reach, self.edges, SHORTEST, LONGEST, self.pairs),
        )
        self._lexicon: Lexicon | None = None
        self._words = self._pieces = 0
        self._lock = Lock()

    def __call__(self, read: TokenizedTexts) -> NDArray[np.float64]:
        """The products of texts, `[texts, columns]`; of pairs `[pairs, columns]`, if these are the first
        texts of all pairs, then the second texts."""
        with self._lock:
            lexicon = read.lexicon
            if lexicon is not self._lexicon:
                self._scorer.clear()
                self._lexicon, self._words, self._pieces = lexicon, 0, 0
            words, pieces = len(lexicon.words), len(lexicon.pieces)
            if words > self._words:
                self._scorer.add_tokens(*_lowered(lexicon.words[self._words : words]))
            if pieces > self._pieces:
                self._scorer.add_pieces(*_lowered(lexicon.pieces[self._pieces : pieces]))
            self._words, self._pieces = words, pieces
            scores = self._scorer.pair_scores if self.pairs else self._scorer.scores
            return scores(read.words, read.ends, read.pieces, read.piece_ends)


def _lowered(texts: Sequence[str]) -> tuple[Codes, Ends]:
    return joined_code_points([text.lower() for text in texts])


@dataclass(frozen=True)
class DenseScale:
    """Centres vectors and scales them to the length `weight`.

    Attributes:
        mean: Mean of the training vectors, `[size]`.
        weight: Length of the scaled vectors; word and character blocks have length 1.
    """

    mean: Floats
    weight: float

    def __call__(self, vectors: NDArray) -> Floats:
        """Scale vectors, `[texts, size]`."""
        away = np.asarray(vectors, dtype=np.float32) - self.mean
        lengths = np.linalg.norm(away, axis=1, keepdims=True)
        return np.asarray(away * (self.weight / np.maximum(lengths, 1e-12)), dtype=np.float32)


@dataclass(frozen=True)
class LinearModel:
    """Linear scores of labels from words, character n-grams and optional vectors of texts.

    Attributes:
        blocks: The vocabulary of each block.
        coefficients: The weights, block after block, multiplied by the calibration factor.
        classes: Number of labels.
        tokenizer: Name of the tokenizer.
        scale: Scaling of the vectors; None if it reads none.
        pairs: Whether it reads text pairs and their comparison features.
        reach: Maximum distance between the words of a pair.
        form: Whether it reads surface features (see `headwise.core.surface_features`), which follow the
            vectors.
        edges: Whether words also form pairs with the beginning and the end of a text.
        tabular: Number of features of the columns beside the text, which come last; 0 without.
    """

    blocks: Mapping[BlockName, FeatureVocabulary]
    coefficients: LinearWeights
    classes: int
    tokenizer: str = "penn"
    scale: DenseScale | None = None
    pairs: bool = False
    reach: int = 1
    form: bool = False
    edges: bool = False
    tabular: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # no cached properties

    @property
    def has_words(self) -> bool:
        """Whether any word or character n-gram has weights; none does if the texts have no words."""
        return any(map(len, self.blocks.values()))

    @property
    def form_place(self) -> slice:
        """The rows of the dense weights that belong to surface features."""
        end = len(self.coefficients.dense) - self.tabular
        return slice(end - FEATURE_COUNT * self.form, end)

    def place(self, block: BlockName) -> slice:
        """The rows of the weight matrix that belong to a block."""
        names, groups = list(self.blocks), GROUPS if self.pairs else 1
        first = groups * sum(len(self.blocks[name]) for name in names[: names.index(block)])
        return slice(first, first + groups * len(self.blocks[block]))

    def rows(
        self, texts: LinearTexts, dense: NDArray | None = None, numbers: NDArray | None = None
    ) -> DesignMatrix:
        """The design matrix of texts or pairs."""
        options = self.tokenizer, self.pairs, self.reach, self.edges
        parts = [BlockReader(name, *options).transform(texts, block) for name, block in self.blocks.items()]
        if not self.pairs:
            numbers = self._text_numbers(texts, numbers)
        return DesignMatrix(stack_blocks(parts, len(texts)), self.dense(len(texts), dense, numbers))

    def _text_numbers(self, texts: LinearTexts, tabular: NDArray | None) -> NDArray | None:
        """Surface features of texts, and the features of the columns beside them (0 if not known)."""
        parts = list[NDArray]()
        if self.form:
            normalize = get_tokenizer(self.tokenizer).normalize
            parts.append(surface_features(list(map(normalize, cast(Sequence[str], texts)))))
        if self.tabular:
            size = (len(texts), self.tabular)
            parts.append(np.zeros(size, dtype=np.float32) if tabular is None else tabular)
        return np.hstack(parts) if parts else None

    def dense(self, texts: int, vectors: NDArray | None, numbers: NDArray | None) -> Floats:
        """The dense features, `[texts, size]`."""
        features = np.zeros((texts, 0), dtype=np.float32)
        if self.scale is not None:
            if vectors is None:
                raise ValueError("this linear model reads vectors of texts beside their words")
            features = self.scale(vectors)
        if numbers is not None:
            features = np.hstack([features, np.asarray(numbers, dtype=np.float32)])
        return features

    def scores(
        self, texts: LinearTexts, dense: NDArray | None = None, numbers: NDArray | None = None
    ) -> Floats:
        """Calibrated logits, `[texts, classes]`.

        Args:
            texts: Any texts, or pairs of them.
            dense: Vectors of the texts, if the model reads any, `[texts, size]`.
            numbers: Comparison features of pairs, or the features of the columns beside the texts, `[texts,
                numbers]`.
        """
        coefficients = self.coefficients
        if self.sparse_scores is None:
            return expand_columns(coefficients.scores(self.rows(texts, dense, numbers)), self.classes)
        if self.pairs:
            listed = [pair[side] for side in (0, 1) for pair in texts]
        else:
            listed = cast(Sequence[str], texts)
            numbers = self._text_numbers(listed, numbers)
        scores = self.sparse_scores(text_reader(self.tokenizer).read(listed))
        # In 64 bits, as large scores of both signs may cancel.
        scores += self.dense(len(texts), dense, numbers) @ self._dense_weights + coefficients.bias
        return expand_columns(scores.astype(np.float32), self.classes)

    @cached_property
    def sparse_scores(self) -> SparseScores | None:
        """Computes the scores of the sparse features in one pass; None where the weights are sparse or
        there are none."""
        weights = self.coefficients.weights
        if not isinstance(weights, np.ndarray) or not weights.size:
            return None
        return SparseScores(self.blocks, weights, self.reach, self.edges, self.pairs)

    @cached_property
    def _dense_weights(self) -> NDArray[np.float64]:
        return self.coefficients.dense.astype(np.float64)


def expand_columns(scores: Floats, classes: int) -> Floats:
    """Expand scores to all labels: with two exclusive labels, the model has a column for the second
    only."""
    return np.hstack([-scores, scores]) / np.float32(2) if scores.shape[1] < classes else scores


def signs_of(targets: NDArray[np.int64], classes: int) -> NDArray[np.int8]:
    """Signs of the labels: 1 for the label of a text, -1 for the others, `[texts, columns]`."""
    labels = np.arange(1, 2) if classes == 2 else np.arange(classes)
    return np.where(targets[:, None] == labels, 1, -1).astype(np.int8)


def stack_blocks(parts: "Sequence[csr_matrix]", texts: int) -> "csr_matrix":
    """Concatenate blocks of features, `[texts, features]` float32."""
    from scipy.sparse import csr_matrix, hstack  # slow to load, and most predictions do without

    if not parts:
        return csr_matrix((texts, 0), dtype=np.float32)
    return parts[0] if len(parts) == 1 else csr_matrix(hstack(parts, format="csr", dtype=np.float32))
