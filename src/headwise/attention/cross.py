"""Attention from the rows of one ragged batch to the rows of another: sets, seeds, premise and hypothesis.

Texts whose queries and keys are of similar number are padded together, inside this function only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from headwise.errors import ConfigError
from headwise.ragged import Layout

_RATIO = 1.25  # texts are padded together while the largest is at most this many times the smallest
_SLACK = 8  # ... or at most this many rows larger


def cross_attention(
    query: Tensor, key: Tensor, value: Tensor, queries: Layout, keys: Layout, scale: float | None = None
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
        scale: Of the logits; `1 / sqrt(size)` by default.

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
    if query.dtype == torch.bfloat16 and query.device.type == "cpu":
        # As for self-attention: on the CPU the fused kernel is slower in bfloat16 than in float32.
        with torch.autocast("cpu", enabled=False):
            q, k, v = query.float(), key.float(), value.float()
            return cross_attention(q, k, v, queries, keys, scale).bfloat16()
    rows, outputs = [], []
    for group in _groups(queries, keys):
        q, k, v = group.queries.pad(query), group.keys.pad(key), group.keys.pad(value)
        outputs.append(group.queries.unpad(scaled_dot_product_attention(q, k, v, group.mask, scale=scale)))
        rows.append(group.queries.rows)
    output = value.new_zeros((queries.total, *value.shape[1:]))
    return output.index_copy(0, torch.cat(rows), torch.cat(outputs)) if rows else output


@dataclass
class _Side:
    """The queries, or the keys, of a group of texts.

    Attributes:
        texts: How many texts.
        longest: Rows of the largest.
        rows: Their rows in the whole batch.
        flat: Places of these rows in the padded group, `text * longest + position`.
    """

    texts: int
    longest: int
    rows: Tensor
    flat: Tensor

    @classmethod
    def of(cls, layout: Layout, texts: list[int]) -> "_Side":
        part = layout.select(texts)
        starts = layout.offsets[:-1][torch.tensor(texts, device=layout.device)]
        rows = starts[part.text_of] + part.positions
        return cls(part.texts, part.longest, rows, part.text_of * part.longest + part.positions)

    def pad(self, packed: Tensor) -> Tensor:
        """`[total, heads, size]` -> `[texts, heads, longest, size]`."""
        packed = packed.index_select(0, self.rows)
        if len(self.rows) < self.texts * self.longest:
            shape = (self.texts * self.longest, *packed.shape[1:])
            packed = packed.new_zeros(shape).index_copy(0, self.flat, packed)
        return packed.unflatten(0, (self.texts, self.longest)).transpose(1, 2)

    def unpad(self, padded: Tensor) -> Tensor:
        """`[texts, heads, longest, size]` -> `[rows, heads, size]`."""
        return padded.transpose(1, 2).flatten(0, 1).index_select(0, self.flat)


@dataclass
class _Group:
    """Texts that are padded together; `mask` `[texts, 1, 1, keys]` is True for the keys that there are,
    None where all texts have the same number."""

    queries: _Side
    keys: _Side
    mask: Tensor | None


def _groups(queries: Layout, keys: Layout) -> list[_Group]:
    """The texts that have queries and keys, cut into groups; kept in the memo of the queries' layout."""
    name = (_Group, keys.sizes)
    if name not in queries.memo:
        with torch.inference_mode(False):
            queries.memo[name] = [_group(queries, keys, texts) for texts in _cut(queries.sizes, keys.sizes)]
    return queries.memo[name]


def _group(queries: Layout, keys: Layout, texts: list[int]) -> _Group:
    sides = _Side.of(queries, texts), _Side.of(keys, texts)
    counts = keys.lengths[torch.tensor(texts, device=keys.device)]
    mask = torch.arange(sides[1].longest, device=keys.device) < counts[:, None]
    return _Group(*sides, None if bool(mask.all()) else mask[:, None, None, :])


def _cut(queries: Sequence[int], keys: Sequence[int]) -> list[list[int]]:
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
        if groups and _near(sizes[groups[-1][0]][0], n_keys) and _near(most, fewest):
            groups[-1].append(text)
        else:
            groups.append([text])
            most = fewest = n_queries
    return groups


def _near(larger: int, smaller: int) -> bool:
    return larger <= max(smaller * _RATIO, smaller + _SLACK)
