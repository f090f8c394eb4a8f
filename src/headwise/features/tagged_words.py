"""Word vectors of a tagger: those of an embedding, concatenated with character features."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from headwise.features.alphabet import Alphabet
from headwise.features.bases.embedding import BaseEmbedding
from headwise.features.characters import CharacterEmbedding
from headwise.features.encoded import Batch
from headwise.features.pretrained import PretrainedEmbedding
from headwise.features.spelling import CharacterConfig, spell_by
from headwise.ragged import Ragged


class SpelledWords(nn.Module):
    """Concatenates word vectors with character features, and projects them.

    Args:
        features: Features of the word vectors.
        width: Input features of the encoder.
        config: See `CharacterConfig`.
        alphabet: The character vocabulary.
    """

    def __init__(self, features: int, width: int, config: CharacterConfig, alphabet: Alphabet):
        super().__init__()
        self.characters = CharacterEmbedding(config, alphabet)
        self.project = nn.Linear(features + config.size, width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, vectors: Ragged, words: Sequence[Sequence[str]]) -> Ragged:
        """Vectors `[total, features]` and the words of each text -> `[total, width]`."""
        spelled = self.dropout(self.characters(words))
        return vectors.with_values(self.project(torch.cat([vectors.values, spelled], dim=1)))


def speller(embedding: nn.Module) -> Any:
    """A function from tokenised texts to the `spelling` that `words_of` and `read_words` read."""
    prepare = embedding.prepare if isinstance(embedding, PretrainedEmbedding | BaseEmbedding) else None
    return spell_by(prepare)


def words_of(batch: Batch) -> list[tuple[str, ...]]:
    """The words of each text of a tagger's batch."""
    return [spelled.words for spelled in batch.spelling]


def read_words(embedding: nn.Module, batch: Batch) -> tuple[Ragged, Tensor | None]:
    """Apply an embedding to a batch: word vectors, and the summaries of a pretrained encoder, else None."""
    if isinstance(embedding, PretrainedEmbedding):
        return embedding([spelled.pieces for spelled in batch.spelling], batch.layout)
    if isinstance(embedding, BaseEmbedding):
        return embedding(batch.words, [spelled.pieces for spelled in batch.spelling])
    return embedding(batch.words), None
