"""BaseEmbedding: a base as an embedding layer without out-of-vocabulary words."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, normalize

from headwise.core import native
from headwise.core.config import JsonMapping
from headwise.nn.embeddings.word_reading import RowEmbedding, WordRows, can_read_words, read_words
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layers.row_blocks import BlockedLinear
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged
from headwise.text.static_embeddings.base_vectors import (
    BaseError,
    BaseTokens,
    DistinctWords,
    QuantizedMatrix,
    StaticEmbeddings,
    unique_with_inverse,
)
from headwise.text.static_embeddings.word_groups import WordClusters
from headwise.text.text_configs import BaseConfig

BASE_FILE = "base.json"
_CACHED_WORDS = 1 << 16  # distinct words whose vectors are cached: 50 MB


class BaseEmbedding(nn.Module):
    """Word embeddings from a base; unlisted words are composed of character n-grams.

    The 8-bit tables of the base are frozen. With `config.train`, each word of the training vocabulary has a
    trainable correction, initially 0, that is added to its vector.

    Args:
        base: The base; only its words when a saved model is loaded (see `from_files`).
        words: Size of the training vocabulary; id 0 is the unknown word.
        width: Input features of the encoder.
        config: See `BaseConfig`.

    Attributes:
        vectors: The corrections; None if the base is not trained.
    """

    values: Tensor
    scales: Tensor
    weights: Tensor

    def __init__(self, base: "StaticEmbeddings | BaseWords", words: int, width: int, config: BaseConfig):
        super().__init__()
        self.config, self._names = config, base.words
        rows, size = len(base.words) + config.subwords, config.size
        self.register_buffer("values", torch.zeros(rows, size, dtype=torch.int8))
        self.register_buffer("scales", torch.zeros(rows))
        self.register_buffer("weights", torch.zeros(len(base.words) + 1))
        if isinstance(base, StaticEmbeddings):
            self._base = base
            self.values.copy_(torch.from_numpy(np.concatenate([base.table.values, base.subwords.values])))
            self.scales.copy_(torch.from_numpy(np.concatenate([base.table.scales, base.subwords.scales])))
            self.weights.copy_(torch.from_numpy(base.weights))
        self.vectors = RowEmbedding(words, size, padding_idx=0) if config.train else None
        if self.vectors is not None:
            nn.init.zeros_(self.vectors.weight)
        self.norm = nn.LayerNorm(size)
        self.project = BlockedLinear(size, width) if size != width else None
        self.dropout = Dropout(config.dropout)

    @classmethod
    def from_files(cls, files: JsonMapping, words: int, width: int, config: BaseConfig) -> "BaseEmbedding":
        """An embedding without weights, from the output of `to_files`, which is untrusted.

        Raises:
            BaseError: HW803, it does not describe a base.
        """
        match files.get(BASE_FILE):
            case {"words": list(listed)} if set(map(type, listed)) <= {str}:
                if len(set(listed)) == len(listed):
                    return cls(BaseWords(tuple(listed)), words, width, config)
        raise BaseError(f"{BASE_FILE}: expected a list of different words", code="HW803")

    @property
    def listed_words(self) -> tuple[str, ...]:
        """The words of the base, in the order of their vectors."""
        return self._names

    def to_files(self) -> dict[str, object]:
        """The data that `from_files` needs in addition to the state dict."""
        return {BASE_FILE: {"words": list(self._names)}}

    @cached_property
    def _base(self) -> StaticEmbeddings:
        """The base, rebuilt from the loaded buffers. It copies them, as PyTorch may reallocate a buffer and
        free memory that an array still reads."""
        tables = self.values, self.scales.float(), self.weights.float()
        values, scales, weights = (table.cpu().numpy().copy() for table in tables)
        listed_count = len(self._names)
        listed, runs = (
            QuantizedMatrix(values[part], scales[part])
            for part in (slice(listed_count), slice(listed_count, None))
        )
        return StaticEmbeddings("saved", self._names, listed, runs, weights)

    @property
    def groups(self) -> WordClusters | None:
        """Word clusters of the base; None for a loaded model, which does not save them."""
        return self._base.groups

    def prepare(self, texts: Sequence[Sequence[str]]) -> list[BaseTokens]:
        """Compositions of the words of tokenised texts, an input of `forward`."""
        return BaseTokens.of(self._base, texts)

    def forward(self, ids: Ragged, pieces: Sequence[BaseTokens]) -> tuple[Ragged, Tensor]:
        """Word vectors, `[total, width]`, and text vectors, `[texts, size]`.

        A text vector is the weighted mean of its word vectors at length 1; 0 for a text without words.

        Args:
            ids: Word ids in the vocabulary, `[total]`.
            pieces: Output of `prepare` for each text.
        """
        vectors, weights, places = self._words(pieces, ids.layout, distinct=not self.training)
        dtype = self.norm.weight.dtype
        vectors, weights = vectors.to(dtype), weights.to(dtype)
        numbers = None if self.training else _numbers_of(ids.values, places, len(vectors))
        if numbers is not None:  # each distinct word is computed once
            vectors = self.with_corrections(vectors, numbers)
            sums = _weighted_sums(vectors, places, ids.offsets, weights[places])
            return ids.with_values(self.read(vectors).index_select(0, places)), _at_length_1(sums)
        weights = weights[places]
        if self.training and self.config.word_dropout > 0:
            mask = torch.rand(weights.shape, device=weights.device) >= self.config.word_dropout
            weights = weights * mask
        words = WordRows(vectors, places, ids.values, weights, ids.offsets)
        if can_read_words(words, self.vectors, self.norm, self.dropout):
            rows, sums = read_words(words, self.vectors, self.norm, self.dropout)
            return ids.with_values(self._projected(rows)), _at_length_1(sums)
        vectors = self.with_corrections(vectors.index_select(0, places), ids.values)
        means = _at_length_1(ids.with_values(vectors * weights[:, None]).sum())
        return ids.with_values(self.read(vectors)), means

    def read(self, vectors: Tensor) -> Tensor:
        """Vectors `[words, size]` -> inputs of the encoder, `[words, width]`: norm, dropout, projection."""
        return self._projected(self.dropout(self.norm(vectors)))

    def _projected(self, rows: Tensor) -> Tensor:
        """Rows `[words, size]` -> `[words, width]`."""
        return rows if self.project is None else self.project(rows)

    def word_contributions(
        self, ids: Ragged, pieces: Sequence[BaseTokens], *, trained: bool = True
    ) -> Tensor:
        """Contribution of each word to its text vector, `[total, size]`; they sum to the text vector.

        Args:
            ids: See `forward`.
            pieces: See `forward`.
            trained: Whether vectors include the trained corrections; those of `texts` do not.
        """
        vectors, weights, places = self._words(pieces, ids.layout)
        vectors = self.with_corrections(vectors[places], ids.values) if trained else vectors[places]
        weighted = ids.with_values(vectors * weights[places, None])
        lengths = weighted.sum().norm(dim=-1).clamp_min(1e-12)
        return weighted.values / lengths[ids.layout.text_of, None]

    def _words(
        self, pieces: Sequence[BaseTokens], layout: Layout, *, distinct: bool = True
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Vectors of the distinct words of the texts without corrections, `[kinds, size]`, their weights
        `[kinds]`, and the index of each word among the distinct words, `[total]`. Unless `distinct`, there
        may be words of other texts among them, which saves a search."""
        if tuple(len(text) for text in pieces) != layout.sizes:
            raise ValueError(f"texts of {[len(text) for text in pieces]} words do not fit {layout!r}")
        device = self.values.device
        tables = {id(text.kinds): text.kinds for text in pieces}
        if not distinct and len(tables) == 1 and len(kinds := pieces[0].kinds) <= _CACHED_WORDS:
            numbers = np.concatenate([text.numbers for text in pieces]).astype(np.int64)
            weights = torch.from_numpy(kinds.weights).to(device)
            return self._cached_vectors(kinds), weights, torch.from_numpy(numbers).to(device)
        parts, numbers = BaseTokens.together(pieces)
        vectors = [torch.zeros(0, self.config.size, device=device)]
        vectors += [self._vectors(kinds, selected) for kinds, selected in parts]
        none = np.zeros(0, np.float32)
        weights = torch.from_numpy(
            np.concatenate([none, *(kinds.weights[selected] for kinds, selected in parts)])
        )
        places = torch.from_numpy(numbers).to(device)
        return torch.cat(vectors) if len(parts) != 1 else vectors[1], weights.to(device), places

    @torch.inference_mode(False)
    @torch.no_grad()
    def _vectors(self, kinds: DistinctWords, selected: np.ndarray) -> Tensor:
        """Vectors of the selected distinct words, cached unless there are too many."""
        if len(kinds) > _CACHED_WORDS:
            return self._means(kinds.take(selected))
        vectors = self._cached_vectors(kinds)
        if len(selected) == len(kinds):
            return vectors
        return vectors.index_select(0, torch.from_numpy(selected).to(self.values.device))

    @torch.inference_mode(False)
    @torch.no_grad()
    def _cached_vectors(self, kinds: DistinctWords) -> Tensor:
        """Vectors of all of the distinct words, computed once."""
        if kinds.vectors is None or kinds.vectors.device != self.values.device:
            kinds.vectors = self._means(kinds)
        return kinds.vectors

    def _means(self, kinds: DistinctWords) -> Tensor:
        """The mean of the rows of each word, `[kinds, size]`."""
        if self.values.device.type == "cpu":
            table = self.values.numpy(), self.scales.float().numpy()
            return torch.from_numpy(native.mean_vectors(*table, kinds.rows, kinds.ends))
        used, shown = unique_with_inverse(kinds.rows, len(self.values))  # words share rows
        lengths = np.diff(kinds.ends)
        shares = np.repeat((1 / lengths).astype(np.float32), lengths)
        arrays = (used, shown, kinds.ends, shares)
        rows, *bags = (torch.from_numpy(array).to(self.values.device) for array in arrays)
        table = self.values.index_select(0, rows).float() * self.scales[rows, None].float()
        return _weighted_sums(table, *bags)

    def with_corrections(self, vectors: Tensor, numbers: Tensor) -> Tensor:
        """Vectors plus the trained corrections of the words with these vocabulary ids. That of id 0, the
        unknown word, is 0 and has no gradient."""
        return vectors if self.vectors is None else vectors + self.vectors(numbers)

    def texts(self, pieces: Sequence[BaseTokens], batch: int = 1024) -> np.ndarray:
        """Text vectors without corrections, `[texts, size]`: dense features of a linear model."""
        out = np.zeros((len(pieces), self.config.size), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(pieces), batch):
                layout = Layout([len(text) for text in pieces[start : start + batch]], self.values.device)
                vectors, weights, places = self._words(pieces[start : start + batch], layout)
                sums = _weighted_sums(vectors, places, layout.offsets, weights[places])
                out[start : start + batch] = _at_length_1(sums).cpu().numpy()
        return out


def _weighted_sums(table: Tensor, places: Tensor, ends: Tensor, weights: Tensor) -> Tensor:
    """Weighted sums of rows of a table, `[bags, size]`, which begin and end at `ends`, `[bags + 1]`."""
    return embedding_bag(
        places, table, ends, mode="sum", per_sample_weights=weights, include_last_offset=True
    )


def _at_length_1(vectors: Tensor) -> Tensor:
    """Vectors `[texts, size]` divided by their lengths; 0 stays 0."""
    # What `normalize` divides by at least is 0 in float16.
    return normalize(vectors, dim=-1, eps=max(1e-12, torch.finfo(vectors.dtype).tiny))


def _numbers_of(numbers: Tensor, places: Tensor, kinds: int) -> Tensor | None:
    """Vocabulary ids of the distinct words, `[kinds]`; None if one distinct word has two ids.

    Args:
        numbers: Vocabulary ids of all words, `[total]`.
        places: Index of each word among the distinct words, `[total]`.
        kinds: Number of distinct words.
    """
    kind_numbers = numbers.new_zeros(kinds)
    kind_numbers[places] = numbers
    return kind_numbers if torch.equal(kind_numbers[places], numbers) else None


class BaseWords:
    """The word list of a base whose vectors are not loaded yet."""

    def __init__(self, words: tuple[str, ...]):
        self.words = words


def frozen_tables(model: nn.Module) -> dict[str, Tensor]:
    """The tables of a base in a model, by their names in its state dict. Training does not change them: a
    run does not save them, and resuming makes them again."""
    return {
        f"{place}.{name}": table
        for place, module in model.named_modules()
        if isinstance(module, BaseEmbedding)
        for name, table in module.named_buffers(recurse=False)
    }
