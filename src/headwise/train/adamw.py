"""AdamW in one fused operation."""

from typing import Any

import torch
from torch import Tensor

_BETAS, _EPSILON = (0.9, 0.999), 1e-8


class AdamW:
    """AdamW (Loshchilov, Hutter; ICLR 2019), bit for bit `torch.optim.AdamW(groups, fused=True)`.

    That class would first load what `torch.compile` needs, which takes as long as a small training.

    Args:
        groups: Each with `params`, `lr` and `weight_decay`.

    Attributes:
        param_groups: The groups; a change of `lr` counts from the next step.
        state: Of each parameter that has had a gradient: `step`, `exp_avg` and `exp_avg_sq`.
    """

    def __init__(self, groups: list[dict[str, Any]]):
        self.param_groups = groups
        self.state: dict[Tensor, dict[str, Tensor]] = {}

    @torch.no_grad()
    def step(self) -> None:
        """Move the parameters that have gradients."""
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            if not parameters:
                continue
            states = [self._state(p) for p in parameters]
            first, second, steps = (
                [own[key] for own in states] for key in ("exp_avg", "exp_avg_sq", "step")
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
        """Forget the gradients."""
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
