"""The parts of networks without torch, from the weights of a model folder."""

from typing import TYPE_CHECKING

import numpy as np

from headwise.artifacts.tensor_specs import fusion_name
from headwise.nn.encoders.encoder_configs import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.runtime.encoders import (
    EncoderNetwork,
    FusionLayer,
    FusionNetwork,
    MultiScaleLayer,
    MultiScaleNetwork,
)
from headwise.runtime.layers import LayerWeights, Perceptron
from headwise.runtime.text_network import WindowedEncoder, WordInputs
from headwise.runtime.word_lookup import BaseLookup, WordLookup
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings

if TYPE_CHECKING:
    from headwise.nn.encoders.encoder_configs import EncoderConfig


def attentive_scores(weights: LayerWeights) -> Perceptron | None:
    """The scores of attentive pooling; None if the readout has none."""
    up, down = (weights.optional(f"readout.attentive.{part}") for part in ("up", "down"))
    return None if up is None or down is None else Perceptron(up, down)


def word_inputs(config: ModelConfig, weights: LayerWeights, listed: tuple[str, ...]) -> WordInputs:
    """Word vectors; `listed` are the words of the base."""
    arrays = weights.arrays
    if not config.base.name:
        parts = [arrays["embedding.vectors.weight"]]
        if "embedding.extra.weight" in arrays:
            parts.append(arrays["embedding.extra.weight"])
        return inputs_from(WordLookup(np.concatenate(parts)), weights)
    table = QuantizedMatrix(arrays["embedding.values"], arrays["embedding.scales"])
    rows = slice(len(listed)), slice(len(listed), None)
    tables = (QuantizedMatrix(table.values[part], table.scales[part]) for part in rows)
    listed_vectors, subwords = tables
    base = StaticEmbeddings("saved", listed, listed_vectors, subwords, arrays["embedding.weights"])
    return inputs_from(BaseLookup(base, arrays.get("embedding.vectors.weight"), table), weights)


def inputs_from(lookup: WordLookup | BaseLookup, weights: LayerWeights) -> WordInputs:
    """The inputs of the encoder from word vectors."""
    norm = weights.norm("embedding.norm") if isinstance(lookup, BaseLookup) else None
    return WordInputs(lookup, norm, weights.optional("embedding.project"))


def windowed_encoder(config: ModelConfig, weights: LayerWeights) -> WindowedEncoder:
    """The encoder, which reads long texts in windows."""
    return WindowedEncoder(_encoder(config.encoder, weights), *config.windows.sizes(config.encoder))


def _encoder(encoder: "EncoderConfig", weights: LayerWeights) -> EncoderNetwork:
    if isinstance(encoder, MSTransformerConfig):
        layers = [
            MultiScaleLayer.of(weights, f"encoder.blocks.{number}", priors, encoder.head_size)
            for number, priors in enumerate(encoder.layer_priors)
        ]
        return MultiScaleNetwork(layers, weights.arrays.get("encoder.node.state"))
    from headwise.nn.encoders.transformer_configs import MSSANConfig

    if not isinstance(encoder, MSSANConfig):
        raise TypeError(f"no network for {type(encoder).__name__}")
    fusion = [
        FusionLayer.of(weights, fusion_name(encoder, number), priors, encoder.head_size)
        for number, priors in enumerate(encoder.layer_priors)
    ]
    cuts = range(0, len(fusion), encoder.layers)
    return FusionNetwork([fusion[cut : cut + encoder.layers] for cut in cuts])
