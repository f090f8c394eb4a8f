"""The storage format of a linear CRF in model folders: tables of numbers.

The weights of a feature are integers from -127 to 127, times one scale per feature.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from headwise.linear.tag_crf import CrfTagger
from headwise.text.static_embeddings.word_groups import LEVELS, WordClusters


@dataclass(frozen=True)
class TagTableFormat:
    """The tables that store a CRF (see `CrfTagger`).

    Attributes:
        features: Number of features.
        tags: Names of the tags, in the order of the scores.
        groups: Number of words with clusters; 0 without.
    """

    features: int
    tags: tuple[str, ...]
    groups: int = 0

    def shapes(self) -> dict[str, tuple[DTypeLike, tuple[int, ...]]]:
        """The dtype and shape of each table, by name."""
        features, tags = self.features, len(self.tags)
        tables: dict[str, tuple[DTypeLike, tuple[int, ...]]] = {
            "keys": (np.int32, (features,)),
            "weights": (np.int8, (features, tags)),
            "steps": (np.float32, (features,)),
            "transitions": (np.float32, (tags, tags)),
        }
        if self.groups:
            tables["group_keys"] = np.int32, (self.groups,)
            tables["group_numbers"] = np.int16, (self.groups, len(LEVELS))
        return tables

    def errors(self, tables: Mapping[str, NDArray]) -> Iterator[str]:
        """Duplicate words in the cluster table; all other values of these shapes are a valid CRF."""
        if self.groups and len(np.unique(tables["group_keys"])) < self.groups:
            yield "group_keys: a word stands there twice"

    def model(self, tables: Mapping[str, NDArray]) -> CrfTagger:
        """Build the CRF from its tables."""
        weights = tables["weights"] * tables["steps"][:, None]
        groups = None
        if self.groups:
            groups = WordClusters(tables["group_keys"].view(np.uint32), tables["group_numbers"])
        keys = tables["keys"].view(np.uint32)
        return CrfTagger(self.tags, "plain", keys, weights, tables["transitions"], groups)
