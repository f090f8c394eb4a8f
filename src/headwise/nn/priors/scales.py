"""allocate_scales: how many heads of a layer get which scale (MS-Transformer, Eq. 11-12)."""

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral, Real
from typing import cast

from headwise.core.errors import ConfigError
from headwise.nn.priors.base import Prior
from headwise.nn.priors.window import Window

Scale = int | float | str | Prior


def head_counts(layer: int, layers: int, heads: int, scales: int, alpha: float) -> list[int]:
    """Number of heads of each scale, from the smallest scale to the largest (MS-Transformer, Eq. 11-12).

    Eq. 11 in closed form: z_k = (scales - 1 - k) * alpha / layer for every layer but the last, which is
    uniform. Eq. 12 is `softmax(z) * heads`; it gives real numbers. They are made whole as the paper's
    worked example demands: ceiling of the running sum, then first differences, which yields
    {5,2,2,1,0}, {4,2,2,1,1}, {2,2,2,2,2} for 10 heads, 3 layers and alpha 0.5.

    The rule leans towards small scales: for negative alpha the smallest keeps at least one head, and in
    stacks deeper than three layers the counts need not fall from scale to scale.

    Args:
        layer: From 1 (the lowest) to `layers`.
        layers: Number of layers.
        heads: Heads of the layer.
        scales: Number of candidate scales.
        alpha: Preference for small scales in low layers; 0 = uniform, negative = for large ones.

    Raises:
        ConfigError: A count is not positive, `layer` is out of range, or alpha is not finite.
    """
    if not 1 <= layer <= layers:
        raise ConfigError(f"layer must be between 1 and {layers}, got {layer}")
    if heads < 1 or scales < 1:
        raise ConfigError(f"need at least one head and one scale, got {heads} and {scales}")
    if not math.isfinite(alpha):
        raise ConfigError(f"alpha must be a finite number, got {alpha}")
    step = 0.0 if layer == layers else alpha / layer
    logits = [(scales - 1 - k) * step for k in range(scales)]
    weights = [math.exp(z - max(logits)) for z in logits]
    running, assigned, counts = 0.0, 0, []
    for k, weight in enumerate(weights):
        running += weight
        share = running / sum(weights) * heads
        # 1e-9: or 25.000000000000004 in floats would become 26. At least 1: the ceiling of a positive
        # share, however small, also where exp underflows. The last scale takes the rest.
        upto = heads if k == scales - 1 else min(heads, max(1, math.ceil(share - 1e-9)))
        counts.append(upto - assigned)
        assigned = upto
    return counts


def allocate_scales(
    layer: int, layers: int, heads: int, scales: Sequence[Scale], alpha: float
) -> tuple[Prior, ...]:
    """One prior per head of a layer (MS-Transformer, Eq. 11-12), small scales first.

    Args:
        layer: From 1 to `layers`.
        layers: Number of layers.
        heads: Heads of the layer.
        scales: Candidates from the smallest to the largest: an odd width (`3`), a part of the text's
            length (`"n/16"`, `1/16`), or any prior.
        alpha: See `head_counts`.

    Raises:
        ConfigError: As for `head_counts`; or a scale cannot be read, or is no possible window.
    """
    counts = head_counts(layer, layers, heads, len(scales), alpha)
    return tuple(
        prior for prior, count in zip(map(parse_scale, scales), counts, strict=True) for _ in range(count)
    )


def parse_scale(scale: Scale) -> Prior:
    """`3` or `"3"` -> `Window(width=3)`; `"n/16"` or `1/16` -> `Window(fraction=1/16)`; priors as is."""
    if isinstance(scale, Prior):
        return scale
    if isinstance(scale, Integral):
        return Window(width=scale)
    if isinstance(scale, Real):
        return Window(fraction=scale)
    try:
        text = cast(str, scale).strip().lower()
        if text == "n" or text.startswith("n/"):
            return Window(fraction=float(Fraction("1" + text[1:])))
        if text.isdecimal():
            return Window(width=int(text))
        return Window(fraction=float(Fraction(text)))
    except (AttributeError, ValueError, ZeroDivisionError, OverflowError):
        raise ConfigError(
            f"cannot read the scale {scale!r}; give an odd width such as 3 or a part of the "
            "text's length such as n/16"
        ) from None
