"""A linear CRF as tables of numbers, as which a model folder keeps it: numpy alone.

The weights of a feature are whole numbers between -127 and 127, times one number of its own.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from headwise.features.bases.groups import LEVELS, WordGroups
from headwise.linear.tag_crf import CrfTagger


@dataclass(frozen=True)
class TagTables:
    """How large the tables of a CRF are, and what they mean (see `CrfTagger`).

    Attributes:
        features: That it knows.
        tags: Names, in the order of the scores.
        groups: Words of which it knows the groups; 0 if it reads none.
    """

    features: int
    tags: tuple[str, ...]
    groups: int = 0

    def shapes(self) -> dict[str, tuple[DTypeLike, tuple[int, ...]]]:
        """The type and shape of each table, by its name."""
        features, tags = self.features, len(self.tags)
        found: dict[str, tuple[DTypeLike, tuple[int, ...]]] = {
            "keys": (np.int32, (features,)),
            "weights": (np.int8, (features, tags)),
            "steps": (np.float32, (features,)),
            "transitions": (np.float32, (tags, tags)),
        }
        if self.groups:
            found["group_keys"] = np.int32, (self.groups,)
            found["group_numbers"] = np.int16, (self.groups, len(LEVELS))
        return found

    def misplaced(self, tables: Mapping[str, NDArray]) -> Iterator[str]:
        """Groups of the same word twice; any other numbers of these shapes are a CRF."""
        if self.groups and len(np.unique(tables["group_keys"])) < self.groups:
            yield "group_keys: a word stands there twice"

    def model(self, tables: Mapping[str, NDArray]) -> CrfTagger:
        """The CRF that tables of these shapes are."""
        weights = tables["weights"] * tables["steps"][:, None]
        groups = None
        if self.groups:
            groups = WordGroups(tables["group_keys"].view(np.uint32), tables["group_numbers"])
        keys = tables["keys"].view(np.uint32)
        return CrfTagger(self.tags, "plain", keys, weights, tables["transitions"], groups)
