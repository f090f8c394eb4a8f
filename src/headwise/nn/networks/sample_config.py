"""SampleConfig: settings of text generation. (Without torch, for the help of the command line.)"""

from dataclasses import dataclass

from headwise.core.config import check_range


@dataclass(frozen=True)
class SampleConfig:
    """How a text is gone on with."""

    length: int = 500
    """Characters, words or bytes to write."""
    temperature: float = 0.8
    """Below 1 the probable becomes more probable; 0 takes the most probable symbol every time."""
    top_k: int = 0
    """Choose among so many of the most probable symbols; 0 = among all."""
    seed: int = 0
    """Another seed gives another text."""

    def __post_init__(self) -> None:
        check_range(self, "length", "temperature", "top_k", low=0)
        check_range(self, "seed", low=0, high=2**63 - 1)
