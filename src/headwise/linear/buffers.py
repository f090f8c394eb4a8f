"""Linear models as buffers of a torch module: saved with the model, and not trained by gradient descent."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import nn

Made = TypeVar("Made", covariant=True)
Shapes = dict[str, tuple[DTypeLike, tuple[int, ...]]]


class Tables(Protocol[Made]):
    """The tables (arrays) that store a linear model: their shapes, and how to rebuild the model from
    them."""

    def shapes(self) -> Shapes:
        """The dtype and shape of each table, by name."""
        ...

    def misplaced(self, tables: Mapping[str, NDArray]) -> Iterator[str]:
        """Errors in the values of tables that have the right shapes, as messages."""
        ...

    def model(self, tables: Mapping[str, NDArray]) -> Made:
        """Build the linear model from its tables."""
        ...


class Buffers(nn.Module, Generic[Made]):
    """A torch module that holds the tables of a linear model as buffers.

    Args:
        tables: Names, dtypes and shapes of the buffers, which are 0 at first.
    """

    def __init__(self, tables: Tables[Made]):
        super().__init__()
        self.tables = tables
        for name, (kind, shape) in tables.shapes().items():
            self.register_buffer(name, torch.zeros(shape, dtype=getattr(torch, np.dtype(kind).name)))
        self._made: Made | None = None

    def fill(self, tables: Mapping[str, NDArray]) -> None:
        """Copy the values of tables into the buffers."""
        for name, table in tables.items():
            self.get_buffer(name).copy_(torch.from_numpy(np.ascontiguousarray(table)))

    def linear_model(self) -> Made:
        """The linear model that the buffers hold. It is built once, so the buffers must not change
        afterwards. It copies the arrays: PyTorch may move a buffer to other memory, as when a model is sent
        to another process, and free what an array would still read."""
        if self._made is None:
            self._made = self.tables.model({name: array.copy() for name, array in self._arrays().items()})
        return self._made

    def _arrays(self) -> dict[str, NDArray]:
        return {
            name: (buffer.float() if buffer.is_floating_point() else buffer).cpu().numpy()
            for name, buffer in self.named_buffers()
        }

    def _load_from_state_dict(self, *args: Any, **keywords: Any) -> None:
        self._made = None
        super()._load_from_state_dict(*args, **keywords)
        *_, errors = args
        if not errors:
            errors.extend(self.tables.misplaced(self._arrays()))
