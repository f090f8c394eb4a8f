"""TextModel: what the models of all tasks begin with, from texts to the states of their words; Reader: from
there to outputs of each text or pair."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from headwise.data.batches import cut_batches
from headwise.data.example import Example
from headwise.encoders import ENCODERS
from headwise.encoders.base import Encoded, output_width
from headwise.encoders.pooling import NO_CLS, Readout
from headwise.encoders.trees import tree_use
from headwise.encoders.windows import encode_long
from headwise.errors import ConfigError
from headwise.features.bases import find_base, load_base
from headwise.features.bases.embedding import BaseEmbedding
from headwise.features.embedding import WordEmbedding
from headwise.features.encoded import Batch, batch_of
from headwise.features.encoded_text import EncodedText
from headwise.features.parse_cache import new_parser
from headwise.features.pretrained import PretrainedEmbedding
from headwise.features.vocabulary import Vocabulary
from headwise.features.words import TextFeatures
from headwise.layers.classify import Classifier, ClassifierConfig
from headwise.models.any_model import AnyModel
from headwise.models.finite import finite
from headwise.models.model_config import ModelConfig, encoder_name
from headwise.ragged import Ragged


def new_embedding(
    config: ModelConfig, vocabulary: Vocabulary, files: Mapping[str, Any] | None, width: int
) -> "WordEmbedding | PretrainedEmbedding | BaseEmbedding":
    """The embedding of a configuration, vectors of words, a base or a pretrained encoder, with `width`
    features."""
    known = len(vocabulary) - vocabulary.extra
    if config.base.name:
        if files is None:
            return BaseEmbedding(load_base(find_base(config.base.name)), known, width, config.base)
        return BaseEmbedding.from_files(files, known, width, config.base)
    if not config.pretrained.name:
        return WordEmbedding(known, vocabulary.extra, width, config.words)
    if files is None:
        return PretrainedEmbedding.from_pretrained(config.pretrained, width)
    return PretrainedEmbedding.from_files(config.pretrained, width, files)


def new_probe(size: int, head: Classifier, outputs: int) -> nn.Linear:
    """A way from what a base says of a text (or of two), `[texts, size]`, straight to the outputs, which
    begin as what it says alone (`headwise.train.probe` finds out what)."""
    probe = nn.Linear(size, outputs)
    for parameter in (*head.layers[-1].parameters(), *probe.parameters()):
        nn.init.zeros_(parameter)
    return probe


class TextModel(AnyModel):
    """What the models of all tasks begin with: from texts to the states of their words.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        files: What a model folder has of the pretrained encoder, if there is one; by default it is loaded
            by its name.
        width: Features of the embedding, if not those that the encoder takes.
    """

    reads_pairs: ClassVar[bool] = False
    """Whether a batch is that of the first texts of pairs and then the second ones."""
    read_vocabulary = Vocabulary.from_json

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
        if getattr(config.encoder, "pair_layers", 0) and not self.reads_pairs:
            raise ConfigError("encoder: pair_layers are for pairs of texts; set it to 0")
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

    def embed(self, batch: Batch) -> tuple[Ragged, Tensor | None]:
        """Texts -> the vectors of their words, and what the embedding says of each text as a whole."""
        if isinstance(self.embedding, WordEmbedding):
            return self.embedding(batch.words), None
        if isinstance(self.embedding, BaseEmbedding):
            return self.embedding(batch.words, batch.spelling)
        return self.embedding(batch.spelling, batch.layout)

    def encode(self, batch: Batch) -> Encoded:
        """Texts -> the states of their words."""
        words, cls = self.embed(batch)
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

    collate: ClassVar[Callable[..., Batch]] = staticmethod(batch_of)
    """Makes a batch of what is read: a sequence of encoded texts, and a device."""

    def batches(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> Iterator[tuple[list[int], Batch]]:
        """Encoded texts in batches of similar length, with their numbers; the model is in eval mode."""
        training = self.training
        self.eval()
        lengths = np.array([len(item) for item in encoded], dtype=np.int64)
        order = np.argsort(-lengths, kind="stable")
        try:
            for places in cut_batches(order, lengths, batch_texts, batch_tokens):
                yield places, self.collate([encoded[place] for place in places], self.device)
        finally:
            self.train(training)


class Reader(TextModel):
    """A model that gives each text, or each pair of texts, the same number of outputs.

    Args:
        config: See `ModelConfig`.
        vocabulary: The words that it knows.
        outputs: Outputs for each text or pair.
        perceptron: The layers above the vector of a text or pair.
        files: See `TextModel`.
    """

    def __init__(
        self,
        config: ModelConfig,
        vocabulary: Vocabulary,
        outputs: int,
        perceptron: ClassifierConfig,
        files: Mapping[str, Any] | None = None,
    ):
        super().__init__(config, vocabulary, files)
        self.outputs = outputs
        if config.readout == "attentive,cls" and not config.pretrained.name:
            raise ConfigError(NO_CLS)
        self.readout = Readout(config.readout, output_width(config.encoder), config.encoder.width)
        self.place_head(perceptron)

    @abstractmethod
    def place_head(self, perceptron: ClassifierConfig) -> None:
        """Make what is above the readout."""

    @abstractmethod
    def encoded(self, items: Sequence[Any]) -> Sequence[Any]:
        """What the model reads of texts or pairs."""

    @abstractmethod
    def read(self, encoded: Encoded) -> Tensor:
        """The states of the words of a batch -> its outputs."""

    def base_vectors(self, encoded: Sequence[Any]) -> np.ndarray | None:
        """The vectors of encoded texts by the base as it came, `[texts, size]`; None without a base."""
        if not isinstance(self.embedding, BaseEmbedding):
            return None
        return self.embedding.texts([text.spelling for text in encoded])

    def texts_of(self, encoded: Sequence[Any]) -> Sequence[Any]:
        """Encoded texts, or pairs of them, as they were written."""
        return [text.text for text in encoded]

    def expert_reads(
        self, encoded: Sequence[Any], *, vectors: bool = True
    ) -> tuple[Sequence[Any], np.ndarray | None, np.ndarray | None]:
        """What a linear expert reads of encoded texts: the texts, with a base vectors, and further numbers.

        Args:
            encoded: Texts or pairs.
            vectors: Whether it reads vectors.
        """
        return self.texts_of(encoded), self.base_vectors(encoded) if vectors else None, None

    def remember(self, encoded: Sequence[Any]) -> None:
        """Let a frozen pretrained encoder read texts once, and keep what it made of them."""
        if isinstance(self.embedding, PretrainedEmbedding):
            self.embedding.remember([text.spelling for text in encoded])

    @torch.no_grad()
    def outputs_of(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The network's outputs, `[texts, outputs]` float32, in the order of the encoded texts or pairs."""
        out = np.zeros((len(encoded), self.outputs), dtype=np.float32)
        for places, batch in self.batches(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens):
            out[places] = self(batch).float().cpu().numpy()
        return finite(out)


class TextReader(Reader):
    """What models that sum a text up in one vector begin with: from texts to outputs."""

    def place_head(self, perceptron: ClassifierConfig) -> None:
        self.head = Classifier(self.readout.width, self.outputs, perceptron)
        self.probe = None
        if isinstance(self.embedding, BaseEmbedding) and self.config.base.probe:
            self.probe = new_probe(self.embedding.config.size, self.head, self.outputs)

    def encoded(self, items: Sequence[str | Example]) -> list[EncodedText]:
        """What the model reads of texts."""
        return self.features.encode(items)

    def forward(self, batch: Batch) -> Tensor:
        """Texts -> `[texts, outputs]`, without the say of an expert."""
        return self.read(self.encode(batch))

    def read(self, encoded: Encoded) -> Tensor:
        """The states of the words -> `[texts, outputs]`."""
        outputs = self.head(self.readout(encoded))
        return outputs if self.probe is None else outputs + self.probe(encoded.cls)
