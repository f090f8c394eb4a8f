"""The edges into the tokens of a BP-Transformer as one list, for the kernels of attention along edges.

The pointers of `headwise.encoders.bp_graph`, token by token instead of group by group.
"""

import numpy as np

from headwise.ragged import Layout


def contextual_edges(
    layout: Layout, firsts: np.ndarray, k: int, clip: int, causal: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, key and label of every edge into a token, `[edges]` each: first every token to itself.

    Args:
        layout: The texts.
        firsts: `[levels, texts]`, the row of the first node of each level.
        k: Contextual edges of a token for each level and side.
        clip: Levels above share the labels of this one.
        causal: Whether tokens look to the left only.
    """
    text, place = layout.text_of.numpy(), layout.positions.numpy()
    counts = -(-layout.lengths.numpy() // 2 ** np.arange(len(firsts))[:, None])
    rows, slot = np.arange(layout.total), np.arange(k)
    parts = [(rows, rows, np.zeros_like(rows))]
    for level in range(len(firsts)):
        half = max(1, 2**level // 2)
        for side in (0,) if causal else (0, 1):
            # The pointer at the beginning of the level, in halves of its blocks, and whether it is odd.
            if level == 0:
                pointer, odd = place + side, np.zeros_like(place)
            elif side == 0:
                pointer = -(-(place + k) // half) - 2 * k
                odd = pointer % 2
            else:
                pointer = (place + 1 - k) // half + 2 * k
                odd = pointer % 2
            seen = pointer > 0 if side == 0 else pointer * half < layout.lengths.numpy()[text]
            token = rows[seen]
            pointer, odd, own = pointer[seen][:, None], odd[seen][:, None], text[seen][:, None]
            step = 1 if level == 0 else 2
            if side == 0:
                node = (pointer + step - 1) // step - 1 - slot
                node = np.where((odd == 1) & (slot == 0), pointer - 1, node)
            else:
                node = pointer // step + slot
                node = np.where((odd == 1) & (slot == 0), pointer, node)
            of = np.where((odd == 1) & (slot == 0), level - 1, level)
            there = (node >= 0) & (node < counts[of, own])
            label = np.broadcast_to((2 * k + 1) * min(level, clip) + 2 * slot + 1 + side, node.shape)
            key = firsts[of, own] + node
            parts.append((np.repeat(token, there.sum(1)), key[there], label[there]))
    query, key, label = (np.concatenate(column) for column in zip(*parts, strict=True))
    return query, key, label
