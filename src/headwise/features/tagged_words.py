"""The vectors of a tagger's words: those of an embedding, beside what the spelling says."""

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
    """The spelling beside the vectors of an embedding, and a projection of both together.

    Args:
        features: Of a word in the vectors beside which the spelling stands.
        width: Features that the encoder takes.
        config: See `CharacterConfig`.
        alphabet: The characters that are known.
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
    """From the words of texts to what `words_of` and `read_words` find in a batch."""
    prepare = embedding.prepare if isinstance(embedding, PretrainedEmbedding | BaseEmbedding) else None
    return spell_by(prepare)


def words_of(batch: Batch) -> list[tuple[str, ...]]:
    """The words of each text."""
    return [spelled.words for spelled in batch.spelling]


def read_words(embedding: nn.Module, batch: Batch) -> tuple[Ragged, Tensor | None]:
    """What an embedding says of a batch: vectors of the words, and a pretrained encoder's summaries."""
    if isinstance(embedding, PretrainedEmbedding):
        return embedding([spelled.pieces for spelled in batch.spelling], batch.layout)
    if isinstance(embedding, BaseEmbedding):
        return embedding(batch.words, [spelled.pieces for spelled in batch.spelling])
    return embedding(batch.words), None
