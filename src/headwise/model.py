"""Model: features, encoder, readout and task together; what is trained, saved and used."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from headwise.config import from_dict, to_dict, unknown
from headwise.data.batches import cut_batches
from headwise.encoders import ENCODERS, EncoderConfig, MSTransformerConfig
from headwise.encoders.base import default_readout, output_width
from headwise.errors import ConfigError
from headwise.features.embedding import WordConfig, WordEmbedding
from headwise.features.vocabulary import Vocabulary
from headwise.features.words import WordFeatures, batch_of
from headwise.pooling import Readout
from headwise.ragged import Ragged
from headwise.tasks.classify import Classifier, ClassifierConfig
from headwise.tasks.linear_expert import ExpertConfig, LinearExpert


@dataclass(frozen=True)
class ModelConfig:
    """Everything that decides what a model is, apart from what it learns from the texts."""

    words: WordConfig = field(default_factory=WordConfig)
    encoder: EncoderConfig = field(default_factory=MSTransformerConfig)
    readout: str = "node+max"
    """From words to text: node+max, node,max, mean,max, node, max, mean, attentive or attentive,max."""
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    expert: ExpertConfig = field(default_factory=ExpertConfig)

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` turns back into an equal configuration."""
        return {
            "task": "classify",
            "words": to_dict(self.words),
            "encoder": {"name": encoder_name(self.encoder), **to_dict(self.encoder)},
            "readout": self.readout,
            "classifier": to_dict(self.classifier),
            "expert": to_dict(self.expert),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], where: str = "") -> "ModelConfig":
        """Undo `to_json`.

        Raises:
            ConfigError: A setting is unknown or has the wrong type, or the task is of a later version.
        """
        known = ["task", "words", "encoder", "readout", "classifier", "expert"]
        at = f"{where}: " if where else ""
        for key in data:
            if key not in known:
                raise ConfigError(at + unknown("setting", key, known).args[0])
        if data.get("task", "classify") != "classify":
            raise ConfigError(f"{at}this version knows the task 'classify', not {data['task']!r}")
        encoder = dict(data.get("encoder", {}))
        name = encoder.pop("name", "ms-transformer")
        if not isinstance(name, str) or name not in ENCODERS:
            raise unknown("encoder", str(name), list(ENCODERS))
        return cls(
            words=from_dict(WordConfig, data.get("words", {}), at + "words"),
            encoder=from_dict(ENCODERS[name][1], encoder, at + "encoder"),
            readout=data.get("readout", default_readout(ENCODERS[name][1])),
            classifier=from_dict(ClassifierConfig, data.get("classifier", {}), at + "classifier"),
            expert=from_dict(ExpertConfig, data.get("expert", {}), at + "expert"),
        )


def encoder_name(config: EncoderConfig) -> str:
    """The name under which `ENCODERS` lists the encoder of this configuration."""
    return next(name for name, (_, kind) in ENCODERS.items() if kind is type(config))


@dataclass(frozen=True)
class Prediction:
    """What a model says of one text.

    Attributes:
        label: The most probable label.
        probabilities: Of every label, in the order of `Model.labels`; they add up to 1.
        unknown_words: Share of the text's words that the vocabulary does not know.
    """

    label: str
    probabilities: tuple[float, ...]
    unknown_words: float


class Model(nn.Module):
    """A text classifier.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        labels: Names of the labels, in the order of the outputs.
    """

    def __init__(self, config: ModelConfig, vocabulary: Vocabulary, labels: Sequence[str]):
        super().__init__()
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise ConfigError(f"a classifier needs two or more different labels, got {list(labels)}")
        self.config = config
        self.labels = tuple(labels)
        self.features = WordFeatures(config.words.tokenizer, vocabulary)
        self.embedding = WordEmbedding(
            len(vocabulary) - vocabulary.extra, vocabulary.extra, config.encoder.width, config.words
        )
        self.encoder = ENCODERS[encoder_name(config.encoder)][0](config.encoder)
        self.readout = Readout(config.readout, output_width(config.encoder))
        self.classifier = Classifier(self.readout.width, len(labels), config.classifier)
        found = config.expert.features
        self.expert = LinearExpert(found, len(labels)) if found else None
        self.temperature = 1.0
        self.expert_weight = 0.0

    @property
    def device(self) -> torch.device:
        return self.embedding.vectors.weight.device

    def forward(self, words: Ragged) -> Tensor:
        """Word numbers -> the encoder's logits `[texts, labels]`, without the expert's say."""
        return self.classifier(self.readout(self.encoder(self.embedding(words))))

    def add_expert(self, expert: LinearExpert, weight: float) -> None:
        """Give the linear expert a say: `weight` times its scores are added to the encoder's logits."""
        found = replace(self.config.expert, features=len(expert.keys))
        self.config = replace(self.config, expert=found)
        self.expert, self.expert_weight = expert.to(self.device), weight

    def logits(
        self, encoded: Sequence[np.ndarray], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """Logits of encoded texts, `[texts, labels]` float32, in the order given, before calibration."""
        logits = self.encoder_logits(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
        if self.expert is None or self.expert_weight == 0.0:
            return logits
        return logits + np.float32(self.expert_weight) * self.expert(encoded)

    @torch.no_grad()
    def encoder_logits(
        self, encoded: Sequence[np.ndarray], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The same without the expert's say."""
        training = self.training
        self.eval()
        lengths = np.array([len(words) for words in encoded], dtype=np.int64)
        out = np.zeros((len(encoded), len(self.labels)), dtype=np.float32)
        order = np.argsort(-lengths, kind="stable")
        for batch in cut_batches(order, lengths, batch_texts, batch_tokens):
            logits = self(batch_of([encoded[text] for text in batch], self.device))
            out[batch] = logits.float().cpu().numpy()
        self.train(training)
        return out

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Calibrated probabilities of logits, both `[texts, labels]`."""
        scaled = logits.astype(np.float64) / self.temperature
        scaled -= scaled.max(axis=1, keepdims=True)
        exp = np.exp(scaled)
        return exp / exp.sum(axis=1, keepdims=True)

    def predict_proba(self, texts: Sequence[str]) -> np.ndarray:
        """Calibrated probabilities, `[texts, labels]`, float64."""
        return self.probabilities(self.logits(self.features.encode(texts)))

    def predict(self, texts: Iterable[str], *, chunk: int = 4096) -> Iterator[Prediction]:
        """Predictions in the order of the texts, which may be a stream of any length.

        Texts are taken `chunk` at a time, so memory does not grow with their number.
        """
        part: list[str] = []
        for text in texts:
            part.append(text)
            if len(part) == chunk:
                yield from self._predict_chunk(part)
                part = []
        if part:
            yield from self._predict_chunk(part)

    def _predict_chunk(self, texts: list[str]) -> Iterator[Prediction]:
        encoded = self.features.encode(texts)
        for words, row in zip(encoded, self.probabilities(self.logits(encoded)), strict=True):
            unknown = float((words == 0).mean()) if len(words) else 0.0
            yield Prediction(self.labels[int(row.argmax())], tuple(map(float, row)), unknown)
