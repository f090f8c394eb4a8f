"""Model: features, encoder, readout and task together; what is trained, saved and used."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from headwise.config import from_dict, to_dict, unknown
from headwise.data.batches import cut_batches
from headwise.data.example import Example
from headwise.encoders import ENCODERS, EncoderConfig, MSTransformerConfig
from headwise.encoders.base import Encoded, default_readout, output_width
from headwise.encoders.trees import tree_use
from headwise.encoders.windows import WindowsConfig, encode_long
from headwise.errors import ConfigError
from headwise.features.characters import CharacterConfig
from headwise.features.embedding import WordConfig, WordEmbedding
from headwise.features.encoded import Batch, EncodedText, batch_of
from headwise.features.parse import SyntaxConfig
from headwise.features.parse_cache import new_parser
from headwise.features.pretrained import PretrainedConfig, PretrainedEmbedding
from headwise.features.vocabulary import Vocabulary
from headwise.features.words import TextFeatures
from headwise.pooling import Readout
from headwise.ragged import Ragged
from headwise.tasks.bags import BagConfig
from headwise.tasks.classify import Classifier, ClassifierConfig
from headwise.tasks.language import LanguageConfig
from headwise.tasks.linear_expert import ExpertConfig, LinearExpert
from headwise.tasks.pair import PairConfig
from headwise.tasks.regress import RegressorConfig, Scale
from headwise.tasks.tag import TaggerConfig
from headwise.tasks.thresholds import ThresholdConfig

CONFIGS: dict[str, type] = {
    "words": WordConfig,
    "characters": CharacterConfig,
    "pretrained": PretrainedConfig,
    "syntax": SyntaxConfig,
    "windows": WindowsConfig,
    "classifier": ClassifierConfig,
    "expert": ExpertConfig,
    "thresholds": ThresholdConfig,
    "tagger": TaggerConfig,
    "pair": PairConfig,
    "regressor": RegressorConfig,
    "bags": BagConfig,
    "language": LanguageConfig,
}
"""The sections of a model's settings, but for the encoder's."""

_TEXT = ("words", "pretrained", "syntax", "encoder", "windows")
SECTIONS: dict[str, tuple[str, ...]] = {
    "classify": (*_TEXT, "classifier", "expert"),
    "multi-label": (*_TEXT, "classifier", "expert", "thresholds"),
    "tag": (*_TEXT, "characters", "tagger"),
    "pair": (*_TEXT, "pair", "classifier"),
    "pair-score": (*_TEXT, "pair", "regressor"),
    "regress": (*_TEXT, "regressor"),
    "bags": ("bags",),
    "language-model": ("encoder", "language"),
}
"""The sections that each task has."""


@dataclass(frozen=True)
class ModelConfig:
    """Everything that decides what a model is, apart from what it learns from the texts."""

    task: str = "classify"
    """What the model does: a key of `SECTIONS`."""
    words: WordConfig = field(default_factory=WordConfig)
    encoder: EncoderConfig = field(default_factory=MSTransformerConfig)
    readout: str = "node+max"
    """From words to text: node+max, node,max, mean,max, node, max, mean, attentive, attentive,max, or
    attentive,cls (with a pretrained encoder)."""
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    expert: ExpertConfig = field(default_factory=ExpertConfig)
    thresholds: ThresholdConfig = field(default_factory=ThresholdConfig)
    syntax: SyntaxConfig = field(default_factory=SyntaxConfig)
    windows: WindowsConfig = field(default_factory=WindowsConfig)
    pretrained: PretrainedConfig = field(default_factory=PretrainedConfig)
    characters: CharacterConfig = field(default_factory=CharacterConfig)
    tagger: TaggerConfig = field(default_factory=TaggerConfig)
    pair: PairConfig = field(default_factory=PairConfig)
    regressor: RegressorConfig = field(default_factory=RegressorConfig)
    bags: BagConfig = field(default_factory=BagConfig)
    language: LanguageConfig = field(default_factory=LanguageConfig)

    def to_json(self) -> dict[str, Any]:
        """Plain data that `from_json` turns back into an equal configuration."""
        found: dict[str, Any] = {"task": self.task}
        for section in SECTIONS[self.task]:
            settings = to_dict(getattr(self, section))
            found[section] = {name: value for name, value in settings.items() if value is not None}
        if "encoder" in found:
            found["readout"] = self.readout
            found["encoder"] = {"name": encoder_name(self.encoder), **found["encoder"]}
        return found

    @classmethod
    def from_json(cls, data: dict[str, Any], where: str = "") -> "ModelConfig":
        """Undo `to_json`.

        Raises:
            ConfigError: A setting is unknown or has the wrong type, or the task is of a later version.
        """
        at = f"{where}: " if where else ""
        task = data.get("task", "classify")
        if not isinstance(task, str) or task not in SECTIONS:
            raise ConfigError(at + unknown("task", str(task), list(SECTIONS)).args[0])
        encodes = "encoder" in SECTIONS[task]
        known = ["task", *(["readout"] if encodes else []), *SECTIONS[task]]
        for key in data:
            if key not in known:
                raise ConfigError(f"{at}task {task}: {unknown('setting', key, known).args[0]}")
        encoder = dict(data.get("encoder", {}))
        name = encoder.pop("name", "ms-transformer")
        if not isinstance(name, str) or name not in ENCODERS:
            raise unknown("encoder", str(name), list(ENCODERS))
        parts = {
            section: from_dict(CONFIGS[section], data.get(section, {}), at + section)
            for section in SECTIONS[task]
            if section != "encoder"
        }
        if not encodes:
            return cls(task=task, **parts)
        return cls(
            task=task,
            encoder=from_dict(ENCODERS[name][1], encoder, at + "encoder"),
            readout=data.get("readout", default_readout(ENCODERS[name][1])),
            **parts,
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


def new_embedding(
    config: ModelConfig, vocabulary: Vocabulary, files: Mapping[str, Any] | None, width: int
) -> "WordEmbedding | PretrainedEmbedding":
    """The embedding of a configuration, vectors of words or a pretrained encoder, with `width` features."""
    if not config.pretrained.name:
        known = len(vocabulary) - vocabulary.extra
        return WordEmbedding(known, vocabulary.extra, width, config.words)
    if files is None:
        return PretrainedEmbedding.from_pretrained(config.pretrained, width)
    return PretrainedEmbedding.from_files(config.pretrained, width, files)


class OutputsError(ConfigError):
    """What a saved model says of its outputs makes no sense."""


def output_names(outputs: Mapping[str, Any], *, least: int = 2) -> list[str]:
    """The names of the outputs of a saved model, `labels`.

    Raises:
        OutputsError: They are not different texts, or fewer than `least`.
    """
    names = outputs.get("labels")
    if not isinstance(names, list):
        raise OutputsError("'labels' is missing or of the wrong type")
    if not all(isinstance(name, str) for name in names):
        raise OutputsError("every label must be a text")
    if len(names) < least or len(set(names)) < len(names):
        raise OutputsError(f"{least} or more labels are expected, all different")
    return names


def output_scale(outputs: Mapping[str, Any]) -> Scale:
    """The scale of the numbers that a saved model gives.

    Raises:
        OutputsError: There is none, or one that numbers cannot have.
    """
    try:
        return Scale.from_json(outputs)
    except ConfigError as error:
        raise OutputsError(error.args[0]) from None


class TextModel(nn.Module):
    """What the models of all tasks begin with: from texts to the states of their words.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        files: What a model folder has of the pretrained encoder, if there is one; by default it is loaded
            by its name.
        width: Features of the embedding, if not those that the encoder takes.
    """

    FACTORS: ClassVar[dict[str, float]] = {}
    """Attributes that are numbers fitted beside the weights, and the least value of each."""
    LABEL_FACTORS: ClassVar[dict[str, float]] = {}
    """Attributes that are lists of such numbers, one for each of `labels`; likewise."""
    read_vocabulary: ClassVar[Callable[[dict[str, Any]], Any]] = Vocabulary.from_json
    """Undoes `to_json` of what the model knows: its words."""

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        files: Mapping[str, Any] | None = None,
        *,
        width: int | None = None,
    ):
        super().__init__()
        self.config = config
        self.embedding = new_embedding(config, vocabulary, files, width or config.encoder.width)
        self.encoder = ENCODERS[encoder_name(config.encoder)][0](config.encoder)
        trees = tree_use(self.encoder)
        if config.windows.long == "truncate" and trees != "none":
            raise ConfigError("windows: long = truncate would cut dependency trees apart; split keeps them")
        self.features = TextFeatures(
            config.words.tokenizer,
            vocabulary,
            trees=trees,
            parser=new_parser(config.syntax),
            spell=getattr(self.embedding, "prepare", None),
            most=None if config.windows.long == "split" else self.most_words,
            cut=config.windows.long == "truncate",
        )

    @classmethod
    def from_parts(
        cls,
        config: ModelConfig,
        vocabulary: Vocabulary,
        outputs: Mapping[str, Any],
        files: Mapping[str, Any] | None = None,
    ) -> "TextModel":
        """A model without its weights, from what a model folder says, which may be hostile.

        Args:
            config: Its configuration.
            vocabulary: Its words.
            outputs: What `outputs_json` gave.
            files: See the class.

        Raises:
            OutputsError: The outputs make no sense.
            HeadwiseError: They make no model.
        """
        raise NotImplementedError

    def outputs_json(self) -> dict[str, Any]:
        """What the outputs mean, as plain data for `from_parts`."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def encode(self, batch: Batch) -> Encoded:
        """Texts -> the states of their words."""
        if isinstance(self.embedding, WordEmbedding):
            return self.encode_words(self.embedding(batch.words))
        words, cls = self.embedding(batch.spelling, batch.layout)
        return replace(self.encode_words(words), cls=cls)

    def encode_words(self, words: Ragged) -> Encoded:
        """Word vectors -> the states of the words; long texts are read in windows."""
        return encode_long(self.encoder, words, *self.window)

    @cached_property
    def window(self) -> tuple[int, int]:
        """Most words that the encoder reads at once, 0 for any number, and the overlap of windows. (Found
        out when it is needed: a model that is being loaded cannot compute.)"""
        return self.config.windows.sizes(self.config.encoder)

    def most_words(self) -> int:
        """Most words that the encoder reads at once; 0 for any number."""
        return self.window[0]

    def batches(
        self, texts: Sequence[EncodedText], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> Iterator[tuple[list[int], Batch]]:
        """Texts in batches of similar length, with their numbers, while the model is in eval mode."""
        training = self.training
        self.eval()
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        try:
            for batch in cut_batches(order, lengths, batch_texts, batch_tokens):
                yield batch, batch_of([texts[text] for text in batch], self.device)
        finally:
            self.train(training)


class Model(TextModel):
    """A text classifier.

    Attributes:
        temperature: What the logits are divided by before they become probabilities.
        expert_weight: What the linear expert's scores are multiplied by.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        labels: Names of the labels, in the order of the outputs.
        files: See `TextModel`.
    """

    FACTORS: ClassVar[dict[str, float]] = {"temperature": 1e-6, "expert_weight": 0.0}

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        labels: Sequence[str],
        files: Mapping[str, Any] | None = None,
    ):
        if len(labels) < 2 or len(set(labels)) < len(labels):
            raise ConfigError(f"a classifier needs two or more different labels, got {list(labels)}")
        super().__init__(config, vocabulary, files)
        self.labels = tuple(labels)
        self.readout = Readout(config.readout, output_width(config.encoder), config.encoder.width)
        self.classifier = Classifier(self.readout.width, len(labels), config.classifier)
        found = config.expert.features
        self.expert = LinearExpert(found, len(labels)) if found else None
        self.temperature = 1.0
        self.expert_weight = 0.0

    @classmethod
    def from_parts(
        cls,
        config: ModelConfig,
        vocabulary: Vocabulary,
        outputs: Mapping[str, Any],
        files: Mapping[str, Any] | None = None,
    ) -> "Model":
        return cls(config, vocabulary, output_names(outputs), files)

    def outputs_json(self) -> dict[str, Any]:
        return {"labels": list(self.labels)}

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
    ) -> np.ndarray:
        """Logits of encoded texts, `[texts, labels]` float32, in the order given, before calibration."""
        logits = self.encoder_logits(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
        if self.expert is None or self.expert_weight == 0.0:
            return logits
        return logits + np.float32(self.expert_weight) * self.expert([text.words for text in encoded])

    @torch.no_grad()
    def encoder_logits(
        self, encoded: Sequence[EncodedText], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The same without the expert's say."""
        out = np.zeros((len(encoded), len(self.labels)), dtype=np.float32)
        for numbers, batch in self.batches(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens):
            out[numbers] = self(batch).float().cpu().numpy()
        return out

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """Calibrated probabilities of logits, both `[texts, labels]`."""
        scaled = logits.astype(np.float64) / self.temperature
        scaled -= scaled.max(axis=1, keepdims=True)
        exp = np.exp(scaled)
        return exp / exp.sum(axis=1, keepdims=True)

    def predict_proba(self, texts: Sequence[str | Example]) -> np.ndarray:
        """Calibrated probabilities, `[texts, labels]`, float64."""
        return self.probabilities(self.logits(self.features.encode(texts)))

    def predict(self, texts: Iterable[str | Example], *, chunk: int = 4096) -> Iterator[Prediction]:
        """Predictions in the order of the texts, which may be a stream of any length.

        Texts are taken `chunk` at a time, so memory does not grow with their number.
        """
        part: list[str | Example] = []
        for text in texts:
            part.append(text)
            if len(part) == chunk:
                yield from self._predict_chunk(part)
                part = []
        if part:
            yield from self._predict_chunk(part)

    def _predict_chunk(self, texts: list[str | Example]) -> Iterator[Prediction]:
        encoded = self.features.encode(texts)
        for text, row in zip(encoded, self.probabilities(self.logits(encoded)), strict=True):
            unknown = text.unknown / max(len(text), 1)
            yield Prediction(self.labels[int(row.argmax())], tuple(map(float, row)), unknown)
