"""Vectors of words from their spelling, at prediction (see
`headwise.nn.embeddings.character_embedding`)."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.activations import expit
from headwise.runtime.layers import Affine, Floats, LayerWeights
from headwise.text.character_features import Alphabet, CharacterFeatureCache
from headwise.text.static_embeddings.word_groups import WordClusters
from headwise.text.text_configs import CharacterConfig

Indices = NDArray[np.int64]


CharacterNetwork = Callable[[Indices, Indices], Floats]
"""Features of words, `[words, features]`, from the ids of their characters, word after word, `[total]`, and
the offsets of the words, `[words + 1]`; each word has a character."""


class CharacterConvolution:
    """A convolution over the characters, and the maximum over the word.

    A filter is linear, so what a character adds at a place of the window is a row of a table.

    Args:
        vectors: Vectors of the characters, `[alphabet, inputs]`.
        filters: The filters, `[features, inputs, window]`.
        bias: Their bias, `[features]`.
    """

    def __init__(self, vectors: Floats, filters: Floats, bias: Floats):
        products = (vectors @ filters[:, :, place].T for place in range(filters.shape[2]))
        self.tables, self.bias = np.stack([*products]), bias

    def __call__(self, characters: Indices, ends: Indices) -> Floats:
        return np.tanh(native.convolve_characters(self.tables, characters, ends, self.bias))


class CharacterRecurrence:
    """A bidirectional LSTM over the characters; its two last states.

    Args:
        vectors: Vectors of the characters, `[alphabet, inputs]`.
        directions: Weights of both directions: of the inputs and of the states.
    """

    def __init__(self, vectors: Floats, directions: Sequence[tuple[Affine, Affine]]):
        # What an input adds to the gates depends on the character alone.
        self.directions = [(inputs(vectors), states) for inputs, states in directions]

    def __call__(self, characters: Indices, ends: Indices) -> Floats:
        starts, lengths = ends[:-1], np.diff(ends)
        order = np.argsort(-lengths, kind="stable")
        out = np.empty((len(lengths), 0), dtype=np.float32)
        for backward, (table, states) in enumerate(self.directions):
            size = states.weight.shape[0]
            hidden = np.zeros((len(lengths), size), dtype=np.float32)
            cell = np.zeros_like(hidden)
            for step in range(int(lengths.max(initial=0))):
                running = order[: int((lengths > step).sum())]
                places = ends[1:][running] - 1 - step if backward else starts[running] + step
                gates = table[characters[places]] + states(hidden[running])
                take, keep, candidate, show = np.split(gates, 4, axis=1)
                cell[running] = expit(keep) * cell[running] + expit(take) * np.tanh(candidate)
                hidden[running] = expit(show) * np.tanh(cell[running])
            out = np.concatenate([out, hidden], axis=1)
        return out


class SpellingVectors:
    """Vectors of words from their spelling and clusters: of a network, of character n-grams, of the shape
    and of the clusters, side by side.

    Args:
        config: Which of these there are.
        alphabet: The character vocabulary.
        weights: The weights.
        name: Name of the layer.
        clusters: The clusters of words; None if the configuration has none.
    """

    def __init__(
        self,
        config: CharacterConfig,
        alphabet: Alphabet,
        weights: LayerWeights,
        name: str,
        clusters: WordClusters | None = None,
    ):
        self._features = CharacterFeatureCache(config, alphabet, clusters)
        self.size, self.network = config.size, _build_network(config, weights, name)
        self.ngrams = weights.arrays.get(f"{name}.ngrams.weight")
        self.shape = weights.optional(f"{name}.shape")
        self.clusters = weights.arrays.get(f"{name}.clusters.weight")

    def __call__(self, words: Sequence[str]) -> Floats:
        """Vectors of words, `[words, size]`."""
        features = [self._features[word] for word in words]
        views = [np.zeros((len(words), 0), dtype=np.float32)]
        if self.network is not None and features:
            views.append(self.network(*_in_a_row([word.characters for word in features])))
        if self.ngrams is not None:
            buckets, ends = _in_a_row([word.ngrams for word in features])
            views.append(native.pool_means(self.ngrams[buckets], ends[:-1], ends[1:]))
        if self.shape is not None:
            shapes = np.array([word.shape for word in features], dtype=np.float32)
            views.append(self.shape(shapes.reshape(-1, self.shape.weight.shape[0])))
        if self.clusters is not None and features:
            views.append(self.clusters[np.array([word.clusters for word in features])].sum(axis=1))
        return np.concatenate(views, axis=1) if features else np.zeros((0, self.size), dtype=np.float32)


def _build_network(config: CharacterConfig, weights: LayerWeights, name: str) -> CharacterNetwork | None:
    arrays = weights.arrays
    if config.network == "none":
        return None
    vectors = arrays[f"{name}.vectors.weight"]
    if config.network == "cnn":
        filters, bias = (arrays[f"{name}.network.filters.{part}"] for part in ("weight", "bias"))
        return CharacterConvolution(vectors, filters, bias)

    def gates(part: str) -> Affine:
        weight, bias = (arrays[f"{name}.network.lstm.{kind}_{part}"] for kind in ("weight", "bias"))
        return Affine(np.ascontiguousarray(weight.T), bias)

    ways = ("l0", "l0_reverse")
    return CharacterRecurrence(vectors, [(gates(f"ih_{way}"), gates(f"hh_{way}")) for way in ways])


def _in_a_row(rows: Sequence[Indices]) -> tuple[Indices, Indices]:
    """Rows of numbers, one after the other, `[total]`, and their offsets, `[rows + 1]`."""
    ends = np.cumsum([0, *map(len, rows)])
    return np.concatenate([np.zeros(0, dtype=np.int64), *rows]), ends
