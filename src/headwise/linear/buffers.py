"""Linear models as buffers of a module: saved with a model, trained turn by turn and not by gradient."""

from collections.abc import Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray
from torch import nn

Made = TypeVar("Made", covariant=True)
Shapes = dict[str, tuple[DTypeLike, tuple[int, ...]]]


class Tables(Protocol[Made]):
    """How large the tables of a linear model are, and what they mean."""

    def shapes(self) -> Shapes:
        """The type and shape of each table, by its name."""
        ...

    def misplaced(self, tables: Mapping[str, NDArray]) -> Iterator[str]:
        """What is wrong with numbers in tables of these shapes."""
        ...

    def model(self, tables: Mapping[str, NDArray]) -> Made:
        """The linear model that tables of these shapes are."""
        ...


class Buffers(nn.Module, Generic[Made]):
    """A linear model whose tables are buffers.

    Args:
        tables: What they are; they are 0 at first.
    """

    def __init__(self, tables: Tables[Made]):
        super().__init__()
        self.tables = tables
        for name, (kind, shape) in tables.shapes().items():
            self.register_buffer(name, torch.zeros(shape, dtype=getattr(torch, np.dtype(kind).name)))
        self._made: Made | None = None

    def fill(self, tables: Mapping[str, NDArray]) -> None:
        """Put the numbers of tables in their place."""
        for name, table in tables.items():
            self.get_buffer(name).copy_(torch.from_numpy(np.ascontiguousarray(table)))

    def linear_model(self) -> Made:
        """The linear model that it is; made once (the buffers are not to be changed after that). It has its
        own copies: PyTorch may give a buffer other memory, as where a model goes to another process, and
        frees what an array would still read."""
        if self._made is None:
            self._made = self.tables.model({name: own.copy() for name, own in self._arrays().items()})
        return self._made

    def _arrays(self) -> dict[str, NDArray]:
        return {
            name: (own.float() if own.is_floating_point() else own).cpu().numpy()
            for name, own in self.named_buffers()
        }

    def _load_from_state_dict(self, *args: Any, **keywords: Any) -> None:
        self._made = None
        super()._load_from_state_dict(*args, **keywords)
        *_, errors = args
        if not errors:
            errors.extend(self.tables.misplaced(self._arrays()))
