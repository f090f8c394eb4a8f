"""Mixtures of Gaussians fitted by one look at a set (Set Transformer, Lee et al. 2019, section 5.3).

A model maps a set of points to the parameters of K clusters; it is trained on the likelihood

    log p(X) = 1/n sum_i log sum_k pi_k N(x_i; mu_k, diag(sigma_k^2))

of its own parameters, without ever seeing those that the set was drawn from.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import softplus

from headwise.core.errors import ConfigError
from headwise.nn.ragged import Ragged

_TINY = 1e-10  # least variance, and least number of points that a cluster's mean is taken over


@dataclass(frozen=True)
class Mixture:
    """One mixture of K Gaussians with diagonal covariances for each set.

    Attributes:
        log_weights: `[sets, K]`, normalised.
        means: `[sets, K, features]`.
        deviations: `[sets, K, features]`, positive; a last size of 1 holds for all features.
    """

    log_weights: Tensor
    means: Tensor
    deviations: Tensor

    @classmethod
    def from_raw(cls, raw: Tensor, features: int) -> "Mixture":
        """From a model's numbers.

        Args:
            raw: `[sets, K, 1 + 2 * features]`: logit of the weight, mean, deviations before softplus; or
                `[sets, K, 2 + features]` with one deviation for all features, as the released code has.
            features: Of a point.

        Raises:
            ConfigError: `raw` has another number of columns.
        """
        if raw.shape[-1] not in (2 + features, 1 + 2 * features):
            raise ConfigError(
                f"a cluster of points with {features} features takes {1 + 2 * features} numbers, or "
                f"{2 + features} with one deviation for all, got {raw.shape[-1]}"
            )
        logit, means, deviations = raw[..., 0], raw[..., 1 : 1 + features], raw[..., 1 + features :]
        return cls(logit.log_softmax(-1), means, softplus(deviations) + _TINY**0.5)


def log_likelihood(points: Ragged, mixture: Mixture) -> Tensor:
    """Mean over a set's points of their log density, `[sets]`; 0 for an empty set.

    Args:
        points: Points of `[features]`.
        mixture: One for each set.
    """
    return points.with_values(_log_joint(points, mixture).logsumexp(-1)).mean()


def em_step(points: Ragged, mixture: Mixture) -> Mixture:
    """One step of expectation maximisation; it never lowers the likelihood.

    A cluster that no point belongs to gets (nearly) no weight.
    """
    belongs = _log_joint(points, mixture).softmax(-1)[..., None]  # [total, K, 1]
    x = points.values[:, None, :]
    count = points.with_values(belongs).sum()  # [sets, K, 1]
    means = points.with_values(belongs * x).sum() / (count + _TINY)
    spread = belongs * (x - means[points.layout.text_of]).square()
    variances = points.with_values(spread).sum() / (count + _TINY)
    weights = (count.squeeze(-1) + _TINY).log().log_softmax(-1)
    return Mixture(weights, means, (variances + _TINY).sqrt())


def assigned(points: Ragged, mixture: Mixture) -> Tensor:
    """The likeliest cluster of each point, `[total]`."""
    return _log_joint(points, mixture).argmax(-1)


def _log_joint(points: Ragged, mixture: Mixture) -> Tensor:
    """log pi_k N(x_i; mu_k, sigma_k), `[total, K]`."""
    features = points.values.shape[-1]
    deviations = mixture.deviations.expand_as(mixture.means)
    peak = mixture.log_weights - deviations.log().sum(-1) - features / 2 * math.log(2 * math.pi)
    set_of_row = points.layout.text_of
    # In one gather: its backward pass is the costly part.
    rows = torch.cat([mixture.means, 1 / deviations, peak[..., None]], -1).index_select(0, set_of_row)
    means, precisions, peaks = rows.split([features, features, 1], -1)
    scaled = (points.values[:, None, :] - means) * precisions
    return peaks.squeeze(-1) - scaled.square().sum(-1) / 2


def mixture_sets(
    seed: int | Sequence[int],
    sets: int = 10,
    *,
    clusters: int = 4,
    fewest_clusters: int | None = None,
    fewest: int = 100,
    most: int = 500,
    features: int = 2,
    deviation: float = 0.3,
) -> tuple[Ragged, Mixture]:
    """Sets of points and the mixtures that they were drawn from (the oracle).

    n ~ U{fewest..most}, means ~ U(-4, 4), weights ~ Dirichlet(1, ..., 1), one fixed deviation; every set
    has a size of its own.

    Args:
        seed: Not negative; the same seed gives the same sets.
        sets: How many.
        clusters: K.
        fewest_clusters: If given, each set has a number of clusters of its own, from this to `clusters`.
        fewest: Least points of a set.
        most: Most points of a set.
        features: Of a point.
        deviation: Standard deviation of all clusters.

    Returns:
        Points of `[features]`, and the mixtures; all float32.
    """
    random = np.random.default_rng(seed)
    sizes = random.integers(fewest, most + 1, sets)
    means = random.uniform(-4, 4, (sets, clusters, features))
    weights = random.dirichlet(np.ones(clusters), sets)
    if fewest_clusters is not None and fewest_clusters < clusters:
        weights *= np.arange(clusters) < random.integers(fewest_clusters, clusters + 1, sets)[:, None]
        weights /= weights.sum(1, keepdims=True)
    set_of = np.repeat(np.arange(sets), sizes)
    below = weights.cumsum(1)[set_of, :-1]
    cluster = (random.random(len(set_of))[:, None] > below).sum(1)
    values = means[set_of, cluster] + deviation * random.standard_normal((len(set_of), features))
    single = np.full((sets, clusters, 1), deviation)
    log_weights = np.log(np.maximum(weights, np.finfo(np.float32).tiny))
    mixture = Mixture(*(torch.from_numpy(x.astype(np.float32)) for x in (log_weights, means, single)))
    return Ragged.from_lengths(torch.from_numpy(values.astype(np.float32)), sizes.tolist()), mixture
