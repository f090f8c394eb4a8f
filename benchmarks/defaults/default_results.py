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


Found = dict[Job, Result]


def read_results(path: Path) -> dict[Job, Result]:
    """All runs of a file; of one that was done again, the last. A line that was cut off is passed over."""
    found: dict[Job, Result] = {}
    if not path.exists():
        return found
    for line in path.read_text().splitlines():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        job = Job(row.pop("set"), row.pop("system"), row.pop("texts"), row.pop("seed"))
        found[job] = row
    return found


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
    found: Found, texts: int, field: str = "test", seeds: int | None = None
) -> dict[str, dict[str, float]]:
    """System -> set -> mean over seeds and splits, of the runs of a size that have the field.

    Args:
        seeds: Only seeds below this; all if None.
    """
    runs: dict[str, dict[str, list[float]]] = {}
    for job, result in (found | best_linear(found)).items():
        if job.texts == texts and field in result and (seeds is None or job.seed < seeds):
            runs.setdefault(job.system, {}).setdefault(set_of(job.set), []).append(result[field])
    return {s: {name: float(np.mean(v)) for name, v in own.items()} for s, own in runs.items()}


def shared_runs(found: Found, systems: Sequence[str]) -> Found:
    """The runs of these systems on sets, sizes and seeds that all of them were run on."""
    return {
        job: result
        for job, result in found.items()
        if job.system in systems and all(replace(job, system=system) in found for system in systems)
    }


def best_linear(found: Found) -> dict[Job, Result]:
    """Of each set, size and seed that all linear rivals were run on, the one that was best on dev."""
    best: dict[Job, Result] = {}
    for job in found:
        own = [found.get(replace(job, system=name)) for name in LINEAR]
        if all(own):
            best[replace(job, system=BEST)] = max(filter(None, own), key=lambda result: result["dev"])
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


def gap(found: Found, texts: int, first: str, second: str) -> Gap | None:
    """Paired difference of two systems, by set: a mean over the subsets that both were run on. None where
    they share none. A rival's one run on all texts stands for every seed."""
    every = found | best_linear(found)
    gains: dict[str, list[float]] = {}
    for job, result in every.items():
        if job.system == first and job.texts == texts:
            other = every.get(replace(job, system=second))
            if other is None and not texts:
                other = every.get(replace(job, system=second, seed=0))
            if other is not None:
                gains.setdefault(set_of(job.set), []).append(result["test"] - other["test"])
    if not gains:
        return None
    own = {name: float(np.mean(values)) for name, values in sorted(gains.items())}
    random = np.random.default_rng(0)
    runs = [np.array(gains[name]) for name in own]
    drawn = np.stack([_resampled_means(runs, random) for _ in runs])
    sets = random.integers(0, len(runs), (len(runs), _DRAWS))
    means = np.take_along_axis(drawn, sets[:, None], axis=1)[:, 0].mean(0)
    low, high = np.quantile(means, [0.025, 0.975])
    worst = min(own, key=own.__getitem__)
    return Gap(float(np.mean(list(own.values()))), float(low), float(high), len(own), (worst, own[worst]))


def _resampled_means(runs: Sequence[np.ndarray], random: np.random.Generator) -> np.ndarray:
    """Means of runs of each set, drawn with replacement, `[sets, draws]`."""
    return np.stack([own[random.integers(0, len(own), (_DRAWS, len(own)))].mean(1) for own in runs])


def sizes_of(found: Found) -> list[int]:
    """Sizes that there are runs of, all texts (0) last."""
    sizes = {job.texts for job in found}
    return [*sorted(sizes - {0}), *([0] if 0 in sizes else [])]


def systems_of(found: Iterable[Job]) -> list[str]:
    """Systems that there are runs of, ours first, then the rivals in a fixed order."""
    names = sorted({job.system for job in found})
    return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else -1)


def only(found: Found, keep: Callable[[Job], bool]) -> dict[Job, Result]:
    """Some of the runs."""
    return {job: result for job, result in found.items() if keep(job)}
