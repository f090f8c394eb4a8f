"""PretrainedError: a pretrained encoder that cannot be used.

PretrainedConfig: which pretrained encoder reads the words.
"""

import importlib
from dataclasses import dataclass
from typing import Any

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError, HeadwiseError


class PretrainedError(HeadwiseError):
    """A pretrained encoder cannot be used.

    Codes: HW701 `transformers` is not installed, HW702 there is no such model or it cannot be reached,
    HW703 its weights are missing, incomplete or not safetensors, HW704 it has no fast tokenizer, HW705 it
    is not an encoder of text, or not one that can be used as asked, HW706 it needs code of its own, which
    is never run, HW707 the files of a saved encoder hold what cannot be.
    """

    code = "HW700"


def import_extra(module: str) -> Any:
    """A module of the extra `pretrained`.

    Raises:
        PretrainedError: HW701, it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PretrainedError(
            f"pretrained encoders need {module}, which cannot be imported ({error}); install it with "
            "pip install 'headwise[pretrained]'",
            code="HW701",
        ) from error


def first_line(error: BaseException) -> str:
    """The error of another library, in one line."""
    return f"{type(error).__name__}: {error!s:.300}".split("\n")[0]


@dataclass(frozen=True)
class PretrainedConfig:
    """Which pretrained encoder reads the words, and what is taken from it."""

    name: str = ""
    """A model of the Hugging Face hub (owner/name) or a folder, with safetensors weights and a fast
    tokenizer; empty = none, words have vectors of their own."""
    revision: str = "main"
    """Branch, tag or commit on the hub."""
    train: bool = True
    """Train it with the rest (fine-tuning); off keeps it frozen, without dropout."""
    train_layers: int | None = None
    """Train only this many of its last layers; none = all of it, the vectors of its pieces too."""
    learning_rate: float = 2e-5
    """Of its weights, at its highest."""
    layers: tuple[int, ...] = ()
    """The layers whose states are taken, from 1; 0 is what goes into the first. Several are mixed with
    weights that are learned; empty = the last. Layers above these are left out."""
    pooling: str = "mean"
    """From the pieces of a word to its vector: that of the first or the last piece, or the mean."""
    max_pieces: int | None = None
    """Most pieces that it reads at once, special tokens included; none = as many as it can. Longer texts
    are read in several windows."""
    overlap: int = 64
    """Pieces that neighbouring windows share, so that words at their ends have context."""
    remember: int = 1024
    """MiB of memory for the states of the training texts, where it is frozen: each is then read once, not
    in every epoch. 0 = none."""
    dropout: float = 0.1
    """On the word vectors, while training."""

    def __post_init__(self) -> None:
        check_range(self, "learning_rate", "overlap", "remember", low=0)
        check_range(self, "train_layers", "max_pieces", low=1)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "pooling", ("first", "mean", "last"))
        if self.train_layers is not None and not self.train:
            raise ConfigError(f"train_layers is {self.train_layers}, but train is off: choose one")
        rising = sorted({layer for layer in self.layers if layer >= 0})
        if self.layers and (list(self.layers) != rising or rising[-1] == 0):
            raise ConfigError(
                "layers must be different numbers of 0 or more in rising order, and not 0 alone; got "
                f"{', '.join(map(str, self.layers))}"
            )
