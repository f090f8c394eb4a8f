"""Attention along edges against a loop over the queries."""

import pytest
import torch

from headwise.nn.attention.graph_attention import Edges, Graph, graph_attention, segment_attention

HEADS, SIZE, ROWS = 2, 3, 7


def tensors(*rows, seed=0):
    random = torch.Generator().manual_seed(seed)
    return [torch.randn(HEADS, n, SIZE, generator=random, dtype=torch.float64) for n in rows]


def edges(queries, keys, labels=None):
    return Edges(
        None if queries is None else torch.tensor(queries),
        torch.tensor(keys),
        None if labels is None else torch.tensor(labels),
    )


# Seven queries. The first block has a band with labels, in groups of three; the second some far keys for
# some of the queries; the third has no groups at all.
PARTS = [
    edges(
        [[0, 1, 2], [3, 4, -1], [5, 6, -1]],
        [[-1, 0, 1, 2], [2, 3, 4, -1], [4, 5, 6, -1]],
        [[1, 0, -1, -1], [-1, 1, 0, -1], [-1, -1, 1, 0]],
    ),
    edges([[4, 2], [-1, 6]], [[0, 7, -1], [-1, 8, 9]], [[2, 3, 4]]),
    Edges(torch.zeros(0, 2, dtype=torch.int64), torch.zeros(0, 2, dtype=torch.int64), torch.zeros(1, 2)),
]


def listed(parts):
    """`[(key, label)]` of each query, read from the description."""
    seen = [[] for _ in range(ROWS)]
    for part in parts:
        width = 1 if part.queries is None else part.queries.shape[1]
        for g, group in enumerate(part.keys.tolist()):
            for w in range(width):
                query = g if part.queries is None else int(part.queries[g, w])
                labels = (
                    [0] * len(group) if part.labels is None else part.labels.expand(width, -1)[w].tolist()
                )
                if query >= 0:
                    seen[query] += [(k, r) for k, r in zip(group, labels, strict=True) if k >= 0 and r >= 0]
    return seen


def by_the_formula(query, key, value, parts, table=None):
    rows = []
    for i, edges in enumerate(listed(parts)):
        keys, labels = zip(*edges, strict=True)
        k, v = key[:, list(keys)], value[:, list(keys)]
        k = k if table is None else k + table[list(labels)]
        weights = (k @ query[:, i, :, None] / SIZE**0.5).softmax(1)
        rows.append((weights * v).sum(1))
    return torch.stack(rows, 1)


@pytest.mark.parametrize("labels", [True, False])
def test_blocks_equal_a_loop(labels):
    query, key, value = tensors(ROWS, 10, 10)
    table = torch.randn(5, SIZE, dtype=torch.float64) if labels else None
    graph = Graph.of(ROWS, PARTS)
    assert len(graph.blocks) == 2
    got = graph_attention(query, key, value, graph, table=table)
    torch.testing.assert_close(got, by_the_formula(query, key, value, PARTS, table))


def test_queries_that_stand_alone_equal_a_loop():
    parts = [edges(None, [[i, (i + 1) % ROWS, -1 if i % 2 else 8] for i in range(ROWS)])]
    query, key, value = tensors(ROWS, 9, 9)
    graph = Graph.of(ROWS, parts)
    assert graph.labels is None
    got = graph_attention(query, key, value, graph)
    torch.testing.assert_close(got, by_the_formula(query, key, value, parts))


def test_gradients():
    graph, table = Graph.of(ROWS, PARTS), torch.randn(5, SIZE, dtype=torch.float64)
    inputs = [x.requires_grad_() for x in (*tensors(ROWS, 10, 10), table)]
    assert torch.autograd.gradcheck(
        lambda q, k, v, t: graph_attention(q, k, v, graph, table=t), inputs, fast_mode=True
    )


def test_a_poisoned_row_spoils_only_who_sees_it():
    query, key, value = tensors(ROWS, 10, 10)
    value[:, 9], key[:, 9] = float("nan"), float("nan")
    for x in (query, key, value):
        x.requires_grad_()
    out = graph_attention(query, key, value, Graph.of(ROWS, PARTS))
    seen = [9 in [k for k, _ in edges] for edges in listed(PARTS)]
    assert out.isnan().any(-1).all(0).tolist() == seen == out.isnan().any(-1).any(0).tolist()
    out[:, :4].sum().backward()
    for x in (query, key, value):
        assert x.grad[:, [0, 1, 3]].isfinite().all()


def test_a_poisoned_query_spoils_no_gradient_outside_its_group():
    query, key, value = tensors(ROWS, 10, 10)
    query[:, 0] = float("nan")
    key.requires_grad_()
    graph_attention(query, key, value, Graph.of(ROWS, PARTS))[:, 3:].sum().backward()
    assert key.grad[:, 3:].isfinite().all()


def test_dropout_is_on_the_weights():
    query, key, value = tensors(ROWS, 10, 10)
    torch.manual_seed(0)
    graph = Graph.of(ROWS, PARTS)
    mean = sum(graph_attention(query, key, value, graph, drop=0.5) for _ in range(4000)) / 4000
    torch.testing.assert_close(mean, graph_attention(query, key, value, graph), rtol=0, atol=0.1)


def test_no_rows():
    query, key, value = tensors(0, 0, 0)
    assert graph_attention(query, key, value, Graph.of(0, [])).shape == (HEADS, 0, SIZE)


def test_segments_equal_a_loop():
    segment = torch.tensor([2, 0, 2, 1, 2, 0])
    query, key, value = tensors(3, 6, 6)
    got = segment_attention(query, key, value, segment)
    for s in range(3):
        rows = segment == s
        weights = (key[:, rows] @ query[:, s, :, None] / SIZE**0.5).softmax(1)
        torch.testing.assert_close(got[:, s], (weights * value[:, rows]).sum(1))


def test_segments_stand_large_scores():
    query, key, value = tensors(2, 5, 5)
    got = segment_attention(query * 1e4, key, value, torch.tensor([0, 0, 0, 1, 1]))
    assert got.isfinite().all()


def test_segments_of_many_rows_in_16_bits():
    """Equal weights of 1 / 5000, and their sum, are beyond a bfloat16 accumulator."""
    query, value = torch.zeros(1, 1, 2, dtype=torch.bfloat16), torch.ones(1, 5000, 2, dtype=torch.bfloat16)
    got = segment_attention(query, value, value, torch.zeros(5000, dtype=torch.int64))
    assert got.tolist() == [[[1.0, 1.0]]]
    assert got.dtype == torch.bfloat16
