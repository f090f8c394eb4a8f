"""TagExpert: a linear CRF as part of a saved tagger, its weights in bytes."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from torch import Tensor

from headwise.linear.buffers import Buffers
from headwise.linear.tag_crf import CrfTagger, Floats
from headwise.linear.tag_tables import TagTables

_LEAST = 0.05  # features whose every weight is smaller are left out


class TagExpert(Buffers[CrfTagger]):
    """The scores of a `CrfTagger` as buffers: trained turn by turn, not by gradient.

    The weights of a feature are whole numbers between -127 and 127, times one number of its own.

    Args:
        features: That it knows.
        tags: Names, in the order of the scores.
        groups: See `TagTables`.
    """

    keys: Tensor
    weights: Tensor
    steps: Tensor
    transitions: Tensor

    def __init__(self, features: int, tags: Sequence[str], groups: int = 0):
        super().__init__(TagTables(features, tuple(tags), groups))
        self.groups = groups

    @classmethod
    def of(cls, crf: CrfTagger, tags: Sequence[str]) -> Self:
        """The expert that a CRF makes.

        Args:
            crf: Of the same tags.
            tags: In the order that is wanted.
        """
        order = [crf.tags.index(tag) for tag in tags]
        largest = np.abs(crf.weights).max(axis=1, initial=0)
        kept = largest >= _LEAST
        steps = largest[kept] / np.float32(127)
        groups = crf.groups
        expert = cls(len(steps), tags, 0 if groups is None else len(groups))
        values = {
            "keys": crf.keys[kept].view(np.int32),
            "weights": np.rint(crf.weights[kept][:, order] / steps[:, None]).astype(np.int8),
            "steps": steps,
            "transitions": crf.transitions[order][:, order],
        }
        if groups is not None:
            values |= {"group_keys": groups.keys.view(np.int32), "group_numbers": groups.numbers}
        expert.fill(values)
        return expert

    def sizes(self) -> dict[str, int]:
        """What `ExpertConfig` is to say of it."""
        return {"features": len(self.keys), "grouped": self.groups}

    def forward(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """The words of sentences -> a score of every tag for each word, `[words, tags]`."""
        return self.linear_model().emissions(sentences)[0]
