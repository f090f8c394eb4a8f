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
from headwise.features.bases.pieces import Pieces
from headwise.ragged import Layout, Ragged

BASE_FILE = "base.json"


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
        """The base again, once its tables are loaded."""
        values, scales = self.values.cpu().numpy(), self.scales.cpu().numpy()
        own = len(self._names)
        listed, runs = (Table(values[part], scales[part]) for part in (slice(own), slice(own, None)))
        return Base("saved", self._names, listed, runs, self.weights.cpu().numpy())

    def prepare(self, texts: Sequence[Sequence[str]]) -> list[Pieces]:
        """What the words of texts are made of; `forward` takes it beside their numbers."""
        return [Pieces.of(self._known, words) for words in texts]

    def forward(self, ids: Ragged, pieces: Sequence[Pieces]) -> tuple[Ragged, Tensor]:
        """Texts -> vectors of their words, `[total, width]`, and the vectors of the texts, `[texts, size]`:
        the weighted mean of the words' at length 1; 0 for a text without words.

        Args:
            ids: Numbers of the words in the vocabulary, `[total]`.
            pieces: What `prepare` made of each text.
        """
        vectors, weights = self._words(pieces, ids)
        if self.training and self.config.word_dropout > 0:
            kept = torch.rand(weights.shape, device=weights.device) >= self.config.word_dropout
            weights = weights * kept
        means = normalize(ids.with_values(vectors * weights[:, None]).sum(), dim=-1)
        read = self.dropout(self.norm(vectors))
        return ids.with_values(read if self.project is None else self.project(read)), means

    def addends(self, ids: Ragged, pieces: Sequence[Pieces], *, trained: bool = True) -> Tensor:
        """What each word adds to the vector of its text, `[total, size]`.

        Args:
            ids: As for `forward`.
            pieces: Likewise.
            trained: With what training has added to the base; `texts` is without.
        """
        vectors, weights = self._words(pieces, ids if trained else ids.layout)
        own = ids.with_values(vectors * weights[:, None])
        lengths = own.sum().norm(dim=-1).clamp_min(1e-12)
        return own.values / lengths[ids.layout.text_of, None]

    def _words(self, pieces: Sequence[Pieces], ids: Ragged | Layout) -> tuple[Tensor, Tensor]:
        """The vectors of words and their weights; with word numbers, corrections are added."""
        layout = ids.layout if isinstance(ids, Ragged) else ids
        if tuple(len(own) for own in pieces) != layout.sizes:
            raise ValueError(f"texts of {[len(own) for own in pieces]} words do not fit {layout!r}")
        all_of = Pieces.together(pieces)
        ends = np.append(0, np.cumsum(all_of.lengths))
        vectors = self._bags(all_of.rows, ends, np.repeat(1 / all_of.lengths, all_of.lengths))
        if self.vectors is not None and isinstance(ids, Ragged):
            known = (ids.values > 0)[:, None]
            vectors = vectors + torch.where(known, self.vectors(ids.values), 0.0)
        return vectors, torch.from_numpy(all_of.weights).to(vectors.device)

    def _bags(self, rows: np.ndarray, ends: np.ndarray, weights: np.ndarray) -> Tensor:
        """Weighted sums of rows of the base, `[bags, size]`.

        Args:
            rows: Numbers of rows, `[total]`.
            ends: Where each bag of them begins, and the last ends, `[bags + 1]`.
            weights: `[total]`.
        """
        own, bags, shares = (
            torch.from_numpy(values).to(self.values.device)
            for values in (rows.astype(np.int64), ends.astype(np.int64), weights.astype(np.float32))
        )
        kinds, places = own.unique(return_inverse=True)  # of which a batch has few
        table = self.values[kinds].float() * self.scales[kinds, None]
        return embedding_bag(
            places, table, bags, mode="sum", per_sample_weights=shares, include_last_offset=True
        )

    def texts(self, pieces: Sequence[Pieces], batch: int = 1024) -> np.ndarray:
        """The vectors of texts by the base as it was, `[texts, size]`: what a linear expert reads."""
        out = np.zeros((len(pieces), self.config.size), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(pieces), batch):
                own = pieces[start : start + batch]
                all_of = Pieces.together(own)
                ends = np.cumsum([0, *(len(text.rows) for text in own)])
                shares = np.repeat(all_of.weights / all_of.lengths, all_of.lengths)
                sums = self._bags(all_of.rows, ends, shares)
                out[start : start + batch] = normalize(sums, dim=-1).cpu().numpy()
        return out


class Names:
    """The words of a base whose vectors are yet to be loaded."""

    def __init__(self, words: tuple[str, ...]):
        self.words = words
