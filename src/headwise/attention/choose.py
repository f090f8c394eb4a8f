"""Which implementation of attention runs, and why.

`attention(..., impl="auto")` takes the first implementation that can run the configuration at hand, the
fastest first. Asking for one by name never falls back silently: if it cannot run, that is an error with
the reason.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

from headwise.attention import reference, sdpa
from headwise.errors import ConfigError
from headwise.priors import Prior
from headwise.ragged import Layout

AttentionFunction = Callable[[Tensor, Tensor, Tensor, Sequence[Prior], Layout], Tensor]


@dataclass(frozen=True)
class Implementation:
    """One way to compute attention.

    Attributes:
        run: The function, with the signature of `headwise.attention.reference.attention`.
        refuses: Why it cannot run these tensors and priors, or None where it can.
    """

    run: AttentionFunction
    refuses: Callable[[Tensor, Sequence[Prior], Layout], str | None]


def _never(query: Tensor, priors: Sequence[Prior], layout: Layout) -> str | None:
    return None


# In the order in which "auto" prefers them.
IMPLEMENTATIONS: dict[str, Implementation] = {
    "sdpa": Implementation(sdpa.attention, _never),
    "reference": Implementation(reference.attention, _never),
}


@dataclass(frozen=True)
class Choice:
    """The implementation that would run, and what was said about the others.

    Attributes:
        name: Key of `IMPLEMENTATIONS`.
        reasons: A line for each implementation that was looked at.
    """

    name: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join((self.name, *self.reasons))


def choose(query: Tensor, priors: Sequence[Prior], layout: Layout, impl: str = "auto") -> Choice:
    """The implementation that `attention` would use for these tensors, without running it.

    Raises:
        ConfigError: `impl` is unknown, or was asked for by name and cannot run this.
    """
    if impl != "auto" and impl not in IMPLEMENTATIONS:
        raise ConfigError(f"unknown attention {impl!r}; known are auto, {', '.join(IMPLEMENTATIONS)}")
    reasons = []
    for name in IMPLEMENTATIONS if impl == "auto" else (impl,):
        refusal = IMPLEMENTATIONS[name].refuses(query, priors, layout)
        if refusal is None:
            why = "asked for by name" if impl != "auto" else "the fastest that can run this"
            return Choice(name, (*reasons, f"{name}: taken, {why}"))
        reasons.append(f"{name}: cannot run, {refusal}")
    raise ConfigError(f"attention {impl!r} cannot run: {reasons[-1]}")


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    priors: Sequence[Prior],
    layout: Layout,
    impl: str = "auto",
) -> Tensor:
    """Multi-head attention with a prior on every head, within each text.

    See `headwise.attention.reference.attention` for the mathematics, the shapes and what a row that
    sees nothing gives; `impl` only says how it is computed.

    Raises:
        ConfigError: The shapes, the dtypes, the number of priors or `impl` do not fit.
    """
    if (
        query.dim() != 3
        or value.dim() != 3
        or key.shape != query.shape
        or value.shape[:2] != query.shape[:2]
    ):
        raise ConfigError(
            f"query {tuple(query.shape)}, key {tuple(key.shape)} and value {tuple(value.shape)} must be "
            "[total, heads, size], agree in [total, heads], and query and key in size"
        )
    if not query.is_floating_point() or not query.dtype == key.dtype == value.dtype:
        raise ConfigError(
            f"query, key and value must have one floating-point dtype, got {query.dtype}, {key.dtype} "
            f"and {value.dtype}"
        )
    for prior in priors:
        if prior.learned:
            raise ConfigError(f"the prior {str(prior)!r} has parameters: it works inside of SelfAttention")
    total, heads, _ = query.shape
    if len(priors) != heads or heads == 0:
        raise ConfigError(f"one prior for each of one or more heads, got {len(priors)} and {heads} heads")
    if total != layout.total:
        raise ConfigError(f"{total} rows, but the layout has {layout.total}")
    name = choose(query, priors, layout, impl).name
    return IMPLEMENTATIONS[name].run(query, key, value, priors, layout)
