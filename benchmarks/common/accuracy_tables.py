"""The tables of papers/accuracy.py and papers/pairs.py, in Markdown."""

import statistics
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.common.differences import Difference, difference
from benchmarks.common.runs import marks

Run = dict
RunsByTask = Mapping[str, Mapping[str, list[Run]]]  # data set -> system -> runs

FIELDS: dict[str, Callable[[Run], float | None]] = {
    "all test texts": lambda run: run["test"],
    "test texts that are not in training": lambda run: run["test_fresh"],
    "with the linear model beside the encoder, all test texts": lambda run: run.get(
        "with_linear_model", {}
    ).get("test"),
}


def print_tables(by_task: RunsByTask, paper: Mapping[str, Mapping[str, float]]) -> None:
    """Accuracy by data set and system, the papers' figures, paired differences, and what it costs; nothing
    of what has not been run."""
    tasks = [task for task, by_system in by_task.items() if any(by_system.values())]
    systems = [name for name in next(iter(by_task.values())) if any(by_task[task][name] for task in tasks)]
    domains = [task for task in tasks if task.startswith("mtl16/")]
    for title, field in FIELDS.items():
        print_header([f"{title} (runs)", *systems])
        for task in tasks:
            runs = [values(by_task[task][system], field) for system in systems]
            if any(runs):
                print_row(
                    [task, *(f"{spread(scores)} ({len(scores)})" if scores else "-" for scores in runs)]
                )
        if len(domains) > 1:
            domains_of = {system: [d for d in domains if by_task[d][system]] for system in systems}
            means = (spread(means_by_seed(by_task, domains_of[s], s, field)) for s in systems)
            cells = (f"{mean} ({len(domains_of[s])})" for s, mean in zip(systems, means, strict=True))
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
                    print_paired(by_task, group, system, rival)
        if group:
            print_costs(by_task, group, systems)


def values(runs: list[Run], field: Callable[[Run], float | None]) -> list[float]:
    return [value for run in runs if (value := field(run)) is not None]


def print_header(cells: list[str]) -> None:
    print(f"\n| {' | '.join(cells)} |\n|{'---|' * len(cells)}")


def print_row(cells: list[str]) -> None:
    print(f"| {' | '.join(cells)} |")


def means_by_seed(
    by_task: RunsByTask, domains: list[str], system: str, field: Callable[[Run], float | None]
) -> list[float]:
    """The mean over the domains, for each seed that has all of them."""
    by_seed: dict[int, list[float]] = {}
    for task in domains:
        for run in by_task[task][system]:
            if (value := field(run)) is not None:
                by_seed.setdefault(run["seed"], []).append(value)
    return [statistics.mean(scores) for scores in by_seed.values() if len(scores) == len(domains)]


def spread(scores: list[float]) -> str:
    """Mean and standard deviation in percent."""
    if not scores:
        return "-"
    mean = f"{100 * statistics.mean(scores):.1f}"
    return mean if len(scores) == 1 else f"{mean} ± {100 * statistics.stdev(scores):.1f}"


def gains_of(by_task: RunsByTask, tasks: Sequence[str], first: str, second: str) -> dict[str, np.ndarray]:
    """Data set -> what one system has right minus what another has, `[seeds, texts]`, for the seeds that
    both have (a system without seeds stands for all) and whose runs say which texts they had right."""
    gains: dict[str, np.ndarray] = {}
    for task in tasks:
        rivals = {run["seed"]: marks(run) for run in by_task[task][second]}
        if len(rivals) == 1 and second.startswith("tfidf"):
            rivals = {run["seed"]: next(iter(rivals.values())) for run in by_task[task][first]}
        rows = [
            right - rival
            for run in by_task[task][first]
            if (right := marks(run)) is not None and (rival := rivals.get(run["seed"])) is not None
        ]
        if rows:
            gains[task] = np.array(rows)
    return gains


def paired(by_task: RunsByTask, tasks: Sequence[str], first: str, second: str) -> Difference | None:
    """One system minus another on the same texts and seeds (see `gains_of`), with the 95 % interval over
    texts and seeds; None where there is no pair of runs."""
    return difference(gains_of(by_task, tasks, first, second))


def print_paired(by_task: RunsByTask, tasks: list[str], first: str, second: str) -> None:
    """The paired difference of two systems, if both have been run."""
    gain = paired(by_task, tasks, first, second)
    if gain is not None:
        over = "texts; one seed" if gain.seeds == 1 else "texts and seeds"
        print(
            f"{first} minus {second}, {gain.runs} pairs of runs: {gain.mean:+.2f} points "
            f"(95 % bootstrap interval over {over} {gain.low:+.2f} to {gain.high:+.2f})"
        )


def print_costs(by_task: RunsByTask, domains: list[str], systems: list[str]) -> None:
    """Time, size and speed, medians over the runs on the domains."""
    header = ["median over runs", "training seconds", "best epoch", "encoder parameters", "test texts/s"]
    print_header(header)
    for system in systems:
        runs = [run for task in domains for run in by_task[task][system] if "parameters" in run]
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
