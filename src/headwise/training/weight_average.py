"""The moving average of a model's weights, which is evaluated and kept in place of the weights."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """The moving average of parameters; with a decay of 0 there is none, and the weights stand for it.

    Args:
        parameters: The parameters by name.
        decay: How much of the average a step keeps, from 0 to below 1; less in the first steps, in which it
            would mostly hold the random initial weights.
    """

    def __init__(self, parameters: Mapping[str, nn.Parameter], decay: float):
        self._parameters, self._decay = parameters, decay
        self._values = {name: p.detach().clone() for name, p in parameters.items()} if decay else {}

    def move(self, step: int) -> None:
        """Take in the parameters as they are after a step, counted from 0."""
        decay = min(self._decay, (1 + step) / (10 + step))
        for name, value in self._values.items():
            value.lerp_(self._parameters[name].detach(), 1 - decay)

    @contextmanager
    def applied(self) -> Generator[None]:
        """Replace the parameters by their average within this context."""
        current = {name: self._parameters[name].detach().clone() for name in self._values}
        self._put(self._values)
        try:
            yield
        finally:
            self._put(current)

    def _put(self, values: Mapping[str, Tensor]) -> None:
        with torch.no_grad():
            for name, value in values.items():
                self._parameters[name].copy_(value)

    def tensors(self) -> dict[str, Tensor]:
        """The average, for a file."""
        return {f"average/{name}": value for name, value in self._values.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over saved `tensors`, of the same names and shapes."""
        for name, value in self.tensors().items():
            value.copy_(tensors[name])
