"""Runs that are cached by all that decides them: a benchmark can be killed at any time and started again.

A run is a system that is trained on a data set with a seed, and read the test texts once. Its result is a
file below results/cache; where none is, what the training has come to lies in a folder of the same name.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from headwise import __version__
from headwise.recipe import build_recipe
from headwise.train.loop import Report
from headwise.verbs.listener import Listener

HERE = Path(__file__).parent
DATA = Path(os.environ.get("HEADWISE_DATA", HERE.parent.parent / "shared" / "data"))
CACHE = HERE / "results" / "cache"

Layers = list[dict[str, Any]]
"""Settings, the later over the earlier."""
Result = dict[str, Any]
Found = dict[str, dict[str, list[Result]]]
"""Data set -> system -> results, in the order of the seeds."""


@dataclass(frozen=True)
class Run:
    """What decides a result.

    Attributes:
        task: The data set.
        system: What is trained on it.
        recipe: All of its settings; empty for what has none.
        data: Fingerprints of training, dev and test texts.
    """

    task: str
    system: str
    seed: int
    recipe: dict[str, Any]
    data: list[str]


def jobs(
    tasks: Sequence[str], systems: Sequence[str], seeds: int, once: Sequence[str] = ()
) -> Iterator[tuple[str, str, int]]:
    """Data set, system, seed; seed by seed, so that an unfinished table is balanced.

    Args:
        once: Systems in which nothing is random; they run with one seed.
    """
    for seed in range(seeds):
        for task in tasks:
            for system in systems:
                if seed == 0 or system not in once:
                    yield task, system, seed


def recipe_of(layers: Layers) -> dict[str, Any]:
    """All settings, as plain data; none where there are no layers."""
    return build_recipe(*layers).to_json() if layers else {}


def cached_run(run: Run, measure: Callable[[Path], Result], cache: Path, prefix: str = "") -> None:
    """Do a run unless its result is in the cache.

    Args:
        measure: What does it; it is given the folder where the state of the training is kept.
        prefix: What the file's name begins with.
    """
    known = collect([run.task], [run.system], lambda *_: run.recipe, cache)[run.task][run.system]
    if any((one["seed"], one["data"]) == (run.seed, run.data) for one in known):
        return
    print(f"{run.task}, {run.system}, seed {run.seed}", flush=True)
    key = asdict(run)
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    name = f"{prefix}{run.task}-{run.system}-{run.seed}-{digest}".replace("/", "-").replace(" + ", "-")
    cache.mkdir(parents=True, exist_ok=True)
    folder = cache / name
    result = measure(folder)
    text = json.dumps({**key, **result, "headwise": __version__, "torch": torch.__version__})
    partial = cache / f"{name}.partial"
    partial.write_text(text)
    partial.replace(cache / f"{name}.json")  # at once: another process may be reading the results
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    if folder.exists():
        folder.rmdir()
    print(f"  test {result['test']:.4f} in {result['seconds']:.0f} s", flush=True)


def collect(
    tasks: Sequence[str],
    systems: Sequence[str],
    recipe: Callable[[str, str], dict[str, Any]],
    cache: Path,
) -> Found:
    """The cached results of the recipes as they are now.

    Args:
        recipe: Of a data set and a system.
    """
    found: Found = {task: {system: [] for system in systems} for task in tasks}
    wanted: dict[tuple[str, str], Any] = {}
    for path in sorted(cache.glob("*.json")):
        result = json.loads(path.read_text())
        own = task, system = result.get("task"), result.get("system")
        if task not in found or system not in found[task]:
            continue
        if own not in wanted:
            settings = recipe(task, system)
            wanted[own] = build_recipe(settings) if settings else None
        # A setting that is newer than the result had its default then.
        if wanted[own] is None or wanted[own] == build_recipe(result["recipe"]):
            found[task][system].append(result)
    for systems_ in found.values():
        for results in systems_.values():
            results.sort(key=lambda result: result["seed"])
    return found


def judged(right: np.ndarray, leaked: np.ndarray) -> Result:
    """Accuracy on all test texts, and on those that do not occur in training or dev, `[texts]` each."""
    fresh = right[~leaked]
    return {
        "test": float(right.mean()),
        "test_texts": len(right),
        "test_fresh": float(fresh.mean()),
        "test_fresh_texts": len(fresh),
        "right": "".join("01"[int(r)] for r in right),
    }


def listening(show: Callable[[Report], None]) -> Listener:
    """Who hears of a training alone."""

    class Listening(Listener):
        @contextmanager
        def training(self, recipe: Any, headline: str, unit: str) -> Iterator[Callable[[Any], None]]:
            yield show

    return Listening()


def show_epochs(what: str, score: str = "accuracy") -> Callable[[Report], None]:
    """Prints a line for each epoch: the loss, the score on dev, and how fast it went."""

    def show(report: Report) -> None:
        if report.scores is not None:
            print(
                f"  epoch {report.progress.epoch + 1}: loss {report.loss:.3f}, dev "
                f"{report.scores[score]:.4f}, {report.texts_per_second:.0f} {what}/s",
                flush=True,
            )

    return show
