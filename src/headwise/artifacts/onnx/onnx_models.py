"""Exported models: onnxruntime runs the network, the rest is shared with the torch models.

ExportedTagger: onnxruntime runs the network, compiled NumPy loops the CRF.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from headwise.artifacts.onnx.onnx_runner import Runner
from headwise.artifacts.onnx.onnx_settings import ExportSettings
from headwise.core.activations import softmax
from headwise.core.config import JsonMapping
from headwise.data.items.dataset import cut_batches
from headwise.data.items.item_type import ItemType
from headwise.data.items.label_types import LabelSetType, LabelType, NumericLabelType, SingleLabelType
from headwise.data.items.pair_items import PairItems
from headwise.data.items.text_items import TextItems
from headwise.linear.chain_decoding import marginals, viterbi
from headwise.linear.tag_crf import CrfTagger
from headwise.metrics.tag_schemes import scheme_constraints
from headwise.models.prediction_records import MultiLabelPredictor, NumberPredictor, TagPredictor
from headwise.models.predictor import LabelPredictor, Predictor
from headwise.runtime.limits import check_finite
from headwise.runtime.outputs import AnyOutputs, MultiLabelOutputs, NumberOutputs, SingleLabelOutputs
from headwise.runtime.prediction_models import (
    BasePairInputs,
    PredictionLinearModel,
    PredictionModel,
    TextInputs,
)
from headwise.runtime.tag_outputs import TagOutputs
from headwise.runtime.word_lookup import BaseLookup
from headwise.text.character_features import character_encoder
from headwise.text.text_features import EncodedPair, EncodedText, TextFeatures
from headwise.text.vocabulary import Vocabulary


def features_of(settings: ExportSettings, vocabulary: Vocabulary, spell: Any) -> TextFeatures:
    """The text encoder of a model; for `spell` see `TextFeatures`."""
    windows = settings.windows
    return TextFeatures(
        settings.tokenizer,
        vocabulary,
        marks=frozenset(settings.network.marks),
        spell=spell,
        most=None if windows.long == "split" else lambda: windows.words,
        cut=windows.long == "truncate",
    )


class ExportedModel(PredictionModel):
    """A model whose network is two ONNX graphs.

    Args:
        settings: Settings of its folder.
        vocabulary: Its word vocabulary.
        runner: Runs its network.
        base: Static embeddings; None without a base.
        linear_model: Its linear model; None without one.
        outputs: What it makes of the outputs of the network.
    """

    PAIRS: ClassVar[bool] = False
    outputs_type: ClassVar[type[AnyOutputs]]
    predictor: ClassVar[type[Predictor]]
    """Makes and writes its predictions."""

    def __init__(
        self,
        settings: ExportSettings,
        vocabulary: Vocabulary,
        runner: Runner,
        base: BaseLookup | None,
        linear_model: PredictionLinearModel | None,
        outputs: AnyOutputs,
    ):
        features = features_of(settings, vocabulary, None if base is None else base.prepare)
        super().__init__(features, base, linear_model, outputs)
        self.settings, self.runner = settings, runner

    def outputs_of(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        lengths = np.array([len(text) for text in encoded], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        out = np.zeros((len(encoded), self.outputs.count), dtype=np.float32)
        for places in cut_batches(order, lengths, batch_texts, batch_tokens):
            out[places] = self.run([encoded[place] for place in places])
        return check_finite(out)

    @abstractmethod
    def run(self, encoded: Sequence[Any]) -> np.ndarray:
        """Outputs of the network for a batch, the longest text or pair first."""


class ExportedTextModel(TextInputs, ExportedModel):
    """A model of texts."""

    def run(self, encoded: Sequence[EncodedText]) -> np.ndarray:
        return self.runner.outputs(encoded)


class ExportedPairModel(BasePairInputs, ExportedModel):
    """A model of pairs of texts."""

    PAIRS = True

    def run(self, encoded: Sequence[EncodedPair]) -> np.ndarray:
        compared = self.base_vectors(encoded) if self.runner.reads_compared else None
        firsts, seconds = [pair.first for pair in encoded], [pair.second for pair in encoded]
        return self.runner.pairs(firsts, seconds, compared)


class ExportedClassifier(ExportedTextModel):
    """A classifier of texts."""

    outputs_type = SingleLabelOutputs
    predictor = LabelPredictor


class ExportedMultiLabel(ExportedTextModel):
    """A multi-label classifier of texts."""

    outputs_type = MultiLabelOutputs
    predictor = MultiLabelPredictor


class ExportedRegressor(ExportedTextModel):
    """A regressor of texts."""

    outputs_type = NumberOutputs
    predictor = NumberPredictor


class ExportedPairClassifier(ExportedPairModel):
    """A classifier of pairs."""

    outputs_type = SingleLabelOutputs
    predictor = LabelPredictor


class ExportedPairScorer(ExportedPairModel):
    """A regressor of text pairs, for scores such as similarity."""

    outputs_type = NumberOutputs
    predictor = NumberPredictor


BY_KIND: dict[tuple[type[ItemType[Any]], type[LabelType]], Any] = {
    (TextItems, SingleLabelType): ExportedClassifier,
    (TextItems, LabelSetType): ExportedMultiLabel,
    (TextItems, NumericLabelType): ExportedRegressor,
    (PairItems, SingleLabelType): ExportedPairClassifier,
    (PairItems, NumericLabelType): ExportedPairScorer,
}
"""The model classes by item type and label type."""


_FORBIDDEN = -1e30
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


class ExportedTagger(TagOutputs):
    """A tagger whose network is two ONNX graphs, three with character features.

    Args:
        settings: Settings of its folder.
        vocabulary: Its word vocabulary.
        runner: Runs its network.
        prepare: From tokenised texts to their pieces, if the model has a base.
        linear_model: Its linear CRF; None without one.
        chain: The CRF above its encoder.
        outputs: Result of `read_outputs`.

    Raises:
        HeadwiseError, ValueError: The tags do not belong to the scheme, or allow no tag sequence.
    """

    outputs_type = TagOutputs
    predictor: ClassVar[type[Predictor]] = TagPredictor

    def __init__(
        self,
        settings: ExportSettings,
        vocabulary: Vocabulary,
        runner: Runner,
        prepare: Any,
        linear_model: CrfTagger | None,
        chain: CrfScores,
        outputs: JsonMapping,
    ):
        self.settings, self.runner, self.linear_model = settings, runner, linear_model
        self.features = features_of(settings, vocabulary, character_encoder(prepare))
        tags, alphabet = outputs["tags"], outputs["alphabet"]
        self.name_tags(tags, outputs["written"], settings.tags.scheme, alphabet)
        self.chain = chain
        may = scheme_constraints(self.tags, self.scheme) if settings.tags.constraints else None
        self._may = CrfScores.of({}, len(self.tags))
        if may is not None:
            may.check()
            allowed = (may.follow, may.start, may.end)
            self._may = CrfScores(*(np.where(mask, 0.0, _FORBIDDEN) for mask in allowed))

    def decode(
        self, encoded: Sequence[EncodedText], *, batch_tokens: int = 16_384
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        numbers = [np.zeros(0, np.int64)] * len(encoded)
        sure = [np.zeros(0, np.float32)] * len(encoded)
        weights = self.encoder_weight, self.linear_weight
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
        weights = weights or (self.encoder_weight, self.linear_weight)
        chain = self._joined(weights)
        for places, scores, ends in self._scored(encoded, weights):
            chances = self._chances(scores, ends, weights, chain)
            for place, part in zip(places, np.split(chances, ends[1:-1]), strict=True):
                out[place] = part
        return out

    def _joined(self, weights: Weights) -> CrfScores:
        """The chain of encoder and linear CRF together, weighted, with the constraints."""
        (encoder_weight, linear_weight), crf, may = weights, self.chain, self._may
        transitions = encoder_weight * crf.transitions + may.transitions
        if self.linear_model is not None:
            transitions += linear_weight * self.linear_model.transitions.astype(np.float64)
        return CrfScores(
            transitions, encoder_weight * crf.start + may.start, encoder_weight * crf.end + may.end
        )

    def _chances(
        self, scores: Doubles, ends: NDArray[np.int64], weights: Weights, chain: CrfScores
    ) -> Doubles:
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
            if self.linear_model is not None and weights[1]:
                scores += (
                    weights[1] * self.linear_model.emissions([text.spelling.words for text in texts])[0]
                )
            yield list(places), scores, ends
