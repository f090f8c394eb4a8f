"""Data-parallel training: `torchrun --nproc-per-node 4 -m headwise train ...`.

Every process reads the data and plans the same batches. It computes the gradients of its share of the
texts of a batch, and all take the same step on the sum; so the steps are those of one process, but for
dropout, which each draws for itself. What is decided (the best epoch, the last one) is decided by the first
process, which alone writes the model.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
import torch.distributed
from torch import Tensor, nn

from headwise.core.torchrun import process_count, process_rank


@dataclass(frozen=True)
class TrainingProcesses:
    """The processes that train one model; one that is alone exchanges nothing.

    Attributes:
        rank: The number of this one, from 0.
        count: How many there are.
    """

    rank: int = 0
    count: int = 1

    def share(self, texts: Sequence[int]) -> Sequence[int]:
        """The texts of a batch that this process learns from."""
        return texts[self.rank :: self.count]

    def copy_weights(self, model: nn.Module) -> None:
        """Give all processes the weights of the first."""
        for weights in () if self.count == 1 else model.state_dict().values():
            torch.distributed.broadcast(weights, 0)

    def sum_gradients(self, dense: Sequence[Tensor], sparse: Sequence[Tensor]) -> None:
        """Sum the gradients of these parameters over all processes; those without any have none."""
        layouts = [*((p, torch.strided) for p in dense), *((p, torch.sparse_coo) for p in sparse)]
        used = torch.tensor([parameter.grad is not None for parameter, _ in layouts], dtype=torch.uint8)
        torch.distributed.all_reduce(used, torch.distributed.ReduceOp.MAX)
        for (parameter, layout), is_used in zip(layouts, used.tolist(), strict=True):
            if is_used:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter, layout=layout)
                if parameter.grad.is_sparse:
                    parameter.grad = parameter.grad.coalesce()
                torch.distributed.all_reduce(parameter.grad)

    def total(self, number: float) -> float:
        """The sum of a number over all processes."""
        if self.count == 1:
            return number
        totals = torch.tensor([number], dtype=torch.float64)
        torch.distributed.all_reduce(totals)
        return float(totals[0])

    def scores_of_first(self, scores: Mapping[str, float]) -> dict[str, float]:
        """The scores that the first process has computed; all have the same names."""
        if self.count == 1:
            return dict(scores)
        names = sorted(scores)
        values = torch.tensor([scores[name] for name in names], dtype=torch.float64)
        torch.distributed.broadcast(values, 0)
        return dict(zip(names, values.tolist(), strict=True))


_ALONE = TrainingProcesses()
_joined: ContextVar[TrainingProcesses] = ContextVar("joined", default=_ALONE)


@contextmanager
def joined_processes() -> Generator[None]:
    """Train together with the other processes that torchrun has started, within this context."""
    if process_count() == 1:
        yield
        return
    torch.distributed.init_process_group("gloo")
    token = _joined.set(TrainingProcesses(process_rank(), process_count()))
    try:
        yield
    finally:
        _joined.reset(token)
        torch.distributed.destroy_process_group()


def training_processes() -> TrainingProcesses:
    """The processes that train together with this one, which may be alone."""
    return _joined.get()
