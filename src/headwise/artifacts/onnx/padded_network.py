"""The network of a model as modules on padded tensors, which can be traced to ONNX graphs.

One module computes the states of the words, the other the outputs. The caller can thus encode a long text
in windows and join them in between (`headwise.nn.encoders.long_texts`). Taggers have a third, for character
features.
"""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from headwise.artifacts.onnx.padded_encoders import PaddedLayout, on_padded
from headwise.nn.attention.padded import padded_cross_attention
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.nn.embeddings.character_embedding import CharacterCNN, CharacterEmbedding, CharacterLSTM
from headwise.nn.embeddings.word_embedding import CharacterAugmentedEmbedding, WordEmbedding
from headwise.nn.encoders.encoder import Encoded, mark_names
from headwise.nn.ragged import Ragged


class TagGraph(nn.Module):
    """The graph from states of words to scores of tags.

    Args:
        model: The tagger with this head.
    """

    inputs = ("tokens",)

    def __init__(self, model: Any):
        super().__init__()
        self.layers = model.tagger.layers

    def forward(self, *tensors: Tensor) -> Tensor:
        """The tensor of `inputs`, `[texts, words, width]` -> `[texts, words, tags]`."""
        (tokens,) = tensors
        return self.layers(tokens)


class CharacterGraph(nn.Module):
    """The graph that computes character features (see `CharacterEmbedding`).

    Args:
        layer: The character embedding of a model.
    """

    def __init__(self, layer: CharacterEmbedding):
        super().__init__()
        self.network: nn.Module | None = None
        if layer.network is not None:
            self.vectors = layer.vectors
            network = layer.network
            self.network = (
                _PaddedCharacterCNN(network)
                if isinstance(network, CharacterCNN)
                else _PaddedCharacterLSTM(network)
            )
        self.ngrams = None if layer.ngrams is None else nn.Embedding.from_pretrained(layer.ngrams.weight)
        self.shape = layer.shape
        weights = None if layer.clusters is None else layer.clusters.weight
        self.clusters = None if weights is None else nn.Embedding.from_pretrained(weights)
        views = (
            (self.network, ("letters", "lengths")),
            (self.ngrams, ("grams", "counts")),
            (self.shape, ("shapes",)),
            (self.clusters, ("clusters",)),
        )
        self.inputs = tuple(name for view, names in views if view is not None for name in names)

    def forward(self, *tensors: Tensor) -> Tensor:
        """The tensors of `inputs` -> `[words, features]`.

        `letters` and `grams` are padded, `[words, longest]`, with the true numbers in `lengths` and
        `counts`, `[words]`; `shapes` are `[words, shapes]`, and `clusters` `[words, levels]`.
        """
        read = dict(zip(self.inputs, tensors, strict=True))
        views = []
        if self.network is not None:
            letters = self.vectors(read["letters"])
            views.append(self.network(letters, PaddedLayout(read["lengths"], letters.shape[1])))
        if self.ngrams is not None:
            grams = self.ngrams(read["grams"])
            sums = PaddedLayout(read["counts"], grams.shape[1]).segment_sums(grams.flatten(0, 1))
            views.append(sums / read["counts"][:, None])
        if self.shape is not None:
            views.append(self.shape(read["shapes"]))
        if self.clusters is not None:
            views.append(self.clusters(read["clusters"]).sum(1))
        return torch.cat(views, dim=1)


class _PaddedCharacterCNN(nn.Module):
    """A `CharacterCNN` on padded words."""

    def __init__(self, network: CharacterCNN):
        super().__init__()
        self.filters = deepcopy(network.filters)
        self.filters.padding = (self.filters.kernel_size[0] // 2,)

    def forward(self, letters: Tensor, layout: PaddedLayout) -> Tensor:
        """`[words, letters, inputs]` -> `[words, features]`."""
        seen = letters.masked_fill(~layout.real[..., None], 0.0)
        activations = self.filters(seen.transpose(1, 2)).transpose(1, 2)
        return torch.tanh(layout.segment_maxima(activations.flatten(0, 1)))


class _PaddedCharacterLSTM(nn.Module):
    """A `CharacterLSTM` on padded words: one forward LSTM for each direction; that of the backward
    direction reads reversed words."""

    def __init__(self, network: CharacterLSTM):
        super().__init__()
        lstm = network.lstm
        self.ahead, self.back = (
            nn.LSTM(lstm.input_size, lstm.hidden_size, batch_first=True) for _ in range(2)
        )
        weights = lstm.state_dict()
        turned = "_reverse"
        self.ahead.load_state_dict({name: tensor for name, tensor in weights.items() if turned not in name})
        self.back.load_state_dict(
            {name.removesuffix(turned): tensor for name, tensor in weights.items() if turned in name}
        )

    def forward(self, letters: Tensor, layout: PaddedLayout) -> Tensor:
        """`[words, letters, inputs]` -> `[words, features]`."""
        last = (layout.lengths - 1)[:, None]
        places = torch.arange(letters.shape[1])[None]
        turned = _gather_rows(letters, (last - places).clamp(min=0))
        ends = (
            _gather_rows(lstm(inputs)[0], last)
            for lstm, inputs in ((self.ahead, letters), (self.back, turned))
        )
        return torch.cat(list(ends), dim=2)[:, 0]


def _gather_rows(rows: Tensor, places: Tensor) -> Tensor:
    """Gather rows: `[texts, rows, features]` and indices `[texts, places]` -> `[texts, places,
    features]`."""
    return rows.gather(1, places[..., None].expand(-1, -1, rows.shape[2]))


class Projection(nn.Module):
    """The layers between the word vectors, whose lookup is not part of the graph, and the encoder.

    Args:
        layer: The embedding of a model.
        spelling: Joins character features to the vectors, if the model has them.
    """

    def __init__(self, layer: WordEmbedding | BaseEmbedding, spelling: CharacterAugmentedEmbedding | None):
        super().__init__()
        self.norm = layer.norm if isinstance(layer, BaseEmbedding) else nn.Identity()
        self.project = layer.project or nn.Identity()
        self.spelled = 0 if spelling is None else spelling.characters.config.size
        self.join = nn.Identity() if spelling is None else spelling.project

    def forward(self, vectors: Tensor) -> Tensor:
        """`[rows, size]` -> `[rows, width]`; the last features of the input are the character features."""
        if not self.spelled:
            return self.project(self.norm(vectors))
        word_vectors, spelled = vectors[:, : -self.spelled], vectors[:, -self.spelled :]
        return self.join(torch.cat([self.project(self.norm(word_vectors)), spelled], dim=1))


class EncoderGraph(nn.Module):
    """The graph from word vectors to states of words.

    Args:
        model: The model with this embedding and encoder.
        most: Maximum number of words of a text.
    """

    def __init__(self, model: Any, most: int):
        super().__init__()
        self.projection = Projection(model.embedding, getattr(model, "spelling", None))
        self.encoder = on_padded(model.encoder, model.config.encoder.width, most)
        self.marks = tuple(sorted(mark_names(model.encoder)))
        self.inputs = ("vectors", "lengths", *self.marks)

    def encoded(self, vectors: Tensor, lengths: Tensor, **marks: Tensor) -> Encoded:
        """Encode texts.

        Args:
            vectors: Word vectors, `[texts, words, size]`.
            lengths: Number of words of each text, `[texts]`.
            **marks: The marks of words that the heads compare, `[texts, words]`.
        """
        layout = PaddedLayout(lengths, vectors.shape[1], marks)
        return self.encoder(Ragged(self.projection(vectors.flatten(0, 1)), layout))

    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The tensors of `inputs` -> states of the words, `[texts, words, width]`, and summaries of the
        texts, `[texts, width]`, if the encoder has them."""
        vectors, lengths, *marks = tensors
        encoded = self.encoded(vectors, lengths, **dict(zip(self.marks, marks, strict=True)))
        tokens = encoded.tokens.values.unflatten(0, tuple(vectors.shape[:2]))
        return (tokens,) if encoded.summary is None else (tokens, encoded.summary)


class TextGraph(nn.Module):
    """The graph from states of words to the outputs of texts.

    Args:
        model: The model with this readout and head.
        summary: Whether the encoder gives summaries of texts.
        node: See `Encoded.summary_is_node`.
    """

    def __init__(self, model: Any, *, summary: bool, node: bool):
        super().__init__()
        self.readout, self.head, self.probe = model.readout, model.head, model.probe
        self.summary, self.node = summary, node
        probed = () if self.probe is None else ("vectors", "weights")
        self.inputs = ("tokens", *(("summary",) if summary else ()), *probed, "lengths")

    def forward(self, *tensors: Tensor) -> Tensor:
        """The tensors of `inputs` -> `[texts, outputs]`."""
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
    """The graph from states of the words of both texts to the outputs of pairs.

    Args:
        model: The model with this interaction, readout and head.
        summary: Whether the encoder gives summaries of texts.
        node: See `Encoded.summary_is_node`.
    """

    def __init__(self, model: Any, *, summary: bool, node: bool):
        super().__init__()
        self.interaction, self.readout = model.interaction, model.readout
        self.head, self.probe, self.node = model.head, model.probe, node
        names = ("tokens", *(("summary",) if summary else ()), "lengths")
        compared = () if self.probe is None else ("compared",)
        self.inputs = (*(f"{name}_{side}" for side in (1, 2) for name in names), *compared)

    def forward(self, *tensors: Tensor) -> Tensor:
        """The tensors of `inputs` -> `[pairs, outputs]`."""
        read = dict(zip(self.inputs, tensors, strict=True))
        both = [self._encoded(read, side) for side in (1, 2)]
        for block in () if self.interaction is None else self.interaction.blocks:
            first, second = both
            both = [_cross_attend(block, first, second), _cross_attend(block, second, first)]
        outputs = self.head(*map(self.readout, both))
        return outputs if self.probe is None else outputs + self.probe(read["compared"])

    def _encoded(self, read: dict[str, Tensor], side: int) -> Encoded:
        """The states of the first texts (`side` 1) or of the second ones (2)."""
        tokens = read[f"tokens_{side}"]
        layout = PaddedLayout(read[f"lengths_{side}"], tokens.shape[1])
        return Encoded(Ragged(tokens.flatten(0, 1), layout), read.get(f"summary_{side}"), self.node)


def _cross_attend(block: Any, side: Encoded, partner: Encoded) -> Encoded:
    """One cross-attention layer: states of texts after they attend to the words of their partners (see
    `headwise.nn.task_layers.pair_layers`)."""

    def seen(rows: Ragged) -> Ragged:
        shapes = [(layout.texts, layout.longest) for layout in (rows.layout, partner.tokens.layout)]
        sides = zip(block.projected(rows, partner.tokens), (shapes[0], shapes[1], shapes[1]), strict=True)
        query, key, value = (heads.unflatten(0, shape) for heads, shape in sides)
        attended = padded_cross_attention(query, key, value, partner.tokens.lengths, shapes[1][1])
        return rows.with_values(block.joined(rows.values, attended.flatten(0, 1).flatten(1)))

    summary = side.summary
    if summary is not None:
        summary = seen(Ragged(summary, PaddedLayout(torch.ones_like(side.tokens.lengths), 1))).values
    return replace(side, tokens=seen(side.tokens), summary=summary)
