"""WordEmbedding: from word ids to word vectors; taggers concatenate them with character features."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from headwise.nn.embeddings.character_embedding import CharacterEmbedding
from headwise.nn.embeddings.encoded_batches import TextBatch
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layers.row_blocks import BlockedLinear
from headwise.nn.ragged import Ragged
from headwise.text.character_features import Alphabet
from headwise.text.text_configs import CharacterConfig, WordConfig

_UNKNOWN = 0  # its number in every vocabulary


class WordEmbedding(nn.Module):
    """Word vectors with word dropout, dropout, and a projection where the encoder has another width.

    Words that no training text has (they are known through pretrained vectors alone) are kept apart: they
    cost nothing in training, and stay as they are.

    Args:
        words: Words of the training texts; number 0 is the unknown word.
        extra: Further words, numbered after those.
        width: Features that the encoder takes.
        config: See `WordConfig`.
    """

    def __init__(self, words: int, extra: int, width: int, config: WordConfig):
        super().__init__()
        self.vectors = nn.Embedding(words, config.vector_size)
        nn.init.normal_(self.vectors.weight, std=config.initial_std)
        self.vectors.weight.requires_grad_(config.train_vectors)
        self.extra = nn.Embedding(extra, config.vector_size) if extra else None
        if self.extra is not None:
            self.extra.weight.requires_grad_(False)
        self.project = BlockedLinear(config.vector_size, width) if config.vector_size != width else None
        self.dropout = Dropout(config.dropout)
        self.word_dropout = config.word_dropout

    def start_from(self, matrix: Tensor) -> None:
        """Begin with these vectors, `[words + extra, vector_size]`."""
        words = self.vectors.num_embeddings
        with torch.no_grad():
            self.vectors.weight.copy_(matrix[:words])
            if self.extra is not None:
                self.extra.weight.copy_(matrix[words:])

    def forward(self, ids: Ragged) -> Ragged:
        """Word numbers `[total]` -> vectors `[total, width]`."""
        numbers = ids.values
        if self.training and self.word_dropout > 0:
            drop = torch.rand(numbers.shape, device=numbers.device) < self.word_dropout
            numbers = numbers.masked_fill(drop, _UNKNOWN)
        vectors = self.dropout(self._look_up(numbers))
        return ids.with_values(vectors if self.project is None else self.project(vectors))

    def _look_up(self, numbers: Tensor) -> Tensor:
        if self.extra is None:
            return self.vectors(numbers)
        beyond = numbers - self.vectors.num_embeddings
        vectors = self.vectors(numbers.clamp(max=self.vectors.num_embeddings - 1))
        rows = (beyond >= 0).nonzero().flatten()
        return vectors.index_copy(0, rows, self.extra(beyond[rows]))


class CharacterAugmentedEmbedding(nn.Module):
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
        self.dropout = Dropout(config.dropout)

    def forward(self, vectors: Ragged, words: Sequence[Sequence[str]]) -> Ragged:
        """Vectors `[total, features]` and the words of each text -> `[total, width]`."""
        spelled = self.dropout(self.characters(words))
        return vectors.with_values(self.project(torch.cat([vectors.values, spelled], dim=1)))


def tagger_words(batch: TextBatch) -> list[tuple[str, ...]]:
    """The words of each text of a tagger's batch."""
    return [spelled.words for spelled in batch.spelling]
