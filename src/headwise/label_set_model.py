"""LabelSetModel: any number of labels for each text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor

from headwise.data.example import Example
from headwise.data.options import SEPARATOR
from headwise.encoders.base import output_width
from headwise.errors import ConfigError
from headwise.features.encoded import Batch, EncodedText
from headwise.features.vocabulary import Vocabulary
from headwise.model import ModelConfig, OutputsError, TextModel, output_names
from headwise.pooling import Readout
from headwise.tasks.classify import Classifier
from headwise.tasks.linear_expert import LinearExpert


@dataclass(frozen=True)
class LabelSetPrediction:
    """What a model says of one text.

    Attributes:
        labels: The labels that it gives the text, in the order of `LabelSetModel.labels`; may be none.
        probabilities: Of every label, each by itself, in the order of `LabelSetModel.labels`.
        unknown_words: Share of the text's words that the vocabulary does not know.
    """

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    unknown_words: float


class LabelSetModel(TextModel):
    """A classifier that says of each label whether a text has it.

    Attributes:
        temperature: What the logits are divided by before they become probabilities.
        expert_weight: What the linear expert's scores are multiplied by.
        thresholds: The least probability with which each label is given, `[labels]`.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        labels: Names of the labels, in the order of the outputs.
        files: See `TextModel`.
        separator: What stands between labels where they are written in one cell.
    """

    FACTORS: ClassVar[dict[str, float]] = {"temperature": 1e-6, "expert_weight": 0.0}
    LABEL_FACTORS: ClassVar[dict[str, float]] = {"thresholds": 0.0}

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        files: Mapping[str, Any] | None = None,
        *,
        separator: str = SEPARATOR,
    ):
        if not labels or len(set(labels)) < len(labels):
            raise ConfigError(f"one or more different labels are needed, got {list(labels)}")
        super().__init__(config, vocabulary, files)
        self.labels = tuple(labels)
        self.separator = separator
        self.readout = Readout(config.readout, output_width(config.encoder), config.encoder.width)
        self.classifier = Classifier(self.readout.width, len(labels), config.classifier)
        found = config.expert.features
        self.expert = LinearExpert(found, len(labels)) if found else None
        self.temperature = 1.0
        self.expert_weight = 0.0
        self.thresholds = [0.5] * len(labels)

    @classmethod
    def from_parts(
        cls,
        config: ModelConfig,
        vocabulary: Vocabulary,
        outputs: Mapping[str, Any],
        files: Mapping[str, Any] | None = None,
    ) -> "LabelSetModel":
        separator = outputs.get("separator")
        if not isinstance(separator, str) or not separator.strip():
            raise OutputsError("'separator' is missing or no text")
        return cls(config, vocabulary, output_names(outputs, least=1), files, separator=separator)

    def outputs_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels), "separator": self.separator}

    def forward(self, batch: Batch) -> Tensor:
        """Texts -> the encoder's logits `[texts, labels]`, without the expert's say."""
        return self.classifier(self.readout(self.encode(batch)))

    def add_expert(self, expert: LinearExpert, weight: float) -> None:
        """Give the linear expert a say: `weight` times its scores are added to the encoder's logits."""
        found = replace(self.config.expert, features=len(expert.keys))
        self.config = replace(self.config, expert=found)
        self.expert, self.expert_weight = expert.to(self.device), weight

    def logits(
        self, encoded: Sequence[EncodedText], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> NDArray[np.float32]:
        """Logits of encoded texts, `[texts, labels]`, in the order given, before calibration."""
        logits = self.encoder_logits(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
        if self.expert is None or self.expert_weight == 0.0:
            return logits
        return logits + np.float32(self.expert_weight) * self.expert([text.words for text in encoded])

    @torch.no_grad()
    def encoder_logits(
        self, encoded: Sequence[EncodedText], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> NDArray[np.float32]:
        """The same without the expert's say."""
        out = np.zeros((len(encoded), len(self.labels)), dtype=np.float32)
        for numbers, batch in self.batches(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens):
            out[numbers] = self(batch).float().cpu().numpy()
        return out

    def probabilities(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """Calibrated probabilities of logits, both `[texts, labels]`; each label's stands by itself."""
        return expit(logits.astype(np.float64) / self.temperature)

    def given(self, probabilities: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which labels texts get, `[texts, labels]`."""
        return probabilities >= np.array(self.thresholds)

    def predict_proba(self, texts: Sequence[str | Example]) -> NDArray[np.float64]:
        """Calibrated probabilities, `[texts, labels]`."""
        return self.probabilities(self.logits(self.features.encode(texts)))

    def predict(self, texts: Iterable[str | Example], *, chunk: int = 4096) -> Iterator[LabelSetPrediction]:
        """Predictions in the order of the texts, which may be a stream of any length."""
        stream = iter(texts)
        while part := list(islice(stream, chunk)):
            encoded = self.features.encode(part)
            probabilities = self.probabilities(self.logits(encoded))
            rows = zip(encoded, probabilities, self.given(probabilities), strict=True)
            for text, row, given in rows:
                labels = tuple(name for name, own in zip(self.labels, given, strict=True) if own)
                yield LabelSetPrediction(labels, tuple(map(float, row)), text.unknown / max(len(text), 1))
