"""TagLinearBuffers: a linear CRF as part of a saved tagger, with 8-bit weights."""

from collections.abc import Sequence
from typing import Self

import numpy as np
from torch import Tensor

from headwise.linear.linear_weights import Floats
from headwise.linear.tag_crf import CrfTagger
from headwise.linear.tag_tables import TagTableFormat
from headwise.nn.networks.linear_members import ModelBuffers

_LEAST = 0.05  # features with smaller weights only are dropped


class TagLinearBuffers(ModelBuffers[CrfTagger]):
    """The emission scores of a `CrfTagger` as buffers, which are not trained by gradient descent.

    The weights of a feature are integers from -127 to 127, times one scale per feature.

    Args:
        features: Number of features.
        tags: Names of the tags, in the order of the scores.
        groups: See `TagTableFormat`.
    """

    keys: Tensor
    weights: Tensor
    steps: Tensor
    transitions: Tensor

    def __init__(self, features: int, tags: Sequence[str], groups: int = 0):
        super().__init__(TagTableFormat(features, tuple(tags), groups))
        self.groups = groups

    @classmethod
    def of(cls, crf: CrfTagger, tags: Sequence[str]) -> Self:
        """Convert a trained CRF.

        Args:
            crf: A CRF with the same tags.
            tags: The tags in the order of the new scores.
        """
        order = [crf.tags.index(tag) for tag in tags]
        largest = np.abs(crf.weights).max(axis=1, initial=0)
        selected = largest >= _LEAST
        steps = largest[selected] / np.float32(127)
        groups = crf.groups
        linear_model = cls(len(steps), tags, 0 if groups is None else len(groups))
        values = {
            "keys": crf.keys[selected].view(np.int32),
            "weights": np.rint(crf.weights[selected][:, order] / steps[:, None]).astype(np.int8),
            "steps": steps,
            "transitions": crf.transitions[order][:, order],
        }
        if groups is not None:
            values |= {"group_keys": groups.keys.view(np.int32), "group_numbers": groups.numbers}
        linear_model.fill(values)
        return linear_model

    def sizes(self) -> dict[str, int]:
        """The sizes to store in `LinearMemberConfig`."""
        return {"features": len(self.keys), "grouped": self.groups}

    def forward(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Map the words of sentences to the emission scores of each word, `[words, tags]`."""
        return self.linear_model().emissions(sentences)[0]
