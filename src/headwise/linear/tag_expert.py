"""TagExpert: a linear CRF as part of a saved tagger, its weights in bytes."""

from collections.abc import Sequence
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn

from headwise.linear.tag_crf import CrfTagger, Floats

_LEAST = 0.05  # features whose every weight is smaller are left out


class TagExpert(nn.Module):
    """The scores of a `CrfTagger` as buffers: trained turn by turn, not by gradient.

    The weights of a feature are whole numbers between -127 and 127, times one number of its own.

    Args:
        features: That it knows.
        tags: Names, in the order of the scores.
    """

    keys: Tensor
    weights: Tensor
    steps: Tensor
    transitions: Tensor

    def __init__(self, features: int, tags: Sequence[str]):
        super().__init__()
        self.tags = tuple(tags)
        self.register_buffer("keys", torch.zeros(features, dtype=torch.int32))
        self.register_buffer("weights", torch.zeros(features, len(tags), dtype=torch.int8))
        self.register_buffer("steps", torch.zeros(features))
        self.register_buffer("transitions", torch.zeros(len(tags), len(tags)))
        self._crf: CrfTagger | None = None

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
        expert = cls(len(steps), tags)
        values = {
            "keys": crf.keys[kept].view(np.int32),
            "weights": np.rint(crf.weights[kept][:, order] / steps[:, None]).astype(np.int8),
            "steps": steps,
            "transitions": crf.transitions[order][:, order],
        }
        for name, value in values.items():
            getattr(expert, name).copy_(torch.from_numpy(np.ascontiguousarray(value)))
        return expert

    def sizes(self) -> dict[str, int]:
        """What `ExpertConfig` is to say of it."""
        return {"features": len(self.keys)}

    def crf(self) -> CrfTagger:
        """The CRF that it is; made once (the buffers are not to be changed after that)."""
        if self._crf is None:
            weights = self.weights.cpu().numpy() * self.steps.float().cpu().numpy()[:, None]
            keys, moves = self.keys.cpu().numpy().view(np.uint32), self.transitions.float().cpu().numpy()
            self._crf = CrfTagger(self.tags, "plain", keys, weights, moves)
        return self._crf

    def forward(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """The words of sentences -> a score of every tag for each word, `[words, tags]`."""
        return self.crf().emissions(sentences)[0]

    def _load_from_state_dict(self, *args: object, **keywords: object) -> None:
        self._crf = None
        super()._load_from_state_dict(*args, **keywords)  # type: ignore[arg-type]
