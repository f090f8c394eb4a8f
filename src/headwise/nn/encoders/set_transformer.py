"""Set Transformer (Lee, Lee, Kim, Kosiorek, Choi, Teh; ICML 2019): attention blocks for sets.

    MAB(X, Y) = LN(H + rFF(H)),  H = LN(X + Multihead(X, Y, Y))
    SAB(X) = MAB(X, X)
    ISAB_m(X) = MAB(X, MAB(I, X)),  I: m learned points
    PMA_k(Z) = MAB(S, rFF(Z)),  S: k learned seeds

Multihead takes the softmax of the scores divided by the root of the full width, not of a head's (`scale`).
Two published codes and the paper differ (`block`):

    paper      the residual is X itself; the heads are mixed by W^O;       H + ReLU(linear(H))
    released   the residual is the projected query, head by head; no W^O;  H + ReLU(linear(H))
    tf         like released, in the second step however                   ReLU(H + linear(H))

The released PyTorch code leaves the layer norms off (`norm`), the TensorFlow code of the paper's figures
has them on ("post"). The rFF inside of PMA is left out in all of the paper's experiments, and here. Sets of
any sizes, also empty ones, stand in one batch. As an encoder of texts this sees a bag of words unless
position embeddings are switched on.
"""

import torch
from torch import Tensor, nn, relu

from headwise.core.errors import ConfigError
from headwise.nn.attention.cross import cross_attention
from headwise.nn.encoders.encoder import Encoded, Positions
from headwise.nn.encoders.set_configs import SetTransformerConfig
from headwise.nn.layers.dropout import Dropout
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged, RaggedModule


class SetTransformer(RaggedModule):
    """A stack of ISABs (or SABs); PMA with one seed gives the state of the whole set."""

    def __init__(self, config: SetTransformerConfig | None = None):
        super().__init__()
        self.config = c = config or SetTransformerConfig()
        self.positions = Positions(c.positions, c.width, c.max_positions)
        self.blocks = nn.ModuleList(
            ISAB(c.width, c.width, c, induced=c.induced) if c.induced else SAB(c.width, c.width, c)
            for _ in range(c.layers)
        )
        self.pma = PMA(c.width, c, seeds=1)
        self.dropout = Dropout(c.dropout)

    def forward(self, x: Ragged) -> Encoded:
        """Word vectors of `[width]` -> the states of the words and of the whole set."""
        h = self.positions(x)
        for block in self.blocks:
            h = block(h).map(self.dropout)
        return Encoded(h, self.dropout(self.pma(h).values))


class MAB(RaggedModule):
    """Multihead attention block: the rows of X look at the rows of Y, set by set.

    Args:
        query_width: Features of the rows of X.
        key_width: Features of the rows of Y.
        width: Features of the result; with the block "paper" it must be `query_width`.
        config: Its heads, block, norm, scale and bias count.

    Raises:
        ConfigError: The heads do not divide the width, the widths do not fit the block, or a setting is
            unknown.
    """

    def __init__(self, query_width: int, key_width: int, width: int, config: SetTransformerConfig):
        super().__init__()
        c = config
        if width % c.heads:
            raise ConfigError(
                f"{c.heads} heads cannot share a width of {width} evenly; choose a divisor of it"
            )
        if c.block == "paper" and query_width != width:
            raise ConfigError(
                f"with block = paper the residual keeps its width of {query_width}, which cannot become "
                f"{width}; project the input first, or take another block"
            )
        self.config = c
        self.scale = (width if c.scale == "model" else width // c.heads) ** -0.5
        self.query = nn.Linear(query_width, width, bias=c.bias)
        self.key = nn.Linear(key_width, width, bias=c.bias)
        self.value = nn.Linear(key_width, width, bias=c.bias)
        self.out = nn.Linear(width, width, bias=c.bias) if c.block == "paper" else None  # W^O
        self.feedforward = nn.Linear(width, width)  # rFF
        before, after = c.norm == "pre", c.norm == "post"
        self.query_norm = nn.LayerNorm(query_width) if before else nn.Identity()
        self.key_norm = nn.LayerNorm(key_width) if before else nn.Identity()
        self.feedforward_norm = nn.LayerNorm(width) if before else nn.Identity()
        self.norm1 = nn.LayerNorm(width) if after else nn.Identity()
        self.norm2 = nn.LayerNorm(width) if after else nn.Identity()

    def forward(self, x: Ragged, y: Ragged) -> Ragged:
        """X of `[query_width]` and Y of `[key_width]` rows, as many sets -> the layout of X, `[width]`."""
        q, k, v = self.projected(x, y)
        seen = cross_attention(q, k, v, x.layout, y.layout, self.scale)
        return self.added(x, q, seen)

    def projected(self, x: Ragged, y: Ragged) -> list[Tensor]:
        """Queries, keys and values, `[total, heads, size]`."""
        keys = self.key_norm(y.values)
        rows = self.query(self.query_norm(x.values)), self.key(keys), self.value(keys)
        return [projection.unflatten(-1, (self.config.heads, -1)) for projection in rows]

    def added(self, x: Ragged, query: Tensor, seen: Tensor) -> Ragged:
        """X, its queries and what they saw -> the block's output."""
        query, seen = query.flatten(1), seen.flatten(1)
        h: Tensor = self.norm1(query + seen if self.out is None else x.values + self.out(seen))
        inner = self.feedforward(self.feedforward_norm(h))
        h = relu(h + inner) if self.config.block == "tf" else h + relu(inner)
        return x.with_values(self.norm2(h))


class SAB(RaggedModule):
    """Set attention block: every element looks at all elements, `MAB(X, X)`."""

    def __init__(self, in_width: int, width: int, config: SetTransformerConfig):
        super().__init__()
        self.mab = MAB(in_width, in_width, width, config)

    def forward(self, x: Ragged) -> Ragged:
        """Rows of `[in_width]` -> rows of `[width]`."""
        return self.mab(x, x)


class ISAB(RaggedModule):
    """Induced set attention block: elements look at m learned points that have looked at all elements.

    Args:
        in_width: Features of an element.
        width: Features of the result.
        config: See `MAB`.
        induced: How many points, m.
    """

    def __init__(self, in_width: int, width: int, config: SetTransformerConfig, *, induced: int):
        super().__init__()
        self.points = LearnedSet(induced, width)
        self.gather = MAB(width, in_width, width, config)
        self.spread = MAB(in_width, width, width, config)

    def forward(self, x: Ragged) -> Ragged:
        """Rows of `[in_width]` -> rows of `[width]`."""
        return self.spread(x, self.gather(self.points(x.layout), x))


class PMA(RaggedModule):
    """Pooling by multihead attention: k learned seeds look at the set. An empty set gives what the seeds
    give by themselves.

    Args:
        width: Features of an element and of the result.
        config: See `MAB`.
        seeds: How many rows a set becomes, k.
    """

    def __init__(self, width: int, config: SetTransformerConfig, *, seeds: int):
        super().__init__()
        self.seeds = LearnedSet(seeds, width)
        self.mab = MAB(width, width, width, config)

    def forward(self, z: Ragged) -> Ragged:
        """Sets of any size -> sets of `seeds` rows of `[width]`."""
        return self.mab(self.seeds(z.layout), z)


class LearnedSet(nn.Module):
    """A learned set, shared by all sets of a batch: the inducing points I and the seeds S."""

    def __init__(self, rows: int, width: int):
        super().__init__()
        if rows < 1:
            raise ConfigError(f"a learned set needs at least one row, got {rows}")
        self.rows = nn.Parameter(torch.empty(rows, width))
        nn.init.xavier_uniform_(self.rows)

    def forward(self, layout: Layout) -> Ragged:
        """One copy of the rows for each set of `layout`; cached in it, so that blocks can share plans."""
        rows = len(self.rows)
        copies = layout.cached((LearnedSet, rows), lambda: Layout([rows] * layout.texts, layout.device))
        return Ragged(self.rows.repeat(layout.texts, 1), copies)
