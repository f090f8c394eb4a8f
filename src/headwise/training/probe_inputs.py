"""What a linear probe reads of texts: their vectors from the base, and those of the base's encoder."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Floats = NDArray[np.float32]

ENCODER_LENGTH = 0.6
"""Mean length of the centred vectors of the encoder, beside vectors of the base of length 1. Where there
are many labels, greater lengths are less accurate."""


@dataclass(frozen=True)
class ProbeInputs:
    """The inputs of a linear probe: with v the vector of a text from the base, and h the hidden layer of
    the head, `[v; scale (M [v; h] - mean)]`; without an encoder of the base `v`.

    Attributes:
        values: The inputs, `[texts, size + outputs of M]`.
        size: Size of v.
        matrix: `scale M`; None without an encoder.
        mean: `scale mean`.
    """

    values: Floats
    size: int
    matrix: Floats | None = None
    mean: Floats | None = None

    @classmethod
    def of(cls, model: Any, items: Sequence[Any]) -> "ProbeInputs":
        """Those of encoded texts, by a model that has not been trained yet."""
        vectors = model.base_vectors(items)
        size = vectors.shape[1]
        if getattr(model, "base_encoder", None) is None:
            return cls(vectors, size)
        matrix = model.base_encoder.outputs
        outputs = model.base_encoder.sentence_vectors(vectors, model.head_states(items))
        mean = outputs.mean(axis=0)
        length = float(np.linalg.norm(outputs - mean, axis=1).mean())
        scale = np.float32(ENCODER_LENGTH / max(length, 1e-12))
        return cls(np.hstack([vectors, (outputs - mean) * scale]), size, matrix * scale, mean * scale)

    @torch.no_grad()
    def add_to(self, model: Any, weights: NDArray[np.floating], bias: NDArray[np.floating]) -> None:
        """Add a probe on these inputs, `[outputs, inputs]` and `[outputs]`, to the probe of the model, and
        to the last layer of its head."""
        of_base = weights[:, : self.size]
        if self.matrix is not None and self.mean is not None:
            of_encoder = weights[:, self.size :]
            both = of_encoder @ self.matrix
            of_base, bias = of_base + both[:, : self.size], bias - of_encoder @ self.mean
            last = model.head.layers[-1].weight
            last += torch.from_numpy(both[:, self.size :]).to(last)
            model.base_encoder = None  # megabytes that nothing needs any more
        for parameter, values in ((model.probe.weight, of_base), (model.probe.bias, bias)):
            parameter += torch.from_numpy(np.ascontiguousarray(values)).to(parameter)
