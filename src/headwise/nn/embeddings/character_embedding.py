"""CharacterEmbedding: word vectors from spelling and clusters.

It concatenates up to four optional parts: a network over the characters, character n-grams (JMT), the word
shape, and vectors of the clusters of the word. The network is a convolution (`CharacterCNN`; Ma & Hovy, ACL
2016) or an LSTM (`CharacterLSTM`; Lample et al., NAACL 2016). Case is kept, so a tagger may use lower-case
word vectors and still see capitals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from headwise.core.errors import ConfigError
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layers.table_buffers import TableBuffers
from headwise.nn.layout import Layout
from headwise.nn.packed_sequence import pack_layout
from headwise.nn.ragged import Ragged
from headwise.text.character_features import SHAPES, Alphabet, CharacterFeatureCache
from headwise.text.static_embeddings.word_groups import CLUSTER_ROWS, ClusterTableFormat, WordClusters
from headwise.text.text_configs import CharacterConfig

_CLUSTER_DEVIATION = 0.3  # standard deviation of the initial vectors of clusters, of which five are added


class CharacterCNN(nn.Module):
    """Convolution over the characters of each word, and the maximum over the word (Ma & Hovy 2016).

    Args:
        inputs: Features of a character vector.
        features: Number of filters.
        window: Characters that a filter sees, odd; beyond the ends of a word it sees zeros.
    """

    def __init__(self, inputs: int, features: int, window: int):
        super().__init__()
        self.filters = nn.Conv1d(inputs, features, window)

    def forward(self, x: Ragged) -> Tensor:
        """Character vectors -> `[words, features]`; every word must have a character."""
        # One convolution over all words in a row, with as many zeros between them as a filter reaches.
        layout, reach = x.layout, self.filters.kernel_size[0] // 2
        rows = torch.arange(layout.total, device=x.device) + layout.text_of * reach
        row = x.values.new_zeros(layout.total + (layout.texts + 1) * reach, x.values.shape[1])
        row = row.index_copy(0, rows + reach, x.values)
        activations = self.filters(row.t()[None])[0].t().index_select(0, rows)
        word = layout.text_of[:, None].expand_as(activations)
        top = activations.new_zeros(layout.texts, activations.shape[1])
        return torch.tanh(top.scatter_reduce(0, word, activations, "amax", include_self=False))


class CharacterLSTM(nn.Module):
    """Bidirectional LSTM over the characters of each word; its two last states (Lample et al. 2016).

    Args:
        inputs: Features of a character vector.
        features: Features of both states together, even.
    """

    def __init__(self, inputs: int, features: int):
        super().__init__()
        self.lstm = nn.LSTM(inputs, features // 2, bidirectional=True)

    def forward(self, x: Ragged) -> Tensor:
        """Character vectors -> `[words, features]`; every word must have a character."""
        steps = pack_layout(x.layout)
        packed = PackedSequence(
            x.values.index_select(0, steps.rows), torch.tensor(steps.sizes, device="cpu")
        )
        _, (last, _) = self.lstm(packed)
        states = torch.cat(list(last), dim=1)
        return torch.empty_like(states).index_copy(0, steps.texts, states)


@dataclass(frozen=True)
class CharacterBatch:
    """Input of `CharacterEmbedding` for a batch, with each distinct word once.

    Attributes:
        words: Index of each word among the distinct words, int64 `[total]`.
        characters: Character ids of the distinct words.
        ngrams: Hash buckets of their n-grams.
        shapes: Word shape features, `[distinct words, shapes]`.
        clusters: Rows of their clusters, `[distinct words, levels]`; no levels without clusters.
    """

    words: Tensor
    characters: Ragged
    ngrams: Ragged
    shapes: Tensor
    clusters: Tensor

    def to(self, device: torch.device | str) -> "CharacterBatch":
        """A copy on another device."""
        return CharacterBatch(
            self.words.to(device),
            self.characters.to(device),
            self.ngrams.to(device),
            self.shapes.to(device),
            self.clusters.to(device),
        )


class ClusterTable(TableBuffers[WordClusters]):
    """The clusters of words as buffers, which the model folder saves (see `WordClusters`).

    Args:
        words: Number of words.
    """

    def __init__(self, words: int):
        super().__init__(ClusterTableFormat(words))

    def of(self, words: Sequence[str]) -> NDArray[np.int16]:
        """Clusters of words as written, `[words, levels]`; see `WordClusters.of`."""
        return self.contents().of(words)


class CharacterEmbedding(nn.Module):
    """Vectors of words from their spelling; see `CharacterConfig`.

    A word that occurs more than once in a batch is computed once (with one dropout mask); its character ids
    are cached between batches.

    Args:
        config: Must enable at least one part.
        alphabet: The character vocabulary.

    Raises:
        ConfigError: The configuration gives no features.
    """

    def __init__(self, config: CharacterConfig, alphabet: Alphabet):
        super().__init__()
        if config.size == 0:
            raise ConfigError("character features without a network, n-grams or shape: choose one")
        self.config = c = config
        self.cluster_table = ClusterTable(c.clustered) if c.clusters else None
        self._spell = CharacterFeatureCache(config, alphabet, self.cluster_table)
        self.network: CharacterCNN | CharacterLSTM | None = None
        if c.network != "none":
            self.vectors = nn.Embedding(len(alphabet), c.vector_size)
            bound = (3 / c.vector_size) ** 0.5  # variance 1 / vector_size, as Ma & Hovy
            nn.init.uniform_(self.vectors.weight, -bound, bound)
            self.dropout = Dropout(c.dropout)
            self.network = (
                CharacterCNN(c.vector_size, c.features, c.window)
                if c.network == "cnn"
                else CharacterLSTM(c.vector_size, c.features)
            )
        self.ngrams = nn.EmbeddingBag(c.buckets, c.ngrams, mode="mean") if c.ngrams else None
        if self.ngrams is not None:
            nn.init.normal_(self.ngrams.weight, std=0.3)  # the mean of some ten to thirty is small
        self.shape = nn.Linear(len(SHAPES), c.shape) if c.shape else None
        self.clusters = nn.EmbeddingBag(CLUSTER_ROWS, c.clusters, mode="sum") if c.clusters else None
        if self.clusters is not None:
            nn.init.normal_(self.clusters.weight, std=_CLUSTER_DEVIATION)

    def encode(self, tokens: Sequence[Sequence[str]]) -> CharacterBatch:
        """The input of `embed` for tokenised texts, on the CPU; may be computed ahead."""
        numbers: dict[str, int] = {}
        words = [numbers.setdefault(word, len(numbers)) for word in chain.from_iterable(tokens)]
        spelled = [self._spell[word] for word in numbers]
        shapes = np.array([word.shape for word in spelled], dtype=np.float32).reshape(-1, len(SHAPES))
        return CharacterBatch(
            torch.tensor(words, dtype=torch.int64, device="cpu"),
            _ragged([word.characters for word in spelled]),
            _ragged([word.ngrams for word in spelled]),
            torch.from_numpy(shapes),
            torch.from_numpy(np.array([word.clusters for word in spelled], dtype=np.int64)),
        )

    def embed(self, spellings: CharacterBatch) -> Tensor:
        """Vectors of all words, text after text, `[total, config.size]`."""
        device = next(self.parameters()).device
        s = spellings.to(device)
        if len(s.words) == 0:
            return torch.zeros(0, self.config.size, device=device)
        views = []
        if self.network is not None:
            views.append(self.network(s.characters.map(self.vectors).map(self.dropout)))
        if self.ngrams is not None:
            views.append(self.ngrams(s.ngrams.values, s.ngrams.offsets[:-1]))
        if self.shape is not None:
            views.append(self.shape(s.shapes))
        if self.clusters is not None:
            views.append(self.clusters(s.clusters))
        return torch.cat(views, dim=1).index_select(0, s.words)

    def forward(self, tokens: Sequence[Sequence[str]]) -> Tensor:
        """The words of each text -> vectors of all words, text after text, `[total, config.size]`."""
        return self.embed(self.encode(tokens))


def _ragged(rows: Sequence[NDArray[np.int64]]) -> Ragged:
    flat = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    return Ragged(torch.from_numpy(flat), Layout([len(row) for row in rows]))
