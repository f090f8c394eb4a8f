"""`register`: an encoder of your own under a name, without a change of headwise."""

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import TypeVar

from torch import nn

from headwise.core.errors import ConfigError
from headwise.core.lazy_pattern import lazy_pattern
from headwise.nn import encoders
from headwise.nn.encoders.encoder_configs import ENCODER_CONFIGS

OwnEncoder = TypeVar("OwnEncoder", bound=type[nn.Module])
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
        ConfigError: The configuration is no such class, the name cannot be spelled or is that of another
            encoder.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(f"the name of an encoder is {name!r}; expected lower-case letters, digits and -")
    settings = fields(config) if isinstance(config, type) and is_dataclass(config) else ()
    if not any(field.name == "width" for field in settings) or config.__hash__ is None:
        raise ConfigError(f"{config!r} is no configuration; expected a frozen dataclass with a 'width'")
    required = [f.name for f in settings if f.default is MISSING and f.default_factory is MISSING]
    if required:
        raise ConfigError(
            f"{config.__name__} has no default for {', '.join(required)}; all fields need one"
        )

    def add(encoder: OwnEncoder) -> OwnEncoder:
        registered, _ = encoders.ENCODERS.get(name, (encoder, config))
        # The same class once more is one that was edited, in a notebook say.
        if (registered.__module__, registered.__qualname__) != (encoder.__module__, encoder.__qualname__):
            raise ConfigError(f"{name!r} is the name of another encoder")
        ENCODER_CONFIGS[name] = config
        encoders.ENCODERS[name] = encoder, config
        return encoder

    return add
