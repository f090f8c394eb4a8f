"""The tables of papers/accuracy.py and papers/pairs.py, in Markdown."""

import statistics
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.common.runs import marks

Run = dict
Found = Mapping[str, Mapping[str, list[Run]]]  # data set -> system -> runs

_DRAWS = 5000  # of a bootstrap

FIELDS: dict[str, Callable[[Run], float | None]] = {
    "all test texts": lambda run: run["test"],
    "test texts that are not in training": lambda run: run["test_fresh"],
    "with the linear expert beside the encoder, all test texts": lambda run: run.get("with_expert", {}).get(
        "test"
    ),
}


def print_tables(found: Found, paper: Mapping[str, Mapping[str, float]]) -> None:
    """Accuracy by data set and system, the papers' figures, paired differences, and what it costs; nothing
    of what has not been run."""
    tasks = [task for task, own in found.items() if any(own.values())]
    systems = [name for name in next(iter(found.values())) if any(found[task][name] for task in tasks)]
    domains = [task for task in tasks if task.startswith("mtl16/")]
    for title, field in FIELDS.items():
        print_header([f"{title} (runs)", *systems])
        for task in tasks:
            runs = [values(found[task][system], field) for system in systems]
            if any(runs):
                print_row([task, *(f"{spread(own)} ({len(own)})" if own else "-" for own in runs)])
        if len(domains) > 1:
            own = {system: [d for d in domains if found[d][system]] for system in systems}
            means = (spread(means_by_seed(found, own[s], s, field)) for s in systems)
            cells = (f"{mean} ({len(own[s])})" for s, mean in zip(systems, means, strict=True))
            print_row(["mean (domains)", *cells])
    print_header(["the papers", *systems])
    for task in tasks:
        figures = [paper[task].get(system) for system in systems]
        if any(figures):
            print_row([task, *(f"{figure or '-'}" for figure in figures)])
    for group in (domains, *([task] for task in tasks if task not in domains)):
        if group:
            print(f"\n{group[0] if len(group) == 1 else f'{len(group)} domains of MTL-16'}:\n")
        for rival in ("transformer", "tfidf-svm"):
            for system in systems:
                if group and system != rival and rival in systems:
                    print_paired(found, group, system, rival)
        if group:
            print_costs(found, group, systems)


def values(runs: list[Run], field: Callable[[Run], float | None]) -> list[float]:
    return [value for run in runs if (value := field(run)) is not None]


def print_header(cells: list[str]) -> None:
    print(f"\n| {' | '.join(cells)} |\n|{'---|' * len(cells)}")


def print_row(cells: list[str]) -> None:
    print(f"| {' | '.join(cells)} |")


def means_by_seed(
    found: Found, domains: list[str], system: str, field: Callable[[Run], float | None]
) -> list[float]:
    """The mean over the domains, for each seed that has all of them."""
    by_seed: dict[int, list[float]] = {}
    for task in domains:
        for run in found[task][system]:
            if (value := field(run)) is not None:
                by_seed.setdefault(run["seed"], []).append(value)
    return [statistics.mean(own) for own in by_seed.values() if len(own) == len(domains)]


def spread(found: list[float]) -> str:
    """Mean and standard deviation in percent."""
    if not found:
        return "-"
    mean = f"{100 * statistics.mean(found):.1f}"
    return mean if len(found) == 1 else f"{mean} ± {100 * statistics.stdev(found):.1f}"


def compared(found: Found, tasks: Sequence[str], first: str, second: str) -> list[tuple[str, np.ndarray]]:
    """Data set and, text by text, what one system has right minus what another has, for each pair of runs
    with the same seed (a system without seeds stands for all) that say which texts they had right."""
    gains = []
    for task in tasks:
        others = {run["seed"]: marks(run) for run in found[task][second]}
        if len(others) == 1 and second.startswith("tfidf"):
            others = {run["seed"]: next(iter(others.values())) for run in found[task][first]}
        for run in found[task][first]:
            right, other = marks(run), others.get(run["seed"])
            if right is not None and other is not None:
                gains.append((task, right - other))
    return gains


def paired(
    found: Found, tasks: Sequence[str], first: str, second: str
) -> tuple[int, float, float, float] | None:
    """One system minus another on the same texts and seeds (see `compared`).

    Returns:
        How many pairs of runs, their mean difference in points and its 95 % bootstrap interval over texts;
        None where there is no pair.
    """
    gains = compared(found, tasks, first, second)
    if not gains:
        return None
    by_task = {task: np.mean([gain for own, gain in gains if own == task], axis=0) for task, _ in gains}
    low, high = np.quantile(_draws(list(by_task.values())), [0.025, 0.975])
    mean = np.mean([gain.mean() for gain in by_task.values()])
    return len(gains), 100 * float(mean), 100 * float(low), 100 * float(high)


def _draws(gains: Sequence[np.ndarray]) -> np.ndarray:
    """The means of 5,000 draws: texts are drawn anew within each data set, the same for all seeds."""
    random, sizes = np.random.default_rng(0), {len(gain) for gain in gains}
    if len(sizes) > 1:
        return np.array(
            [
                np.mean([gain[random.integers(0, len(gain), len(gain))].mean() for gain in gains])
                for _ in range(_DRAWS)
            ]
        )
    every, texts = np.concatenate(gains), sizes.pop()
    first = texts * np.arange(len(gains))[:, None]
    at_once, found = max(1, (1 << 17) // every.size), list[np.ndarray]()
    for done in range(0, _DRAWS, at_once):  # many at once: the same numbers, faster
        some = random.integers(0, texts, (min(at_once, _DRAWS - done), len(gains), texts))
        some += first
        found.append(every.take(some).mean(2).mean(1))
    return np.concatenate(found)


def print_paired(found: Found, tasks: list[str], first: str, second: str) -> None:
    """The paired difference of two systems, if both have been run."""
    gain = paired(found, tasks, first, second)
    if gain is not None:
        pairs, mean, low, high = gain
        print(
            f"{first} minus {second}, {pairs} pairs of runs: {mean:+.2f} points "
            f"(95 % bootstrap interval over texts {low:+.2f} to {high:+.2f})"
        )


def print_costs(found: Found, domains: list[str], systems: list[str]) -> None:
    """Time, size and speed, medians over the runs on the domains."""
    header = ["median over runs", "training seconds", "best epoch", "encoder parameters", "test texts/s"]
    print_header(header)
    for system in systems:
        runs = [run for task in domains for run in found[task][system] if "parameters" in run]
        if not runs:
            continue
        seconds = [run["seconds"] for run in runs]
        print_row(
            [
                system,
                f"{statistics.median(seconds):.0f} (most {max(seconds):.0f})",
                f"{statistics.median(run['best_epoch'] for run in runs):.0f}",
                f"{runs[0]['encoder_parameters']:,}",
                f"{statistics.median(run['texts_per_second'] for run in runs):,.0f}",
            ]
        )
