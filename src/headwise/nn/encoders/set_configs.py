"""The configurations of the Set Transformer, and of models of sets.

Importing this file loads neither torch nor NumPy.
"""

import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError
from headwise.nn.encoders.config_checks import POSITIONS, QUADRATIC_WORDS


@dataclass(frozen=True)
class SetTransformerConfig:
    """Settings of the Set Transformer."""

    readout: ClassVar[str] = "node"

    width: int = 300
    """Size of a hidden state."""
    layers: int = 2
    """Number of blocks."""
    heads: int = 4
    """Heads in each block; they share the width, which they must divide (Set Transformer)."""
    induced: int = 16
    """Number of induced points for attention between elements; 0 = direct attention, SAB (Set
    Transformer)."""
    block: Literal["paper", "released", "tf"] = "released"
    """Published definition of MAB to use (Set Transformer)."""
    norm: Literal["off", "post", "pre"] = "off"
    """Layer norms: off (as released), after the residuals (the paper) or before attention."""
    scale: Literal["model", "head"] = "model"
    """Scores are divided by the square root of the width (model, as in the paper) or of a head's width."""
    positions: str = "none"
    """Position embedding: none (the paper's), sinusoidal or learned."""
    max_positions: int = 8192
    """Longest text of a learned position embedding."""
    dropout: float = 0.1
    """Dropout on the output of each block in training."""
    bias: bool = True
    """Biases of the projections of attention."""

    def __post_init__(self) -> None:
        check_range(self, "width", "heads", "max_positions", low=1)
        check_range(self, "layers", "induced", low=0)
        check_range(self, "dropout", low=0, high=1, open=True)
        check_choice(self, "block", ("paper", "released", "tf"))
        check_choice(self, "norm", ("off", "post", "pre"))
        check_choice(self, "scale", ("model", "head"))
        check_choice(self, "positions", POSITIONS)

    @property
    def window_words(self) -> int:
        """Default window in words: without induced points the cost grows with the square of the text."""
        return 0 if self.induced else QUADRATIC_WORDS


_POOLINGS = ("mean", "sum", "max")


@dataclass(frozen=True)
class SetModelConfig:
    """Settings of a set model."""

    inputs: int
    """Features of an element."""
    outputs: int
    """Features of a row of the output."""
    blocks: SetTransformerConfig
    """Width and kind of all blocks, number of the encoder's; `induced` = 0 for SAB. Its positions and its
    dropout do not count here."""
    rows: int = 1
    """Number of rows of the output, k."""
    encoder: Literal["blocks", "rff"] = "blocks"
    """Encoder of the elements: attention between them (SAB, ISAB) or none (rFF)."""
    pooling: Literal["pma", "mean", "sum", "max"] = "pma"
    """Pooling of the elements to the rows."""
    decoder_layers: int = 0
    """Number of layers after the pooling: SABs among the rows of PMA, otherwise linear layers with ReLU."""

    def __post_init__(self) -> None:
        check_range(self, "inputs", "outputs", "rows", low=1)
        check_range(self, "decoder_layers", low=0)

    @classmethod
    def named(cls, name: str, *, blocks: SetTransformerConfig, **settings: Any) -> "SetModelConfig":
        """The settings for a name of the paper's tables: `sab+pma`, `isab16+pma`, `rff+mean`, ...

        Raises:
            ConfigError: The name is not of that form.
        """
        match = re.fullmatch(rf"(rff|sab|isab([1-9]\d*))\+(pma|{'|'.join(_POOLINGS)})", name)
        if match is None:
            raise ConfigError(
                f"unknown model of sets {name!r}; expected ENCODER+POOLING with an encoder rff, sab or "
                f"isab16 (16 induced points) and a pooling pma, {', '.join(_POOLINGS)}"
            )
        return cls(
            **settings,
            encoder="rff" if match[1] == "rff" else "blocks",
            pooling=match[3],  # type: ignore[arg-type]
            blocks=replace(blocks, induced=int(match[2] or 0)),
        )
