"""A linear CRF as tables of numbers, as which a model folder keeps it: numpy alone.

The weights of a feature are whole numbers between -127 and 127, times one number of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from headwise.linear.tag_crf import CrfTagger


@dataclass(frozen=True)
class TagTables:
    """How large the tables of a CRF are, and what they mean (see `CrfTagger`).

    Attributes:
        features: That it knows.
        tags: Names, in the order of the scores.
    """

    features: int
    tags: tuple[str, ...]

    def shapes(self) -> dict[str, tuple[DTypeLike, tuple[int, ...]]]:
        """The type and shape of each table, by its name."""
        features, tags = self.features, len(self.tags)
        return {
            "keys": (np.int32, (features,)),
            "weights": (np.int8, (features, tags)),
            "steps": (np.float32, (features,)),
            "transitions": (np.float32, (tags, tags)),
        }

    def misplaced(self, tables: Mapping[str, NDArray]) -> Iterator[str]:
        """Nothing: any numbers of these shapes are a CRF."""
        return iter(())

    def model(self, tables: Mapping[str, NDArray]) -> CrfTagger:
        """The CRF that tables of these shapes are."""
        weights = tables["weights"] * tables["steps"][:, None]
        return CrfTagger(self.tags, "plain", tables["keys"].view(np.uint32), weights, tables["transitions"])
