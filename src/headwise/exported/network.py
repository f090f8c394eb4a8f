"""The network of a model as two modules of padded tensors, which can be written down as graphs.

Between the two stand the states of the words, so that a long text can be read in windows and put together
again (`headwise.encoders.windows`) by whoever runs them.
"""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from headwise.attention.padded import cross_attention
from headwise.encoders.base import Encoded
from headwise.exported.encoders import on_padded
from headwise.exported.padded import PaddedLayout
from headwise.features.bases.embedding import BaseEmbedding
from headwise.features.embedding import WordEmbedding
from headwise.features.tagged_words import SpelledWords
from headwise.ragged import Ragged


class Projection(nn.Module):
    """What stands between the vectors of words, which are looked up elsewhere, and the encoder.

    Args:
        layer: The embedding of a model.
        spelling: What joins to its vectors what the spelling of words says, where that is read.
    """

    def __init__(self, layer: WordEmbedding | BaseEmbedding, spelling: SpelledWords | None):
        super().__init__()
        self.norm = layer.norm if isinstance(layer, BaseEmbedding) else nn.Identity()
        self.project = layer.project or nn.Identity()
        self.spelled = 0 if spelling is None else spelling.characters.config.size
        self.join = nn.Identity() if spelling is None else spelling.project

    def forward(self, vectors: Tensor) -> Tensor:
        """`[rows, size]` -> `[rows, width]`; what the spelling says stands behind the vectors."""
        if not self.spelled:
            return self.project(self.norm(vectors))
        own, spelled = vectors[:, : -self.spelled], vectors[:, -self.spelled :]
        return self.join(torch.cat([self.project(self.norm(own)), spelled], dim=1))


class EncoderGraph(nn.Module):
    """From words to their states.

    Args:
        model: Gives its embedding and its encoder.
        most: Words of a text at most.
    """

    def __init__(self, model: Any, most: int):
        super().__init__()
        self.projection = Projection(model.embedding, getattr(model, "spelling", None))
        self.encoder = on_padded(model.encoder, model.config.encoder.width, most)

    inputs = ("vectors", "lengths")

    def encoded(self, vectors: Tensor, lengths: Tensor) -> Encoded:
        """What the encoder says of texts.

        Args:
            vectors: Of words, `[texts, words, size]`.
            lengths: How many words texts have, `[texts]`.
        """
        layout = PaddedLayout(lengths, vectors.shape[1])
        return self.encoder(Ragged(self.projection(vectors.flatten(0, 1)), layout))

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """What `inputs` names -> states of the words, `[texts, words, width]`, and those of the texts,
        `[texts, width]`, if the encoder keeps some."""
        vectors, lengths = tensors
        found = self.encoded(vectors, lengths)
        tokens = found.tokens.values.unflatten(0, tuple(vectors.shape[:2]))
        return (tokens,) if found.summary is None else (tokens, found.summary)


class TextGraph(nn.Module):
    """From the states of words to the outputs of texts.

    Args:
        model: Gives its readout and what is above it.
        summary: Whether the encoder keeps states of texts.
        node: Whether these are nodes beside the words (see `Encoded`).
    """

    def __init__(self, model: Any, *, summary: bool, node: bool):
        super().__init__()
        self.readout, self.head, self.probe = model.readout, model.head, model.probe
        self.summary, self.node = summary, node
        probed = () if self.probe is None else ("vectors", "weights")
        self.inputs = ("tokens", *(("summary",) if summary else ()), *probed, "lengths")

    def forward(self, *tensors: Tensor) -> Tensor:
        """-> `[texts, outputs]`."""
        read = dict(zip(self.inputs, tensors, strict=True))
        tokens = read["tokens"]
        layout = PaddedLayout(read["lengths"], tokens.shape[1])
        encoded = Encoded(Ragged(tokens.flatten(0, 1), layout), read.get("summary"), self.node)
        outputs = self.head(self.readout(encoded))
        if self.probe is None:
            return outputs
        sums = (read["vectors"] * read["weights"][..., None]).sum(1)
        return outputs + self.probe(normalize(sums, dim=-1))


class PairGraph(nn.Module):
    """From the states of the words of both texts of pairs to the outputs of pairs.

    Args:
        model: Gives its interaction, its readout and what is above it.
        summary: Whether the encoder keeps states of texts.
        node: Whether these are nodes beside the words (see `Encoded`).
    """

    def __init__(self, model: Any, *, summary: bool, node: bool):
        super().__init__()
        self.interaction, self.readout = model.interaction, model.readout
        self.head, self.probe, self.node = model.head, model.probe, node
        each = ("tokens", *(("summary",) if summary else ()), "lengths")
        compared = () if self.probe is None else ("compared",)
        self.inputs = (*(f"{name}_{side}" for side in (1, 2) for name in each), *compared)

    def forward(self, *tensors: Tensor) -> Tensor:
        """What `inputs` names -> `[pairs, outputs]`."""
        read = dict(zip(self.inputs, tensors, strict=True))
        both = [self._encoded(read, side) for side in (1, 2)]
        for block in () if self.interaction is None else self.interaction.blocks:
            first, second = both
            both = [_look(block, first, second), _look(block, second, first)]
        outputs = self.head(*map(self.readout, both))
        return outputs if self.probe is None else outputs + self.probe(read["compared"])

    def _encoded(self, read: dict[str, Tensor], side: int) -> Encoded:
        """The states of the first texts, or of the second ones."""
        tokens = read[f"tokens_{side}"]
        layout = PaddedLayout(read[f"lengths_{side}"], tokens.shape[1])
        return Encoded(Ragged(tokens.flatten(0, 1), layout), read.get(f"summary_{side}"), self.node)


def _look(block: Any, own: Encoded, other: Encoded) -> Encoded:
    """States of texts after a layer in which they look at the words of each one's partner (see
    `headwise.layers.interaction`)."""

    def seen(rows: Ragged) -> Ragged:
        shapes = [(layout.texts, layout.longest) for layout in (rows.layout, other.tokens.layout)]
        sides = zip(block.projected(rows, other.tokens), (shapes[0], shapes[1], shapes[1]), strict=True)
        query, key, value = (heads.unflatten(0, shape) for heads, shape in sides)
        found = cross_attention(query, key, value, other.tokens.lengths, shapes[1][1])
        return rows.with_values(block.joined(rows.values, found.flatten(0, 1).flatten(1)))

    summary = own.summary
    if summary is not None:
        summary = seen(Ragged(summary, PaddedLayout(torch.ones_like(own.tokens.lengths), 1))).values
    return replace(own, tokens=seen(own.tokens), summary=summary)
