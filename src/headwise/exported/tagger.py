"""An exported tagger: its network is run by onnxruntime, its CRF by compiled loops."""

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
    """What joins the tags of a text: scores from tag to tag `[from, to]`, of the first and of the last,
    `[tags]`."""

    transitions: Doubles
    start: Doubles
    end: Doubles

    @classmethod
    def of(cls, tables: Mapping[str, NDArray], tags: int) -> Self:
        """That of a tagger's tables; all 0 where there are none."""
        shapes = chain_shapes(tags)
        found = (tables.get(name, np.zeros(shape)) for name, shape in shapes.items())
        return cls(*(table.astype(np.float64) for table in found))

    def best(self, scores: Doubles, ends: NDArray[np.int64]) -> NDArray[np.int32]:
        """The best tags of texts, `[words]`, from the scores of their words and where each text begins and
        ends."""
        return viterbi(self._with_ends(scores, ends), ends, self.transitions)

    def chances(self, scores: Doubles, ends: NDArray[np.int64]) -> Doubles:
        """The probability of each tag of a word, given its text, `[words, tags]`."""
        return marginals(self._with_ends(scores, ends), ends, self.transitions)

    def _with_ends(self, scores: Doubles, ends: NDArray[np.int64]) -> Doubles:
        found, filled = scores.copy(), ends[1:] > ends[:-1]
        found[ends[:-1][filled]] += self.start
        found[ends[1:][filled] - 1] += self.end
        return found


def chain_shapes(tags: int) -> dict[str, tuple[int, ...]]:
    """The tables of a `Chain`."""
    return {"transitions": (tags, tags), "start": (tags,), "end": (tags,)}


class ExportedTagger(TagAnswers):
    """A tagger whose network is two graphs, or three where it reads spelling.

    Args:
        settings: What its folder says of it.
        vocabulary: The words that it knows.
        runner: Its network.
        prepare: From the words of texts to their pieces, where a base is read.
        expert: Its linear CRF; None without one.
        chain: Of the CRF above its encoder.
        outputs: What `read_outputs` gave.

    Raises:
        HeadwiseError, ValueError: The tags are none of the scheme, or leave texts without any.
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
            self._may = Chain(*(np.where(own, 0.0, _FORBIDDEN) for own in allowed))

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
            found = chain.best(decided, ends).astype(np.int64)
            chances = self._chances(scores, ends, weights, chain)
            written = np.zeros_like(chances)
            np.add.at(written.T, self.same, chances.T)
            share = np.minimum(written[np.arange(len(found)), self.same[found]], 1.0).astype(np.float32)
            parts = np.split(found, ends[1:-1]), np.split(share, ends[1:-1])
            for place, own, chance in zip(places, *parts, strict=True):
                numbers[place], sure[place] = own, chance
        return numbers, sure

    def marginals(self, encoded: Sequence[EncodedText], *, weights: Weights | None = None) -> list[Doubles]:
        """As those of `TagModel`."""
        out = [np.zeros((0, len(self.tags)))] * len(encoded)
        weights = weights or (self.encoder_weight, self.expert_weight)
        chain = self._joined(weights)
        for places, scores, ends in self._scored(encoded, weights):
            chances = self._chances(scores, ends, weights, chain)
            for place, part in zip(places, np.split(chances, ends[1:-1]), strict=True):
                out[place] = part
        return out

    def _joined(self, weights: Weights) -> Chain:
        """What joins the tags, by encoder and expert together."""
        (mine, others), own, may = weights, self.chain, self._may
        transitions = mine * own.transitions + may.transitions
        if self.expert is not None:
            transitions += others * self.expert.transitions.astype(np.float64)
        return Chain(transitions, mine * own.start + may.start, mine * own.end + may.end)

    def _chances(self, scores: Doubles, ends: NDArray[np.int64], weights: Weights, chain: Chain) -> Doubles:
        """The probability of each tag of a word, `[words, tags]`, where `chain` joins them."""
        if weights == (1.0, 0.0) and not self.settings.tags.crf:
            return softmax(scores, axis=1)  # each word by itself
        return chain.chances(scores, ends)

    def _scored(
        self, encoded: Sequence[EncodedText], weights: Weights, batch_tokens: int = 16_384
    ) -> Iterator[tuple[list[int], Doubles, NDArray[np.int64]]]:
        """Batches: the numbers of their texts, the scores of the tags of their words, `[words, tags]`, and
        where each text begins and ends."""
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
