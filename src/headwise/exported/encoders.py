"""Versions of the encoders on padded batches, which can be traced to ONNX graphs.

Self-attention has a padded version in `headwise.attention.padded`. This module has those of encoders whose
attention is planned for the sizes of each batch.
"""

from copy import deepcopy
from typing import cast

import torch
from torch import Tensor, nn

from headwise.attention import SelfAttention
from headwise.attention.padded import cross_attention
from headwise.encoders.base import Encoded
from headwise.encoders.positions import Positions, sinusoids
from headwise.encoders.set_transformer import MAB, LearnedSet
from headwise.encoders.star_transformer import Ring, StarStep, StarTransformer
from headwise.exported.padded import PaddedLayout
from headwise.ragged import Layout, Ragged


def on_padded(encoder: nn.Module, width: int, most: int) -> nn.Module:
    """A copy of an encoder that runs on a `PaddedLayout` while a graph is traced.

    Args:
        encoder: One of `headwise.exported.refuse.ENCODERS`.
        width: Input features of the encoder.
        most: Maximum number of words of a text.
    """
    copied = deepcopy(encoder)
    for layer in [*copied.modules()]:
        if isinstance(layer, Positions) and layer.kind == "sinusoidal":
            # As a table: many ONNX runtimes have no 64-bit sine.
            layer.kind, layer.table = "learned", nn.Embedding.from_pretrained(sinusoids(most, width))
        if isinstance(layer, SelfAttention):
            layer.impl = "sdpa"
        for name, child in layer.named_children():
            if isinstance(child, MAB):
                setattr(layer, name, PaddedMAB(child))
            if isinstance(child, LearnedSet):
                setattr(layer, name, PaddedSet(child.rows))
    return PaddedStar(copied) if isinstance(copied, StarTransformer) else copied


class PaddedMAB(nn.Module):
    """A `MAB` on padded sets."""

    def __init__(self, block: MAB):
        super().__init__()
        self.block = block

    def forward(self, x: Ragged, y: Ragged) -> Ragged:
        """See `MAB.forward`."""
        rows = self.block.projected(x, y)
        shapes = [(rows_in.layout.texts, rows_in.layout.longest) for rows_in in (x, y, y)]
        query, key, value = (
            row_set.unflatten(0, shape) for row_set, shape in zip(rows, shapes, strict=True)
        )
        seen = cross_attention(query, key, value, y.lengths, y.layout.longest, self.block.scale)
        return self.block.added(x, rows[0], seen.flatten(0, 1))


class PaddedSet(nn.Module):
    """A `LearnedSet` for padded sets."""

    def __init__(self, rows: Tensor):
        super().__init__()
        self.rows = rows

    def forward(self, layout: Layout) -> Ragged:
        """See `LearnedSet.forward`."""
        count = len(self.rows)
        set_layout = PaddedLayout(torch.full_like(layout.lengths, count), count)
        return Ragged(self.rows.repeat(layout.texts, 1), set_layout)


class PaddedStar(nn.Module):
    """A `StarTransformer` on padded texts."""

    def __init__(self, star: StarTransformer):
        super().__init__()
        self.positions, self.steps = star.positions, star.steps
        self.ends: Ring = cast(Ring, star.config.ring)

    def forward(self, x: Ragged) -> Encoded:
        """See `StarTransformer.forward`."""
        e = self.positions(x)
        h, s = e.values, e.mean()
        for step in cast(list[StarStep], self.steps):
            h = step.new_satellites(_satellites(step, step.before(h), e, s, self.ends), h)
            s = step.new_relay(_relay(step, s, x.with_values(h)), s)
        return Encoded(x.with_values(h), s, summary_is_node=False)


def _satellites(step: StarStep, h: Tensor, e: Ragged, s: Tensor, ends: Ring) -> Tensor:
    """`MultiAtt(h_i, C_i)`, `[total, width]`: each row sees its neighbours and itself, its word vector, and
    the relay."""
    att, layout = step.ring_attention, e.layout
    shape = layout.texts, layout.longest
    query = att.query(h).unflatten(1, (att.heads, -1))
    here, length = torch.arange(layout.longest)[None], layout.lengths[:, None]
    parts: list[list[Tensor]] = [[], []]
    seen = []
    for move in (-1, 0, 1):
        there = here + move
        inside = (there >= 0) & (there < length)
        seen.append(torch.ones_like(inside) if ends != "truncate" else inside)
        place = (there + length) % length.clamp(min=1) if ends == "wrap" else there.clamp(min=0)
        place = place.minimum((length - 1).clamp(min=0))
        for project, collected in zip((att.key, att.value), parts, strict=True):
            rows = project(h).unflatten(0, shape)
            shifted = rows.gather(1, place[..., None].expand(-1, -1, rows.shape[2]))
            collected.append((shifted * inside[..., None] if ends == "zero" else shifted).flatten(0, 1))
    for project, collected in zip((att.key, att.value), parts, strict=True):
        relay = project(s)[:, None].expand(-1, layout.longest, -1)
        collected += [project(e.values), relay.flatten(0, 1)]
    key, value = (torch.stack(stacked, 1).unflatten(2, (att.heads, -1)) for stacked in parts)
    scores = (query[:, None] * key).sum(3) * query.shape[-1] ** -0.5
    hidden = ~torch.stack([mask.expand(shape).flatten() for mask in seen], 1)
    scores = torch.cat([scores[:, :3].masked_fill(hidden[..., None], float("-inf")), scores[:, 3:]], 1)
    return att.out((scores.softmax(1)[..., None] * value).sum(1).flatten(1))


def _relay(step: StarStep, s: Tensor, h: Ragged) -> Tensor:
    """`MultiAtt(s, [s; H])`, `[texts, width]`."""
    att, shape = step.relay_attention, (h.layout.texts, h.layout.longest)

    def both(project: nn.Module) -> Tensor:
        rows = torch.cat([project(s)[:, None], project(h.values).unflatten(0, shape)], dim=1)
        return rows.unflatten(2, (att.heads, -1))

    query = att.query(s)[:, None].unflatten(2, (att.heads, -1))
    attended = cross_attention(query, both(att.key), both(att.value), h.lengths + 1, shape[1] + 1)
    return att.out(attended.flatten(1))
