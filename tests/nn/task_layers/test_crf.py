"""The CRF against the enumeration of all tag sequences."""

from itertools import pairwise, product

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from headwise.metrics.tag_schemes import Constraints, scheme_constraints, tag_set
from headwise.nn.ragged import Ragged
from headwise.nn.task_layers.crf import CRF

LENGTHS = [3, 0, 1, 5, 4, 1, 2]


def random_case(tags, lengths=LENGTHS, *, allowed=None, dtype=torch.float64, seed=0, scale=1.0):
    """A CRF with random scores, and random emissions."""
    random = torch.Generator().manual_seed(seed)

    def numbers(*shape):
        return torch.randn(*shape, generator=random, dtype=torch.float64).mul(scale).to(dtype)

    crf = CRF(tags, allowed).to(dtype)
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.copy_(numbers(*parameter.shape))
    y = torch.randint(tags, (sum(lengths),), generator=random)
    return crf, Ragged.from_lengths(numbers(sum(lengths), tags), lengths), y


def score(crf, emission, path):
    """The definition."""
    total = crf.start[path[0]] + sum(emission[t, y] for t, y in enumerate(path)) + crf.end[path[-1]]
    return total + sum(crf.transitions[a, b] for a, b in pairwise(path))


def all_paths(crf, emission, may=None):
    """Every path that is allowed, and its score."""
    tags = len(crf.start)
    paths = [
        path
        for path in product(range(tags), repeat=len(emission))
        if may is None
        or (may.start[path[0]] and may.end[path[-1]] and all(may.follow[a, b] for a, b in pairwise(path)))
    ]
    return torch.tensor(paths), torch.stack([score(crf, emission, path) for path in paths])


# Arbitrary, but the first tag may fill a text of any length.
MAY = Constraints(
    start=np.array([True, False, True]),
    follow=np.array([[True, True, False], [True, False, True], [False, True, True]]),
    end=np.array([True, True, False]),
)


def test_golden_case():
    crf = CRF(3).double()
    emission = [[0.1, 0.2, 0.3], [0.4, -0.5, 0.6], [-0.7, 0.8, 0.9], [1, -1.1, 1.2]]
    with torch.no_grad():
        crf.transitions.copy_(torch.tensor([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6], [-0.7, 0.8, 0.9]]))
        crf.start.copy_(torch.tensor([0.1, 0.2, 0.3]))
        crf.end.copy_(torch.tensor([-0.1, 0.0, 0.1]))
    emissions = Ragged.from_list([torch.tensor(emission, dtype=torch.float64)])
    assert crf.log_partition(emissions).item() == pytest.approx(7.498193546, abs=1e-7)
    tags, best = crf.viterbi(emissions)
    assert tags.tolist() == [2, 2, 2, 2]
    assert best.item() == pytest.approx(6.1, abs=1e-7)
    assert crf.log_likelihood(emissions, tags).item() == pytest.approx(-1.398193546, abs=1e-7)


@pytest.mark.parametrize(("tags", "may"), [(1, None), (2, None), (3, None), (3, MAY)])
def test_all_paths(tags, may):
    crf, emissions, y = random_case(tags, allowed=may)
    partition, likelihood = crf.log_partition(emissions), crf.log_likelihood(emissions, y)
    best_tags, best = crf.viterbi(emissions)
    texts = zip(
        emissions, y.split(LENGTHS), best_tags.split(LENGTHS), crf.marginals(emissions), strict=True
    )
    for text, (emission, gold, actual, marginals) in enumerate(texts):
        if len(emission) == 0:
            assert partition[text] == likelihood[text] == best[text] == 0
            continue
        paths, scores = all_paths(crf, emission, may)
        torch.testing.assert_close(partition[text], scores.logsumexp(0))
        is_gold = (paths == gold).all(1)
        expected = scores.log_softmax(0)[is_gold].sum() if is_gold.any() else torch.tensor(float("-inf"))
        torch.testing.assert_close(likelihood[text], expected.double())
        torch.testing.assert_close(best[text], scores.max())
        assert actual.tolist() == paths[scores.argmax()].tolist()
        chances = scores.softmax(0)[:, None, None] * torch.nn.functional.one_hot(paths, tags)
        torch.testing.assert_close(marginals, chances.sum(0))


@pytest.mark.parametrize("may", [None, MAY])
def test_gradients(may):
    lengths = [2, 0, 4, 1]
    crf, emissions, _ = random_case(3, lengths, allowed=may)
    values = emissions.values.requires_grad_()
    y = torch.tensor([0, 1, 2, 2, 1, 0, 0])  # allowed

    def likelihood(values, *_):
        return crf.log_likelihood(emissions.with_values(values), y)

    def partition(values, *_):
        return crf.log_partition(emissions.with_values(values))

    assert likelihood(values).isfinite().all()
    inputs = (values, *crf.parameters())  # gradcheck moves the parameters in place
    assert gradcheck(likelihood, inputs)
    assert gradcheck(partition, inputs)


def test_marginals_are_the_gradient_of_the_partition():
    crf, emissions, _ = random_case(4)
    values = emissions.values.requires_grad_()
    (gradient,) = torch.autograd.grad(crf.log_partition(emissions).sum(), values)
    marginals = crf.marginals(emissions).values
    torch.testing.assert_close(marginals, gradient)
    torch.testing.assert_close(marginals.sum(1), torch.ones(sum(LENGTHS), dtype=torch.float64))


def test_a_batch_is_its_texts():
    crf, emissions, y = random_case(4, dtype=torch.float32)
    tags, scores = crf.viterbi(emissions)
    together = [crf.log_likelihood(emissions, y), crf.log_partition(emissions), scores]
    marginals = crf.marginals(emissions)
    for text, (gold, actual) in enumerate(zip(y.split(LENGTHS), tags.split(LENGTHS), strict=True)):
        alone = emissions[[text]]
        own_tags, own_score = crf.viterbi(alone)
        likelihoods = [crf.log_likelihood(alone, gold), crf.log_partition(alone), own_score]
        for ours, theirs in zip(together, likelihoods, strict=True):
            torch.testing.assert_close(ours[text], theirs[0])
        assert own_tags.tolist() == actual.tolist()
        torch.testing.assert_close(crf.marginals(alone).values, marginals[text])


def test_equal_scores():
    crf = CRF(5)
    with torch.no_grad():
        for parameter in crf.parameters():
            parameter.zero_()
    emissions = Ragged.from_lengths(torch.zeros(sum(LENGTHS), 5), LENGTHS)
    expected = torch.tensor(LENGTHS) * np.log(5)
    torch.testing.assert_close(crf.log_partition(emissions), expected.float())


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
def test_no_words(lengths):
    crf = CRF(3)
    emissions = Ragged.from_lengths(torch.zeros(0, 3, requires_grad=True), lengths)
    nothing = torch.zeros(0, dtype=torch.int64)
    likelihood = crf.log_likelihood(emissions, nothing)
    assert likelihood.tolist() == [0.0] * len(lengths)
    likelihood.sum().backward()
    assert (crf.transitions.grad == 0).all()
    assert crf.marginals(emissions).values.shape == (0, 3)
    tags, scores = crf.viterbi(emissions)
    assert (tags.tolist(), scores.tolist()) == ([], [0.0] * len(lengths))


def test_16_bit_emissions_are_computed_with_in_32():
    crf, emissions, y = random_case(9, [40, 7], dtype=torch.float32)
    values = emissions.values.bfloat16()
    expected = crf.log_likelihood(emissions.with_values(values.float()), y)
    expected.sum().backward()
    gradient, crf.transitions.grad = crf.transitions.grad, None
    with torch.autocast("cpu", dtype=torch.bfloat16):
        actual = crf.log_likelihood(emissions.with_values(values), y)
        actual.sum().backward()
    assert actual.dtype == torch.float32
    torch.testing.assert_close(actual, expected, rtol=0, atol=0)
    torch.testing.assert_close(crf.transitions.grad, gradient, rtol=0, atol=0)


def test_emissions_of_fewer_bits_than_the_scores():
    crf, emissions, y = random_case(3)
    rough = emissions.map(torch.Tensor.float)
    exact = rough.map(torch.Tensor.double)
    assert torch.equal(crf.log_likelihood(rough, y), crf.log_likelihood(exact, y))
    assert torch.equal(crf.marginals(rough).values, crf.marginals(exact).values)
    assert torch.equal(crf.viterbi(rough)[0], crf.viterbi(exact)[0])


def test_32_bits_are_enough_for_a_long_text():
    crf, emissions, y = random_case(5, [1000], scale=3.0)
    single, narrow = CRF(5), emissions.with_values(emissions.values.float())
    single.load_state_dict(crf.state_dict())
    torch.testing.assert_close(
        single.log_likelihood(narrow, y).double(), crf.log_likelihood(emissions, y), rtol=1e-5, atol=0
    )
    marginals = single.marginals(narrow).values.double()
    torch.testing.assert_close(marginals, crf.marginals(emissions).values, rtol=0, atol=1e-4)
    (best, score), (expected, exact) = single.viterbi(narrow), crf.viterbi(emissions)
    torch.testing.assert_close(score.double(), exact, rtol=1e-5, atol=0)
    assert best.tolist() == expected.tolist()


def test_scores_too_far_apart_for_an_exponential():
    crf, emissions, y = random_case(4, [6, 2], dtype=torch.float32, scale=1e4)
    values = emissions.values.requires_grad_()
    likelihood = crf.log_likelihood(emissions, y)
    likelihood.sum().backward()
    assert likelihood.isfinite().all()
    assert (likelihood <= 0).all()
    assert values.grad.isfinite().all()
    best, score = crf.viterbi(emissions)
    torch.testing.assert_close(crf.log_partition(emissions), score)
    torch.testing.assert_close(crf.log_likelihood(emissions, best), torch.zeros(2), atol=1e-2, rtol=0)


def test_constraints_of_a_scheme_hold_whatever_the_scores():
    tags = tag_set(["A", "B"], "bioes")
    may = scheme_constraints(tags, "bioes")
    crf, emissions, _ = random_case(len(tags), [12, 1, 7], allowed=may, scale=20.0)
    best, _ = crf.viterbi(emissions)
    for path in best.split([12, 1, 7]):
        assert may.start[path[0]]
        assert may.end[path[-1]]
        assert all(may.follow[a, b] for a, b in pairwise(path.tolist()))
    firsts = crf.marginals(emissions).values[emissions.offsets[:-1]]
    assert (firsts[:, ~may.start] == 0).all()
    assert (firsts[1, ~(may.start & may.end)] == 0).all()


def test_forbidden_tags_have_no_probability_and_harmless_gradients():
    crf, emissions, _ = random_case(3, [3, 2], allowed=MAY)
    values = emissions.values.requires_grad_()
    likelihood = crf.log_likelihood(emissions, torch.tensor([1, 1, 1, 0, 1]))
    assert likelihood[0] == float("-inf")
    assert likelihood[1].isfinite()
    likelihood.sum().backward()
    for gradient in (values.grad, *(parameter.grad for parameter in crf.parameters())):
        assert gradient.isfinite().all()
    assert (crf.transitions.grad[~torch.from_numpy(MAY.follow)] == 0).all()


def test_constraints_that_cannot_be():
    with pytest.raises(ValueError, match="3 tags for a CRF of 4"):
        CRF(4, MAY)
    never = Constraints(MAY.start, MAY.follow & ~np.eye(3, dtype=bool), MAY.end)
    with pytest.raises(ValueError, match="without a path"):
        CRF(3, never)


def test_constraints_are_not_saved():
    assert set(CRF(3, MAY).state_dict()) == {"transitions", "start", "end"}


def test_a_batch_that_was_predicted_can_be_trained_on():
    crf, emissions, y = random_case(3)
    with torch.inference_mode():
        crf.viterbi(emissions)
    crf.log_likelihood(emissions, y).sum().backward()
