"""AdamW as one fused operation."""

from typing import Any

import torch
from torch import Tensor

_BETAS, _EPSILON = (0.9, 0.999), 1e-8


class AdamW:
    """AdamW (Loshchilov, Hutter; ICLR 2019), bit for bit `torch.optim.AdamW(groups, fused=True)`.

    Importing that class loads the dependencies of `torch.compile`, which takes as long as a small training
    run.

    Args:
        groups: Parameter groups, each with `params`, `lr` and `weight_decay`.

    Attributes:
        param_groups: The groups; a change of `lr` takes effect at the next step.
        state: `step`, `exp_avg` and `exp_avg_sq` of each parameter that has had a gradient.
    """

    def __init__(self, groups: list[dict[str, Any]]):
        self.param_groups = groups
        self.state: dict[Tensor, dict[str, Tensor]] = {}

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters that have gradients."""
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            if not parameters:
                continue
            states = [self._state(p) for p in parameters]
            first, second, steps = (
                [state[key] for state in states] for key in ("exp_avg", "exp_avg_sq", "step")
            )
            torch._foreach_add_(steps, 1)  # pyright: ignore[reportPrivateImportUsage]
            torch._fused_adamw_(  # pyright: ignore[reportPrivateImportUsage]
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

    def _state(self, parameter: Tensor) -> dict[str, Tensor]:
        if parameter not in self.state:
            self.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                "exp_avg": torch.zeros_like(parameter),
                "exp_avg_sq": torch.zeros_like(parameter),
            }
        return self.state[parameter]
