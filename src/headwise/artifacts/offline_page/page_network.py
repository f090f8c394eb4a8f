"""The encoder of a page that classifies offline: its settings in JSON, and the tables of its weights."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from headwise.artifacts.runtime_builders import attentive_scores, windowed_encoder, word_inputs
from headwise.artifacts.runtime_load import unsupported_reason
from headwise.core.config import JsonObject
from headwise.nn.encoders.encoder_configs import MSTransformerConfig, encoder_name
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.priors.base import Prior
from headwise.nn.priors.direction import Backward, Earlier, Forward, Later
from headwise.nn.priors.distance import WordDistance
from headwise.nn.priors.window import Everything, Window
from headwise.runtime.encoders import MultiScaleLayer, MultiScaleNetwork
from headwise.runtime.layers import AttentionHeads, EncoderAffine, LayerNorm, LayerWeights, Perceptron
from headwise.runtime.outputs import NumberOutputs
from headwise.runtime.word_lookup import BaseLookup

_PRIORS = (Everything, Window, Forward, Backward, Earlier, Later, WordDistance)
_ALL = (1, 1, -1)  # of a text of n words, n - 1
_NONE = (0, 1, 0)
_BEFORE = (0, 1, -1)

Reach = tuple[int, int, int]
"""p, q and c of `floor(n p / q) + c`, the positions that a head sees to one side in a text of n words."""


class PageNetwork(NamedTuple):
    """The encoder of a page.

    Attributes:
        settings: Its settings; weights are names of tables.
        tables: The tables, by name.
    """

    settings: JsonObject
    tables: dict[str, NDArray]


def encoder_reason(config: ModelConfig) -> str | None:
    """Why a page cannot compute the encoder of a model; None if it can."""
    if reason := unsupported_reason(config):
        return reason
    encoder = config.encoder
    if not isinstance(encoder, MSTransformerConfig):
        return f"the encoder {encoder_name(encoder)}"
    parts = (part for layer in encoder.layer_priors for prior in layer for part in _summands(prior))
    return next((f"the prior {part}" for part in parts if type(part) not in _PRIORS), None)


def page_network(model: Any) -> PageNetwork:
    """The encoder of a model of texts, from word vectors to outputs.

    Args:
        model: From `load_model`; its `encoder_reason` is None.
    """
    config, listed = model.config, getattr(model.embedding, "listed_words", ())
    arrays = {
        name: tensor.detach().cpu().float().numpy()
        if tensor.is_floating_point()
        else tensor.detach().cpu().numpy()
        for name, tensor in model.state_dict().items()
    }
    weights, tables = LayerWeights(arrays), _Tables()
    inputs, encoder = word_inputs(config, weights, listed), windowed_encoder(config, weights)
    network, lookup = cast(MultiScaleNetwork, encoder.encoder), inputs.lookup
    numbers = isinstance(model.outputs, NumberOutputs)
    head = config.regressor.perceptron if numbers else config.classifier
    vectors = lookup.corrections if isinstance(lookup, BaseLookup) else lookup.table
    vocabulary = model.features.vocabulary
    settings = {
        "vocabulary": list(vocabulary.words),
        "lowers": vocabulary.case == "lower",
        "size": lookup.size,
        "vectors": None if vectors is None else tables.add("vectors", vectors),
        "norm": tables.norm("input_norm", inputs.norm),
        "project": tables.affine("input", inputs.project),
        "most": encoder.words,
        "overlap": encoder.overlap,
        "width": config.encoder.width,
        "node": None if network.node is None else tables.add("node", network.node),
        "layers": [tables.layer(f"layer{number}", layer) for number, layer in enumerate(network.layers)],
        "readout": config.readout,
        "attentive": tables.perceptron("attentive", attentive_scores(weights)),
        "head": tables.perceptron("head", weights.perceptron("head", head.normalize)),
        "probe": tables.affine("probe", weights.optional("probe")),
    }
    return PageNetwork(settings, tables.arrays)


class _Tables:
    """Collects weights.

    Attributes:
        arrays: The weights, by name.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray] = {}

    def add(self, name: str, array: NDArray) -> str:
        """Add an array; returns the name of its table."""
        self.arrays[f"encoder.{name}"] = np.ascontiguousarray(array)
        return f"encoder.{name}"

    def affine(self, name: str, layer: EncoderAffine | None) -> JsonObject | None:
        if layer is None:
            return None
        inputs, outputs = layer.weight.shape
        bias = None if layer.bias is None else self.add(f"{name}_bias", layer.bias)
        return {
            "inputs": inputs,
            "outputs": outputs,
            "weight": self.add(f"{name}_weight", layer.weight),
            "bias": bias,
        }

    def norm(self, name: str, layer: LayerNorm | None) -> JsonObject | None:
        if layer is None:
            return None
        weight, bias = self.add(f"{name}_weight", layer.weight), self.add(f"{name}_bias", layer.bias)
        return {"weight": weight, "bias": bias}

    def perceptron(self, name: str, layers: Perceptron | None) -> JsonObject | None:
        if layers is None:
            return None
        first, second = (
            self.affine(f"{name}{number}", layer)
            for number, layer in enumerate((layers.first, layers.second))
        )
        return {"norm": self.norm(f"{name}_norm", layers.norm), "first": first, "second": second}

    def layer(self, name: str, layer: MultiScaleLayer) -> JsonObject:
        return {
            "project": self.affine(name, layer.attention.project),
            "inner": layer.attention.inner,
            "size": layer.attention.head_size,
            "heads": _heads(layer.attention),
            "out": self.affine(f"{name}_out", layer.out),
            "norm": self.norm(f"{name}_norm", layer.norm),
        }


def _heads(attention: AttentionHeads) -> list[JsonObject]:
    """What the heads see that see more than each word itself."""
    heads = list[JsonObject]()
    for head in attention.attending:
        bands = [_band(part) for part in _summands(attention.priors[head])]
        heads.append(
            {
                "head": head,
                "left": [left for left, _, _ in bands],
                "right": [right for _, right, _ in bands],
                "slope": sum(slope for _, _, slope in bands),
            }
        )
    return heads


def _summands(prior: Any) -> Sequence[Prior]:
    return getattr(prior, "parts", (prior,))


def _band(prior: Prior) -> tuple[Reach, Reach, float]:
    """How far a prior sees to the left and to the right, and what is taken from the score for each position
    of distance."""
    match prior:
        case Window(width=int(width)):
            return (0, 1, (width - 1) // 2), (0, 1, (width - 1) // 2), 0.0
        case Window(fraction=fraction):
            part = Fraction(fraction or 0).limit_denominator(1_000_000)
            reach = (part.numerator, 2 * part.denominator, 0)
            return reach, reach, 0.0
        case Forward():
            return _ALL, _NONE, 0.0
        case Backward():
            return _NONE, _ALL, 0.0
        case Earlier():
            return _ALL, _BEFORE, 0.0
        case Later():
            return _BEFORE, _ALL, 0.0
        case WordDistance(alpha=alpha):
            return _ALL, _ALL, alpha
        case _:
            return _ALL, _ALL, 0.0
