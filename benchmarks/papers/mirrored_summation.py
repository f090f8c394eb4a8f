"""Mirrored summation, Figure 2 of the MS-Trans paper (Guo et al. 2020): five models, error over K.

    python -m benchmarks.papers.mirrored_summation --rate 2e-4 --warmup 50  # the paper's size
    python -m benchmarks.papers.mirrored_summation --length 20 --features 4 --width 50 --terms 2 5 10 20
    python -m benchmarks.papers.mirrored_summation --models transformer --positions sinusoidal
    python -m benchmarks.papers.mirrored_summation --length 20 --features 4 --width 50 --draw  # picture

Sequences are drawn as they are needed; nothing is downloaded. A run that is finished is in the cache, one
that is not goes on where it was: stop the command at any time and give it again, which costs at most 20
seconds. After each run the figure is written as csv and SVG to results/mirrored_summation, beside the runs
that are there already; as PNG with --png (needs cairosvg).
"""

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from torch import Tensor

from benchmarks.papers.mirrored_summation_figure import Point, read_points, write_figure
from benchmarks.papers.mirrored_summation_models import MODELS, SequenceModel, Sizes
from benchmarks.papers.mirrored_sums import chance_error, linear_error, mirrored_sums
from benchmarks.papers.set_tasks_training import Run, Scores, Settings
from headwise import __version__
from headwise.core.allocator import keep_freed_memory
from headwise.core.errors import HeadwiseError

RESULTS = Path(__file__).parent / "results"
BATCH = 128
TRAIN, TEST = 0, 1  # seeds: the training sequences of a run are [seed, TRAIN, batch]
PART = 1000  # test sequences evaluated at once
DECAY_AT = 0.7


class MirroredSummation:
    """The task of one K (see `set_tasks_training.Task`)."""

    name = "mirrored-summation"
    metrics = ("mse",)
    model = "transformer"
    decay_at, precision = DECAY_AT, "float32"
    paper: Mapping[str, tuple[float, ...]] = {}  # a figure only

    def __init__(
        self, sizes: Sizes, sequences: int, steps: int, test: int, rate: float = 1e-3, warmup: int = 0
    ):
        self.sizes, self.sequences, self.steps = sizes, sequences, steps
        self.rate, self.warmup = rate, warmup
        self.evaluation_sets, self.evaluate_every = test, steps

    def make(self, model: str) -> SequenceModel:
        return SequenceModel(model, self.sizes)

    def loss(self, model: SequenceModel, seed: list[int]) -> Tensor:
        """In units of the error by chance, so that the same rate suits every K."""
        run, step = seed
        batch = batch_of_step(run, step, -(-self.sequences // BATCH))
        sequences, targets = self._draw([run, TRAIN, batch], BATCH)
        return (model(sequences) - targets).square().mean() / model.deviation**2

    def evaluate(self, model: SequenceModel, sets: int) -> Scores:
        error = 0.0
        for start in range(0, sets, PART):
            sequences, targets = self._draw([0, TEST, start], min(PART, sets - start))
            error += (model(sequences) - targets).square().mean(1).sum().item()
        return {"mse": error / sets}

    def references(self, sets: int) -> dict[str, Scores]:
        sizes = self.sizes.terms, self.sizes.length
        return {"chance": {"mse": chance_error(*sizes)}, "linear": {"mse": linear_error(*sizes)}}

    def _draw(self, seed: list[int], count: int) -> Any:
        sizes = self.sizes
        return mirrored_sums(seed, count, terms=sizes.terms, length=sizes.length, features=sizes.features)


def batch_of_step(seed: int, step: int, batches: int) -> int:
    """Which batch of the training data a step sees: every one once in each epoch, in a new order."""
    epoch, place = divmod(step, batches)
    return int(np.random.default_rng([seed, epoch]).permutation(batches)[place])


def settings_of(model: str, sizes: Sizes, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """All that decides how a run ends."""
    if model in ("transformer", "bilstm"):
        sizes = replace(sizes, positions="")  # their own, whatever MS-Trans has
    return {
        "model": model,
        "seed": seed,
        **asdict(sizes),
        "sequences": options.sequences,
        "steps": options.steps,
        "test": options.test,
        "batch": BATCH,
        "rate": options.rate,
        "warmup": options.warmup,
        "decay_at": DECAY_AT,
        "precision": options.precision,
    }


def jobs(options: argparse.Namespace) -> Iterator[tuple[str, Sizes, int]]:
    """Model, sizes, seed; K by K, so that an unfinished figure has complete columns."""
    for seed in range(options.seeds):
        for terms in options.terms:
            for model in options.models:
                yield (
                    model,
                    Sizes(options.length, options.features, terms, options.width, options.positions),
                    seed,
                )


def run(model: str, sizes: Sizes, seed: int, options: argparse.Namespace, bar: Progress) -> dict[str, Any]:
    """The result of a run, from the cache if it is there."""
    settings = settings_of(model, sizes, seed, options)
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
    path = options.results / "cache" / "mirrored_summation" / f"{model}-k{sizes.terms}-{seed}-{digest}.json"
    if path.exists():
        return json.loads(path.read_text())
    task = MirroredSummation(
        sizes, options.sequences, options.steps, options.test, options.rate, options.warmup
    )
    training = Run(
        task,
        Settings(model, seed, options.steps, float("inf"), "wall", DECAY_AT, options.precision),
        path.with_suffix(".safetensors"),
    )
    name = f"{MODELS[model]}, K {sizes.terms}, seed {seed}"
    line, loss = bar.add_task(name, total=options.steps, loss=float("nan")), float("nan")
    while training.counters.step < options.steps:
        value = training.step()
        loss = value if loss != loss else 0.98 * loss + 0.02 * value
        bar.update(line, completed=training.counters.step, loss=loss)
        training.save_if_due()
    scores = training.evaluate()
    counters = training.counters
    result = {
        **settings,
        **scores,
        "parameters": sum(p.numel() for p in training.model.parameters()),
        "processor_seconds": round(counters.processor_seconds, 1),
        "headwise": __version__,
        "torch": torch.__version__,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(result))
    os.replace(partial, path)
    training.path.unlink(missing_ok=True)
    bar.remove_task(line)
    bar.console.print(
        f"{name}: MSE {scores['mse']:.4f} (chance {chance_error(sizes.terms, sizes.length):.4f}, linear "
        f"{linear_error(sizes.terms, sizes.length):.4f}), {counters.processor_seconds:.0f} s",
        soft_wrap=True,
    )
    return result


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--length", type=int, default=100, help="N, even")
    parser.add_argument("--features", type=int, default=50, help="d")
    parser.add_argument("--terms", type=int, nargs="+", default=list(range(10, 101, 10)), help="K")
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--width", type=int, default=300, help="of the hidden states, in 10 heads")
    parser.add_argument(
        "--positions",
        choices=["none", "sinusoidal", "learned"],
        default="none",
        help="of the MS-Trans models; the paper's have none",
    )
    parser.add_argument("--sequences", type=int, default=200_000, help="training data; the paper's number")
    parser.add_argument("--test", type=int, default=200_000, help="test sequences; the paper's number")
    parser.add_argument(
        "--steps", type=int, help=f"of {BATCH} sequences each; by default each training sequence once"
    )
    parser.add_argument("--rate", type=float, default=1e-3, help="learning rate; the paper has none")
    parser.add_argument("--warmup", type=int, default=0, help="steps over which the rate rises to that")
    parser.add_argument(
        "--precision",
        choices=["float32", "bfloat16"],
        default="float32",
        help="of training; errors are measured in float32. bfloat16 takes less than half of the time "
        "where the processor multiplies in it",
    )
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder")
    parser.add_argument("--png", action="store_true", help="also write the figure as PNG (needs cairosvg)")
    parser.add_argument("--draw", action="store_true", help="only draw what the csv file holds")
    options = parser.parse_args(argv)
    options.steps = options.steps or -(-options.sequences // BATCH)
    return options


def main(argv: list[str] | None = None) -> int:
    options = arguments(argv)
    if options.threads:
        torch.set_num_threads(options.threads)
    keep_freed_memory()
    title = f"N {options.length}, d {options.features}, MS-Trans with positions: {options.positions}"
    stem = f"n{options.length}-d{options.features}-positions-{options.positions}"
    path = options.results / "mirrored_summation" / f"{stem}.csv"
    try:
        points = read_points(path) if options.draw or path.exists() else []
        for point in () if options.draw else measured(options):
            points = merged(points, point)
            write_figure(points, options.length, title, path)
        for written in write_figure(points, options.length, title, path, png=options.png):
            print(written)
    except KeyboardInterrupt:
        print("stopped; the same command goes on", file=sys.stderr)
        return 130
    except HeadwiseError as error:
        print(f"error {error}", file=sys.stderr)
        return 2
    return 0


def merged(points: list[Point], new: Point) -> list[Point]:
    """The runs with one more, in the place of an older one of the same model, K and seed."""
    by_key = {(point.seed, point.terms, list(MODELS).index(point.model)): point for point in (*points, new)}
    return [by_key[place] for place in sorted(by_key)]


def measured(options: argparse.Namespace) -> Iterator[Point]:
    """Train all models of the options."""
    console = Console(highlight=False)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        TextColumn("{task.completed}/{task.total}  loss / chance {task.fields[loss]:.4f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        todo = list(jobs(options))
        overall = bar.add_task("all runs", total=len(todo), loss=float("nan"))
        for model, sizes, seed in todo:
            result = run(model, sizes, seed, options, bar)
            keys = ("mse", "steps", "rate", "warmup", "parameters", "processor_seconds", "precision")
            bar.advance(overall)
            yield Point(model, sizes.terms, seed, *(result[key] for key in keys))


if __name__ == "__main__":
    sys.exit(main())
