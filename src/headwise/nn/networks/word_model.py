"""WordModel: the base class of all models of texts, which encodes texts to states of words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from torch import Tensor

from headwise.core.errors import ConfigError
from headwise.data.items.dataset import cut_batches, items_at, lengths_of
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.nn.embeddings.encoded_batches import TextBatch, batch_of
from headwise.nn.embeddings.pretrained import PretrainedEmbedding
from headwise.nn.embeddings.word_embedding import WordEmbedding
from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder import Encoded, mark_names, text_matrices, tree_use
from headwise.nn.encoders.encoder_configs import encoder_name, output_width
from headwise.nn.encoders.long_texts import encode_in_windows
from headwise.nn.networks.base_model import BaseModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.ragged import Ragged
from headwise.text.parsing import new_parser
from headwise.text.static_embeddings.installed_bases import open_base
from headwise.text.text_features import TextFeatures
from headwise.text.vocabulary import Vocabulary


def new_embedding(
    config: ModelConfig, vocabulary: Vocabulary, files: Mapping[str, Any] | None, width: int
) -> "WordEmbedding | PretrainedEmbedding | BaseEmbedding":
    """The embedding of a configuration with `width` features: trained word vectors, a base, or a pretrained
    encoder."""
    word_count = len(vocabulary) - vocabulary.extra
    if config.base.name:
        if files is None:
            return BaseEmbedding(open_base(config.base.name), word_count, width, config.base)
        return BaseEmbedding.from_files(files, word_count, width, config.base)
    if not config.pretrained.name:
        return WordEmbedding(word_count, vocabulary.extra, width, config.words)
    if files is None:
        return PretrainedEmbedding.from_pretrained(config.pretrained, width)
    return PretrainedEmbedding.from_files(config.pretrained, width, files)


class WordModel(BaseModel):
    """Base class of all models of texts: embedding and encoder, from texts to states of words.

    Args:
        config: See `ModelConfig`.
        vocabulary: The word vocabulary.
        files: Saved files of a base or pretrained encoder from a model folder; None loads it by its name.
        width: Features of the embedding; by default the input features of the encoder.
    """

    reads_pairs: ClassVar[bool] = False
    """Whether batches consist of the first texts of pairs, then the second texts."""
    gives_tags: ClassVar[bool] = False
    """Whether it gives each word a tag."""
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
            marks=mark_names(self.encoder),
            matrices={prior.name: prior.matrix for prior in text_matrices(self.encoder)},
            parser=new_parser(config.syntax),
            character_encoder=getattr(self.embedding, "prepare", None),
            most=None if config.windows.long == "split" else self.max_words,
            cut=config.windows.long == "truncate",
        )

    def embed(self, batch: TextBatch) -> tuple[Ragged, Tensor | None]:
        """Texts -> word vectors, and the embedding's vector of each text, if it gives one."""
        if isinstance(self.embedding, WordEmbedding):
            return self.embedding(batch.words), None
        if isinstance(self.embedding, BaseEmbedding):
            return self.embedding(batch.words, batch.spelling)
        return self.embedding(batch.spelling, batch.layout)

    def encode(self, batch: TextBatch) -> Encoded:
        """Texts -> states of their words."""
        words, cls = self.embed(batch)
        return replace(self.encode_words(words), cls=cls)

    def encode_words(self, words: Ragged) -> Encoded:
        """Word vectors -> states of words; long texts are read in windows."""
        encoded = encode_in_windows(self.encoder, words, *self.window)
        expected = len(words.values), output_width(self.config.encoder)
        if isinstance(encoded, Encoded) and encoded.tokens.values.shape == expected:
            return encoded
        states = f" with states {[*encoded.tokens.values.shape]}" if isinstance(encoded, Encoded) else ""
        raise ConfigError(  # one of the user's own
            f"the encoder {encoder_name(self.config.encoder)} returned {type(encoded).__name__}{states}; "
            f"expected an Encoded (headwise.nn.encoders) with a state for each word, {[*expected]}"
        )

    @cached_property
    def window(self) -> tuple[int, int]:
        """Maximum number of words that the encoder reads at once, 0 for no limit, and the overlap of
        windows. (Computed lazily: a model that is being loaded cannot compute.)"""
        return self.config.windows.sizes(self.config.encoder)

    def max_words(self) -> int:
        """Maximum number of words that the encoder reads at once; 0 for no limit."""
        return self.window[0]

    collate: ClassVar[Callable[..., TextBatch]] = staticmethod(batch_of)
    """Collates a sequence of encoded texts to a batch on a device."""

    def batches(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> Iterator[tuple[list[int], TextBatch]]:
        """Batches of encoded texts of similar lengths, with their indices; sets eval mode meanwhile."""
        training = self.training
        self.eval()
        lengths = lengths_of(encoded)
        order = np.argsort(-lengths, kind="stable")
        try:
            for places in cut_batches(order, lengths, batch_texts, batch_tokens):
                yield places, self.collate(items_at(encoded, places), self.device)
        finally:
            self.train(training)
