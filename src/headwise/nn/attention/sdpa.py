"""Attention through PyTorch's fused kernel, with an additive mask for each prior, padded inside.

Texts of similar length are padded together, so that one long text does not make short ones pay.
Neighbouring heads with the same prior share one mask, and masks are kept in the layout's memo: the layers
of an encoder that use the same priors on the same batch build them once. Heads whose prior has parameters
are computed one by one, without the kernel. Inputs of 16 bits on the CPU are computed in float32
(`computed_in_float32`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Concatenate, ParamSpec

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn.functional import scaled_dot_product_attention

from headwise.nn.layout import Layout
from headwise.nn.priors import PositionPairs, Prior
from headwise.nn.priors.learned import Tuned
from headwise.nn.torch_modes import cacheable_tensors

P = ParamSpec("P")
_HALF = (torch.float16, torch.bfloat16)


def computed_in_float32(
    attend: Callable[Concatenate[Tensor, Tensor, Tensor, P], Tensor],
) -> Callable[Concatenate[Tensor, Tensor, Tensor, P], Tensor]:
    """Decorates attention: 16-bit inputs on the CPU are computed in float32, and the output is 16-bit
    again. The fused kernel is slower in 16 bits there (and autocast would choose it), and they are too few
    for large scores."""

    @wraps(attend)
    def computed(query: Tensor, key: Tensor, value: Tensor, *more: P.args, **named: P.kwargs) -> Tensor:
        if query.dtype not in _HALF or query.device.type != "cpu":
            return attend(query, key, value, *more, **named)
        with torch.autocast("cpu", enabled=False):
            return attend(query.float(), key.float(), value.float(), *more, **named).to(query.dtype)

    return computed


_RATIO = 1.25  # texts are padded together while the longest is at most this many times the shortest
_SLACK = 8  # ... or at most this many positions longer
_FAR = 0.1  # divided by the precision: rows whose scores all lie beyond keep no digits of their sum


@computed_in_float32
def attention(query: Tensor, key: Tensor, value: Tensor, priors: Sequence[Prior], layout: Layout) -> Tensor:
    """The same function as `headwise.nn.attention.reference.attention`; see there."""
    plan = Plan.of(layout)
    if not plan.groups:
        return value  # no rows
    inputs = [plan.arrange(x) for x in (query, key, value)]
    outputs = []
    for group, *packed in zip(plan.groups, *inputs, strict=True):
        q, k, v = (group.pad(x) for x in packed)
        heads = [
            _attend_heads(q[:, run], k[:, run], v[:, run], prior, group)
            for prior, run in _runs_of_heads(priors)
        ]
        outputs.append(group.unpad(heads[0] if len(heads) == 1 else torch.cat(heads, dim=1)))
    return plan.restore(outputs)


def _attend_heads(q: Tensor, k: Tensor, v: Tensor, prior: Prior, group: "Group") -> Tensor:
    """The heads with one prior: `[texts, heads, longest, size]` three times -> one of values."""
    if isinstance(prior, Tuned):
        return _learned_head(q.squeeze(1), k.squeeze(1), v.squeeze(1), prior, group).unsqueeze(1)
    bias, empty = group.mask(prior, q.dtype)
    q, k = (prior.rotate(x, group.place) for x in (q, k))
    lost = bias is not None and (prior, q.dtype) in group.far
    if lost or forward_ad._current_level >= 0:
        # The gradient of the fused kernel goes by the logarithm of a row's sum, which is lost here; it has
        # no derivatives in forward mode.
        scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        head = (scores if bias is None else scores + bias).softmax(-1) @ v
    else:
        head = scaled_dot_product_attention(q, k, v, bias)
    return head if empty is None else head.masked_fill(empty, 0.0)


def _learned_head(q: Tensor, k: Tensor, v: Tensor, prior: Tuned, group: "Group") -> Tensor:
    """One head whose prior has parameters, `[texts, longest, size]`. The fused kernel does not return its
    weights, which the terms on the values need, so the head is computed in steps. The cached mask is that
    of the prior without its parameters."""
    bias, empty = group.mask(prior.prior, q.dtype)
    logits = (
        prior.rotate(q, group.place) @ prior.rotate(k, group.place).transpose(-1, -2) / q.shape[-1] ** 0.5
    )
    logits = prior.add_scores(logits, q, k, group.pairs)
    logits = logits if bias is None else logits + bias.squeeze(1)
    weights = prior.add_sinks(logits.softmax(-1), logits).to(v.dtype)
    if empty is not None:
        weights = weights.masked_fill(empty.squeeze(1), 0.0)
    return prior.add_values(weights @ v, weights, group.pairs)


def _runs_of_heads(priors: Sequence[Prior]) -> list[tuple[Prior, slice]]:
    """Neighbouring heads with equal priors, as slices of heads."""
    runs: list[tuple[Prior, slice]] = []
    for head, prior in enumerate(priors):
        if runs and runs[-1][0] == prior:
            runs[-1] = (prior, slice(runs[-1][1].start, head + 1))
        else:
            runs.append((prior, slice(head, head + 1)))
    return runs


@dataclass
class Group:
    """Texts of similar length that are padded together.

    `flat` is the place in the padded group, `text * longest + position`, of each real row; None where no
    text needs padding. The sizes are left out where a graph leaves them open
    (`headwise.nn.attention.padded`).
    `far` has the masks that are far from 0 in all of a row.
    """

    sizes: list[int]
    lengths: Tensor
    flat: Tensor | None
    trees: tuple[Tensor, ...] | None
    marks: Mapping[str, tuple[Tensor, ...]]
    matrices: Mapping[str, tuple[Tensor, ...]]
    masks: dict[tuple[Prior, torch.dtype], tuple[Tensor | None, Tensor | None]]
    far: set[tuple[Prior, torch.dtype]] = field(default_factory=set)

    @classmethod
    def of(cls, part: Layout) -> "Group":
        sizes = list(part.sizes)
        same = sizes[0] == sizes[-1]
        # One row of masks serves all texts when none of them differ in length (or in trees or marks).
        lengths = torch.tensor(sizes[:1] if same else sizes, device=part.device)
        flat = None if same else part.text_of * part.longest + part.positions
        return cls(sizes, lengths, flat, part.trees, part.marks, part.matrices, {})

    @property
    def texts(self) -> int:
        return len(self.sizes)

    @property
    def longest(self) -> int:
        return self.sizes[0]

    def pad(self, packed: Tensor) -> Tensor:
        """`[rows, heads, size]` -> `[texts, heads, longest, size]`."""
        if self.flat is not None:
            shape = (self.texts * self.longest, *packed.shape[1:])
            packed = packed.new_zeros(shape).index_copy(0, self.flat, packed)
        return packed.unflatten(0, (self.texts, self.longest)).transpose(1, 2)

    def unpad(self, padded: Tensor) -> Tensor:
        """`[texts, heads, longest, size]` -> `[rows, heads, size]`."""
        packed = padded.transpose(1, 2).flatten(0, 1)
        return packed if self.flat is None else packed.index_select(0, self.flat)

    def mask(self, prior: Prior, dtype: torch.dtype) -> tuple[Tensor | None, Tensor | None]:
        """The additive mask, broadcasting to `[texts, heads, longest, longest]`, None where it would be
        zero; and which rows see nothing, None where the prior leaves no such row."""
        if (prior, dtype) not in self.masks:
            with cacheable_tensors():
                self.masks[prior, dtype] = self._mask(prior, dtype)
        return self.masks[prior, dtype]

    def _mask(self, prior: Prior, dtype: torch.dtype) -> tuple[Tensor | None, Tensor | None]:
        pairs = self.pairs
        visible, score = prior.visible(pairs), prior.score(pairs)
        if visible.dim() < 3:  # it may leave out what it broadcasts over
            visible = visible.expand(torch.broadcast_shapes(visible.shape, pairs.key.shape))
        if self.flat is not None:
            visible = visible & (pairs.key < pairs.length)
        empty = None
        if not prior.sees_self:
            empty = ~visible.any(-1, keepdim=True)
            visible = visible | empty
            empty = empty[:, None]
        if self.flat is not None and visible.shape[1] > 1:
            # Queries in the padding: what they see is thrown away, but it must not be nothing.
            visible = visible | (pairs.query >= pairs.length)
        scored = score is not None
        if score is None:
            if self.sizes and bool(visible.all()):
                return None, empty
            score = visible.new_zeros((), dtype=dtype)
        bias = torch.where(visible, score.to(dtype), float("-inf"))
        precision = torch.finfo(torch.promote_types(dtype, torch.float32)).eps
        if scored and self.sizes and bool((bias.amax(-1).abs() > _FAR / precision).any()):
            self.far.add((prior, dtype))
        return bias[:, None].expand(self.texts, -1, -1, -1), empty

    @cached_property
    def place(self) -> Tensor:
        """The positions, `[longest]`."""
        with cacheable_tensors():
            return torch.arange(self.longest, device=self.lengths.device)

    @cached_property
    def pairs(self) -> PositionPairs:
        """All pairs of all texts, which broadcast to `[texts, longest, longest]`."""
        with cacheable_tensors():
            place, lengths = self.place, self.lengths
            marks = {name: self._padded(numbers) for name, numbers in self.marks.items()}
            both = {name: (mark[:, :, None], mark[:, None, :]) for name, mark in marks.items()}
            ends = lengths[:, None, None]
            matrices = {name: self._padded_square(numbers) for name, numbers in self.matrices.items()}
            tree = None if self.trees is None else self._padded_square(self.trees)
            return PositionPairs(place[None, :, None], place[None, None, :], ends, tree, both, matrices)

    def _padded(self, numbers: tuple[Tensor, ...]) -> Tensor:
        """The numbers of the rows of each text, `[texts, longest]`, 0 in the padding."""
        padded = numbers[0].new_zeros(len(self.sizes), self.longest)
        for row, text_numbers in zip(padded, numbers, strict=True):
            row[: len(text_numbers)] = text_numbers
        return padded

    def _padded_square(self, numbers: tuple[Tensor, ...]) -> Tensor:
        """The numbers of the pairs of rows of each text, `[texts, longest, longest]`, 0 in the padding."""
        padded = numbers[0].new_zeros(len(self.sizes), self.longest, self.longest)
        for place, matrix in zip(padded, numbers, strict=True):
            place[: len(matrix), : len(matrix)] = matrix
        return padded


@dataclass
class Plan:
    """How a batch is cut into groups; kept in the layout's memo."""

    groups: list[Group]
    rows: list[int]
    order: Tensor | None
    inverse: Tensor | None

    @classmethod
    def of(cls, layout: Layout) -> "Plan":
        return layout.cached(cls, lambda: cls._make(layout))

    @classmethod
    def _make(cls, layout: Layout) -> "Plan":
        texts = sorted(range(layout.texts), key=lambda t: -layout.sizes[t])
        cuts: list[list[int]] = []  # texts
        for text in texts:
            size = layout.sizes[text]
            if cuts and size and layout.sizes[cuts[-1][0]] <= max(size * _RATIO, size + _SLACK):
                cuts[-1].append(text)
            elif size:
                cuts.append([text])
        order = inverse = None
        if texts != list(range(layout.texts)):
            starts = layout.offsets[:-1][torch.tensor(texts, device=layout.device)]
            part = layout.select(texts)
            order = starts[part.text_of] + part.positions
            inverse = torch.empty_like(order)
            inverse[order] = torch.arange(len(order), device=layout.device)
        parts = [layout.select(cut) for cut in cuts]
        return cls([Group.of(part) for part in parts], [part.total for part in parts], order, inverse)

    def arrange(self, values: Tensor) -> tuple[Tensor, ...]:
        """The rows of each group, texts from the longest to the shortest."""
        return (values if self.order is None else values.index_select(0, self.order)).split(self.rows)

    def restore(self, outputs: list[Tensor]) -> Tensor:
        """Undo `arrange`."""
        values = outputs[0] if len(outputs) == 1 else torch.cat(outputs)
        return values if self.inverse is None else values.index_select(0, self.inverse)
