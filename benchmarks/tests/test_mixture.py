"""Likelihood of mixtures of Gaussians, the EM step, and the sets that are drawn from them."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Categorical, Independent, MixtureSameFamily, Normal

from benchmarks.papers.mixture import Mixture, em_step, log_likelihood, mixture_sets
from headwise.core.errors import ConfigError
from headwise.nn.ragged import Ragged

SIZES = (30, 1, 12)


def double(mixture: Mixture) -> Mixture:
    return Mixture(mixture.log_weights.double(), mixture.means.double(), mixture.deviations.double())


def some_points(sizes=SIZES, seed=0):
    random = torch.Generator().manual_seed(seed)
    return Ragged.from_lengths(torch.randn(sum(sizes), 2, generator=random, dtype=torch.float64), sizes)


def some_mixture(sets=3, clusters=4, numbers=5, seed=0):
    random = torch.Generator().manual_seed(seed)
    raw = torch.randn(sets, clusters, numbers, generator=random, dtype=torch.float64)
    return Mixture.from_raw(raw, 2)


@pytest.mark.parametrize("numbers", [4, 5])
def test_the_likelihood_is_that_of_torch(numbers):
    points, mixture = some_points(), some_mixture(numbers=numbers)
    got = log_likelihood(points, mixture)
    for t, rows in enumerate(points):
        normal = Normal(mixture.means[t], mixture.deviations[t].expand(4, 2))
        density = MixtureSameFamily(Categorical(logits=mixture.log_weights[t]), Independent(normal, 1))
        torch.testing.assert_close(got[t], density.log_prob(rows).mean())


def test_raw_numbers():
    raw = torch.tensor([[[0.0, 5.0, -6.0, 0.0, 1.0], [math.log(3), 1.0, 2.0, 0.0, 0.0]]])
    mixture = Mixture.from_raw(raw, 2)
    torch.testing.assert_close(mixture.log_weights.exp(), torch.tensor([[0.25, 0.75]]))
    assert mixture.means.tolist() == [[[5, -6], [1, 2]]]
    expected = torch.tensor([[math.log(2), math.log(1 + math.e)], [math.log(2)] * 2])
    torch.testing.assert_close(mixture.deviations[0], expected, rtol=0, atol=2e-5)
    shared = Mixture.from_raw(raw[..., :4], 2)
    assert shared.deviations.shape == (1, 2, 1)
    with pytest.raises(ConfigError, match="takes 5 numbers, or 4 with one deviation for all, got 6"):
        Mixture.from_raw(torch.zeros(1, 2, 6), 2)
    extreme = Mixture.from_raw(torch.full((1, 2, 5), -200.0), 2)
    assert log_likelihood(Ragged.from_lengths(torch.zeros(3, 2), [3]), extreme).isfinite().all()


def test_gradcheck():
    points = some_points()
    raw = torch.randn(3, 4, 5, dtype=torch.float64, requires_grad=True)
    run = lambda raw: log_likelihood(points, Mixture.from_raw(raw, 2))
    assert torch.autograd.gradcheck(run, [raw], fast_mode=True)


def test_o4_sets_together_are_sets_alone():
    points, mixture = some_points((30, 0, 12)), some_mixture()
    together, stepped = log_likelihood(points, mixture), em_step(points, mixture)
    assert together[1] == 0
    assert all(x.isfinite().all() for x in vars(stepped).values())
    for t in (0, 2):
        alone = Mixture(*(x[[t]] for x in vars(mixture).values()))
        torch.testing.assert_close(log_likelihood(points[[t]], alone)[0], together[t])
        for one, all_ in zip(
            vars(em_step(points[[t]], alone)).values(), vars(stepped).values(), strict=True
        ):
            torch.testing.assert_close(one[0], all_[t])


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([4, 5]))
def test_o7_an_em_step_never_lowers_the_likelihood(seed, clusters, numbers):
    points, mixture = some_points((40, 25, 100), seed), some_mixture(3, clusters, numbers, seed)
    before = log_likelihood(points, mixture)
    for _ in range(6):
        mixture = em_step(points, mixture)
        after = log_likelihood(points, mixture)
        assert (after >= before - 1e-7).all()
        before = after
    torch.testing.assert_close(mixture.log_weights.exp().sum(-1), torch.ones(3, dtype=torch.float64))


def test_an_em_step_of_one_cluster_gives_mean_and_deviation():
    points = some_points()
    stepped = em_step(points, some_mixture(clusters=1))
    for t, rows in enumerate(points):
        torch.testing.assert_close(stepped.means[t, 0], rows.mean(0))
        deviation = rows.std(0, correction=0).clamp(min=1e-5)
        torch.testing.assert_close(stepped.deviations[t, 0], deviation, rtol=0, atol=1e-8)


def test_a_cluster_without_points_does_no_harm():
    points = some_points((30,))
    means = torch.tensor([[[0.0, 0.0], [1e6, 1e6]]], dtype=torch.float64)
    mixture = Mixture(torch.zeros(1, 2).double(), means, torch.ones(1, 2, 1).double())
    stepped = em_step(points, mixture)
    assert stepped.log_weights[0, 1] < -20
    assert log_likelihood(points, stepped) >= log_likelihood(points, mixture)


# The sets that are drawn


def test_o7_the_oracle_of_the_papers_sets():
    points, mixture = mixture_sets(0, 3000)
    assert log_likelihood(points, mixture).mean().item() == pytest.approx(-1.4748, abs=0.014)


def test_o7_the_oracle_of_the_larger_sets():
    points, mixture = mixture_sets(0, 300, clusters=6, fewest=1000, most=5000)
    assert log_likelihood(points, mixture).mean().item() == pytest.approx(-1.8191, abs=0.04)


def test_o7_the_entropy_of_one_gaussian():
    points, mixture = mixture_sets(0, 500, clusters=1)
    entropy = 1 + math.log(2 * math.pi * 0.3**2)
    assert log_likelihood(points, mixture).mean().item() == pytest.approx(-entropy, abs=0.02)


def test_no_fit_of_ours_beats_em_from_the_truth():
    points, truth = mixture_sets(0, 200)
    points, truth = points.map(torch.Tensor.double), double(truth)
    oracle = log_likelihood(points, truth)
    fitted = log_likelihood(points, em_step(points, truth))
    assert (fitted > oracle).all()  # it may use the chance of the sample
    assert fitted.mean() < -1.43


def test_points_follow_the_weights():
    points, mixture = mixture_sets(0, 20, fewest=20_000, most=20_000, deviation=0.05)
    stepped = em_step(points, mixture)
    torch.testing.assert_close(stepped.log_weights.exp(), mixture.log_weights.exp(), rtol=0, atol=0.02)
    heavy = mixture.log_weights.exp() > 0.05
    torch.testing.assert_close(stepped.means[heavy], mixture.means[heavy], rtol=0, atol=0.03)


def test_sets_have_sizes_of_their_own():
    points, mixture = mixture_sets(0, 400)
    sizes = points.lengths
    assert (sizes.min() >= 100, sizes.max() <= 500, len(sizes.unique()) > 200) == (True, True, True)
    assert sizes.double().mean().item() == pytest.approx(300, abs=25)
    assert mixture.means.abs().max() <= 4
    assert [x.dtype for x in (points.values, *vars(mixture).values())] == [torch.float32] * 4


def test_the_seed_says_it_all():
    points, _ = mixture_sets([3, 1], 5)
    assert torch.equal(points.values, mixture_sets([3, 1], 5)[0].values)
    assert points.layout.sizes != mixture_sets([3, 2], 5)[0].layout.sizes
