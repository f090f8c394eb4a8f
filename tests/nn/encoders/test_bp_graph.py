"""The graph of the BP-Transformer against its rule, taken token by token, and against what it implies."""

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.nn.encoders.bp_graph import partition_graph
from headwise.nn.layout import Layout


def levels_of(n):
    count, levels = n, 1
    while count > 1:
        count, levels = (count + 1) // 2, levels + 1
    return levels


def blocks_by_the_rule(n, i, k, causal):
    """`{(level, begin, end, label)}`: the nodes that token `i` sees on its sides, by the pointers."""
    edges, right, left = set(), i + 1, i
    for level in range(levels_of(n)):
        for slot in range(k):
            label = (2 * k + 1) * level + 2 * slot
            of = level - 1 if slot == 0 and right % 2**level else level
            if right < n and not causal:
                edges.add((of, right, min(n, right + 2**of), label + 2))
            right += 2**of
            of = level - 1 if slot == 0 and left % 2**level else level
            if left > 0:
                edges.add((of, max(0, left - 2**of), left, label + 1))
            left -= 2**of
    return edges


def blocks_of_nodes(lengths):
    """Text, level, begin and end of every node, tokens first, then level by level and text by text."""
    nodes = []
    for level in range(max(map(levels_of, lengths), default=1)):
        for text, n in enumerate(lengths):
            if level < levels_of(n):
                size = 2**level
                nodes += [(text, level, m * size, min(n, (m + 1) * size)) for m in range(-(-n // size))]
    return nodes


def edges_of(lengths, k, causal=False, clip=99):
    """The graph, each token's `{(level, begin, end, label)}`, and the tokens that each span sees."""
    layout = Layout(lengths)
    graph = partition_graph(layout, k, clip, causal)
    nodes = blocks_of_nodes(lengths)
    assert graph.nodes == len(nodes)
    seen = [set() for _ in range(layout.total)]
    visible = graph.context.visible.tolist()
    labels = [] if graph.context.labels is None else graph.context.labels.tolist()
    column = 0
    for block in graph.context.blocks:
        keys = block.keys.view(-1, block.slots).tolist()
        for token, place in enumerate(block.place.tolist()[: layout.total]):
            for slot, key in enumerate(keys[place // block.width]):
                if visible[token][column + slot]:
                    assert nodes[key][0] == nodes[token][0]
                    edge = (*nodes[key][1:], labels[token][column + slot])
                    assert edge not in seen[token]
                    seen[token].add(edge)
        column += block.slots
    assert column == graph.context.visible.shape[1]
    spans = {}
    for level in graph.spans:
        for row, block in zip(range(level.rows.start, level.rows.stop), level.block.tolist(), strict=True):
            rows = torch.arange(block * level.size, (block + 1) * level.size)
            spans[row] = graph.forest[rows[level.visible[block]]].tolist()
    return graph, seen, spans, nodes


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 8])
def test_edges_and_labels_follow_the_rule(k, causal):
    lengths = [*range(1, 24), 0, 64, 33, 0]
    _, seen, _, nodes = edges_of(lengths, k, causal)
    for token, edges in enumerate(seen):
        text, _, i, _ = nodes[token]
        assert edges == blocks_by_the_rule(lengths[text], i, k, causal) | {(0, i, i + 1, 0)}


@settings(max_examples=25, deadline=None)
@given(n=st.integers(1, 200), k=st.one_of(st.integers(1, 9), st.just(200)), causal=st.booleans())
def test_a_token_sees_every_word_exactly_once(n, k, causal):
    _, seen, _, _ = edges_of([n], k, causal)
    for i, edges in enumerate(seen):
        covered = Counter(word for _, begin, end, _ in edges for word in range(begin, end))
        assert covered == Counter(range(i + 1 if causal else n))


@pytest.mark.parametrize("lengths", [[], [0], [1], [2, 0, 1], [13, 3, 8, 0, 16, 1, 5]])
def test_spans_see_their_tokens_and_roots_the_whole_text(lengths):
    graph, _, spans, nodes = edges_of(lengths, 2)
    assert sorted(spans) == list(range(sum(lengths), graph.nodes))
    starts = [sum(lengths[:t]) for t in range(len(lengths))]
    for row, tokens in spans.items():
        text, _, begin, end = nodes[row]
        assert tokens == list(range(starts[text] + begin, starts[text] + end))
    for text, (n, root) in enumerate(zip(lengths, graph.roots.tolist(), strict=True)):
        assert (nodes[root][0], *nodes[root][2:]) == (text, 0, n) if n else root == 0


# n, k: levels, affiliated edges, contextual edges both ways and causal
COUNTS = {
    (8, 1): (4, 32, 34, 17),
    (16, 2): (5, 80, 136, 68),
    (64, 4): (7, 448, 1490, 745),
    (512, 1): (10, 5120, 8194, 4097),
    (512, 4): (10, 5120, 23258, 11629),
    (512, 64): (10, 5120, 135792, 67896),
    (1024, 64): (11, 11264, 373496, 186748),
    (8192, 4): (14, 114688, 631098, 315549),
    (8192, 64): (14, 114688, 5844158, 2922079),
}


@pytest.mark.parametrize(("n", "k"), list(COUNTS))
def test_edge_counts(n, k):
    levels, affiliated, both, causal = COUNTS[n, k]
    graph = partition_graph(Layout([n]), k, 99, False)
    assert len(graph.spans) + 1 == levels
    assert n + sum(int(s.visible[s.block].sum()) for s in graph.spans) == affiliated
    assert int(graph.context.visible.sum()) - n == both
    assert int(partition_graph(Layout([n]), k, 99, True).context.visible.sum()) - n == causal
    if n & (n - 1) == 0:
        assert graph.nodes == 2 * n - 1


DEGREES = {
    (5, 1): [3, 4, 4, 3, 3],
    (7, 2): [5, 5, 6, 6, 5, 5, 4],
    (11, 1): [4, 5, 6, 6, 6, 6, 6, 6, 6, 5, 4],
    (13, 4): [9, 9, 10, 10, 11, 11, 11, 11, 10, 10, 9, 9, 8],
}


@pytest.mark.parametrize(("n", "k"), list(DEGREES))
def test_degrees(n, k):
    graph = partition_graph(Layout([n]), k, 99, False)
    assert (graph.context.visible.sum(1) - 1).tolist() == DEGREES[n, k]


@pytest.mark.parametrize(("n", "k"), [(1, 1), (13, 1), (40, 3)])
def test_causal_edges_are_the_left_half(n, k):
    both, left = edges_of([n], k)[1], edges_of([n], k, causal=True)[1]
    for i, (edges, causal) in enumerate(zip(both, left, strict=True)):
        assert causal == {edge for edge in edges if edge[2] <= i + 1}


@pytest.mark.parametrize("n", [2, 9, 16])
def test_only_level_0_is_left_where_k_covers_the_text(n):
    def highest(k):
        return max(label // (2 * k + 1) for edges in edges_of([n], k)[1] for *_, label in edges)

    assert highest(n - 1) == 0
    assert n == 2 or highest(n - 2) == 1


def test_two_tokens_are_two_edges_apart_at_most():
    for n in (1, 2, 7, 40, 79):
        _, seen, spans, nodes = edges_of([n], 1)
        contents = {nodes[row][1:]: set(tokens) for row, tokens in spans.items()}
        contents |= {(0, i, i + 1): {i} for i in range(n)}
        for edges in seen:
            assert set().union(*(contents[edge[:3]] for edge in edges)) == set(range(n))


def test_levels_above_clip_share_labels():
    _, free, _, _ = edges_of([100], 2)
    _, clipped, _, _ = edges_of([100], 2, clip=3)
    for edges, shared in zip(free, clipped, strict=True):
        assert shared == {(*node, min(label // 5, 3) * 5 + label % 5) for *node, label in edges}


def test_graphs_are_kept():
    large, small = Layout([4000, 2]), Layout([5, 3])
    for layout in (large, small):
        assert partition_graph(layout, 2, 3, False) is partition_graph(layout, 2, 3, False)
        assert partition_graph(layout, 2, 3, False) is not partition_graph(layout, 2, 3, True)
    assert partition_graph(Layout([5, 3]), 2, 3, False) is partition_graph(small, 2, 3, False)
    assert partition_graph(Layout([4000, 2]), 2, 3, False) is not partition_graph(large, 2, 3, False)


def test_the_graph_grows_as_n_log_n():
    def slots(n):
        graph = partition_graph(Layout([n]), 4, 5, False)
        gathered = sum(len(b.keys) + len(b.queries) for b in graph.context.blocks)
        return graph.context.visible.numel() + gathered + sum(s.visible.numel() for s in graph.spans)

    assert slots(4096) / slots(256) < 16 * (12 / 8) * 1.2


def test_a_short_text_beside_a_long_one_costs_little():
    def size(lengths):
        graph = partition_graph(Layout(lengths), 4, 5, False)
        spans = sum(level.visible.numel() for level in graph.spans)
        return sum(len(b.queries) for b in graph.context.blocks) + len(graph.forest) + spans

    assert size([2000] + [5] * 100) < size([2000]) + 100 * 50
