"""Exported models: onnxruntime runs the network, the rest is shared with the torch models.

ExportedTagger: onnxruntime runs the network, compiled loops the CRF.
"""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from headwise.artifacts.onnx.onnx_runner import Runner
from headwise.artifacts.onnx.onnx_settings import ExportSettings
from headwise.core.config import JsonMapping
from headwise.data.items.dataset import cut_batches
from headwise.data.items.item_type import ItemType
from headwise.data.items.label_types import LabelSetType, LabelType, NumericLabelType, SingleLabelType
from headwise.data.items.pair_items import PairItems
from headwise.data.items.text_items import TextItems
from headwise.linear.tag_crf import CrfTagger
from headwise.models.prediction_records import MultiLabelPredictor, NumberPredictor, TagPredictor
from headwise.models.predictor import LabelPredictor, Predictor
from headwise.runtime.chain_tagger import ChainTagger, CrfScores
from headwise.runtime.layers import Floats
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


class ExportedTagger(ChainTagger):
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
        self.set_chain(chain, learned=settings.tags.crf, constraints=settings.tags.constraints)

    def word_outputs(self, encoded: Sequence[EncodedText], batch_tokens: int) -> Floats:
        lengths = np.array([len(text) for text in encoded], dtype=np.int64)
        batches = cut_batches(range(len(encoded)), lengths, 256, batch_tokens)
        parts = [self.runner.word_outputs([encoded[place] for place in places]) for places in batches]
        return np.concatenate(parts) if parts else np.zeros((0, len(self.tags)), dtype=np.float32)
