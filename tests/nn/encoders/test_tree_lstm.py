"""The Tree-LSTM against a recursion over each tree, and what makes no tree."""

import pytest
import torch

from headwise.core.errors import HeadwiseError
from headwise.nn.encoders import TreeLSTM, TreeLSTMConfig
from headwise.nn.layout import Layout
from headwise.nn.ragged import Ragged
from headwise.text.parse_files import constituency_heads

WIDTH, HIDDEN = 5, 4
HEADS = ([2, 0, 2, 5, 3], [], [0], [0, 1, 0, 3], [3, 3, 4, 0])
TREES = (
    "(0 (1 (2 a) (3 b)) (4 c))",
    "",
    "(2 a)",
    "(S a (VP b (NP c d) e) f)",
    "(0 (1 a (1 b (1 c d))) (1 (1 e f) (1 g h)))",
)


def encoder_of(trees, **config) -> TreeLSTM:
    torch.manual_seed(0)
    return TreeLSTM(TreeLSTMConfig(width=WIDTH, hidden=HIDDEN, trees=trees, **config)).double().eval()


def batch_of(heads) -> Ragged:
    sizes = [len(parse) for parse in heads]
    values = torch.randn(sum(sizes), WIDTH, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return Ragged(values, Layout(sizes, heads=[torch.tensor(parse, dtype=torch.int64) for parse in heads]))


def test_child_sum_is_the_recursion():
    encoder, batch = encoder_of("dependency"), batch_of(HEADS)
    encoded = encoder(batch)

    def visit(word, x, heads, states):
        below = [visit(k, x, heads, states) for k, head in enumerate(heads) if head == word + 1]
        reads, forget = encoder.word(x[word]).split([3 * HIDDEN, HIDDEN])
        h = sum((h for h, _ in below), start=torch.zeros(HIDDEN).double())
        i, o, u = (reads + encoder.below(h)).chunk(3)
        c = i.sigmoid() * u.tanh()
        for h_k, c_k in below:
            c = c + (forget + encoder.child(h_k)).sigmoid() * c_k
        states[word] = o.sigmoid() * c.tanh()
        return states[word], c

    for x, heads, tokens, summary in zip(batch, HEADS, encoded.tokens, encoded.summary, strict=True):
        states = {}
        roots = [visit(word, x, heads, states)[0] for word, head in enumerate(heads) if head == 0]
        for word, state in states.items():
            torch.testing.assert_close(tokens[word], state)
        mean = sum(roots) / len(roots) if roots else torch.zeros(HIDDEN).double()
        torch.testing.assert_close(summary, mean)


def nested(text):
    """A tree as nested pairs of word numbers, read in another way than the code does."""
    words = iter(range(100))

    def parse(tokens):
        parts = []
        while tokens[0] != ")":
            if tokens[0] == "(":
                del tokens[:2]
                parts.append(parse(tokens))
            else:
                tokens.pop(0)
                parts.append(next(words))
        tokens.pop(0)
        while len(parts) > 1:
            parts[-2:] = [(parts[-2], parts[-1])]
        return parts[0]

    tokens = text.replace("(", "( ").replace(")", " )").split()
    return parse(tokens[2:])


def test_brackets_are_the_recursion():
    heads = [constituency_heads(tree)[1].tolist() for tree in TREES]
    encoder, batch = encoder_of("constituency"), batch_of(heads)
    encoded = encoder(batch)

    def visit(node, x):
        if isinstance(node, int):
            i, o, u = encoder.word(x[node]).chunk(3)
            c = i.sigmoid() * u.tanh()
        else:
            (h_l, c_l), (h_r, c_r) = (visit(part, x) for part in node)
            i, o, u, f, g = encoder.below(torch.cat([h_l, h_r])).chunk(5)
            c = i.sigmoid() * u.tanh() + f.sigmoid() * c_l + g.sigmoid() * c_r
        return o.sigmoid() * c.tanh(), c

    for tree, x, tokens, summary in zip(TREES, batch, encoded.tokens, encoded.summary, strict=True):
        if tree:
            torch.testing.assert_close(summary, visit(nested(tree), x)[0])
            torch.testing.assert_close(tokens, torch.stack([visit(n, x)[0] for n in range(len(x))]))
        else:
            assert not summary.any()


def test_without_parses_there_is_a_chain_or_an_error(words):
    bare = words((4, 1), WIDTH)
    with pytest.raises(HeadwiseError, match="HW310"):
        encoder_of("dependency")(bare)
    chain = Ragged(bare.values, Layout((4, 1), heads=[torch.arange(4), torch.arange(1)]))
    encoder = encoder_of("dependency", tree_fallback="word")
    torch.testing.assert_close(encoder(bare).summary, encoder(chain).summary)


@pytest.mark.parametrize("heads", [[2, 0, 2], [0, 1, 1], [0, 3, 1, 2], [0, 1, 2, 2], [0, 4, 4, 1, 1]])
def test_dependencies_are_no_brackets(heads):
    with pytest.raises(HeadwiseError, match="HW311"):
        encoder_of("constituency")(batch_of([[0, 1], heads]))


@pytest.mark.parametrize("kind", ["dependency", "constituency"])
@pytest.mark.parametrize("heads", [[2, 1], [1], [0, 1, 4, 3], [0, 4, 1], [0, -1]])
def test_what_is_no_tree_is_told(kind, heads):
    batch = Ragged(torch.randn(len(heads), WIDTH), Layout([len(heads)], heads=[torch.tensor(heads)]))
    with pytest.raises(HeadwiseError, match="HW311"):
        encoder_of(kind)(batch)


def test_parts_of_a_batch_keep_their_trees():
    encoder, batch = encoder_of("dependency"), batch_of(HEADS)
    torch.testing.assert_close(encoder(batch[[4, 0]]).summary, encoder(batch).summary[[4, 0]])
