"""The definition of attention against loops in plain Python, and against what is known of it."""

import math

import numpy as np
import pytest
import torch

from headwise.nn.attention.reference import attention
from headwise.nn.layout import Layout
from headwise.nn.priors import Backward, Earlier, Everything, Forward, PositionPairs, Window, WordDistance

LENGTHS = [(), (0,), (1,), (5, 0, 1, 2), (3, 3)]


def by_hand(query, key, value, priors, lengths):
    """One query, key, head and text at a time."""
    query, key, value = (x.tolist() for x in (query, key, value))
    out, start = [], 0
    for n in lengths:
        pairs = PositionPairs.of_length(n)
        masks = [prior.visible(pairs).expand(n, n).tolist() for prior in priors]
        scores = [prior.score(pairs) for prior in priors]
        scores = [None if s is None else s.expand(n, n).tolist() for s in scores]
        for i in range(n):
            row = []
            for h in range(len(priors)):
                seen = [j for j in range(n) if masks[h][i][j]]
                q = query[start + i][h]
                weights = []
                for j in seen:
                    dot = math.fsum(a * b for a, b in zip(q, key[start + j][h], strict=True))
                    score = scores[h]
                    weights.append(math.exp(dot / math.sqrt(len(q)) + (score[i][j] if score else 0.0)))
                features = range(len(value[start + i][h]))
                row.append(
                    [
                        math.fsum(w * value[start + j][h][f] for w, j in zip(weights, seen, strict=True))
                        / (math.fsum(weights) or 1.0)
                        for f in features
                    ]
                )
            out.append(row)
        start += n
    return np.array(out)


@pytest.mark.parametrize("lengths", LENGTHS)
def test_equals_plain_loops(lengths, inputs, odd):
    priors = [
        Everything(),
        Window(width=3),
        Window(fraction=0.5),
        Forward() + WordDistance(0.3),
        Backward() + WordDistance(-0.7),
        Earlier(),
        odd.Nothing(),
        odd.SecondKey(),
        odd.LongTexts(),
    ]
    q, k, v = inputs(lengths, len(priors), 4, value_size=3)
    got = attention(q, k, v, priors, Layout(lengths))
    assert got.shape == v.shape
    np.testing.assert_allclose(
        got.numpy(), by_hand(q, k, v, priors, lengths).reshape(v.shape), rtol=0, atol=1e-12
    )


def test_gradients(inputs, odd):
    priors = [Window(width=3), Forward() + WordDistance(0.5), Earlier(), odd.Nothing()]
    tensors = [x.requires_grad_() for x in inputs((3, 0, 1), len(priors), 2)]
    layout = Layout((3, 0, 1))
    assert torch.autograd.gradcheck(lambda q, k, v: attention(q, k, v, priors, layout), tensors)


def test_no_prior_is_ordinary_attention(inputs):
    q, k, v = inputs((7,), 3, 5)
    plain = torch.nn.functional.scaled_dot_product_attention(
        *(x.transpose(0, 1) for x in (q, k, v))
    ).transpose(0, 1)
    torch.testing.assert_close(attention(q, k, v, [Everything()] * 3, Layout([7])), plain)


def test_a_window_that_covers_the_text_is_no_prior(inputs):
    q, k, v = inputs((6, 3), 2, 4)
    full = attention(q, k, v, [Everything()] * 2, Layout([6, 3]))
    assert torch.equal(attention(q, k, v, [Window(width=11)] * 2, Layout([6, 3])), full)
    assert torch.equal(attention(q, k, v, [Window(fraction=2.0)] * 2, Layout([6, 3])), full)


def test_whoever_sees_only_itself_gives_its_value(inputs):
    q, k, v = inputs((5, 1), 1, 4)
    assert torch.equal(attention(q, k, v, [Window(width=1)], Layout([5, 1])), v)
    steep = attention(q, k, v, [WordDistance(200.0)], Layout([5, 1]))
    torch.testing.assert_close(steep, v)
    assert torch.equal(attention(q, k, v, [Forward()], Layout([5, 1]))[0], v[0])
    assert torch.equal(attention(q, k, v, [Backward()], Layout([5, 1]))[4], v[4])


def test_forward_word_distance_is_causal_alibi(inputs):
    """-alpha * (i - j) and alpha * j differ by a constant in each row."""
    q, k, v = (x[:, 0] for x in inputs((8,), 1, 4))
    place = torch.arange(8, dtype=torch.float64)
    logits = q @ k.T / 2 + 0.3 * place
    logits = logits.masked_fill(place > place[:, None], -torch.inf)
    got = attention(q[:, None], k[:, None], v[:, None], [Forward() + WordDistance(0.3)], Layout([8]))
    torch.testing.assert_close(got[:, 0], logits.softmax(-1) @ v, rtol=0, atol=1e-14)


def test_reversal_swaps_forward_and_backward(inputs):
    q, k, v = inputs((6,), 2, 4)
    priors = [Forward() + WordDistance(0.5), Window(width=3)]
    mirrored = [Backward() + WordDistance(0.5), Window(width=3)]
    got = attention(q.flip(0), k.flip(0), v.flip(0), mirrored, Layout([6])).flip(0)
    torch.testing.assert_close(got, attention(q, k, v, priors, Layout([6])))
