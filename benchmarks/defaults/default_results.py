"""The results of default.py: a line of JSON for each run, appended, and what is made of them."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.common.runs import Result

OURS = "headwise"
ALL = 0
"""Instead of a number of training texts: all that a set has."""
LINEAR = ("svm", "nb-svm", "fasttext")
"""The linear rivals, of which there is also the best on dev, of each set, size and seed."""
BEST = "best linear"
ORDER = (*LINEAR, BEST, "minilm", "minilm-static", "glove", "crf")
_DRAWS = 10_000


@dataclass(frozen=True)
class Job:
    """What a run is.

    Attributes:
        system: Ours or a rival; ours with other options has another name.
        texts: Size of the training subset, or `ALL`.
    """

    set: str
    system: str
    texts: int
    seed: int


Results = dict[Job, Result]


def read_results(path: Path) -> dict[Job, Result]:
    """All runs of a file; of one that was done again, the last. A line that was cut off is passed over."""
    results: dict[Job, Result] = {}
    if not path.exists():
        return results
    for line in path.read_text().splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        job = Job(row.pop("set"), row.pop("system"), row.pop("texts"), row.pop("seed"))
        results[job] = row
    return results


def append_result(path: Path, job: Job, result: Result) -> None:
    """Add a run; nothing that is in the file is touched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = path.exists() and not path.read_bytes().endswith(b"\n") and path.stat().st_size > 0
    with open(path, "a") as file:
        file.write("\n" * torn + json.dumps(asdict(job) | dict(result)) + "\n")


def set_of(name: str) -> str:
    """Splits of a set are one set."""
    return "helpdesk" if name.startswith("helpdesk/") else name


def means(
    results: Results, texts: int, field: str = "test", seeds: int | None = None
) -> dict[str, dict[str, float]]:
    """System -> set -> mean over seeds and splits, of the runs of a size that have the field.

    Args:
        seeds: Only seeds below this; all if None.
    """
    runs: dict[str, dict[str, list[float]]] = {}
    for job, result in (results | best_linear(results)).items():
        if job.texts == texts and field in result and (seeds is None or job.seed < seeds):
            runs.setdefault(job.system, {}).setdefault(set_of(job.set), []).append(result[field])
    return {s: {name: float(np.mean(v)) for name, v in by_set.items()} for s, by_set in runs.items()}


def shared_runs(results: Results, systems: Sequence[str]) -> Results:
    """The runs of these systems on sets, sizes and seeds that all of them were run on."""
    return {
        job: result
        for job, result in results.items()
        if job.system in systems and all(replace(job, system=system) in results for system in systems)
    }


def best_linear(results: Results) -> dict[Job, Result]:
    """Of each set, size and seed that all linear rivals were run on, the one that was best on dev."""
    best: dict[Job, Result] = {}
    for job in results:
        runs = [results.get(replace(job, system=name)) for name in LINEAR]
        if all(runs):
            best[replace(job, system=BEST)] = max(filter(None, runs), key=lambda result: result["dev"])
    return best


@dataclass(frozen=True)
class Gap:
    """One system minus another over the sets that both were run on.

    Attributes:
        mean: In accuracy (F1 for names).
        low: 95 % bootstrap interval of the mean, over sets and over the runs of each set (hierarchical).
        sets: How many.
        worst: The set with the smallest difference, and that.
    """

    mean: float
    low: float
    high: float
    sets: int
    worst: tuple[str, float]


def gap(results: Results, texts: int, first: str, second: str) -> Gap | None:
    """Paired difference of two systems, by set: a mean over the subsets that both were run on. None where
    they share none. A rival's one run on all texts stands for every seed."""
    every = results | best_linear(results)
    gains: dict[str, list[float]] = {}
    for job, result in every.items():
        if job.system == first and job.texts == texts:
            rival = every.get(replace(job, system=second))
            if rival is None and not texts:
                rival = every.get(replace(job, system=second, seed=0))
            if rival is not None:
                gains.setdefault(set_of(job.set), []).append(result["test"] - rival["test"])
    if not gains:
        return None
    by_set = {name: float(np.mean(values)) for name, values in sorted(gains.items())}
    random = np.random.default_rng(0)
    runs = [np.array(gains[name]) for name in by_set]
    drawn = np.stack([_resampled_means(runs, random) for _ in runs])
    sets = random.integers(0, len(runs), (len(runs), _DRAWS))
    means = np.take_along_axis(drawn, sets[:, None], axis=1)[:, 0].mean(0)
    low, high = np.quantile(means, [0.025, 0.975])
    worst = min(by_set, key=by_set.__getitem__)
    return Gap(
        float(np.mean(list(by_set.values()))), float(low), float(high), len(by_set), (worst, by_set[worst])
    )


def _resampled_means(runs: Sequence[np.ndarray], random: np.random.Generator) -> np.ndarray:
    """Means of runs of each set, drawn with replacement, `[sets, draws]`."""
    return np.stack([gains[random.integers(0, len(gains), (_DRAWS, len(gains)))].mean(1) for gains in runs])


def sizes_of(results: Results) -> list[int]:
    """Sizes that there are runs of, all texts (0) last."""
    sizes = {job.texts for job in results}
    return [*sorted(sizes - {0}), *([0] if 0 in sizes else [])]


def systems_of(jobs: Iterable[Job]) -> list[str]:
    """Systems that there are runs of, ours first, then the rivals in a fixed order."""
    names = sorted({job.system for job in jobs})
    return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else -1)


def only(results: Results, keep: Callable[[Job], bool]) -> dict[Job, Result]:
    """Some of the runs."""
    return {job: result for job, result in results.items() if keep(job)}
