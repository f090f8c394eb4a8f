"""Keys whose weight a slope makes too small for float32 are not read, and nobody sees a difference."""

import numpy as np
import pytest
import torch

from headwise.nn.attention import reference
from headwise.nn.attention.cpu import banded
from headwise.nn.layout import Layout
from headwise.nn.priors import parse_prior
from headwise.runtime.banded_plan import Band, BandedPlan

LENGTHS = [200, 0, 7, 90]


def inputs(scale: float, dtype: torch.dtype = torch.float32) -> list[torch.Tensor]:
    random = torch.Generator().manual_seed(1)
    query, key, value = (torch.randn(sum(LENGTHS), 2, 5, generator=random).to(dtype) for _ in range(3))
    return [x.requires_grad_() for x in (scale * query, scale * key, value)]


@pytest.mark.parametrize("scale", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("prior", ["word-distance", "word-distance(0.2)", "word-distance+forward"])
def test_outputs_and_gradients_are_those_of_all_keys(scale, prior):
    priors, layout, results = [parse_prior(prior)] * 2, Layout(LENGTHS), []
    for attention, dtype in ((banded.attention, torch.float32), (reference.attention, torch.float64)):
        tensors = query, key, value = inputs(scale, dtype)
        out = attention(query, key, value, priors, layout)
        results.append([out.detach(), *torch.autograd.grad(out.square().sum(), tensors)])
    for cut, exact in zip(*results, strict=True):
        torch.testing.assert_close(cut.double(), exact, rtol=2e-4, atol=5e-5)


def plan_of(left: int, right: int, slope: float, lengths=(200, 90)) -> BandedPlan:
    sizes = np.array(lengths)
    band = Band(np.full(len(sizes), left), np.full(len(sizes), right), slope)
    return BandedPlan.of(sizes, 1, [0], [band])


def reaches(plan: BandedPlan, query: np.ndarray, key: np.ndarray) -> list[list[int]]:
    return plan.without_lost_keys(query, key).items[:, 6:].tolist()


def test_the_reach_of_a_text_grows_with_its_queries_and_keys_alone():
    ones = np.ones((290, 1, 4), dtype=np.float32)  # of length 2: logits differ by 2 * 2 * 2 / 2 at most
    steep = 18 + np.log(2 / (1 - np.exp(-1)))
    assert reaches(plan_of(300, 300, 1.0), ones, ones) == [[np.ceil(4 + steep)] * 2] * 2
    larger = ones.copy()
    larger[250:] *= 3
    assert reaches(plan_of(300, 300, 1.0), larger, ones) == [
        [np.ceil(4 + steep)] * 2,
        [np.ceil(12 + steep)] * 2,
    ]


def test_other_reaches_stay():
    ones = np.ones((290, 1, 4), dtype=np.float32)
    assert reaches(plan_of(300, 5, 0.0), ones, ones) == [[300, 5]] * 2  # no slope
    assert reaches(plan_of(9, 5, 1.0), ones, ones) == [[9, 5]] * 2  # near enough
    short = plan_of(30, 30, 20.0, lengths=(31,))
    assert short.without_lost_keys(ones[:31], ones[:31]) is short
    # From the 50th key after a row on: they are compared with that one.
    (first, _) = reaches(plan_of(-50, 300, 1.0), ones, ones)
    assert first[0] == -50
    assert 50 + 20 < first[1] < 50 + 30
    damaged = ones.copy()
    damaged[3] = np.nan
    assert reaches(plan_of(300, 300, 1.0), damaged, ones)[0] == [300, 300]
