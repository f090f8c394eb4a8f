"""Encoders: one system a file, read from top to bottom like its paper.

The names below are imported lazily: the configurations (`encoder_configs`) do not need torch.
"""

import importlib
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
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
    elif name in _ENCODERS or name == "Encoded":
        file = _ENCODERS.get(name, "encoder").replace("-", "_")
        value = getattr(importlib.import_module(f"{__name__}.{file}"), name)
    elif name == "EncoderConfig":
        value = importlib.import_module(f"{__name__}.encoder_configs").EncoderConfig
    elif (encoder := name.removesuffix("Config")) != name and encoder in _ENCODERS:
        value = ENCODER_CONFIGS[_ENCODERS[encoder]]
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


OwnEncoder = TypeVar("OwnEncoder", bound=type)
_NAME = lazy_pattern(r"[a-z][a-z0-9-]{0,39}")


def register(name: str, config: type) -> Callable[[OwnEncoder], OwnEncoder]:
    """Register an encoder, so that it can be used in recipes, estimators, on the command line and in model
    folders. Use it as a decorator of the encoder.

    The encoder takes its configuration as the only argument. Its `forward` takes a `Ragged` of word vectors
    `[words, width]` and returns an `Encoded` with a state for each word. A model folder holds the name and
    the settings, not the code: the module that registers it must be imported before the folder is loaded.

    Args:
        name: Lower-case letters, digits and "-", at most 40.
        config: A frozen dataclass whose fields all have defaults; `width` is the size of the word vectors.
            Its class variable `readout` names the default readout. `output_width` is the size of a state,
            if it is not `width`.

    Raises:
        ConfigError: The configuration is no such class or that of another encoder, the name cannot be
            spelled or is that of another encoder.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"the name of an encoder is {name!r}; expected lower-case letters, digits and -")
    settings = fields(config) if isinstance(config, type) and is_dataclass(config) else ()
    # pyrefly: ignore[missing-attribute] - a dataclass has it
    if not any(field.name == "width" for field in settings) or not config.__dataclass_params__.frozen:
        raise ConfigError(f"{config!r} is no configuration; expected a frozen dataclass with a 'width'")
    required = [f.name for f in settings if f.default is MISSING and f.default_factory is MISSING]
    if required:
        raise ConfigError(
            f"{config.__name__} has no default for {', '.join(required)}; all fields need one"
        )

    def add(encoder: OwnEncoder) -> OwnEncoder:
        encoders = importlib.import_module(__name__).ENCODERS  # made when it is first asked for
        registered, _ = encoders.get(name, (encoder, config))
        # The same class once more is one that was edited, in a notebook say.
        if (registered.__module__, registered.__qualname__) != (encoder.__module__, encoder.__qualname__):
            raise ConfigError(f"{name!r} is the name of another encoder")
        if taken := [key for key, kind in ENCODER_CONFIGS.items() if kind is config and key != name]:
            raise ConfigError(f"{config.__name__} is the configuration of the encoder {taken[0]!r}")
        ENCODER_CONFIGS[name] = config
        encoders[name] = encoder, config
        return encoder

    return add
