"""Encoders on padded batches, which can be traced to ONNX graphs.

A `PaddedLayout` is a layout of padded texts with dynamic sizes. An encoder runs on it as on any layout, so
its computation can be exported for any number of texts and words. Rows of padding are computed too, but no
output of a text depends on them. Encoders whose attention is planned for the sizes of each batch have a
padded version here; self-attention has one in `headwise.nn.attention.padded`.
"""

from collections.abc import Mapping
from copy import deepcopy
from functools import cached_property
from typing import Any, cast

import torch
from torch import Tensor, nn

from headwise.nn.attention import SelfAttention
from headwise.nn.attention.padded import memo_of, padded_cross_attention
from headwise.nn.encoders.encoder import Encoded, Positions, sinusoids
from headwise.nn.encoders.set_transformer import MAB, LearnedSet
from headwise.nn.encoders.star_transformer import StarStep, StarTransformer
from headwise.nn.encoders.transformer_configs import Ring
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged


class PaddedLayout(Layout):
    """The layout of `[texts * longest]` rows, `longest` for each text.

    While a graph is traced, its sizes are symbolic, so `sizes` is not available.

    Args:
        lengths: Number of rows of each text that are not padding, int64 `[texts]`.
        longest: Rows of each text, padding included; at least the largest length.
        padded_marks: By name, the marks of the rows, `[texts, longest]` (see `Layout`).
    """

    longest: Any
    texts: Any = None  # type: ignore[assignment]
    total: Any

    def __init__(self, lengths: Tensor, longest: Any, padded_marks: Mapping[str, Tensor] | None = None):
        self.device, self.heads, self._trees = lengths.device, None, None
        self.marks, self.matrices = {}, {}
        self._lengths, self.longest, self.texts = lengths, longest, lengths.shape[0]
        self.total = self.texts * longest
        self.padded_marks = dict(padded_marks or {})
        self.memo = memo_of(lengths, longest, self.padded_marks)

    @cached_property
    def lengths(self) -> Tensor:  # type: ignore[override]
        return self._lengths

    @cached_property
    def offsets(self) -> Tensor:  # type: ignore[override]
        """First row of each text, and the end, `[texts + 1]`."""
        return torch.arange(self.texts + 1, device=self.device) * self.longest

    @cached_property
    def text_of(self) -> Tensor:  # type: ignore[override]
        texts = torch.arange(self.texts, device=self.device)
        return texts[:, None].expand(-1, self.longest).reshape(-1)

    @cached_property
    def positions(self) -> Tensor:  # type: ignore[override]
        places = torch.arange(self.longest, device=self.device)
        return places[None].expand(self.texts, -1).reshape(-1)

    @cached_property
    def prepended(self) -> "PaddedLayout":  # type: ignore[override]
        all_units = torch.full_like(self.lengths, -1)[:, None]
        marks = {name: torch.cat([all_units, numbers], 1) for name, numbers in self.padded_marks.items()}
        return PaddedLayout(self.lengths + 1, self.longest + 1, marks)

    @property
    def without_first(self) -> "PaddedLayout":
        marks = {name: numbers[:, 1:] for name, numbers in self.padded_marks.items()}
        return PaddedLayout(self.lengths - 1, self.longest - 1, marks)

    @cached_property
    def real(self) -> Tensor:
        """Mask of the rows that are not padding, bool `[texts, longest]`."""
        return torch.arange(self.longest, device=self.device)[None] < self.lengths[:, None]

    def prepend_rows(self, values: Tensor, row: Tensor) -> Tensor:
        rows = values.unflatten(0, (self.texts, self.longest))
        return torch.cat([row.expand(self.texts, 1, *row.shape), rows], dim=1).flatten(0, 1)

    def split_first_rows(self, values: Tensor, rest: Layout) -> tuple[Tensor, Tensor]:
        rows = values.unflatten(0, (self.texts, self.longest))
        return rows[:, 0], rows[:, 1:].flatten(0, 1)

    def segment_sums(self, values: Tensor) -> Tensor:
        return self._filled(values, 0.0).sum(1)

    def segment_maxima(self, values: Tensor) -> Tensor:
        empty = self.lengths.view(-1, *[1] * (values.dim() - 1)) == 0
        return self._filled(values, float("-inf")).amax(1).masked_fill(empty, 0.0)

    def _filled(self, values: Tensor, fill: float) -> Tensor:
        """Rows, `[total, ...]` -> `[texts, longest, ...]`, with `fill` in the place of padding."""
        rows = values.unflatten(0, (self.texts, self.longest))
        return rows.masked_fill(~self.real.view(*self.real.shape, *[1] * (values.dim() - 1)), fill)


def on_padded(encoder: nn.Module, width: int, most: int) -> nn.Module:
    """A copy of an encoder that runs on a `PaddedLayout` while a graph is traced.

    Args:
        encoder: One of `headwise.artifacts.onnx.graph.ENCODERS`.
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
        seen = padded_cross_attention(query, key, value, y.lengths, y.layout.longest, self.block.scale)
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
        self.star = star

    def forward(self, x: Ragged) -> Encoded:
        """See `StarTransformer.forward`."""
        star = self.star
        e = star.positions(x)
        h, s = e.values, star.first_relays(e)
        for step in cast(list[StarStep], star.steps):
            h = step.new_satellites(_satellites(step, step.before(h), e, s, star.config.ring), h)
            s = step.new_relay(_relay(step, s, x.with_values(h)), s)
        return Encoded(x.with_values(h), star.summary(s), summary_is_node=False)


def _satellites(step: StarStep, h: Tensor, e: Ragged, s: Tensor, ends: Ring) -> Tensor:
    """`MultiAtt(h_i, C_i)`, `[total, width]`: each row sees its neighbours and itself, its word vector, and
    the relays."""
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
        relays = project(s).unflatten(0, (-1, step.relays))[:, None].expand(-1, layout.longest, -1, -1)
        collected += [project(e.values), *relays.flatten(0, 1).unbind(1)]
    key, value = (torch.stack(stacked, 1).unflatten(2, (att.heads, -1)) for stacked in parts)
    scores = (query[:, None] * key).sum(3) * query.shape[-1] ** -0.5
    hidden = ~torch.stack([mask.expand(shape).flatten() for mask in seen], 1)
    scores = torch.cat([scores[:, :3].masked_fill(hidden[..., None], float("-inf")), scores[:, 3:]], 1)
    return att.out((scores.softmax(1)[..., None] * value).sum(1).flatten(1))


def _relay(step: StarStep, s: Tensor, h: Ragged) -> Tensor:
    """`MultiAtt(s, [s; H])`, `[texts * relays, width]`."""
    att, relays, shape = step.relay_attention, step.relays, (h.layout.texts, h.layout.longest)

    def both(project: nn.Module) -> Tensor:
        of_relays = project(s).unflatten(0, (shape[0], relays))
        rows = torch.cat([of_relays, project(h.values).unflatten(0, shape)], dim=1)
        return rows.unflatten(2, (att.heads, -1))

    query = att.query(s).unflatten(0, (shape[0], relays)).unflatten(2, (att.heads, -1))
    lengths = h.lengths + relays
    attended = padded_cross_attention(query, both(att.key), both(att.value), lengths, shape[1] + relays)
    return att.out(attended.flatten(2).flatten(0, 1))
