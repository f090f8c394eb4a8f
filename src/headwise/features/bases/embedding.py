"""BaseEmbedding: a base as the layer that turns words into vectors, none of them unknown."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

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
        device = self.values.device
        all_of = Pieces.together(pieces)
        rows = torch.from_numpy(all_of.rows).to(device)
        lengths = torch.from_numpy(all_of.lengths).to(device)
        found = self.values[rows].float() * self.scales[rows, None]
        places = torch.repeat_interleave(torch.arange(len(lengths), device=device), lengths)
        vectors = found
        if len(rows) > len(lengths):
            total = torch.zeros(len(lengths), found.shape[1], device=device).index_add_(0, places, found)
            vectors = total / lengths[:, None]
        if self.vectors is not None and isinstance(ids, Ragged):
            known = (ids.values > 0)[:, None]
            vectors = vectors + torch.where(known, self.vectors(ids.values), 0.0)
        return vectors, torch.from_numpy(all_of.weights).to(device)

    def texts(self, pieces: Sequence[Pieces], batch: int = 1024) -> np.ndarray:
        """The vectors of texts by the base as it was, `[texts, size]`: what a linear expert reads."""
        out = np.zeros((len(pieces), self.config.size), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(pieces), batch):
                own = pieces[start : start + batch]
                layout = Layout([len(text) for text in own], self.values.device)
                vectors, weights = self._words(own, layout)
                means = Ragged(vectors * weights[:, None], layout).sum()
                out[start : start + batch] = normalize(means, dim=-1).cpu().numpy()
        return out


class Names:
    """The words of a base whose vectors are yet to be loaded."""

    def __init__(self, words: tuple[str, ...]):
        self.words = words
