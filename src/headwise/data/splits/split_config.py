"""SplitConfig: how a file is split."""

from dataclasses import dataclass
from typing import Literal

from headwise.core.config import check_choice, check_range
from headwise.core.errors import ConfigError

RepeatedTexts = Literal["keep", "majority", "last"]
"""What to do with texts that occur several times; see `SplitConfig`."""


@dataclass(frozen=True)
class SplitConfig:
    """How a file is split where no dev or test file is given."""

    dev: float = 0.15
    """Fraction of the training file for dev, which chooses the best epoch and sets the temperature."""
    test: float = 0.15
    """Fraction of the training file for the test; 0 for no test."""
    seed: int = 0
    """Seed of the split; independent of the training seed."""
    unknown_labels: Literal["stop", "skip"] = "stop"
    """What to do with items of dev and test files whose label no item of the training file has: stop, or
    leave them out and report how many."""
    repeated_texts: RepeatedTexts = "keep"
    """What to do with texts that occur several times in a file, as those that several people labelled or
    whose label was corrected later: keep all rows, or one row of each text: with the label that most rows
    have (majority), or the last row (last)."""

    def __post_init__(self) -> None:
        check_range(self, "dev", "test", low=0, high=1, open=True)
        check_choice(self, "repeated_texts", ("keep", "majority", "last"))
        if self.dev + self.test >= 1:
            raise ConfigError(f"dev {self.dev:g} and test {self.test:g} leave nothing to train on")
