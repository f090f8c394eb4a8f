"""BaseEmbedding: a base as the layer that turns words into vectors, none of them unknown."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, normalize

from headwise.features.bases.base import Base, Table
from headwise.features.bases.config import BaseConfig
from headwise.features.bases.errors import BaseError
from headwise.features.bases.groups import WordGroups
from headwise.features.bases.pieces import Kinds, Pieces, different
from headwise.ragged import Layout, Ragged

BASE_FILE = "base.json"
_KEPT = 1 << 16  # different words whose vectors are kept: 50 MB


class BaseEmbedding(nn.Module):
    """Vectors of words from a base: listed words have their own, all others are made of their letters.

    The base itself stays as it is, in a byte a number. Where it is trained, every word of the training
    texts has a correction that is added to its vector, 0 at first.

    Args:
        base: Its words and vectors; of a model that is being loaded the words alone (see `from_files`).
        words: Words of the training texts, of which number 0 is the unknown word.
        width: Features that the encoder takes.
        config: See `BaseConfig`.

    Attributes:
        vectors: The corrections; None where the base is not trained.
    """

    values: Tensor
    scales: Tensor
    weights: Tensor

    def __init__(self, base: "Base | Names", words: int, width: int, config: BaseConfig):
        super().__init__()
        self.config, self._names = config, base.words
        rows, size = len(base.words) + config.subwords, config.size
        self.register_buffer("values", torch.zeros(rows, size, dtype=torch.int8))
        self.register_buffer("scales", torch.zeros(rows))
        self.register_buffer("weights", torch.zeros(len(base.words) + 1))
        if isinstance(base, Base):
            self._known = base
            self.values.copy_(torch.from_numpy(np.concatenate([base.table.values, base.subwords.values])))
            self.scales.copy_(torch.from_numpy(np.concatenate([base.table.scales, base.subwords.scales])))
            self.weights.copy_(torch.from_numpy(base.weights))
        self.vectors = nn.Embedding(words, size) if config.train else None
        if self.vectors is not None:
            nn.init.zeros_(self.vectors.weight)
        self.norm = nn.LayerNorm(size)
        self.project = nn.Linear(size, width) if size != width else None
        self.dropout = nn.Dropout(config.dropout)

    @classmethod
    def from_files(
        cls, files: Mapping[str, Any], words: int, width: int, config: BaseConfig
    ) -> "BaseEmbedding":
        """Without weights, from what `to_files` gave, which may be hostile.

        Raises:
            BaseError: HW803, it does not describe a base.
        """
        match files.get(BASE_FILE):
            case {"words": list(listed)} if all(isinstance(word, str) for word in listed):
                if len(set(listed)) == len(listed):
                    return cls(Names(tuple(listed)), words, width, config)
        raise BaseError(f"{BASE_FILE}: expected a list of different words", code="HW803")

    def to_files(self) -> dict[str, Any]:
        """What `from_files` needs beside the state dict."""
        return {BASE_FILE: {"words": list(self._names)}}

    @cached_property
    def _known(self) -> Base:
        """The base again, once its tables are loaded: copies, as PyTorch may give a buffer other memory and
        frees what an array would still read."""
        tables = self.values, self.scales.float(), self.weights.float()
        values, scales, weights = (own.cpu().numpy().copy() for own in tables)
        own = len(self._names)
        listed, runs = (Table(values[part], scales[part]) for part in (slice(own), slice(own, None)))
        return Base("saved", self._names, listed, runs, weights)

    @property
    def groups(self) -> WordGroups | None:
        """Those of the base's words; of a model that was loaded they are not known."""
        return self._known.groups

    def prepare(self, texts: Sequence[Sequence[str]]) -> list[Pieces]:
        """What the words of texts are made of; `forward` takes it beside their numbers."""
        return Pieces.of(self._known, texts)

    def forward(self, ids: Ragged, pieces: Sequence[Pieces]) -> tuple[Ragged, Tensor]:
        """Texts -> vectors of their words, `[total, width]`, and the vectors of the texts, `[texts, size]`:
        the weighted mean of the words' at length 1; 0 for a text without words.

        Args:
            ids: Numbers of the words in the vocabulary, `[total]`.
            pieces: What `prepare` made of each text.
        """
        vectors, weights, places = self._words(pieces, ids.layout)
        dtype = self.norm.weight.dtype
        vectors, weights = vectors.to(dtype), weights.to(dtype)
        numbers = None if self.training else _numbers_of(ids.values, places, len(vectors))
        if numbers is not None:  # what is the same word is computed once
            vectors = self.corrected(vectors, numbers)
            sums = _weighted_sums(vectors, places, ids.offsets, weights[places])
            return ids.with_values(self.read(vectors).index_select(0, places)), _at_length_1(sums)
        vectors, weights = self.corrected(vectors.index_select(0, places), ids.values), weights[places]
        if self.training and self.config.word_dropout > 0:
            kept = torch.rand(weights.shape, device=weights.device) >= self.config.word_dropout
            weights = weights * kept
        means = _at_length_1(ids.with_values(vectors * weights[:, None]).sum())
        return ids.with_values(self.read(vectors)), means

    def read(self, vectors: Tensor) -> Tensor:
        """Vectors of words as the encoder takes them."""
        read = self.dropout(self.norm(vectors))
        return read if self.project is None else self.project(read)

    def addends(self, ids: Ragged, pieces: Sequence[Pieces], *, trained: bool = True) -> Tensor:
        """What each word adds to the vector of its text, `[total, size]`.

        Args:
            ids: As for `forward`.
            pieces: Likewise.
            trained: With what training has added to the base; `texts` is without.
        """
        vectors, weights, places = self._words(pieces, ids.layout)
        vectors = self.corrected(vectors[places], ids.values) if trained else vectors[places]
        own = ids.with_values(vectors * weights[places, None])
        lengths = own.sum().norm(dim=-1).clamp_min(1e-12)
        return own.values / lengths[ids.layout.text_of, None]

    def _words(self, pieces: Sequence[Pieces], layout: Layout) -> tuple[Tensor, Tensor, Tensor]:
        """The vectors of the different words of texts by the base as it came, `[kinds, size]`, their
        weights, and which of them each word is, `[total]`."""
        if tuple(len(own) for own in pieces) != layout.sizes:
            raise ValueError(f"texts of {[len(own) for own in pieces]} words do not fit {layout!r}")
        parts, numbers = Pieces.together(pieces)
        device = self.values.device
        vectors = [torch.zeros(0, self.config.size, device=device)]
        vectors += [self._vectors(kinds, own) for kinds, own in parts]
        none = np.zeros(0, np.float32)
        weights = torch.from_numpy(np.concatenate([none, *(kinds.weights[own] for kinds, own in parts)]))
        places = torch.from_numpy(numbers).to(device)
        return torch.cat(vectors) if len(parts) != 1 else vectors[1], weights.to(device), places

    @torch.inference_mode(False)
    @torch.no_grad()
    def _vectors(self, kinds: Kinds, which: np.ndarray) -> Tensor:
        """The vectors of some of the words of texts, kept where they are not too many."""
        if len(kinds) > _KEPT:
            return self._means(kinds.take(which))
        if kinds.vectors is None or kinds.vectors.device != self.values.device:
            kinds.vectors = self._means(kinds)
        return kinds.vectors.index_select(0, torch.from_numpy(which).to(self.values.device))

    def _means(self, kinds: Kinds) -> Tensor:
        """The mean of the rows of each word, `[kinds, size]`."""
        used, shown = different(kinds.rows, len(self.values))  # of which many words have the same
        lengths = np.diff(kinds.ends)
        shares = np.repeat((1 / lengths).astype(np.float32), lengths)
        arrays = (used, shown, kinds.ends, shares)
        rows, *bags = (torch.from_numpy(array).to(self.values.device) for array in arrays)
        table = self.values.index_select(0, rows).float() * self.scales[rows, None].float()
        return _weighted_sums(table, *bags)

    def corrected(self, vectors: Tensor, numbers: Tensor) -> Tensor:
        """Vectors of words with the corrections for their numbers in the vocabulary."""
        if self.vectors is None:
            return vectors
        return vectors + torch.where((numbers > 0)[:, None], self.vectors(numbers), 0.0)

    def texts(self, pieces: Sequence[Pieces], batch: int = 1024) -> np.ndarray:
        """The vectors of texts by the base as it was, `[texts, size]`: what a linear expert reads."""
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
    """The numbers of different words, from those of all words, `[total]`, and which of them each is; None
    where the same word has several."""
    own = numbers.new_zeros(kinds)
    own[places] = numbers
    return own if torch.equal(own[places], numbers) else None


class Names:
    """The words of a base whose vectors are yet to be loaded."""

    def __init__(self, words: tuple[str, ...]):
        self.words = words
