"""Priors that go by relations in the dependency tree, and the sink."""

import pytest
import torch

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.nn.attention import SelfAttention
from headwise.nn.attention.reference import attention as reference
from headwise.nn.attention.sdpa import attention as fused
from headwise.nn.encoders.encoder import Encoded
from headwise.nn.encoders.long_texts import encode_in_windows
from headwise.nn.layout import Layout
from headwise.nn.networks.head_pruning import described_priors
from headwise.nn.priors import Child, Parent, PositionPairs, Sibling, Sink, TreeRelations
from headwise.nn.ragged import Ragged

# "Two kids at a ballgame wash their hands", a fragment of two roots, a word.
HEADS = ([2, 6, 5, 5, 2, 0, 8, 6], [0, 1, 0, 3, 3], [0])
RELATED = {
    Parent(): lambda parent, i, j: parent[i] == j,
    Child(): lambda parent, i, j: parent[j] == i,
    Sibling(): lambda parent, i, j: parent[i] == parent[j],
}


def layout_of(node=False) -> Layout:
    layout = Layout([len(heads) for heads in HEADS], heads=[torch.tensor(heads) for heads in HEADS])
    return layout.prepended if node else layout


@pytest.mark.parametrize("node", [False, True], ids=["words", "classification node"])
@pytest.mark.parametrize("attend", [reference, fused])
@pytest.mark.parametrize("prior", list(RELATED), ids=str)
def test_a_double_loop(prior, attend, node):
    layout = layout_of(node)
    q, k, v = torch.randn(3, layout.total, 1, 4, generator=torch.Generator().manual_seed(1)).double()
    outputs = attend(q, k, v, [prior], layout)[:, 0]
    start = 0
    for heads in HEADS:
        parent, n = [head - 1 for head in heads], len(heads) + node
        for i in range(n):
            logits, seen = [], []
            for j in range(n):
                with_node = node and 0 in (i, j)
                if with_node or i == j or RELATED[prior](parent, i - node, j - node):
                    seen.append(j)
                    logits.append(q[start + i, 0] @ k[start + j, 0] / 2)
            weights = torch.stack(logits).softmax(0)
            expected = sum(w * v[start + j, 0] for w, j in zip(weights, seen, strict=True))
            torch.testing.assert_close(outputs[start + i], expected, rtol=1e-10, atol=1e-10)
        start += n


def test_relations_have_names():
    layout = layout_of(node=True)
    pairs = PositionPairs.of_length(9, marks=layout.marks_of(0))
    relation = TreeRelations().bucket(pairs)
    names = [[TreeRelations.NAMES[number] for number in row] for row in relation.tolist()]
    assert set(names[0]) == {"node"}
    wash = names[6]  # behind the node
    assert wash == ["node", "other", "child", "other", "other", "other", "itself", "other", "child"]
    assert names[2][6] == "parent"
    assert names[3][4] == "sibling"


def test_the_word_before_takes_the_place_of_a_parent():
    pairs = PositionPairs.of_length(4)
    assert torch.equal(Parent("word").visible(pairs).int().sum(1), torch.tensor([1, 2, 2, 2]))
    assert torch.equal(Sibling("word").visible(pairs), torch.eye(4, dtype=torch.bool))


@pytest.mark.parametrize("prior", [*RELATED, TreeRelations()], ids=str)
def test_without_parses(prior):
    assert prior.tree_use == "error"
    with pytest.raises(HeadwiseError, match="relations in the dependency tree") as error:
        getattr(prior, "bucket", prior.visible)(PositionPairs.of_length(3))
    assert error.value.code == "HW310"
    with pytest.raises(ConfigError, match="'error' or 'word'"):
        type(prior)("words")


def test_layouts_move_parents_with_their_rows():
    layout = layout_of()
    assert layout.marks_of(1)["parent"].tolist() == [-1, 0, -1, 2, 2]
    assert layout.prepended.marks_of(1)["parent"].tolist() == [-2, -1, 1, -1, 3, 3]
    assert layout.prepended.without_first.marks_of(1)["parent"].tolist() == [-1, 0, -1, 2, 2]
    assert layout.select([2, 1]).marks_of(1)["parent"].tolist() == [-1, 0, -1, 2, 2]


def test_windows_keep_apart_what_depends_on_different_words_outside():
    seen = []

    def encoder(x):
        seen.extend(numbers.tolist() for numbers in x.layout.marks["parent"])
        return Encoded(x)

    layout = Layout([6], heads=[torch.tensor([0, 1, 1, 2, 2, 4])])
    encode_in_windows(encoder, Ragged(torch.zeros(6, 2), layout), 3, 0)  # type: ignore[arg-type]
    assert seen == [[-1, 0, 0], [3 + 1, 3 + 1, 0]]


def test_a_sink_begins_as_a_key_of_logit_0():
    layer = SelfAttention(4, [Sink()], 4).double()
    x = torch.randn(3, 4, dtype=torch.float64)
    q, k, v = (projection(x) for projection in (layer.query, layer.key, layer.value))
    logits = torch.cat([q @ k.T / 2, torch.zeros(3, 1)], dim=1)
    expected = layer.out(logits.softmax(-1)[:, :3] @ v)
    torch.testing.assert_close(layer(Ragged(x, Layout([3]))).values, expected)
    assert described_priors(layer) == ["sink (sink +0)"]


def test_a_sink_lets_a_head_be_silent():
    layer = SelfAttention(4, [Sink()], 4)
    torch.nn.init.constant_(layer.learned[0].raw, 20.0)  # type: ignore[arg-type]
    assert layer(Ragged(torch.randn(5, 4), Layout([5]))).values.abs().max() < 1e-20
