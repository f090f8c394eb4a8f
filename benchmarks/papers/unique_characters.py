"""Count the different characters in a set of images (Set Transformer, Lee et al. 2019, section 5.2).

The paper has the 1,623 characters of Omniglot, each drawn by 20 people. Here a character is three strokes,
each a quadratic curve with control points of its own, drawn on 28 x 28 points; every image of it moves the
control points a little, and turns, shifts and stretches the image. 1,200 characters are for training, 423
others for the test. A set has n ~ U{6..10} images of c ~ U{1..n} characters, each at least once.

The model predicts the rate of a Poisson distribution; its mode, the floor of the rate, is the answer.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from benchmarks.papers.set_baselines import set_model
from benchmarks.papers.set_tasks_training import EVALUATION, PART, Scores, Task
from headwise.nn.encoders.set_configs import SetTransformerConfig
from headwise.nn.ragged import Ragged

TRAIN, TEST = range(1200), range(1200, 1623)
SIDE, STROKES, POINTS = 28, 3, 20
FEWEST, MOST = 6, 10
_WIDTH = 0.8  # of a stroke, in points of the image


def control_points(characters: range = range(1623)) -> np.ndarray:
    """What the characters are: `[characters, strokes, 3, 2]`, between -1 and 1."""
    random = np.random.default_rng(0)
    points = random.uniform(-0.9, 0.9, (TEST.stop, STROKES, 3, 2))
    points[:, 1:, 0] = 0.5 * (points[:, 1:, 0] + points[:, :-1, 2])  # strokes begin near the last one's end
    return points[characters.start : characters.stop]


def draw(points: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """One image of each, `[images, strokes, 3, 2]` -> `[images, 28, 28]` float32 between 0 and 1."""
    images = len(points)
    points = points + random.normal(0, 0.06, points.shape)
    angle, shift = random.normal(0, 0.12, images), random.normal(0, 0.06, (images, 1, 1, 2))
    scale = random.uniform(0.85, 1.1, (images, 2))
    turn = np.stack([np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)], 1).reshape(-1, 2, 2)
    points = np.einsum("iskd,ied,ie->iske", points, turn, scale) + shift
    t = np.linspace(0, 1, POINTS)
    curve = np.einsum("kt,iskd->istd", np.stack([(1 - t) ** 2, 2 * t * (1 - t), t**2]), points)
    places = (curve.reshape(images, -1, 2) + 1) * (SIDE - 1) / 2
    grid = np.arange(SIDE)
    intensity = np.exp(-((places[:, :, :, None] - grid) ** 2) / (2 * _WIDTH**2)).astype(np.float32)
    return np.minimum(intensity[:, :, 1].transpose(0, 2, 1) @ intensity[:, :, 0], 1.0)


def character_sets(
    seed: int | Sequence[int], sets: int = 32, *, characters: range = TRAIN
) -> tuple[Ragged, Tensor]:
    """Sets of images `[28, 28]` and how many different characters each shows, `[sets]`; both float32."""
    random = np.random.default_rng(seed)
    sizes = random.integers(FEWEST, MOST + 1, sets)
    counts = random.integers(1, sizes + 1)
    shown = [
        random.choice(len(characters), count, replace=False)[
            np.concatenate([np.arange(count), random.integers(0, count, size - count)])
        ]
        for size, count in zip(sizes, counts, strict=True)
    ]
    images = draw(control_points(characters)[np.concatenate(shown)], random)
    targets = torch.from_numpy(counts.astype(np.float32))
    return Ragged.from_lengths(torch.from_numpy(images), sizes.tolist()), targets


class Counter(nn.Module):
    """A convolutional network on each image, and a model of sets on its outputs."""

    def __init__(self, name: str):
        super().__init__()
        layers: list[nn.Module] = []
        for inputs in (1, 64, 64, 64):
            layers += [nn.Conv2d(inputs, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU()]
        self.images = nn.Sequential(*layers, nn.Flatten())
        blocks = SetTransformerConfig(width=64)
        decoder = 0 if name.endswith("pma") else 1
        self.sets = set_model(name, inputs=256, outputs=1, decoder_layers=decoder, blocks=blocks)

    def forward(self, images: Ragged) -> Tensor:
        """Rates, `[sets]`."""
        return softplus(self.sets(images.map(lambda x: self.images(x[:, None]))).flatten().float())


class UniqueCharacters(Task):
    """Share of sets whose characters are counted right."""

    name = "unique-characters"
    metrics = ("accuracy",)
    model = "sab+pma"
    # The paper's 200,000 steps of 32 sets at a rate of 1e-4 that stays.
    steps, rate, decay_at, precision = 200_000, 1e-4, 1.0, "float32"
    evaluation_sets, evaluate_every = 2000, 1000
    # The paper's Table 2; sab+dot from its supplement.
    paper: Mapping[str, tuple[float, ...]] = {
        "rff+mean": (0.4382,),
        "rffp-mean+mean": (0.4617,),
        "rffp-max+mean": (0.4359,),
        "rff+dot": (0.4471,),
        "rff+pma": (0.4572,),
        "sab+mean": (0.5659,),
        "sab+dot": (0.5888,),
        "sab+pma": (0.6037,),
    }

    def make(self, model: str) -> Counter:
        return Counter(model)

    def loss(self, model: Counter, seed: list[int]) -> Tensor:
        images, counts = character_sets(seed)
        rates = model(images)
        return (rates - counts * rates.log()).mean()

    def evaluate(self, model: Counter, sets: int) -> Scores:
        model.eval()
        right = 0
        for part in range(sets // PART):
            images, counts = character_sets([EVALUATION, part], PART, characters=TEST)
            right += int((model(images).floor() == counts).sum())
        model.train()
        return {"accuracy": right / sets}

    def references(self, sets: int) -> dict[str, Scores]:
        counts = torch.cat(
            [character_sets([EVALUATION, part], PART, characters=TEST)[1] for part in range(sets // PART)]
        )
        return {"most frequent count": {"accuracy": float(counts.long().bincount().max()) / len(counts)}}
