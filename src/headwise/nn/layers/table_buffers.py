"""Tables (arrays) that a model reads and gradient descent does not train: saved with it, as buffers."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import nn

Contents = TypeVar("Contents", covariant=True)


class TableFormat(Protocol[Contents]):
    """How tables store an object, such as a linear model: their shapes, and how to build it from them."""

    def shapes(self) -> dict[str, tuple[DTypeLike, tuple[int, ...]]]:
        """The dtype and shape of each table, by name."""
        ...

    def errors(self, tables: Mapping[str, NDArray]) -> Iterator[str]:
        """Errors in the values of tables that have the right shapes, as messages."""
        ...

    def build(self, tables: Mapping[str, NDArray]) -> Contents:
        """The object that the tables store."""
        ...


class TableBuffers(nn.Module, Generic[Contents]):
    """A torch module that holds the tables of an object as buffers.

    Args:
        tables: Names, dtypes and shapes of the buffers, which are 0 at first.
    """

    def __init__(self, tables: TableFormat[Contents]):
        super().__init__()
        self.tables = tables
        for name, (dtype, shape) in tables.shapes().items():
            self.register_buffer(name, torch.zeros(shape, dtype=getattr(torch, np.dtype(dtype).name)))
        self._contents: Contents | None = None

    def fill(self, tables: Mapping[str, NDArray]) -> None:
        """Copy the values of tables into the buffers."""
        for name, table in tables.items():
            self.get_buffer(name).copy_(torch.from_numpy(np.ascontiguousarray(table)))
        self._contents = None

    def contents(self) -> Contents:
        """The object that the buffers store. It is built once: only `fill` and loading may change the
        buffers. It copies the arrays: PyTorch may move a buffer to other memory, as when a model is sent to
        another process, and free what an array would still read."""
        if self._contents is None:
            self._contents = self.tables.build(
                {name: array.copy() for name, array in self._arrays().items()}
            )
        return self._contents

    def _arrays(self) -> dict[str, NDArray]:
        return {
            name: (buffer.float() if buffer.is_floating_point() else buffer).cpu().numpy()
            for name, buffer in self.named_buffers()
        }

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_contents": None}  # the buffers have them already

    def _load_from_state_dict(self, *args: Any, **keywords: Any) -> None:
        self._contents = None
        super()._load_from_state_dict(*args, **keywords)
        *_, errors = args
        if not errors:
            errors.extend(self.tables.errors(self._arrays()))
