"""One text of a data file, with its label and where it came from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headwise.data.shares import Shares
from headwise.errors import ConfigError

Parse = Sequence[int] | NDArray[np.int64]
"""The head of each word in the dependency tree, `[words]` (see `headwise.features.syntax`)."""


@dataclass(frozen=True, slots=True)
class Example:
    """One text.

    Attributes:
        text: The text exactly as it stands in the file (after decoding and unquoting).
        label: The label's name, or None where the file has none (prediction).
        line: The line of the file, from 1, on which the record starts.
        heads: Its dependency parse, if there is one.
        shares: Soft labels: the probabilities of labels, where the label is not certain (`label` is the
            likeliest).
        weight: How much the text counts in training.
    """

    text: str
    label: str | None = None
    line: int = 0
    heads: Parse | None = None
    shares: Shares | None = None
    weight: float = 1.0

    @property
    def labels(self) -> tuple[str, ...]:
        """The label, if there is one."""
        return () if self.label is None else (self.label,)


def as_example(text: str | Example) -> Example:
    """A text as an example.

    Raises:
        ConfigError: It is neither a text nor an example.
    """
    if isinstance(text, Example):
        return text
    if not isinstance(text, str):
        raise ConfigError(f"expected a text, got {text!r:.80}; write '' where there is none")
    return Example(text)
