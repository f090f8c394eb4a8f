"""Learning rates: of each parameter, and at each step of a run."""

import math
from collections.abc import Mapping

from torch import nn

from headwise.core.config import JsonObject


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
