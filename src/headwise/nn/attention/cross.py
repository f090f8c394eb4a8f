"""Attention from the rows of one ragged batch to the rows of another: sets, seeds, premise and hypothesis.

Texts with similar numbers of queries and keys are padded together, inside this function only. Padding
repeats rows of the same text, so nothing of a text, not even a NaN, reaches another.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from headwise.core.errors import ConfigError
from headwise.nn.attention.sdpa import computed_in_float32
from headwise.nn.layout import Layout

_RATIO = 1.25  # texts are padded together while the largest is at most this many times the smallest
_SLACK = 8  # ... or at most this many rows larger


@computed_in_float32
def cross_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    queries: Layout,
    keys: Layout,
    scale: float | None = None,
    drop: float = 0.0,
) -> Tensor:
    """Multi-head attention of every query to all keys of the same text.

    For head h and query i of a text: `sum_j softmax_j(scale * q_i . k_j) v_j`. Where a text has no keys
    its queries get 0, and so do their gradients.

    Args:
        query: `[total of queries, heads, size]`.
        key: `[total of keys, heads, size]`.
        value: `[total of keys, heads, value size]`.
        queries: The layout of `query`.
        keys: The layout of `key` and `value`, with as many texts.
        scale: Factor of the logits; by default `1 / sqrt(size)`.
        drop: Dropout on the weights.

    Returns:
        `[total of queries, heads, value size]`.

    Raises:
        ConfigError: The shapes or the layouts do not fit.
    """
    if (
        (len(query), len(key), len(value)) != (queries.total, keys.total, keys.total)
        or queries.texts != keys.texts
        or query.shape[1:] != key.shape[1:]
        or key.shape[:2] != value.shape[:2]
    ):
        raise ConfigError(
            f"query {tuple(query.shape)}, key {tuple(key.shape)} and value {tuple(value.shape)} do not fit "
            f"one another or {queries} and {keys}"
        )
    plan = _cross_plan(queries, keys)
    if not plan.groups:
        return value.new_zeros((queries.total, *value.shape[1:]))
    q, k, v = plan.queries.pad(query), plan.keys.pad(key), plan.keys.pad(value)
    outputs = [
        scaled_dot_product_attention(q_group, k_group, v_group, mask, drop, scale=scale)
        for q_group, k_group, v_group, mask in zip(q, k, v, plan.masks, strict=True)
    ]
    return plan.queries.unpad(outputs)


@dataclass
class _Side:
    """The queries, or the keys, of all groups.

    Attributes:
        shapes: Texts and places of a text in each group.
        source: `[places]`, the row at each place.
        place: `[rows]`, the place of each row.
        rows: The rows of the batch that have a place; None for all.
        total: Rows of the batch.
    """

    shapes: list[tuple[int, int]]
    source: Tensor
    place: Tensor
    rows: Tensor | None
    total: int

    @classmethod
    def of(cls, layout: Layout, groups: list[list[int]]) -> "_Side":
        sizes, device = layout.sizes, layout.device
        shapes = [(len(group), max(sizes[text] for text in group)) for group in groups]
        options = {"dtype": torch.int64, "device": device}
        texts = torch.tensor([text for group in groups for text in group], **options)
        longest = torch.tensor([longest for count, longest in shapes for _ in range(count)], **options)
        text_of = torch.repeat_interleave(torch.arange(len(texts), device=device), longest)
        starts = longest.cumsum(0) - longest
        position = torch.arange(len(text_of), device=device) - starts[text_of]
        lengths = layout.lengths[texts]
        source = layout.offsets[texts][text_of] + position.minimum(lengths[text_of] - 1)
        real = position < lengths[text_of]
        rows = source[real]
        ordered = rows.argsort()
        place = real.nonzero().squeeze(1)[ordered]
        return cls(shapes, source, place, rows[ordered] if len(rows) < layout.total else None, layout.total)

    def pad(self, packed: Tensor) -> list[Tensor]:
        """`[total, heads, size]` -> `[texts, heads, longest, size]` for each group."""
        places = packed.index_select(0, self.source).split(
            [texts * longest for texts, longest in self.shapes]
        )
        return [
            group.unflatten(0, shape).transpose(1, 2)
            for group, shape in zip(places, self.shapes, strict=True)
        ]

    def unpad(self, groups: list[Tensor]) -> Tensor:
        """`[texts, heads, longest, size]` of each group -> `[total, heads, size]`, 0 for rows in none."""
        flat = [group.transpose(1, 2).flatten(0, 1) for group in groups]
        values = (torch.cat(flat) if len(flat) > 1 else flat[0]).index_select(0, self.place)
        if self.rows is None:
            return values
        return values.new_zeros((self.total, *values.shape[1:])).index_copy(0, self.rows, values)


@dataclass
class _CrossPlan:
    """The groups of texts that are padded together, and the places of their rows.

    Attributes:
        groups: The texts of each group; texts without queries or keys are in none.
        queries: The places of the queries.
        keys: The places of the keys.
        masks: For each group `[texts, 1, 1, keys]`, True for keys, False for padding; None if all texts
            have the same number of keys.
    """

    groups: list[list[int]]
    queries: _Side
    keys: _Side
    masks: list[Tensor | None]

    @classmethod
    def of(cls, queries: Layout, keys: Layout) -> "_CrossPlan":
        groups = _group_texts(queries.sizes, keys.sizes)
        return cls(
            groups,
            _Side.of(queries, groups),
            _Side.of(keys, groups),
            [_mask([keys.sizes[text] for text in group], keys.device) for group in groups],
        )


def _cross_plan(queries: Layout, keys: Layout) -> _CrossPlan:
    """The plan for these queries and keys, cached in the memo of the queries' layout."""
    return queries.cached((_CrossPlan, keys.sizes), lambda: _CrossPlan.of(queries, keys))


def _mask(sizes: list[int], device: torch.device) -> Tensor | None:
    if min(sizes) == max(sizes):
        return None
    places = torch.arange(max(sizes), device=device)
    return (places < torch.tensor(sizes, device=device)[:, None])[:, None, None, :]


def _group_texts(queries: Sequence[int], keys: Sequence[int]) -> list[list[int]]:
    """Groups of texts of similar numbers of queries and keys, none of them 0."""
    sizes = list(zip(keys, queries, strict=True))
    texts = sorted(
        (t for t, size in enumerate(sizes) if min(size) > 0), key=lambda t: sizes[t], reverse=True
    )
    groups: list[list[int]] = []
    most = fewest = 0  # queries of the group's texts
    for text in texts:
        n_keys, n_queries = sizes[text]
        most, fewest = max(most, n_queries), min(fewest, n_queries)
        if groups and _similar_size(sizes[groups[-1][0]][0], n_keys) and _similar_size(most, fewest):
            groups[-1].append(text)
        else:
            groups.append([text])
            most = fewest = n_queries
    return groups


def _similar_size(larger: int, smaller: int) -> bool:
    return larger <= max(smaller * _RATIO, smaller + _SLACK)
