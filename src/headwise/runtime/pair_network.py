"""PairNetwork: from encoded pairs of texts to the outputs of a network (see
`headwise.nn.task_layers.pair_layers`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.runtime.encoders import EncodedTexts, Indices, spans_of, word_states
from headwise.runtime.layers import Affine, Floats, LayerNorm, LayerWeights, Perceptron, rectified
from headwise.runtime.limits import check_finite
from headwise.runtime.prediction_models import BasePairInputs
from headwise.runtime.text_network import TextReadout, WindowedEncoder, WordInputs, cut_portions
from headwise.text.text_features import EncodedPair


def concat_absolute(first: Floats, second: Floats) -> Floats:
    """`r1, r2, |r1 - r2|, r1 - r2`, `[pairs, 4 width]`."""
    difference = first - second
    return np.concatenate([first, second, np.abs(difference), difference], axis=1)


def product(first: Floats, second: Floats) -> Floats:
    """`p, h, p * h, |p - h|`, `[pairs, 4 width]`."""
    return np.concatenate([first, second, first * second, np.abs(first - second)], axis=1)


def concat(first: Floats, second: Floats) -> Floats:
    """`r1, r2`, `[pairs, 2 width]`."""
    return np.concatenate([first, second], axis=1)


PAIR_FEATURES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "concat-absolute": concat_absolute,
    "product": product,
    "concat": concat,
}
"""Inputs of the head from the vectors of both texts, by name."""


class PartnerSpans:
    """The words of a batch of texts, and the range of words of the partner of each text.

    Args:
        lengths: Words of the first texts of all pairs, then of the second texts, `[2 pairs]`.
    """

    def __init__(self, lengths: Indices):
        self.starts, self.ends = spans_of(lengths)
        half = len(lengths) // 2
        self.partner_starts = np.roll(self.starts, half)
        self.partner_ends = np.roll(self.ends, half)

    def attend(self, query: Floats, key: Floats, value: Floats) -> Floats:
        """Outputs of the heads of all words, `[words, heads * size]`.

        Args:
            query, key, value: Of all words, `[words, heads, size]` each.
        """
        spans = self.starts, self.ends, self.partner_starts, self.partner_ends
        return native.cross_attention(query, key, value, *spans)

    def attend_once(self, query: Floats, key: Floats, value: Floats) -> Floats:
        """Attention of a single query per text, `[texts, heads * size]`."""
        ends = np.arange(1, len(query) + 1)
        spans = ends - 1, ends, self.partner_starts, self.partner_ends
        return native.cross_attention(query, key, value, *spans)


CrossLayer = Callable[[Floats, Floats, Callable[..., Floats]], Floats]
"""A layer in which the words of each text attend to those of the other: the new states of rows, from their
states, `[rows, width]` (of words, or of one node for each text), the states of all words, `[words, width]`,
and the method of `PartnerSpans` for these rows."""


@dataclass(frozen=True)
class TransformerCrossLayer:
    """`Z = LayerNorm(H + Att(H, other))`, `LayerNorm(Z + FFN(Z))`."""

    query: Affine
    key: Affine
    value: Affine
    out: Affine
    norm1: LayerNorm
    up: Affine
    down: Affine
    norm2: LayerNorm
    heads: int

    @classmethod
    def of(cls, weights: LayerWeights, name: str, heads: int) -> "TransformerCrossLayer":
        """The layer of this name."""
        query, key, value, out = (
            weights.affine(f"{name}.{part}") for part in ("query", "key", "value", "out")
        )
        norm1, norm2 = (weights.norm(f"{name}.norm{number}") for number in (1, 2))
        up, down = (weights.affine(f"{name}.{part}") for part in ("up", "down"))
        return cls(query, key, value, out, norm1, up, down, norm2, heads)

    def __call__(self, rows: Floats, words: Floats, attend: Callable[..., Floats]) -> Floats:
        query, key, value = (
            part.reshape(len(part), self.heads, part.shape[1] // self.heads)
            for part in (self.query(rows), self.key(words), self.value(words))
        )
        z = self.norm1(self.out(attend(query, key, value)), rows)
        return self.norm2(self.down(rectified(self.up(z))), z)


@dataclass(frozen=True)
class SoftAlignmentLayer:
    """With `E = H W` of both texts: `S = softmax(E E_other^T / sqrt(width)) H_other`, and the new states
    `LayerNorm(relu(V [H, S, H * S, |H - S|] + b))`."""

    look: Affine
    compare: Affine
    norm: LayerNorm

    @classmethod
    def of(cls, weights: LayerWeights, name: str) -> "SoftAlignmentLayer":
        """The layer of this name."""
        look, compare = (weights.affine(f"{name}.{part}") for part in ("look", "compare"))
        return cls(look, compare, weights.norm(f"{name}.norm"))

    def __call__(self, rows: Floats, words: Floats, attend: Callable[..., Floats]) -> Floats:
        key = self.look(words)
        query = key if rows is words else self.look(rows)
        seen = attend(query[:, None], key[:, None], words[:, None])
        compared = self.compare(product(rows, seen))
        return self.norm(compared, np.zeros_like(compared), rectify=True)


class PairNetwork:
    """A network of pairs of texts.

    Args:
        inputs: Its word vectors.
        encoder: Its encoder.
        layers: Layers between the texts of a pair, the lowest first; none where each text is read alone.
        readout: From states to a vector of each text.
        features: Input of the head from two text vectors, a name of `PAIR_FEATURES`.
        head: From that to the outputs.
    """

    def __init__(
        self,
        inputs: WordInputs,
        encoder: WindowedEncoder,
        layers: Sequence[CrossLayer],
        readout: TextReadout,
        features: str,
        head: Perceptron,
    ):
        self.inputs, self.encoder, self.layers = inputs, encoder, tuple(layers)
        self.readout, self.features = readout, PAIR_FEATURES[features]
        self.head = head

    def __call__(self, pairs: Sequence[EncodedPair], batch_texts: int, batch_tokens: int) -> Floats:
        """Outputs of pairs, `[pairs, outputs]`.

        Args:
            pairs: Encoded pairs.
            batch_texts: Maximum number of pairs that are encoded at once.
            batch_tokens: Maximum number of words that are encoded at once.
        """
        out = np.zeros((len(pairs), self.head.second.weight.shape[1]), dtype=np.float32)
        for portion, blocks in cut_portions(pairs, batch_texts, batch_tokens):
            chosen = [pairs[place] for place in portion]
            texts = [*(pair.first for pair in chosen), *(pair.second for pair in chosen)]
            read = self.inputs.of(texts)
            table = self.encoder.encoder.table(read.rows)
            sizes = np.array([*map(len, texts)], dtype=np.int64)
            starts, ends = spans_of(sizes)
            for block in blocks:
                sides = [(start + block[0], start + block[-1] + 1) for start in (0, len(portion))]
                places = [read.places[starts[first] : ends[last - 1]] for first, last in sides]
                block_sizes = np.concatenate([sizes[first:last] for first, last in sides])
                encoded = self.encoder.encode(table, np.concatenate(places), block_sizes)
                first, second = np.split(self.readout(self._contextual(encoded)), 2)
                out[[portion[place] for place in block]] = self.head(self.features(first, second))
        return out

    def _contextual(self, encoded: EncodedTexts) -> EncodedTexts:
        """States after the layers between the texts of each pair."""
        if not self.layers:
            return encoded
        words, summary = word_states(encoded), encoded.summary
        spans = PartnerSpans(encoded.ends - encoded.starts)
        for layer in self.layers:
            if summary is not None:
                summary = layer(summary, words, spans.attend_once)
            words = layer(words, words, spans.attend)
        return EncodedTexts(words, spans.starts, spans.ends, summary)


class NetworkPairModel(BasePairInputs):
    """A model of pairs whose network is computed in NumPy.

    Attributes:
        network: The network.
        probe: From the comparison features of a base to the outputs, which is added; None without one.
        config: The configuration of the model folder, a `headwise.nn.networks.model_config.ModelConfig`.
    """

    network: PairNetwork
    probe: Affine | None
    config: Any

    def outputs_of(
        self, encoded: Sequence[EncodedPair], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> NDArray[np.float32]:
        outputs = self.network(encoded, batch_texts, batch_tokens)
        if self.probe is not None and (compared := self.base_vectors(encoded)) is not None:
            outputs += self.probe(compared)
        return check_finite(outputs)
