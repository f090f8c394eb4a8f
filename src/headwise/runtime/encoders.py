"""Encoders at prediction: MS-Transformer and MS-SAN on the rows of texts, which follow one another.

The equations and their symbols are those of `headwise.nn.encoders.ms_transformer` and
`headwise.nn.encoders.ms_san`. What depends on a word alone is computed once for each different word: an
encoder first makes a `WordTable` of these, and then reads texts as places in it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.runtime.banded_plan import BandedPlan
from headwise.runtime.layers import (
    Affine,
    AttentionHeads,
    EncoderAffine,
    Floats,
    HeadPrior,
    LayerNorm,
    LayerWeights,
    encoder_affine,
    rectified,
)

Indices = NDArray[np.int64]


class EncodedTexts(NamedTuple):
    """States of texts.

    Attributes:
        rows: States of words, and of nodes between them, `[rows, width]`.
        starts, ends: The rows of the words of each text, `[texts]`.
        summary: States of the classification nodes, `[texts, width]`; None without nodes.
    """

    rows: Floats
    starts: Indices
    ends: Indices
    summary: Floats | None = None


class WordTable(NamedTuple):
    """What depends on a word alone.

    Attributes:
        words: Inputs of the encoder, `[words, width]`; the last row is the classification node, if the
            encoder has one.
        parts: Products of these with the weights of the first layer, `[words, size]` each.
    """

    words: Floats
    parts: tuple[Floats, ...]


class EncoderNetwork(Protocol):
    """An encoder."""

    def table(self, words: Floats) -> WordTable:
        """The table of different words with these inputs, `[words, width]`."""
        ...

    def encode(self, table: WordTable, places: Indices, lengths: Indices) -> EncodedTexts:
        """States of texts.

        Args:
            table: The table of their words.
            places: The row in the table of each word, text after text, `[total]`.
            lengths: Number of words of each text, `[texts]`.
        """
        ...


def spans_of(lengths: Indices) -> tuple[Indices, Indices]:
    """Where texts of these lengths begin and end, if they follow one another, `[texts]` each."""
    ends = lengths.cumsum()
    return ends - lengths, ends


class LayerPlans:
    """The plans of layers for texts; neighbouring layers whose heads see the same have the same one.

    Args:
        lengths: Rows of each text, `[texts]`.
    """

    def __init__(self, lengths: Indices):
        self._lengths = lengths
        self._priors: tuple[HeadPrior, ...] | None = None

    def of(self, attention: AttentionHeads) -> BandedPlan:
        """The plan of a layer."""
        if attention.priors != self._priors:
            self._priors, self._plan = attention.priors, attention.plan(self._lengths)
        return self._plan


@dataclass(frozen=True)
class MultiScaleLayer:
    """`LayerNorm(H + ReLU(MSMSA(H)))` (MS-Transformer, Eq. 10)."""

    attention: AttentionHeads
    out: EncoderAffine
    norm: LayerNorm

    @classmethod
    def of(
        cls, weights: LayerWeights, name: str, priors: Sequence[HeadPrior], head_size: int
    ) -> "MultiScaleLayer":
        """The layer of this name."""
        attention = AttentionHeads(weights, f"{name}.attention", priors, head_size)
        out = encoder_affine(weights.affine(f"{name}.attention.out"))
        return cls(attention, out, weights.norm(f"{name}.norm"))

    def __call__(self, rows: Floats, projected: Floats, plan: BandedPlan) -> Floats:
        """`[rows, width]` -> `[rows, width]`; `projected` are the rows' queries, keys and values."""
        update = self.out(self.attention(projected, plan))
        return self.norm(update, rows, rectify=True)


class MultiScaleNetwork:
    """The MS-Transformer.

    Args:
        layers: The layers, the lowest first.
        node: State of the classification node, `[width]`; None without one.
    """

    def __init__(self, layers: Sequence[MultiScaleLayer], node: Floats | None):
        self.layers, self.node = tuple(layers), node

    def table(self, words: Floats) -> WordTable:
        if self.node is not None:
            words = np.concatenate([words, self.node[None]])
        return WordTable(words, (self.layers[0].attention.project(words),))

    def encode(self, table: WordTable, places: Indices, lengths: Indices) -> EncodedTexts:
        starts, ends = spans_of(lengths)
        first = starts
        if self.node is not None:
            counts = lengths + 1
            first, ends = spans_of(counts)
            starts, before = first + 1, places
            places = np.empty(int(counts.sum()), dtype=np.int64)
            is_word = np.ones(len(places), dtype=np.bool_)
            is_word[first] = False
            places[first], places[is_word] = len(table.words) - 1, before
            lengths = counts
        rows = np.take(table.words, places, axis=0)
        projected = np.take(table.parts[0], places, axis=0)
        plans = LayerPlans(lengths)
        for layer in self.layers:
            if layer is not self.layers[0]:
                projected = layer.attention.project(rows)
            rows = layer(rows, projected, plans.of(layer.attention))
        return EncodedTexts(rows, starts, ends, None if self.node is None else rows[first])


@dataclass(frozen=True)
class FusionLayer:
    """`Z = Gate(H, MM-MH(H))`, then `LayerNorm(Z + FFN(Z))` (MS-SAN, Eq. 1-10).

    The projections of the gate are multiplied out with those before them: `inputs` gives `[I', W_1 I']`,
    and `outputs` gives `[O', W_2 O']` from the outputs of the heads.
    """

    attention: AttentionHeads
    inputs: EncoderAffine
    outputs: EncoderAffine
    gate_bias: Floats
    up: EncoderAffine
    down: EncoderAffine
    norm: LayerNorm

    @classmethod
    def of(
        cls, weights: LayerWeights, name: str, priors: Sequence[HeadPrior], head_size: int
    ) -> "FusionLayer":
        """The layer of this name."""
        attention = AttentionHeads(weights, f"{name}.attention", priors, head_size)
        out = weights.affine(f"{name}.attention.out")
        w_i, w_o, w_1, w_2 = (
            weights.affine(f"{name}.gate.{part}")
            for part in ("input", "output", "gate_input", "gate_output")
        )
        if w_2.bias is None:
            raise ValueError("the gate has a bias")
        inputs = _side_by_side(w_i.weight, w_1.weight)
        product = out.weight.astype(np.float64) @ w_o.weight
        bias = None
        if out.bias is not None:
            shift = out.bias.astype(np.float64)[None] @ w_o.weight
            bias = _side_by_side(shift, w_2.weight)[0]
        linear = [Affine(inputs), Affine(_side_by_side(product, w_2.weight), bias)]
        linear += [weights.affine(f"{name}.{part}") for part in ("up", "down")]
        into, out_of, up, down = map(encoder_affine, linear)
        return cls(attention, into, out_of, w_2.bias, up, down, weights.norm(f"{name}.norm"))

    def __call__(self, projected: Floats, inputs: Floats, places: Indices, plan: BandedPlan) -> Floats:
        """The new rows, `[rows, width]`.

        Args:
            projected: Queries, keys and values of the rows.
            inputs: `[I', W_1 I']` of different rows.
            places: The row of `inputs` of each row, `[rows]`.
            plan: The plan of the attention for these texts.
        """
        z = native.mix_gates(self.outputs(self.attention(projected, plan)), inputs, places, self.gate_bias)
        return self.norm(self.down(rectified(self.up(z))), z)


def _side_by_side(first: NDArray, second: NDArray) -> Floats:
    """`[A, A B]` of two matrices, multiplied in double precision."""
    exact = first.astype(np.float64)
    return np.concatenate([exact, exact @ second], axis=1).astype(np.float32)


class FusionNetwork:
    """MS-SAN: a stack of layers, or two stacks whose states stand side by side.

    Args:
        stacks: The layers of each stack, the lowest first.
    """

    def __init__(self, stacks: Sequence[Sequence[FusionLayer]]):
        self.stacks = [tuple(stack) for stack in stacks]

    def table(self, words: Floats) -> WordTable:
        firsts = [stack[0] for stack in self.stacks]
        parts = ((layer.attention.project(words), layer.inputs(words)) for layer in firsts)
        return WordTable(words, tuple(part for pair in parts for part in pair))

    def encode(self, table: WordTable, places: Indices, lengths: Indices) -> EncodedTexts:
        starts, ends = spans_of(lengths)
        outputs, plans = [], LayerPlans(lengths)
        for stack, (first, *more) in enumerate(self.stacks):
            projected, inputs = table.parts[2 * stack : 2 * stack + 2]
            rows = first(np.take(projected, places, axis=0), inputs, places, plans.of(first.attention))
            for layer in more:
                plan = plans.of(layer.attention)
                rows = layer(layer.attention.project(rows), layer.inputs(rows), np.arange(len(rows)), plan)
            outputs.append(rows)
        rows = outputs[0] if len(outputs) == 1 else np.concatenate(outputs, axis=1)
        return EncodedTexts(rows, starts, ends)


def word_states(encoded: EncodedTexts) -> Floats:
    """States of the words, text after text, `[words, width]`, without those of nodes between them."""
    sizes = encoded.ends - encoded.starts
    if sizes.sum() == len(encoded.rows):
        return encoded.rows
    before = np.repeat(encoded.starts - spans_of(sizes)[0], sizes)
    places: Indices = np.arange(len(before)) + before
    return encoded.rows[places]
