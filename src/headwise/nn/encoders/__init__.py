"""Encoders: one system a file, read from top to bottom like its paper.

The names below are imported lazily: the configurations (`encoder_configs`) do not need torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

from headwise.nn.encoders.encoder_configs import (
    ENCODER_CONFIGS,
    BiLSTMConfig,
    BPTransformerConfig,
    DiSANConfig,
    EncoderConfig,
    MSSANConfig,
    MSTransformerConfig,
    SetTransformerConfig,
    SLSTMConfig,
    StarTransformerConfig,
    TransformerConfig,
    TreeLSTMConfig,
)

if TYPE_CHECKING:
    from headwise.nn.encoders.bilstm import BiLSTM
    from headwise.nn.encoders.bp_transformer import BPTransformer
    from headwise.nn.encoders.disan import DiSAN
    from headwise.nn.encoders.encoder import Encoded
    from headwise.nn.encoders.ms_san import MSSAN
    from headwise.nn.encoders.ms_transformer import MSTransformer
    from headwise.nn.encoders.s_lstm import SLSTM
    from headwise.nn.encoders.set_transformer import SetTransformer
    from headwise.nn.encoders.star_transformer import StarTransformer
    from headwise.nn.encoders.transformer import Transformer
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
]

_MODULES = {
    config.__name__.removesuffix("Config"): name.replace("-", "_")
    for name, config in ENCODER_CONFIGS.items()
}
"""The file of each encoder. An encoder is named like its configuration, without Config."""


def __getattr__(name: str) -> Any:
    if name == "ENCODERS":
        encoders = {key: config.__name__.removesuffix("Config") for key, config in ENCODER_CONFIGS.items()}
        value: Any = {key: (__getattr__(encoders[key]), config) for key, config in ENCODER_CONFIGS.items()}
    elif name in _MODULES or name == "Encoded":
        module = importlib.import_module(f"{__name__}.{_MODULES.get(name, 'encoder')}")
        value = getattr(module, name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
