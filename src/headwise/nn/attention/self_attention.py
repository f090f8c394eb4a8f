"""Multi-head self-attention: projections to heads, attention with a prior for each head, projection back.

`SelfAttention` is the whole layer. `projections` makes only its four linear layers, and `Heads` holds them
with the split into heads, for encoders that attend along edges of graphs.
"""

from collections.abc import Sequence
from itertools import groupby

from torch import Tensor, nn

from headwise.core.errors import ConfigError
from headwise.nn.attention.cpu import projected
from headwise.nn.attention.dispatch import attention, check_priors
from headwise.nn.layers.fused import is_watched
from headwise.nn.layers.row_blocks import BlockedLinear, linear
from headwise.nn.priors import Prior
from headwise.nn.priors.learned import attach_terms, learned_modules
from headwise.nn.priors.validation import check_meaning
from headwise.nn.ragged import Ragged, RaggedModule
from headwise.nn.torch_modes import exclude_from_compile


def projections(width: int, inner: int, *, bias: bool) -> list[nn.Linear]:
    """W^Q, W^K and W^V from rows of `width` features to `inner`, and W^O back.

    Raises:
        ConfigError: There are no features.
    """
    if width < 1 or inner < 1:
        raise ConfigError(
            f"attention from rows of {width} features to heads of {inner} in all; expected 1 or more"
        )
    made: list[nn.Linear] = [
        BlockedLinear(*sizes, bias=bias) for sizes in (*[(width, inner)] * 3, (inner, width))
    ]
    for projection in made:
        nn.init.xavier_uniform_(projection.weight)
        if bias:
            nn.init.zeros_(projection.bias)
    return made


class Heads(nn.Module):
    """W^Q, W^K, W^V of all heads, and W^O.

    Args:
        width: Features of a row.
        heads: Number of heads; `heads * head_size` need not equal `width`.
        head_size: Features of a head.
        bias: Whether the four projections have biases.
    """

    def __init__(self, width: int, heads: int, head_size: int, *, bias: bool = False):
        super().__init__()
        if heads < 1 or head_size < 1:
            raise ConfigError(f"attention needs heads of some size, got {heads} heads of {head_size}")
        self.heads = heads
        self.query, self.key, self.value, self.out = projections(width, heads * head_size, bias=bias)

    def split(self, projected: Tensor) -> Tensor:
        """`[rows, heads * size]` -> `[heads, rows, size]`."""
        return projected.unflatten(-1, (self.heads, -1)).transpose(0, 1).contiguous()

    def merge(self, mixed: Tensor) -> Tensor:
        """`[heads, rows, size]` -> `[rows, width]`, through W^O."""
        return self.out(mixed.transpose(0, 1).flatten(1))


class SelfAttention(RaggedModule):
    """Multi-head self-attention with one prior per head (MS-Transformer, Eq. 6-9).

    A head whose prior shows every position itself alone (a window of width 1) gives its value whatever
    its query and key are, so neither is computed for it. Heads with the same prior with parameters (Shaw's,
    say) share one module, which is in `learned`.

    Args:
        width: Features of a row.
        priors: One per head.
        head_size: Features of a head; `len(priors) * head_size` need not equal `width`.
        bias: Whether the four projections have biases.
        impl: Which implementation of attention, `"auto"` for the chooser's.
    """

    def __init__(
        self, width: int, priors: Sequence[Prior], head_size: int, *, bias: bool = False, impl: str = "auto"
    ):
        super().__init__()
        check_priors(priors)
        if not priors:
            raise ConfigError("self-attention needs at least one head")
        for prior in priors:
            check_meaning(prior)
        self.priors = tuple(priors)
        self.head_size = head_size
        self.impl = impl
        inner = len(self.priors) * head_size
        self.query, self.key, self.value, self.out = projections(width, inner, bias=bias)
        self.learned = nn.ModuleList(learned_modules(self.priors, head_size, width))
        self._attending = [h for h, prior in enumerate(self.priors) if not prior.is_identity]

    def extra_repr(self) -> str:
        """The number of heads, their size and their priors, for `print(model)`."""
        repeated = [(str(prior), len(list(heads))) for prior, heads in groupby(self.priors)]
        priors = ", ".join(f"{prior} x{count}" if count > 1 else prior for prior, count in repeated)
        return f"heads={len(self.priors)}, head_size={self.head_size}, priors=[{priors}]"

    def forward(self, x: Ragged) -> Ragged:
        """`x` of `[width]` rows -> the same layout, `[width]` rows."""
        layers = (self.query, self.key, self.value, self.out)
        if self._is_one_operation(x, layers):
            weights = [layer.weight for layer in layers]
            biases = [layer.bias for layer in layers if layer.bias is not None]
            heads = projected.HeadShapes(self.priors, tuple(self._attending), self.head_size)
            return x.with_values(projected.self_attention(x.values, heads, x.layout, weights, biases))
        mixed = self.value(x.values).unflatten(-1, (len(self.priors), self.head_size))
        if self._attending:
            query, key = (self._project(x.values, projection) for projection in (self.query, self.key))
            priors = attach_terms(self.priors, self.learned)
            # `torch.compile` cannot see through what is kept of a batch, and in PyTorch 2.14 fails at it.
            mixed = exclude_from_compile(attention)(
                query, key, mixed, priors, x.layout, self.impl, attending=self._attending
            )
        return x.with_values(self.out(mixed.flatten(1)))

    def _is_one_operation(self, x: Ragged, layers: Sequence[nn.Linear]) -> bool:
        """Whether `headwise.nn.attention.cpu.projected` computes this: the heads are bands on the CPU, and
        the projections are linear layers that nothing watches."""
        priors = [self.priors[head] for head in self._attending]
        return (
            bool(priors)
            and self.impl in ("auto", "banded")
            and not self.learned
            and all(map(_is_plain_linear, layers))
            and projected.is_supported(x.values, self.value.weight, priors, x.layout)
        )

    def _project(self, values: Tensor, projection: nn.Linear) -> Tensor:
        """The heads of a projection that need it: `[total, width]` -> `[total, heads, size]`."""
        heads, sizes = self._attending, (len(self.priors), self.head_size)
        if len(heads) == len(self.priors):
            return projection(values).unflatten(-1, sizes)
        if not _is_plain_linear(projection):
            return projection(values).unflatten(-1, sizes)[:, heads]  # what it does is its own
        # Where the heads are neighbours, their weights are a view.
        neighbours = heads[-1] - heads[0] == len(heads) - 1
        part = slice(heads[0], heads[-1] + 1) if neighbours else heads
        weight, bias = projection.weight.unflatten(0, sizes)[part].flatten(0, 1), projection.bias
        bias = None if bias is None else bias.unflatten(0, sizes)[part].flatten(0, 1)
        return linear(values, weight, bias).unflatten(-1, (len(heads), self.head_size))


def _is_plain_linear(projection: nn.Module) -> bool:
    """Whether a projection is a linear layer and nothing else: not replaced, and with nobody watching."""
    return type(projection) in (nn.Linear, BlockedLinear) and not is_watched(projection)
