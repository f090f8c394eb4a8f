"""The optimizer: AdamW as one fused operation, and row by row for embeddings; learning rates; the moving
average of the weights.

A batch reads a few hundred of the many thousand rows of an embedding, but each step of Adam moves all of
them, as their moments decay slowly. `RowUpdates` postpones the steps of a row until a batch reads it again;
what a row has missed is a sum that all rows of the same last step share.
"""

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from headwise.core import native
from headwise.core.config import JsonObject
from headwise.core.errors import HeadwiseError
from headwise.nn.embeddings.word_reading import RowEmbedding
from headwise.training.data_parallel import TrainingProcesses

_BETAS, _EPSILON = (0.9, 0.999), 1e-8
_RATIO = _BETAS[0] / _BETAS[1] ** 0.5  # of a step to the one before, where there are no gradients
_LONGEST = 400  # steps after which a row without gradients moves no more: _RATIO ** 400 is 6e-19
_Rows = NDArray[np.float32]
_POWERS = _RATIO ** np.arange(_LONGEST, 0, -1.0)


class AdamW:
    """AdamW (Loshchilov, Hutter; ICLR 2019), bit for bit `torch.optim.AdamW(groups, fused=True)` where
    gradients are dense.

    Importing that class loads the dependencies of `torch.compile`, which takes as long as a small training
    run.

    Args:
        groups: Parameter groups, each with `params`, `lr` and `weight_decay`.
        embeddings: Embeddings on the CPU, in float32 and without weight decay, whose rows are updated when
            they are read (see `postponed`).

    Attributes:
        param_groups: The groups; a change of `lr` takes effect at the next step.
        state: `step`, `exp_avg` and `exp_avg_sq` of each parameter that has had a gradient, `embeddings`
            excepted.
    """

    def __init__(self, groups: list[JsonObject], embeddings: Sequence[RowEmbedding] = ()):
        self.param_groups = groups
        self.state: dict[Tensor, dict[str, Tensor]] = {}
        self._rows = {embedding.weight: RowUpdates(embedding) for embedding in embeddings}

    @contextmanager
    def postponed(self) -> Generator[None]:
        """Postpone the updates of rows of the embeddings within this context; at its end all are done."""
        for updates in self._rows.values():
            updates.embedding.before_lookup = updates.apply_postponed
        try:
            yield
            self.apply_postponed()
        finally:
            for updates in self._rows.values():
                updates.embedding.before_lookup = None

    def apply_postponed(self) -> None:
        """Do the postponed updates of all rows."""
        for updates in self._rows.values():
            updates.apply_postponed()

    @torch.no_grad()
    def sum_gradients(self, processes: TrainingProcesses) -> None:
        """Sum the gradients of processes that train together; call it once before `clip` and `step`."""
        if processes.count == 1:
            return
        parameters = [parameter for group in self.param_groups for parameter in group["params"]]
        processes.sum_gradients([p for p in parameters if p not in self._rows], [*self._rows])
        for weight, updates in self._rows.items():
            if weight.grad is not None:  # also of rows that only other processes have read
                updates.apply_postponed(weight.grad.coalesce().indices()[0])

    @torch.no_grad()
    def clip(self, most: float) -> None:
        """Scale all gradients so that their joint length is `most` at most; call it once before a step."""
        gradients = [
            parameter.grad
            for group in self.param_groups
            for parameter in group["params"]
            if parameter.grad is not None and not parameter.grad.is_sparse
        ]
        lengths = tuple(torch._foreach_norm(gradients)) if gradients else ()
        lengths += tuple(torch.tensor(updates.read_gradient()) for updates in self._rows.values())
        if not lengths:
            return
        scale = float(most / (torch.linalg.vector_norm(torch.stack(lengths)) + 1e-6))
        if not scale >= 1:  # also where it is not a number
            torch._foreach_mul_(gradients, scale)
            for updates in self._rows.values():
                updates.scale = scale

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters that have gradients."""
        for group in self.param_groups:
            for updates in (self._rows[p] for p in group["params"] if p in self._rows):
                updates.step(group["lr"])
            parameters = [p for p in group["params"] if p.grad is not None and p not in self._rows]
            if not parameters:
                continue
            states = [self._state(p) for p in parameters]
            first, second, steps = (
                [state[key] for state in states] for key in ("exp_avg", "exp_avg_sq", "step")
            )
            torch._foreach_add_(steps, 1)
            torch._fused_adamw_(
                parameters,
                [p.grad for p in parameters],
                first,
                second,
                [],
                steps,
                lr=group["lr"],
                beta1=_BETAS[0],
                beta2=_BETAS[1],
                weight_decay=group["weight_decay"],
                eps=_EPSILON,
                amsgrad=False,
                maximize=False,
            )

    def zero_grad(self) -> None:
        """Clear the gradients."""
        for group in self.param_groups:
            for parameter in group["params"]:
                parameter.grad = None

    def tensors(self, parameter: Tensor) -> dict[str, Tensor]:
        """The state of a parameter, for a file; nothing before its first gradient."""
        if parameter in self._rows:
            return self._rows[parameter].tensors()
        return self.state.get(parameter, {})

    def expected(self, parameter: Tensor, steps: int) -> dict[str, Tensor]:
        """Tensors of the shapes and types that `tensors` has after `steps` steps."""
        if parameter in self._rows:
            return self._rows[parameter].tensors() | {
                "factors": torch.zeros(steps + 1, dtype=torch.float64)
            }
        return {"step": torch.tensor(0.0), "exp_avg": parameter, "exp_avg_sq": parameter}

    def load(self, parameter: Tensor, tensors: dict[str, Tensor]) -> None:
        """Take over saved `tensors` of a parameter, of the `expected` shapes.

        Raises:
            HeadwiseError: HW402, a number in them is out of range.
        """
        if parameter in self._rows:
            self._rows[parameter].load(tensors)
        else:
            self.state[parameter] = {key: value.to(parameter.device) for key, value in tensors.items()}

    def _state(self, parameter: Tensor) -> dict[str, Tensor]:
        if parameter not in self.state:
            self.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        return self.state[parameter]


class RowUpdates:
    """The steps of AdamW on an embedding, row by row.

    After a step s without gradients since its step r, the moments of a row are `b1^(s-r) m` and
    `b2^(s-r) v`, so step s moves it by `m / (sqrt(v) + e)` times a factor that depends on r and s alone.
    `factors[r]` is the sum of these factors over all steps after r so far. (Of Adam's epsilon, which the
    decay of v would make grow against it, the value of the first such step is used.)

    Args:
        embedding: The embedding, float32 on the CPU.

    Attributes:
        scale: Factor on the gradients of the next step.
    """

    def __init__(self, embedding: RowEmbedding):
        self.embedding, self.scale = embedding, 1.0
        weight = embedding.weight.detach()
        self._first, self._second = torch.zeros_like(weight), torch.zeros_like(weight)
        self._row_steps: NDArray[np.int64] = np.zeros(len(weight), dtype=np.int64)
        self._factors: NDArray[np.float64] = np.zeros(1)
        self._gradient: tuple[NDArray[np.int64], _Rows] | None = None

    def _arrays(self) -> tuple[_Rows, _Rows, _Rows, NDArray[np.int64]]:
        weight = self.embedding.weight.detach()
        return weight.numpy(), self._first.numpy(), self._second.numpy(), self._row_steps

    def apply_postponed(self, ids: Tensor | None = None) -> None:
        """Do the postponed steps of the rows with these ids; by default of all."""
        rows = np.arange(len(self._row_steps)) if ids is None else ids.contiguous().numpy()
        native.skip_steps(*self._arrays(), rows, self._factors, len(self._factors) - 1)

    def read_gradient(self) -> float:
        """Sum up the sparse gradient for the next step; returns its length."""
        gradient = self.embedding.weight.grad
        if gradient is None:
            return 0.0
        rows, values = gradient._indices()[0], gradient._values()
        padding, count = self.embedding.padding_idx, len(self._row_steps)
        unique, sums, squares = native.sum_rows(
            rows.numpy(), values.contiguous().numpy(), count, -1 if padding is None else padding
        )
        self._gradient = unique, sums
        return squares**0.5

    def step(self, rate: float) -> None:
        """A step with this learning rate."""
        if self._gradient is None:
            self.read_gradient()
        now = len(self._factors)
        first_bias, second_bias = (1 - beta**now for beta in _BETAS)
        powers = _POWERS[_LONGEST - min(now - 1, _LONGEST) :]
        self._factors[now - len(powers) :] += rate * second_bias**0.5 / first_bias * powers
        self._factors = np.append(self._factors, 0.0)
        if self._gradient is not None:
            native.step_rows(*self._arrays(), *self._gradient, now, rate, self.scale)
        self._gradient, self.scale = None, 1.0

    def tensors(self) -> dict[str, Tensor]:
        """The state, for a file: `step`, the moments, the last step of each row and `factors`."""
        return {
            "step": torch.tensor(float(len(self._factors) - 1)),
            "exp_avg": self._first,
            "exp_avg_sq": self._second,
            "row_steps": torch.from_numpy(self._row_steps),
            "factors": torch.from_numpy(self._factors),
        }

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Take over a saved state.

        Raises:
            HeadwiseError: HW402, a row is ahead of the run.
        """
        row_steps = tensors["row_steps"].numpy()
        if not np.all((row_steps >= 0) & (row_steps < len(tensors["factors"]))):
            raise HeadwiseError("the saved steps of the optimizer are damaged", code="HW402")
        self._first.copy_(tensors["exp_avg"])
        self._second.copy_(tensors["exp_avg_sq"])
        self._row_steps[:] = row_steps
        self._factors = tensors["factors"].numpy().copy()


def learning_rate(step: int, steps: int, *, warmup: float, schedule: str) -> float:
    """Factor on the learning rate at a step.

    Rises in a line over the first `warmup` share of the steps, then falls to 0 at the end.

    Args:
        step: From 0.
        steps: Of the whole run.
        warmup: Share of the steps, 0 to 1.
        schedule: linear, cosine or constant.

    Returns:
        Between 0 and 1.
    """
    rise = warmup * steps
    if step < rise:
        return (step + 1) / (rise + 1)
    if schedule == "constant":
        return 1.0
    gone = min(1.0, (step - rise) / max(1.0, steps - rise))
    return 1.0 - gone if schedule == "linear" else 0.5 * (1.0 + math.cos(math.pi * gone))


def parameter_groups(
    parameters: Mapping[str, nn.Parameter],
    rates: Mapping[str, float],
    *,
    learning_rate: float,
    weight_decay: float,
) -> list[JsonObject]:
    """Parameters in groups of one learning rate and weight decay, for the optimizer.

    Matrices have weight decay; biases, norms and word vectors have none.

    Args:
        parameters: The parameters by name.
        rates: Learning rates of parameters that have their own, by name prefix.
        learning_rate: That of all others.
        weight_decay: Weight decay of the matrices.
    """
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for name, parameter in parameters.items():
        matching_rates = [rate for start, rate in rates.items() if name.startswith(start)]
        rate = matching_rates[0] if matching_rates else learning_rate
        decays = parameter.dim() > 1 and not name.startswith("embedding.vectors")
        groups.setdefault((rate, weight_decay if decays else 0.0), []).append(parameter)
    return [{"params": p, "lr": rate, "weight_decay": decay} for (rate, decay), p in groups.items()]


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
