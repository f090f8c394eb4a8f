"""Encoders: one system a file, read from top to bottom like its paper."""

from headwise.encoders.base import Encoded
from headwise.encoders.ms_transformer import MSTransformer, MSTransformerConfig
from headwise.encoders.transformer import Transformer, TransformerConfig

EncoderConfig = MSTransformerConfig | TransformerConfig

# name -> (module, its configuration); the module takes the configuration as its only argument.
ENCODERS: dict[str, tuple[type, type]] = {
    "ms-transformer": (MSTransformer, MSTransformerConfig),
    "transformer": (Transformer, TransformerConfig),
}

__all__ = [
    "ENCODERS",
    "Encoded",
    "EncoderConfig",
    "MSTransformer",
    "MSTransformerConfig",
    "Transformer",
    "TransformerConfig",
]
