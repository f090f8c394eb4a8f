"""Priors that learn how far a head looks: what they begin with, and that they learn."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.attention import SelfAttention
from headwise.nn.layout import Layout
from headwise.nn.networks.head_pruning import described_priors
from headwise.nn.priors import (
    AdaptiveSpan,
    Cope,
    Fire,
    Forgetting,
    Forward,
    Kerple,
    LearnedSlope,
    PositionPairs,
    ShiftedWindow,
    Window,
    alibi,
)
from headwise.nn.priors.learned import learned_modules
from headwise.nn.ragged import Ragged


def score_of(prior, length=6, heads=4, head=0):
    [terms] = learned_modules([prior] * heads, 8, 8)
    rows = torch.randn(length, 8, generator=torch.Generator().manual_seed(0))
    return terms.score(rows, rows, PositionPairs.of_length(length), head).detach()


@pytest.mark.parametrize("head", range(4))
def test_learned_slopes_begin_as_alibi(head):
    expected = alibi(4)[head].score(PositionPairs.of_length(6))
    torch.testing.assert_close(score_of(LearnedSlope(), head=head), expected.float())


@pytest.mark.parametrize("prior", [Fire(), Cope()], ids=str)
def test_others_begin_as_plain_attention(prior):
    assert torch.equal(score_of(prior), torch.zeros(6, 6))


def test_forgetting_begins_with_the_same_step_everywhere():
    score = score_of(Forgetting())
    assert score[2, 2] == 0
    assert score[0, 1] == pytest.approx(-0.0486, abs=1e-4)
    assert score[5, 0] == pytest.approx(5 * score[0, 1].item(), rel=1e-5)


def test_a_span_is_a_window_with_a_soft_edge():
    score = score_of(AdaptiveSpan(2, 2), length=9)
    assert torch.equal(score[4, 2:7], torch.zeros(5))
    assert score[4, 1].exp() == pytest.approx(0.5)
    assert score[4, 0] == pytest.approx(-80)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Kerple("linear"), "log or power"),
        (lambda: Fire(0), "hidden"),
        (lambda: AdaptiveSpan(0), "more than 0"),
        (lambda: AdaptiveSpan(3, -1), "more than 0"),
        (lambda: Cope(0), "furthest"),
        (lambda: ShiftedWindow(4), "odd whole number"),
    ],
)
def test_impossible_values(make, words):
    with pytest.raises(ConfigError, match=words):
        make()


@pytest.mark.parametrize(
    ("prior", "before", "after"),
    [(LearnedSlope(), "slope 0.0625", "slope"), (AdaptiveSpan(3, 4), "span 3", "span")],
)
def test_a_head_learns_how_far_it_has_to_look(prior, before, after):
    """The target is the mean of the words up to 6 places away: slopes fall and spans grow."""
    torch.manual_seed(0)
    layer = SelfAttention(4, [prior] * 2, 4)
    values = torch.randn(400, 4)
    batch = Ragged(values, Layout((40,) * 10))
    places = torch.arange(40)
    nearby = ((places[:, None] - places).abs() <= 6).float()
    target = torch.einsum(
        "ij,tjw->tiw", nearby / nearby.sum(1, keepdim=True), values.view(10, 40, 4)
    ).reshape(-1, 4)
    [terms] = layer.learned
    assert terms.description(0) == before
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    for _ in range(150):
        optimizer.zero_grad()
        loss = (layer(batch).values - target).square().mean()
        loss.backward()
        optimizer.step()
    learned = [float(terms.description(head).split()[1]) for head in range(2)]
    start = float(before.split()[1])
    assert loss < target.square().mean() / 4
    assert terms.description(0).startswith(after)
    assert min(learned) > start if after == "span" else loss < 0.02


def test_what_heads_have_learned_stands_beside_their_priors():
    layer = SelfAttention(
        8, [LearnedSlope(), Window(width=3), AdaptiveSpan(4) + Forward(), LearnedSlope()], 4
    )
    assert described_priors(layer) == [
        "learned slope (slope 0.0625)",
        "window 3",
        "adaptive span from 4 + forward (span 4)",
        "learned slope (slope 0.00391)",
    ]


def test_a_shifted_window_keeps_its_width(visible):
    rows = visible(ShiftedWindow(3), 5)
    assert [[key for key, seen in enumerate(row) if seen] for row in rows] == [
        [0, 1, 2],
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [2, 3, 4],
    ]
    assert visible(ShiftedWindow(9), 2) == [[True, True], [True, True]]
