"""Encoders: one system a file, read from top to bottom like its paper."""

from headwise.nn.encoders.bilstm import BiLSTM, BiLSTMConfig
from headwise.nn.encoders.bp_transformer import BPTransformer, BPTransformerConfig
from headwise.nn.encoders.disan import DiSAN, DiSANConfig
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.ms_san import MSSAN, MSSANConfig
from headwise.nn.encoders.ms_transformer import MSTransformer, MSTransformerConfig
from headwise.nn.encoders.s_lstm import SLSTM, SLSTMConfig
from headwise.nn.encoders.set_transformer import SetTransformer, SetTransformerConfig
from headwise.nn.encoders.star_transformer import StarTransformer, StarTransformerConfig
from headwise.nn.encoders.transformer import Transformer, TransformerConfig
from headwise.nn.encoders.tree_lstm import TreeLSTM, TreeLSTMConfig

EncoderConfig = (
    MSTransformerConfig
    | MSSANConfig
    | SetTransformerConfig
    | StarTransformerConfig
    | BPTransformerConfig
    | TransformerConfig
    | BiLSTMConfig
    | DiSANConfig
    | SLSTMConfig
    | TreeLSTMConfig
)

# name -> (module, its configuration); the module takes the configuration as its only argument.
ENCODERS: dict[str, tuple[type, type]] = {
    "ms-transformer": (MSTransformer, MSTransformerConfig),
    "ms-san": (MSSAN, MSSANConfig),
    "set-transformer": (SetTransformer, SetTransformerConfig),
    "star-transformer": (StarTransformer, StarTransformerConfig),
    "bp-transformer": (BPTransformer, BPTransformerConfig),
    "transformer": (Transformer, TransformerConfig),
    "bilstm": (BiLSTM, BiLSTMConfig),
    "disan": (DiSAN, DiSANConfig),
    "s-lstm": (SLSTM, SLSTMConfig),
    "tree-lstm": (TreeLSTM, TreeLSTMConfig),
}

__all__ = [
    "ENCODERS",
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
