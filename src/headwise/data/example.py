"""One text of a data file, with its label and where it came from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Parse = Sequence[int] | NDArray[np.int64]
"""The head of each word in the dependency tree (see `headwise.features.syntax`)."""


@dataclass(frozen=True, slots=True)
class Example:
    """One text.

    Attributes:
        text: The text exactly as it stands in the file (after decoding and unquoting).
        label: The label's name, or None where the file has none (prediction).
        line: The line of the file, from 1, on which the record starts.
        heads: Its parse, if there is one.
    """

    text: str
    label: str | None = None
    line: int = 0
    heads: Parse | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The label, if there is one."""
        return () if self.label is None else (self.label,)
