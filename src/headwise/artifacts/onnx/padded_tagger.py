"""The parts of a tagger's network outside the encoder, as modules on padded tensors."""

from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn

from headwise.artifacts.onnx.padded_encoders import PaddedLayout
from headwise.nn.embeddings.character_embedding import CharacterCNN, CharacterEmbedding, CharacterLSTM


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
        views = (
            (self.network, ("letters", "lengths")),
            (self.ngrams, ("grams", "counts")),
            (self.shape, ("shapes",)),
        )
        self.inputs = tuple(name for view, names in views if view is not None for name in names)

    def forward(self, *tensors: Tensor) -> Tensor:
        """The tensors of `inputs` -> `[words, features]`.

        `letters` and `grams` are padded, `[words, longest]`, with the true numbers in `lengths` and
        `counts`, `[words]`; `shapes` are `[words, shapes]`.
        """
        read = dict(zip(self.inputs, tensors, strict=True))
        views = []
        if self.network is not None:
            letters = self.vectors(read["letters"])
            views.append(self.network(letters, PaddedLayout(read["lengths"], letters.shape[1])))
        if self.ngrams is not None:
            grams = self.ngrams(read["grams"])
            sums = PaddedLayout(read["counts"], grams.shape[1]).sums(grams.flatten(0, 1))
            views.append(sums / read["counts"][:, None])
        if self.shape is not None:
            views.append(self.shape(read["shapes"]))
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
        return torch.tanh(layout.tops(activations.flatten(0, 1)))


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
