"""Encoders: one system a file, read from top to bottom like its paper."""

from headwise.encoders.base import Encoded
from headwise.encoders.bp_transformer import BPTransformer, BPTransformerConfig
from headwise.encoders.ms_san import MSSAN, MSSANConfig
from headwise.encoders.ms_transformer import MSTransformer, MSTransformerConfig
from headwise.encoders.star_transformer import StarTransformer, StarTransformerConfig
from headwise.encoders.transformer import Transformer, TransformerConfig

EncoderConfig = (
    MSTransformerConfig | MSSANConfig | StarTransformerConfig | BPTransformerConfig | TransformerConfig
)

# name -> (module, its configuration); the module takes the configuration as its only argument.
ENCODERS: dict[str, tuple[type, type]] = {
    "ms-transformer": (MSTransformer, MSTransformerConfig),
    "ms-san": (MSSAN, MSSANConfig),
    "star-transformer": (StarTransformer, StarTransformerConfig),
    "bp-transformer": (BPTransformer, BPTransformerConfig),
    "transformer": (Transformer, TransformerConfig),
}

__all__ = [
    "ENCODERS",
    "MSSAN",
    "BPTransformer",
    "BPTransformerConfig",
    "Encoded",
    "EncoderConfig",
    "MSSANConfig",
    "MSTransformer",
    "MSTransformerConfig",
    "StarTransformer",
    "StarTransformerConfig",
    "Transformer",
    "TransformerConfig",
]
