"""The projections around multi-head attention, for encoders that attend along their own graphs."""

from torch import Tensor, nn

from headwise.errors import ConfigError


def projections(width: int, inner: int, *, bias: bool) -> list[nn.Linear]:
    """W^Q, W^K and W^V from rows of `width` features to `inner`, and W^O back.

    Raises:
        ConfigError: There are no features.
    """
    if width < 1 or inner < 1:
        raise ConfigError(
            f"attention from rows of {width} features to heads of {inner} in all; expected 1 or more"
        )
    made = [nn.Linear(*sizes, bias=bias) for sizes in (*[(width, inner)] * 3, (inner, width))]
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
