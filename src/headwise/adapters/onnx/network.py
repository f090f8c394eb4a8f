"""The network of a model as two modules of padded tensors, which can be written down as graphs.

Between the two stand the states of the words, so that a long text can be read in windows and put together
again (`headwise.encoders.windows`) by whoever runs them.
"""

from copy import deepcopy
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import normalize

from headwise.adapters.onnx.padded import PaddedLayout
from headwise.attention import SelfAttention
from headwise.encoders.base import Encoded
from headwise.encoders.positions import Positions, sinusoids
from headwise.features.bases.embedding import BaseEmbedding
from headwise.features.embedding import WordEmbedding
from headwise.ragged import Ragged


class Projection(nn.Module):
    """What stands between the vectors of words, which are looked up elsewhere, and the encoder.

    Args:
        layer: The embedding of a model.
    """

    def __init__(self, layer: WordEmbedding | BaseEmbedding):
        super().__init__()
        self.norm = layer.norm if isinstance(layer, BaseEmbedding) else nn.Identity()
        self.project = layer.project or nn.Identity()

    def forward(self, vectors: Tensor) -> Tensor:
        """`[rows, size]` -> `[rows, width]`."""
        return self.project(self.norm(vectors))


class EncoderGraph(nn.Module):
    """From words to their states.

    Args:
        model: Gives its embedding, and a copy of its encoder whose attention is that of
            `headwise.attention.padded`.
        most: Words of a text at most.
    """

    def __init__(self, model: Any, most: int):
        super().__init__()
        self.projection, self.encoder = Projection(model.embedding), deepcopy(model.encoder)
        for layer in self.encoder.modules():
            if isinstance(layer, Positions) and layer.kind == "sinusoidal":
                # As numbers: many that run ONNX files know no sine of 64 bits.
                layer.kind, table = "learned", sinusoids(most, model.config.encoder.width)
                layer.table = nn.Embedding.from_pretrained(table)
            if isinstance(layer, SelfAttention):
                layer.impl = "sdpa"

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


class ReadoutGraph(nn.Module):
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
