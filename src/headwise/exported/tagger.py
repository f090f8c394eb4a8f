"""ExportedTagger: onnxruntime runs the network, compiled NumPy loops the CRF."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from headwise.data.batches import cut_batches
from headwise.exported.models import features_of
from headwise.exported.runner import Runner
from headwise.exported.settings import Settings
from headwise.features.encoded_text import EncodedText
from headwise.features.spelling import spell_by
from headwise.features.vocabulary import Vocabulary
from headwise.linear.chain import marginals, viterbi
from headwise.linear.tag_crf import CrfTagger
from headwise.models.answers.tags import TagAnswers
from headwise.predictions.predictor import Predictor
from headwise.predictions.tags import TagPredictor
from headwise.scores.schemes import constraints

_FORBIDDEN = -1e30
Doubles = NDArray[np.float64]
Weights = tuple[float, float]


@dataclass(frozen=True)
class Chain:
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
    """Names and shapes of the arrays of a `Chain`."""
    return {"transitions": (tags, tags), "start": (tags,), "end": (tags,)}


class ExportedTagger(TagAnswers):
    """A tagger whose network is two ONNX graphs, three with character features.

    Args:
        settings: Settings of its folder.
        vocabulary: Its word vocabulary.
        runner: Runs its network.
        prepare: From tokenised texts to their pieces, if the model has a base.
        expert: Its linear CRF; None without one.
        chain: The CRF above its encoder.
        outputs: Result of `read_outputs`.

    Raises:
        HeadwiseError, ValueError: The tags do not belong to the scheme, or allow no tag sequence.
    """

    LABEL_FACTORS: ClassVar[dict[str, float]] = {}
    predictor: ClassVar[type[Predictor]] = TagPredictor

    def __init__(
        self,
        settings: Settings,
        vocabulary: Vocabulary,
        runner: Runner,
        prepare: Any,
        expert: CrfTagger | None,
        chain: Chain,
        outputs: Mapping[str, Any],
    ):
        self.settings, self.runner, self.expert = settings, runner, expert
        self.features = features_of(settings, vocabulary, spell_by(prepare))
        tags, alphabet = outputs["tags"], outputs["alphabet"]
        self.name_tags(tags, outputs["written"], settings.tags.scheme, alphabet)
        self.chain = chain
        may = constraints(self.tags, self.scheme) if settings.tags.constraints else None
        self._may = Chain.of({}, len(self.tags))
        if may is not None:
            may.check()
            allowed = (may.follow, may.start, may.end)
            self._may = Chain(*(np.where(mask, 0.0, _FORBIDDEN) for mask in allowed))

    def decode(
        self, encoded: Sequence[EncodedText], *, batch_tokens: int = 16_384
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        numbers = [np.zeros(0, np.int64)] * len(encoded)
        sure = [np.zeros(0, np.float32)] * len(encoded)
        weights = self.encoder_weight, self.expert_weight
        chain = self._joined(weights)
        for places, scores, ends in self._scored(encoded, weights, batch_tokens):
            decided = scores.copy()
            decided[:, self.none] -= self.outside
            best = chain.best(decided, ends).astype(np.int64)
            chances = self._chances(scores, ends, weights, chain)
            written = np.zeros_like(chances)
            np.add.at(written.T, self.same, chances.T)
            share = np.minimum(written[np.arange(len(best)), self.same[best]], 1.0).astype(np.float32)
            parts = np.split(best, ends[1:-1]), np.split(share, ends[1:-1])
            for place, tags, chance in zip(places, *parts, strict=True):
                numbers[place], sure[place] = tags, chance
        return numbers, sure

    def marginals(self, encoded: Sequence[EncodedText], *, weights: Weights | None = None) -> list[Doubles]:
        """See `TagModel.marginals`."""
        out = [np.zeros((0, len(self.tags)))] * len(encoded)
        weights = weights or (self.encoder_weight, self.expert_weight)
        chain = self._joined(weights)
        for places, scores, ends in self._scored(encoded, weights):
            chances = self._chances(scores, ends, weights, chain)
            for place, part in zip(places, np.split(chances, ends[1:-1]), strict=True):
                out[place] = part
        return out

    def _joined(self, weights: Weights) -> Chain:
        """The chain of encoder and linear CRF together, weighted, with the constraints."""
        (encoder_weight, expert_weight), crf, may = weights, self.chain, self._may
        transitions = encoder_weight * crf.transitions + may.transitions
        if self.expert is not None:
            transitions += expert_weight * self.expert.transitions.astype(np.float64)
        return Chain(
            transitions, encoder_weight * crf.start + may.start, encoder_weight * crf.end + may.end
        )

    def _chances(self, scores: Doubles, ends: NDArray[np.int64], weights: Weights, chain: Chain) -> Doubles:
        """Marginal probabilities of the tags of each word under `chain`, `[words, tags]`."""
        if weights == (1.0, 0.0) and not self.settings.tags.crf:
            return softmax(scores, axis=1)  # each word by itself
        return chain.chances(scores, ends)

    def _scored(
        self, encoded: Sequence[EncodedText], weights: Weights, batch_tokens: int = 16_384
    ) -> Iterator[tuple[list[int], Doubles, NDArray[np.int64]]]:
        """Batches: indices of the texts, scores of the tags of their words, `[words, tags]`, and bounds of
        the texts, `[texts + 1]`."""
        lengths = np.array([len(text) for text in encoded], dtype=np.int64)
        for places in cut_batches(np.argsort(-lengths, kind="stable"), lengths, 256, batch_tokens):
            texts = [encoded[place] for place in places]
            ends = np.cumsum([0, *(len(text) for text in texts)])
            scores = np.zeros((ends[-1], len(self.tags)))
            if weights[0]:
                scores += weights[0] * self.runner.word_outputs(texts)
            if self.expert is not None and weights[1]:
                scores += weights[1] * self.expert.emissions([text.spelling.words for text in texts])[0]
            yield list(places), scores, ends
