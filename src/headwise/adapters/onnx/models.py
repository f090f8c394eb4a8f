"""Exported models: their network is run by onnxruntime, everything else is what all models do."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from headwise.adapters.onnx.runner import Runner
from headwise.adapters.onnx.settings import Settings
from headwise.adapters.onnx.tables import Expert
from headwise.adapters.onnx.vectors import BaseReader
from headwise.data.answers import Answer, Label, LabelSet, Number
from headwise.data.batches import cut_batches
from headwise.data.example import Example
from headwise.features.encoded_text import EncodedText
from headwise.features.vocabulary import Vocabulary
from headwise.features.words import TextFeatures
from headwise.models.answers.label_set import LabelSetAnswers
from headwise.models.answers.one_label import OneLabelAnswers
from headwise.models.answers.one_number import NumberAnswers
from headwise.models.answers.weighed import Weighed
from headwise.models.finite import finite
from headwise.predictions.label_sets import LabelSetPredictor
from headwise.predictions.numbers import NumberPredictor
from headwise.predictions.predictor import LabelPredictor, Predictor


class ExportedModel(Weighed):
    """A model of texts whose network is two graphs.

    Args:
        settings: What its folder says of it.
        vocabulary: The words that it knows.
        runner: Its network.
        base: Looks words up; None without a base.
        expert: Its linear expert; None without one.
        outputs: Outputs of each text.
    """

    SETS: ClassVar[bool] = False
    LABEL_FACTORS: ClassVar[dict[str, float]] = {}
    predictor: ClassVar[type[Predictor]]
    """How its predictions are made and written down."""

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
        windows = settings.windows
        self.features = TextFeatures(
            settings.tokenizer,
            vocabulary,
            spell=None if base is None else base.prepare,
            most=None if windows.long == "split" else lambda: windows.words,
            cut=windows.long == "truncate",
        )

    def encoded(self, items: Sequence[str | Example]) -> list[EncodedText]:
        """What the model reads of texts."""
        return self.features.encode(items)

    def outputs_of(
        self, encoded: Sequence[EncodedText], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The network's outputs, `[texts, outputs]` float32, in the order of the encoded texts."""
        lengths = np.array([len(text) for text in encoded], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        out = np.zeros((len(encoded), self.outputs), dtype=np.float32)
        for places in cut_batches(order, lengths, batch_texts, batch_tokens):
            out[places] = self.runner.outputs([encoded[place] for place in places])
        return finite(out)

    def expert_reads(
        self, encoded: Sequence[EncodedText], *, vectors: bool = True
    ) -> tuple[Sequence[str], np.ndarray | None, None]:
        """What a linear expert reads of encoded texts: the texts, and with a base vectors."""
        texts = [text.text for text in encoded]
        if self.base is None or not vectors:
            return texts, None, None
        return texts, self.base.texts(encoded), None


class ExportedClassifier(OneLabelAnswers, ExportedModel):
    """A classifier of texts."""

    predictor = LabelPredictor


class ExportedLabelSets(LabelSetAnswers, ExportedModel):
    """A classifier that says of each label whether a text has it."""

    SETS = True
    predictor = LabelSetPredictor


class ExportedRegressor(NumberAnswers, ExportedModel):
    """A model that gives each text a number."""

    predictor = NumberPredictor


BY_ANSWER: dict[type[Answer], Any] = {
    Label: ExportedClassifier,
    LabelSet: ExportedLabelSets,
    Number: ExportedRegressor,
}
"""The models of texts, by what they answer."""
