"""Clusters of images, found by one look at their features (Set Transformer, Lee et al. 2019, section 5.3).

A set has n ~ U{100..500} images of four of CIFAR-100's classes, each image a row of features (the paper:
512 of a VGG network, which are not public). The model says four Gaussians with diagonal covariances, and is
trained on the likelihood of the rows; the score is the adjusted Rand index of the likeliest Gaussian of
each image, before and after one step of expectation maximisation.

The features must be brought: an .npz with the arrays `train`, `train_labels`, `test` and `test_labels`.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from torch import Tensor

from benchmarks.papers.mixture import Mixture, assigned, em_step, log_likelihood
from benchmarks.papers.set_baselines import set_model
from benchmarks.papers.set_tasks_training import EVALUATION, Scores, Task
from headwise.core.errors import HeadwiseError
from headwise.nn.encoders.set_configs import SetTransformerConfig
from headwise.nn.ragged import Ragged, RaggedModule

CLUSTERS, FEWEST, MOST = 4, 100, 500
PART = 20  # sets evaluated at once


class CifarClusters(Task):
    """Adjusted Rand index of the clusters with the classes."""

    name = "cifar100"
    metrics = ("ARI0", "ARI1")
    model = "isab16+pma"
    steps, rate, decay_at, precision = 50_000, 1e-4, 0.7, "float32"
    evaluation_sets, evaluate_every = 1000, 1000
    # The paper's Table 3; isab32 and isab64 from its supplement.
    paper: Mapping[str, tuple[float, ...]] = {
        "rff+mean": (0.5593, 0.5693),
        "rffp-mean+mean": (0.5673, 0.5798),
        "rffp-max+mean": (0.5369, 0.5536),
        "rff+dot": (0.5666, 0.5763),
        "sab+mean": (0.5831, 0.5943),
        "isab16+mean": (0.5672, 0.5805),
        "isab32+mean": (0.5587, 0.5700),
        "isab64+mean": (0.5586, 0.5708),
        "rff+pma": (0.7612, 0.7670),
        "sab+pma": (0.9015, 0.9024),
        "isab16+pma": (0.9210, 0.9223),
        "isab32+pma": (0.9103, 0.9119),
        "isab64+pma": (0.9141, 0.9153),
    }
    data: Path

    @cached_property
    def images(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Features and labels, of `train` and `test`.

        Raises:
            HeadwiseError: See `read_features`.
        """
        return read_features(self.data)

    def draw(
        self, seed: Sequence[int], sets: int = 10, *, part: str = "train"
    ) -> tuple[Ragged, np.ndarray]:
        """Sets of rows of features, and the class of each row."""
        features, labels = self.images[part]
        random, places = np.random.default_rng(seed), list[np.ndarray]()
        sizes = random.integers(FEWEST, MOST + 1, sets)
        classes = np.unique(labels)
        for size in sizes:
            chosen = np.isin(labels, random.choice(classes, CLUSTERS, replace=False)).nonzero()[0]
            places.append(random.choice(chosen, size))
        rows = np.concatenate(places)
        return Ragged.from_lengths(torch.from_numpy(features[rows]), sizes.tolist()), labels[rows]

    def make(self, model: str) -> RaggedModule:
        width = self.images["train"][0].shape[1]
        sizes = {"inputs": width, "outputs": 1 + 2 * width, "rows": CLUSTERS}
        decoder = 2 if model.endswith("pma") else 5
        blocks = SetTransformerConfig(width=256, layers=3)
        return set_model(model, blocks=blocks, decoder_layers=decoder, **sizes)

    def loss(self, model: RaggedModule, seed: list[int]) -> Tensor:
        points, _ = self.draw(seed)
        return -log_likelihood(points, self.predicted_mixture(model, points)).mean()

    def predicted_mixture(self, model: RaggedModule, points: Ragged) -> Mixture:
        """The mixtures that a model predicts."""
        return Mixture.from_raw(model(points).float(), points.values.shape[-1])

    def evaluate(self, model: RaggedModule, sets: int) -> Scores:
        before, after = list[float](), list[float]()
        for number in range(sets // PART):
            points, labels = self.draw([EVALUATION, number], PART, part="test")
            mixture = self.predicted_mixture(model, points)
            for scores, clustering in ((before, mixture), (after, em_step(points, mixture))):
                clusters = points.with_values(assigned(points, clustering))
                truth = points.with_values(torch.from_numpy(labels))
                scores += [adjusted_rand_score(*pair) for pair in zip(truth, clusters, strict=True)]
        return {"ARI0": float(np.mean(before)), "ARI1": float(np.mean(after))}

    def references(self, sets: int) -> dict[str, Scores]:
        return {"one cluster": {"ARI0": 0.0}}


def read_features(path: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Features `[images, features]` float32 and labels `[images]`, of `train` and `test`.

    Raises:
        HeadwiseError: It is no .npz with these arrays, or they do not fit each other.
    """
    expected = "expected an .npz with train, train_labels, test and test_labels"
    try:
        with np.load(path) as file:
            arrays = {part: (file[part], file[f"{part}_labels"]) for part in ("train", "test")}
    except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
        raise HeadwiseError(f"{path}: {error}; {expected}") from None
    widths = {features.shape[1:] for features, _ in arrays.values()}
    for part, (features, labels) in arrays.items():
        if features.ndim != 2 or labels.shape != features.shape[:1] or len(widths) > 1:
            shapes = f"{features.shape} features and {labels.shape} labels"
            raise HeadwiseError(f"{path}: {part} has {shapes}; expected a row and a label for each image")
        if len(np.unique(labels)) < CLUSTERS:
            raise HeadwiseError(f"{path}: {part} has fewer than {CLUSTERS} classes")
    return {part: (features.astype(np.float32), labels) for part, (features, labels) in arrays.items()}
