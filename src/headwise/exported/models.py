"""Exported models: onnxruntime runs the network, the rest is shared with the torch models."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from headwise.data.answers import Answer, Label, LabelSet, Number
from headwise.data.batches import cut_batches
from headwise.data.example import Example
from headwise.data.kind import Kind
from headwise.data.kinds.pair import PairKind
from headwise.data.kinds.text import TextKind
from headwise.exported.runner import Runner
from headwise.exported.settings import Settings
from headwise.exported.tables import Expert
from headwise.exported.vectors import BaseReader
from headwise.features.encoded_pair import EncodedPair
from headwise.features.encoded_text import EncodedText
from headwise.features.vocabulary import Vocabulary
from headwise.features.words import TextFeatures
from headwise.models.answers.label_set import LabelSetAnswers
from headwise.models.answers.one_label import OneLabelAnswers
from headwise.models.answers.one_number import NumberAnswers
from headwise.models.answers.pairs import PairReads, compared_sides
from headwise.models.answers.weighed import Weighed
from headwise.models.finite import finite
from headwise.predictions.label_sets import LabelSetPredictor
from headwise.predictions.numbers import NumberPredictor
from headwise.predictions.predictor import LabelPredictor, Predictor


def features_of(settings: Settings, vocabulary: Vocabulary, spell: Any) -> TextFeatures:
    """The text encoder of a model; for `spell` see `TextFeatures`."""
    windows = settings.windows
    return TextFeatures(
        settings.tokenizer,
        vocabulary,
        spell=spell,
        most=None if windows.long == "split" else lambda: windows.words,
        cut=windows.long == "truncate",
    )


class ExportedModel(Weighed):
    """A model whose network is two ONNX graphs.

    Args:
        settings: Settings of its folder.
        vocabulary: Its word vocabulary.
        runner: Runs its network.
        base: Static embeddings; None without a base.
        expert: Its linear model; None without one.
        outputs: Number of outputs for each text or pair.
    """

    SETS: ClassVar[bool] = False
    PAIRS: ClassVar[bool] = False
    LABEL_FACTORS: ClassVar[dict[str, float]] = {}
    predictor: ClassVar[type[Predictor]]
    """Makes and writes its predictions."""

    def __init__(
        self,
        settings: Settings,
        vocabulary: Vocabulary,
        runner: Runner,
        base: BaseReader | None,
        expert: Expert | None,
        outputs: int,
    ):
        self.settings, self.runner, self.base = settings, runner, base
        self.expert, self.outputs = expert, outputs
        self.features = features_of(settings, vocabulary, None if base is None else base.prepare)

    def outputs_of(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The network's outputs, `[texts, outputs]` float32, in the order of the encoded texts or pairs."""
        lengths = np.array([len(text) for text in encoded], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        out = np.zeros((len(encoded), self.outputs), dtype=np.float32)
        for places in cut_batches(order, lengths, batch_texts, batch_tokens):
            out[places] = self.run([encoded[place] for place in places])
        return finite(out)

    @abstractmethod
    def run(self, encoded: Sequence[Any]) -> np.ndarray:
        """Outputs of the network for a batch, the longest text or pair first."""


class ExportedTexts(ExportedModel):
    """A model of texts."""

    def encoded(self, items: Sequence[str | Example]) -> list[EncodedText]:
        """Encode texts."""
        return self.features.encode(items)

    def run(self, encoded: Sequence[EncodedText]) -> np.ndarray:
        return self.runner.outputs(encoded)

    def expert_reads(
        self, encoded: Sequence[EncodedText], *, vectors: bool = True
    ) -> tuple[Sequence[str], np.ndarray | None, None]:
        """Inputs of the linear model: the texts, and their vectors if there is a base."""
        texts = [text.text for text in encoded]
        if self.base is None or not vectors:
            return texts, None, None
        return texts, self.base.texts(encoded), None


class ExportedPairs(PairReads, ExportedModel):
    """A model of pairs of texts."""

    PAIRS = True

    @property
    def base_size(self) -> int:
        return 0 if self.base is None else self.base.size

    def compared(self, encoded: Sequence[EncodedPair]) -> np.ndarray:
        if self.base is None:
            raise ValueError("the model has no base")
        texts = [*(pair.first for pair in encoded), *(pair.second for pair in encoded)]
        return compared_sides(self.base.sides(texts), self.base.size)

    def run(self, encoded: Sequence[EncodedPair]) -> np.ndarray:
        compared = self.base_vectors(encoded) if self.runner.reads_compared else None
        firsts, seconds = [pair.first for pair in encoded], [pair.second for pair in encoded]
        return self.runner.pairs(firsts, seconds, compared)


class ExportedClassifier(OneLabelAnswers, ExportedTexts):
    """A classifier of texts."""

    predictor = LabelPredictor


class ExportedLabelSets(LabelSetAnswers, ExportedTexts):
    """A multi-label classifier of texts."""

    SETS = True
    predictor = LabelSetPredictor


class ExportedRegressor(NumberAnswers, ExportedTexts):
    """A regressor of texts."""

    predictor = NumberPredictor


class ExportedPairClassifier(OneLabelAnswers, ExportedPairs):
    """A classifier of pairs."""

    predictor = LabelPredictor


class ExportedPairScorer(NumberAnswers, ExportedPairs):
    """A regressor of text pairs, for scores such as similarity."""

    predictor = NumberPredictor


BY_KIND: dict[tuple[type[Kind[Any]], type[Answer]], Any] = {
    (TextKind, Label): ExportedClassifier,
    (TextKind, LabelSet): ExportedLabelSets,
    (TextKind, Number): ExportedRegressor,
    (PairKind, Label): ExportedPairClassifier,
    (PairKind, Number): ExportedPairScorer,
}
"""The model classes by item type and label type."""
