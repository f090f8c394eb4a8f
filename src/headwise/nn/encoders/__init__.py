"""Encoders: one system a file, read from top to bottom like its paper.

The names below are imported lazily: the configurations (`encoder_configs`) do not need torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

from headwise.nn.encoders.encoder_configs import ENCODER_CONFIGS, MSTransformerConfig

if TYPE_CHECKING:
    from headwise.nn.encoders.bilstm import BiLSTM
    from headwise.nn.encoders.bp_transformer import BPTransformer
    from headwise.nn.encoders.disan import DiSAN
    from headwise.nn.encoders.encoder import Encoded
    from headwise.nn.encoders.encoder_configs import EncoderConfig
    from headwise.nn.encoders.ms_san import MSSAN
    from headwise.nn.encoders.ms_transformer import MSTransformer
    from headwise.nn.encoders.recurrent_configs import BiLSTMConfig, SLSTMConfig, TreeLSTMConfig
    from headwise.nn.encoders.registration import register
    from headwise.nn.encoders.s_lstm import SLSTM
    from headwise.nn.encoders.set_configs import SetTransformerConfig
    from headwise.nn.encoders.set_transformer import SetTransformer
    from headwise.nn.encoders.star_transformer import StarTransformer
    from headwise.nn.encoders.transformer import Transformer
    from headwise.nn.encoders.transformer_configs import (
        BPTransformerConfig,
        DiSANConfig,
        MSSANConfig,
        StarTransformerConfig,
        TransformerConfig,
    )
    from headwise.nn.encoders.tree_lstm import TreeLSTM

    ENCODERS: dict[str, tuple[type, type]]
    """The encoder and its configuration, by name. The encoder takes the configuration as its only
    argument."""

__all__ = [
    "ENCODERS",
    "ENCODER_CONFIGS",
    "MSSAN",
    "SLSTM",
    "BPTransformer",
    "BPTransformerConfig",
    "BiLSTM",
    "BiLSTMConfig",
    "DiSAN",
    "DiSANConfig",
    "Encoded",
    "EncoderConfig",
    "MSSANConfig",
    "MSTransformer",
    "MSTransformerConfig",
    "SLSTMConfig",
    "SetTransformer",
    "SetTransformerConfig",
    "StarTransformer",
    "StarTransformerConfig",
    "Transformer",
    "TransformerConfig",
    "TreeLSTM",
    "TreeLSTMConfig",
    "register",
]

_ENCODERS = {
    "MSTransformer": "ms-transformer",
    "MSSAN": "ms-san",
    "SetTransformer": "set-transformer",
    "StarTransformer": "star-transformer",
    "BPTransformer": "bp-transformer",
    "Transformer": "transformer",
    "BiLSTM": "bilstm",
    "DiSAN": "disan",
    "SLSTM": "s-lstm",
    "TreeLSTM": "tree-lstm",
}
"""The class of each encoder, and its name, which is that of its file."""


def __getattr__(name: str) -> Any:
    value: Any
    if name == "ENCODERS":
        value = {key: (__getattr__(encoder), ENCODER_CONFIGS[key]) for encoder, key in _ENCODERS.items()}
    elif name in _ENCODERS or name in ("Encoded", "register"):
        file = _ENCODERS.get(name, "encoder" if name == "Encoded" else "registration").replace("-", "_")
        value = getattr(importlib.import_module(f"{__name__}.{file}"), name)
    elif name == "EncoderConfig":
        value = importlib.import_module(f"{__name__}.encoder_configs").EncoderConfig
    elif (encoder := name.removesuffix("Config")) != name and encoder in _ENCODERS:
        value = ENCODER_CONFIGS[_ENCODERS[encoder]]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
