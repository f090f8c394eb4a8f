"""SparseScores: scores of texts by the word and character features of a linear model, in one compiled pass.

The features are those of `headwise.linear.tfidf_features`. What depends on a word or a piece alone (the
hash of a word, the known character n-grams of a piece) is computed once for each different one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.hashing import Codes, Ends, code_points
from headwise.linear.tfidf_features import LONGEST, SHORTEST, BlockName, FeatureVocabulary
from headwise.text.text_reader import Lexicon, TokenizedTexts

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
    return code_points([text.lower() for text in texts])
