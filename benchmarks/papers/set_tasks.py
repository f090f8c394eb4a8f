"""The Set Transformer paper's tasks, with the paper's figures; and Star-Transformer's masked summation.

    python -m benchmarks.papers.set_tasks max-regression  # SAB + PMA, the paper's 20,000 steps
    python -m benchmarks.papers.set_tasks max-regression --model rff+mean    # a pooled baseline
    python -m benchmarks.papers.set_tasks mixture --threads 1 --minutes 60   # ISAB(16) + PMA, 50,000 steps
    python -m benchmarks.papers.set_tasks unique-characters --model sab+pma  # characters are drawn here
    python -m benchmarks.papers.set_tasks mixture-unknown  # 2 to 6 clusters, their number unknown
    python -m benchmarks.papers.set_tasks mixture-large  # six clusters, 1,000 to 5,000 points
    python -m benchmarks.papers.set_tasks point-clouds --model isab16+max  # ten solids, 100 points each
    python -m benchmarks.papers.set_tasks modelnet40 --data ModelNet40.zip  # the paper's; you must bring it
    python -m benchmarks.papers.set_tasks masked-summation --model bilstm    # Star-Transformer's
    python -m benchmarks.papers.set_tasks --table  # only print stored results

Sets are drawn as they are needed, most of a size of their own each; nothing is downloaded. A run ends after
--steps, or earlier after --minutes of training, all sessions together: stop it at any time, and the same
command goes on where it was; a kill -9 costs at most 20 seconds. Curve and scores are written to
results/set_tasks as JSON and SVG.
"""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.papers.cifar_clusters import CifarClusters
from benchmarks.papers.masked_summation import MaskedSummation
from benchmarks.papers.max_regression import constant_error, max_sets
from benchmarks.papers.mixture import Mixture, em_step, log_likelihood, mixture_sets
from benchmarks.papers.point_clouds import ModelNet, PointClouds
from benchmarks.papers.set_baselines import set_model
from benchmarks.papers.set_tasks_output import print_table
from benchmarks.papers.set_tasks_training import EVALUATION, PART, Scores, Settings, Task, train
from benchmarks.papers.unique_characters import UniqueCharacters
from headwise.core.allocator import keep_freed_memory
from headwise.core.errors import HeadwiseError
from headwise.nn.encoders.set_configs import SetTransformerConfig
from headwise.nn.ragged import Ragged, RaggedModule

RESULTS = Path(__file__).parent / "results"


class MaxRegression(Task):
    """The largest of up to 10 numbers between 0 and 100 (paper: section 5.1)."""

    name = "max-regression"
    metrics = ("error",)
    model = "sab+pma"
    # The paper keeps the rate. Then the error swings by more than itself until the end.
    steps, rate, decay_at, precision = 20_000, 1e-3, 0.7, "float32"
    evaluation_sets, evaluate_every = 10_000, 1000
    # Mean absolute error, the paper's Table 1.
    paper: Mapping[str, tuple[float, ...]] = {
        "rff+mean": (2.133,),
        "rff+sum": (1.902,),
        "rff+max": (0.1355,),
        "sab+pma": (0.2085,),
    }

    def make(self, model: str) -> RaggedModule:
        decoder = 0 if model.endswith("pma") else 1
        blocks = SetTransformerConfig(width=64)
        return set_model(model, inputs=1, outputs=1, decoder_layers=decoder, blocks=blocks)

    def loss(self, model: RaggedModule, seed: list[int]) -> Tensor:
        sets, targets = max_sets(seed)
        return (model(sets).flatten().float() - targets).abs().mean()

    def evaluate(self, model: RaggedModule, sets: int) -> Scores:
        error = 0.0
        for part in range(sets // PART):
            numbers, targets = max_sets([EVALUATION, part], PART)
            error += (model(numbers).flatten() - targets).abs().sum().item()
        return {"error": error / sets}

    def references(self, sets: int) -> dict[str, Scores]:
        targets = torch.cat([max_sets([EVALUATION, part], PART)[1] for part in range(sets // PART)])
        return {"best constant guess": {"error": constant_error(targets)}}


class MixtureOfGaussians(Task):
    """Fit four Gaussians to 100 to 500 points (paper: section 5.3)."""

    name = "mixture"
    metrics = ("LL0", "LL1")  # as predicted, and after one EM step
    model = "isab16+pma"
    steps, rate, decay_at, precision = 50_000, 1e-3, 0.7, "bfloat16"
    evaluation_sets, evaluate_every = 1000, 1000
    clusters = fewest = 4  # of a set
    points = (100, 500)  # the fewest and the most
    part = PART  # sets evaluated at once
    # Mean log likelihood of a point, the paper's Table 3; isab32 and isab64 from its supplement.
    paper: Mapping[str, tuple[float, ...]] = {
        "rff+mean": (-2.0006, -1.6186),
        "rffp-mean+mean": (-1.7606, -1.5191),
        "rffp-max+mean": (-1.7692, -1.5103),
        "rff+dot": (-1.8549, -1.5621),
        "sab+mean": (-1.6772, -1.5070),
        "isab16+mean": (-1.6955, -1.4742),
        "isab32+mean": (-1.6353, -1.4681),
        "isab64+mean": (-1.6349, -1.4664),
        "rff+pma": (-1.6680, -1.5409),
        "sab+pma": (-1.5145, -1.4619),
        "isab16+pma": (-1.5009, -1.4530),
        "isab32+pma": (-1.4963, -1.4524),
        "isab64+pma": (-1.5042, -1.4535),
    }

    def make(self, model: str) -> RaggedModule:
        decoder = 1 if model.endswith("pma") else 3
        blocks = SetTransformerConfig(width=128)
        sizes = {"inputs": 2, "outputs": 5, "rows": self.clusters, "decoder_layers": decoder}
        return set_model(model, blocks=blocks, **sizes)

    def draw(self, seed: list[int], sets: int = 10) -> tuple[Ragged, Mixture]:
        fewest, most = self.points
        return mixture_sets(
            seed, sets, clusters=self.clusters, fewest_clusters=self.fewest, fewest=fewest, most=most
        )

    def loss(self, model: RaggedModule, seed: list[int]) -> Tensor:
        points, _ = self.draw(seed)
        return -log_likelihood(points, Mixture.from_raw(model(points).float(), 2)).mean()

    def evaluate(self, model: RaggedModule, sets: int) -> Scores:
        before = after = 0.0
        for part in range(sets // self.part):
            points, _ = self.draw([EVALUATION, part], self.part)
            mixture = Mixture.from_raw(model(points), 2)
            before += log_likelihood(points, mixture).sum().item()
            after += log_likelihood(points, em_step(points, mixture)).sum().item()
        return {"LL0": before / sets, "LL1": after / sets}

    def references(self, sets: int) -> dict[str, Scores]:
        oracle = one = 0.0
        for part in range(sets // self.part):
            points, mixture = self.draw([EVALUATION, part], self.part)
            oracle += log_likelihood(points, mixture).sum().item()
            n = self.part
            anywhere = Mixture(torch.zeros(n, 1), torch.zeros(n, 1, 2), torch.ones(n, 1, 1))
            single = em_step(points, anywhere)
            one += log_likelihood(points, single).sum().item()
        return {"oracle": {"LL0": oracle / sets}, "one Gaussian": {"LL0": one / sets}}


class LargeMixtures(MixtureOfGaussians):
    """Six Gaussians, 1,000 to 5,000 points (the paper's supplement)."""

    name = "mixture-large"
    model = "isab32+pma"
    clusters = fewest = 6
    points = (1000, 5000)
    part = 20
    paper: Mapping[str, tuple[float, ...]] = {
        "rff+mean": (-2.5195, -2.0709),
        "rffp-mean+mean": (-2.3126, -1.9749),
        "rff+pma": (-2.0515, -1.9424),
        "isab32+pma": (-1.8928, -1.8549),
    }


class UnknownClusters(MixtureOfGaussians):
    """The same with 2 to 6 clusters, whose number the model does not get; not the paper's."""

    name = "mixture-unknown"
    clusters, fewest = 6, 2
    paper: Mapping[str, tuple[float, ...]] = {}


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        MaxRegression(),
        UniqueCharacters(),
        MixtureOfGaussians(),
        CifarClusters(),
        LargeMixtures(),
        UnknownClusters(),
        PointClouds(),
        ModelNet(),
        MaskedSummation(),
    )
}


BRING = {
    "modelnet40": "ModelNet40.zip (modelnet.cs.princeton.edu)",
    "cifar100": "an .npz with features of CIFAR-100's images (cifar_clusters.py says how)",
}
"""What tasks need that you must bring."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", nargs="?", choices=list(TASKS))
    parser.add_argument(
        "--model",
        help="ENCODER+POOLING: rff, rffp-mean, rffp-max, sab or isab16; pma, mean, sum, max or dot",
    )
    parser.add_argument("--minutes", type=float, default=30, help="of training, over all sessions")
    parser.add_argument(
        "--clock",
        choices=["wall", "processor"],
        default="wall",
        help="what the minutes are of; of the processor, where others have it too (all threads together)",
    )
    parser.add_argument("--steps", type=int, help="at most; the paper's number by default")
    parser.add_argument(
        "--decay-at", type=float, help="share of the run after which the rate is a tenth; 1 = never"
    )
    parser.add_argument("--rate", type=float, help="of learning; the paper's by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
    parser.add_argument("--precision", choices=["float32", "bfloat16"], help="of the training steps")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder")
    parser.add_argument("--points", type=int, help="of a point cloud; 100 by default")
    parser.add_argument(
        "--data",
        type=Path,
        help="modelnet40: ModelNet40.zip, or the folder that it holds; cifar100: features.npz",
    )
    parser.add_argument("--table", action="store_true", help="only print stored results")
    options = parser.parse_args(arguments)
    if options.table:
        print_table(TASKS, options.results)
        return 0
    if options.task is None:
        parser.error(f"which task? {', '.join(TASKS)}")
    if options.threads:
        torch.set_num_threads(options.threads)
    keep_freed_memory()
    task = TASKS[options.task]
    task.rate = options.rate or task.rate
    if isinstance(task, PointClouds):
        task.points = options.points or task.points
    if isinstance(task, ModelNet | CifarClusters):
        if options.data is None:
            parser.error(f"{task.name} needs --data: {BRING[task.name]}")
        task.data = options.data
    settings = Settings(
        model=options.model or task.model,
        seed=options.seed,
        steps=options.steps or task.steps,
        minutes=options.minutes,
        clock=options.clock,
        decay_at=task.decay_at if options.decay_at is None else options.decay_at,
        precision=options.precision or task.precision,
    )
    try:
        return train(task, settings, options.results)
    except HeadwiseError as error:
        print(f"error {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
