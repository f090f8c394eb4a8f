"""Taggers without PyTorch: what stands above the scores of the words, in NumPy and compiled loops."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from headwise.core.activations import softmax
from headwise.data.items.dataset import cut_batches
from headwise.linear.tag_crf import CrfTagger, marginals, viterbi
from headwise.metrics.tag_schemes import scheme_constraints
from headwise.runtime.layers import Floats
from headwise.runtime.limits import check_finite
from headwise.runtime.tag_outputs import TagOutputs
from headwise.text.text_features import EncodedText

_FORBIDDEN = -1e30
_MOST_SCORES = 1 << 22  # scores of tags that are decoded at once
Doubles = NDArray[np.float64]
Weights = tuple[float, float]


@dataclass(frozen=True)
class CrfScores:
    """The scores of a linear-chain CRF: transitions `[from, to]`, start and end scores `[tags]`."""

    transitions: Doubles
    start: Doubles
    end: Doubles

    @classmethod
    def of(cls, tables: Mapping[str, NDArray], tags: int) -> Self:
        """The chain from the arrays of a tagger; all 0 if there are none."""
        shapes = chain_shapes(tags)
        tables_read = (tables.get(name, np.zeros(shape)) for name, shape in shapes.items())
        return cls(*(table.astype(np.float64) for table in tables_read))

    def best(self, scores: Doubles, ends: NDArray[np.int64]) -> NDArray[np.int32]:
        """Viterbi: the best tags of texts, `[words]`, from the scores of their words, `[words, tags]`, and
        the bounds of the texts, `[texts + 1]`."""
        return viterbi(self._with_ends(scores, ends), ends, self.transitions)

    def chances(self, scores: Doubles, ends: NDArray[np.int64]) -> Doubles:
        """Marginal probabilities of the tags of each word, given its text, `[words, tags]`."""
        return marginals(self._with_ends(scores, ends), ends, self.transitions)

    def _with_ends(self, scores: Doubles, ends: NDArray[np.int64]) -> Doubles:
        scores_out, filled = scores.copy(), ends[1:] > ends[:-1]
        scores_out[ends[:-1][filled]] += self.start
        scores_out[ends[1:][filled] - 1] += self.end
        return scores_out


def chain_shapes(tags: int) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the arrays of a `CrfScores`."""
    return {"transitions": (tags, tags), "start": (tags,), "end": (tags,)}


class ChainTagger(TagOutputs):
    """A tagger that decodes the scores of a network, and of a linear CRF, in compiled loops.

    Attributes:
        linear_model: The linear CRF; None without one.
    """

    linear_model: CrfTagger | None

    def set_chain(self, chain: CrfScores, *, learned: bool, constraints: bool) -> None:
        """Set the CRF above the network; the tags are set (`name_tags`).

        Args:
            chain: Its scores.
            learned: Whether they were learned; if not, each word has probabilities of its own.
            constraints: Whether only tag sequences of the scheme are allowed.

        Raises:
            TagError: HW270, a tag does not belong to the scheme, under constraints.
            ValueError: The constraints allow no tag sequence of some length.
        """
        self._chain, self._learned = chain, learned
        self._allowed = CrfScores.of({}, len(self.tags))
        may = scheme_constraints(self.tags, self.scheme) if constraints else None
        if may is not None:
            may.check()
            masks = (may.follow, may.start, may.end)
            self._allowed = CrfScores(*(np.where(mask, 0.0, _FORBIDDEN) for mask in masks))

    @abstractmethod
    def word_outputs(self, encoded: Sequence[EncodedText], batch_tokens: int) -> Floats:
        """Scores of the tags by the network, text after text, `[words, tags]`.

        Args:
            encoded: Encoded texts, the longest first.
            batch_tokens: Maximum number of words that are read at once.
        """

    def decode(
        self, encoded: Sequence[EncodedText], *, weights: Weights | None = None, batch_tokens: int = 16_384
    ) -> tuple[list[NDArray[np.int64]], list[NDArray[np.float32]]]:
        """See `TagOutputs.decode`.

        Args:
            encoded: Encoded texts.
            weights: Ensemble weights in place of the fitted ones; with them, `outside` is not applied.
            batch_tokens: Maximum number of words that the network reads at once.
        """
        numbers = [np.zeros(0, np.int64)] * len(encoded)
        probabilities = [np.zeros(0, np.float32)] * len(encoded)
        outside = 0.0 if weights else self.outside
        weights = weights or (self.encoder_weight, self.linear_weight)
        chain = self._joined(weights)
        respelled = [(tag, first) for tag, first in enumerate(self.same.tolist()) if tag != first]
        for places, scores, ends in self._scored(encoded, weights, batch_tokens):
            chances = self._chances(scores, ends, weights, chain)
            scores[:, self.none] -= outside
            best = chain.best(scores, ends).astype(np.int64)
            for tag, first in respelled:
                chances[:, first] += chances[:, tag]
            share = np.minimum(chances[np.arange(len(best)), self.same[best]], 1.0).astype(np.float32)
            parts = np.split(best, ends[1:-1]), np.split(check_finite(share), ends[1:-1])
            for place, tags, chance in zip(places, *parts, strict=True):
                numbers[place], probabilities[place] = tags, chance
        return numbers, probabilities

    def marginals(self, encoded: Sequence[EncodedText], *, weights: Weights | None = None) -> list[Doubles]:
        """Marginal probabilities of the tags of each word, `[words, tags]` for each text; for `weights` see
        `decode`."""
        out = [np.zeros((0, len(self.tags)))] * len(encoded)
        weights = weights or (self.encoder_weight, self.linear_weight)
        chain = self._joined(weights)
        for places, scores, ends in self._scored(encoded, weights):
            chances = self._chances(scores, ends, weights, chain)
            for place, part in zip(places, np.split(chances, ends[1:-1]), strict=True):
                out[place] = part
        return out

    def _joined(self, weights: Weights) -> CrfScores:
        """The chain of encoder and linear CRF together, weighted, with the constraints."""
        (encoder_weight, linear_weight), crf, allowed = weights, self._chain, self._allowed
        transitions = encoder_weight * crf.transitions + allowed.transitions
        if self.linear_model is not None:
            transitions += linear_weight * self.linear_model.transitions.astype(np.float64)
        return CrfScores(
            transitions, encoder_weight * crf.start + allowed.start, encoder_weight * crf.end + allowed.end
        )

    def _chances(
        self, scores: Doubles, ends: NDArray[np.int64], weights: Weights, chain: CrfScores
    ) -> Doubles:
        """Marginal probabilities of the tags of each word under `chain`, `[words, tags]`."""
        if weights == (1.0, 0.0) and not self._learned:
            return softmax(scores, axis=1)  # each word by itself
        return chain.chances(scores, ends)

    def _scored(
        self, encoded: Sequence[EncodedText], weights: Weights, batch_tokens: int = 16_384
    ) -> Iterator[tuple[list[int], Doubles, NDArray[np.int64]]]:
        """Batches: indices of the texts, scores of the tags of their words, `[words, tags]`, and bounds of
        the texts, `[texts + 1]`."""
        lengths = np.array([len(text) for text in encoded], dtype=np.int64)
        order, most = np.argsort(-lengths, kind="stable"), max(_MOST_SCORES // len(self.tags), 1)
        for places in cut_batches(order, lengths, max(len(encoded), 1), most):
            texts = [encoded[place] for place in places]
            ends = np.cumsum([0, *(len(text) for text in texts)])
            scores = np.zeros((ends[-1], len(self.tags)))
            if weights[0]:
                scores += weights[0] * self.word_outputs(texts, batch_tokens)
            if self.linear_model is not None and weights[1]:
                emissions, _ = self.linear_model.emissions([text.spelling.words for text in texts])
                scores += weights[1] * emissions
            yield list(places), scores, ends
