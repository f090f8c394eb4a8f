"""The choice of the implementation of attention, with reasons.

`attention(..., impl="auto")` takes, for each head, the first implementation that can run it, the fastest
first. A named implementation never falls back silently: if it cannot run, that is an error with the reason.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headwise.core.errors import ConfigError
from headwise.nn.attention import reference, sdpa
from headwise.nn.attention.cpu import banded
from headwise.nn.attention.gpu import triton_band
from headwise.nn.layout import Layout
from headwise.nn.priors import Prior

AttentionFunction = Callable[[Tensor, Tensor, Tensor, Sequence[Prior], Layout], Tensor]
Verdict = Callable[[Tensor, Sequence[Prior], Layout], str | None]


def _always_supported(query: Tensor, priors: Sequence[Prior], layout: Layout) -> str | None:
    return None


@dataclass(frozen=True)
class Implementation:
    """One way to compute attention.

    Attributes:
        run: The function, with the signature of `headwise.nn.attention.reference.attention`.
        unsupported_reason: Why it cannot run these tensors and priors, or None where it can.
        slower: Why the next one that can run this is faster, or None where it is not.
        leaves_out: Whether query and key may leave out the heads that see only themselves.
    """

    run: AttentionFunction
    unsupported_reason: Verdict
    slower: Verdict = _always_supported
    leaves_out: bool = False


# In the order in which "auto" prefers them.
IMPLEMENTATIONS: dict[str, Implementation] = {
    "banded": Implementation(banded.attention, banded.unsupported_reason, leaves_out=True),
    "triton": Implementation(
        triton_band.attention, triton_band.unsupported_reason, triton_band.slower_reason, leaves_out=True
    ),
    "sdpa": Implementation(sdpa.attention, _always_supported),
    "reference": Implementation(reference.attention, _always_supported),
}


@dataclass(frozen=True)
class Choice:
    """The implementation that would run, and the reasons against the others.

    Attributes:
        groups: Key of `IMPLEMENTATIONS` and the heads that it computes.
        reasons: A line for each implementation that was considered, or several if heads differ.
    """

    groups: tuple[tuple[str, tuple[int, ...]], ...]
    reasons: tuple[str, ...]

    @property
    def name(self) -> str:
        """Key of `IMPLEMENTATIONS`; several with + between them where they share the heads."""
        return "+".join(name for name, _ in self.groups)

    def __str__(self) -> str:
        return "\n".join((self.name, *self.reasons))


def choose(query: Tensor, priors: Sequence[Prior], layout: Layout, impl: str = "auto") -> Choice:
    """The implementation that `attention` would use for these tensors, without running it.

    "auto" asks for each head, so that a head which the fastest cannot run does not keep it from the others.

    Raises:
        ConfigError: `impl` is unknown, or the named implementation cannot run this.
    """
    if impl == "auto":
        return _fastest(query, priors, layout)
    if impl not in IMPLEMENTATIONS:
        raise ConfigError(f"unknown attention {impl!r}; expected one of auto, {', '.join(IMPLEMENTATIONS)}")
    refusal = IMPLEMENTATIONS[impl].unsupported_reason(query, priors, layout)
    if refusal is not None:
        raise ConfigError(f"attention {impl!r} cannot run: {refusal}")
    return Choice(((impl, tuple(range(len(priors)))),), (f"{impl}: taken, asked for by name",))


def _fastest(query: Tensor, priors: Sequence[Prior], layout: Layout) -> Choice:
    left, groups, reasons = tuple(range(len(priors))), [], []
    for name, implementation in IMPLEMENTATIONS.items():
        refusals: dict[Prior, str | None] = {}
        for prior in {priors[h]: None for h in left}:
            refusal = implementation.unsupported_reason(query, [prior], layout)
            slower = None if refusal else implementation.slower(query, [prior], layout)
            refusals[prior] = f"cannot run, {refusal}" if refusal else slower and f"not taken, {slower}"
        taken = tuple(h for h in left if refusals[priors[h]] is None)
        for refusal in dict.fromkeys(filter(None, refusals.values())):
            heads = tuple(h for h in left if refusals[priors[h]] == refusal)
            reasons.append(f"{name}{_of(heads, priors)}: {refusal}")
        left = tuple(h for h in left if h not in taken)
        if taken:
            groups.append((name, taken))
            reasons.append(f"{name}{_of(taken, priors)}: taken, the fastest that can run this")
        if not left:
            return Choice(tuple(groups), tuple(reasons))
    raise ConfigError(f"no attention can run this: {'; '.join(reasons)}")


def _of(heads: tuple[int, ...], priors: Sequence[Prior]) -> str:
    """The heads that a message is about; "" for all heads."""
    if len(heads) == len(priors):
        return ""
    return f" for head{'s' * (len(heads) > 1)} {', '.join(map(str, heads))}"


def check_priors(priors: Sequence[Prior]) -> None:
    """Check that `priors` is a list of immutable priors.

    Raises:
        ConfigError: It is one prior instead of a list, or an element is no prior or can change.
    """
    if isinstance(priors, Prior):
        raise ConfigError(f"expected a prior for each head, got the one {priors}; give a list of them")
    if not_priors := [prior for prior in priors if not isinstance(prior, Prior)]:
        raise ConfigError(
            f"expected a prior for each head, got {not_priors[0]!r}; parse_prior reads spelled ones"
        )
    for prior in priors:
        try:
            hash(prior)
        except TypeError:  # heads with the same prior are computed together
            raise ConfigError(
                f"the prior {prior!r} could be changed while it is used; make what it consists of frozen "
                "dataclasses, @dataclass(frozen=True), with tuples for lists"
            ) from None


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    priors: Sequence[Prior],
    layout: Layout,
    impl: str = "auto",
    *,
    attending: Sequence[int] | None = None,
) -> Tensor:
    """Multi-head attention with a prior on every head, within each text.

    See `headwise.nn.attention.reference.attention` for the mathematics, the shapes and what a row that
    sees nothing gives; `impl` only says how it is computed.

    Args:
        query: Queries; `key` are keys and `value` values.
        priors: The prior of each head.
        layout: The texts.
        impl: Name of an implementation, or "auto".
        attending: The heads that `query` and `key` have; all by default. They may leave out those whose
            prior shows every position itself alone (`Prior.is_identity`): the output of such a head is its
            value.

    Raises:
        ConfigError: The shapes, the dtypes, the number of priors or `impl` do not fit.
    """
    check_priors(priors)
    _check_inputs(query, key, value, priors, layout, None if attending is None else len(attending))
    heads = len(priors)
    if attending is None:
        attending = range(heads)
    if not attending:
        return value
    seen = [priors[h] for h in attending]
    groups = choose(query, seen, layout, impl).groups
    if len(attending) == heads:
        return _in_groups(query, key, value, priors, layout, groups)
    if len(groups) == 1 and IMPLEMENTATIONS[groups[0][0]].leaves_out:
        return IMPLEMENTATIONS[groups[0][0]].run(query, key, value, priors, layout)
    output = _in_groups(query, key, value[:, list(attending)], seen, layout, groups)
    return value.index_copy(1, torch.tensor(list(attending), device=value.device), output)


def _check_inputs(
    query: Tensor, key: Tensor, value: Tensor, priors: Sequence[Prior], layout: Layout, queries: int | None
) -> None:
    """Check the inputs of `attention`; `queries` is the number of heads of `query`, None for all."""
    if (
        query.dim() != 3
        or value.dim() != 3
        or key.shape != query.shape
        or value.shape[0] != query.shape[0]
        or query.shape[1] != (value.shape[1] if queries is None else queries)
        or not query.shape[2]
    ):
        raise ConfigError(
            f"query {tuple(query.shape)}, key {tuple(key.shape)} and value {tuple(value.shape)} must be "
            "[total, heads, size], agree in [total, heads], and query and key in size, which is at least 1"
        )
    if not query.is_floating_point() or not query.dtype == key.dtype == value.dtype:
        raise ConfigError(
            f"query, key and value must have one floating-point dtype, got {query.dtype}, {key.dtype} "
            f"and {value.dtype}"
        )
    for prior in priors:
        if prior.learned:
            raise ConfigError(f"the prior {str(prior)!r} has parameters: it works inside of SelfAttention")
    total, heads, _ = value.shape
    if len(priors) != heads or heads == 0:
        raise ConfigError(f"one prior for each of one or more heads, got {len(priors)} and {heads} heads")
    if total != layout.total:
        raise ConfigError(f"{total} rows, but the layout has {layout.total}")


def _in_groups(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    priors: Sequence[Prior],
    layout: Layout,
    groups: tuple[tuple[str, tuple[int, ...]], ...],
) -> Tensor:
    """Each group of heads by its implementation."""
    if len(groups) == 1:
        return IMPLEMENTATIONS[groups[0][0]].run(query, key, value, priors, layout)
    outputs, order = [], []
    for name, heads in groups:
        adjacent = heads[-1] - heads[0] == len(heads) - 1
        part = slice(heads[0], heads[-1] + 1) if adjacent else list(heads)
        run = IMPLEMENTATIONS[name].run
        outputs.append(
            run(query[:, part], key[:, part], value[:, part], [priors[h] for h in heads], layout)
        )
        order.extend(heads)
    back = torch.tensor(order, device=value.device).argsort()
    return torch.cat(outputs, dim=1).index_select(1, back)
