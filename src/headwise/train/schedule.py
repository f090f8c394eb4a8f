"""The learning rate as a function of the step: no state, so that a resumed run cannot differ."""

import math


def rate(step: int, steps: int, *, warmup: float, schedule: str) -> float:
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
