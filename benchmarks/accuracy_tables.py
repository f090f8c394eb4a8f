"""The tables of benchmarks/accuracy.py, in Markdown."""

import json
import statistics
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

Run = dict
Found = Mapping[str, Mapping[str, list[Run]]]  # data set -> system -> runs

FIELDS: dict[str, Callable[[Run], float | None]] = {
    "all test texts": lambda run: run["test"],
    "test texts that are not in training": lambda run: run["test_fresh"],
    "with the linear expert beside the encoder, all test texts": lambda run: run.get("with_expert", {}).get(
        "test"
    ),
}


def print_tables(found: Found, paper: Mapping[str, Mapping[str, float]]) -> None:
    """Accuracy by system and data set, the papers' figures, paired differences, and what it costs."""
    tasks = list(found)
    systems = list(found[tasks[0]])
    domains = [task for task in tasks if task.startswith("mtl16/")]
    mean = [f"mean of {len(domains)} domains"] if len(domains) > 1 else []
    for title, field in FIELDS.items():
        print_header([title, *tasks, *mean])
        for system in systems:
            runs = [values(found[task][system], field) for task in tasks]
            if any(runs):
                means = means_by_seed(found, domains, system, field)
                print_row([system, *map(spread, runs), *([spread(means)] if mean else [])])
    print_header(["the papers", *tasks, *mean])
    for system in systems:
        figures = [paper[task].get(system) for task in tasks]
        if any(figures):
            own = [figure for task in domains if (figure := paper[task].get(system))]
            average = [f"{statistics.mean(own):.2f}" if own else "-"] if mean else []
            print_row([system, *(f"{figure or '-'}" for figure in figures), *average])
    print()
    for rival in ("transformer", "tfidf-svm"):
        for system in systems:
            if system != rival and rival in systems:
                print_paired(found, domains, system, rival)
    print_costs(found, domains, systems)


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


def print_paired(found: Found, domains: list[str], first: str, second: str) -> None:
    """One system minus another on the same texts and seeds (a system without seeds stands for all)."""
    gains = []
    for task in domains:
        others = {run["seed"]: run["right"] for run in found[task][second]}
        if len(others) == 1 and second.startswith("tfidf"):
            others = {run["seed"]: next(iter(others.values())) for run in found[task][first]}
        for run in found[task][first]:
            if run["seed"] in others:
                pair = (run["right"], others[run["seed"]])
                right, other = (np.array(list(marks), dtype=int) for marks in pair)
                gains.append((task, right - other))
    if not gains:
        return
    # Texts are drawn anew within each domain, the same for all seeds.
    random = np.random.default_rng(0)
    by_task = {task: np.mean([gain for own, gain in gains if own == task], axis=0) for task, _ in gains}
    draws = [
        np.mean([gain[random.integers(0, len(gain), len(gain))].mean() for gain in by_task.values()])
        for _ in range(5000)
    ]
    low, high = np.quantile(draws, [0.025, 0.975])
    mean = np.mean([gain.mean() for gain in by_task.values()])
    print(
        f"{first} minus {second}, {len(gains)} pairs of runs: {100 * mean:+.2f} points "
        f"(95 % bootstrap interval over texts {100 * low:+.2f} to {100 * high:+.2f})"
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


def save_summary(found: Found, path: Path) -> None:
    """The runs without what only this folder needs."""
    kept = {
        task: {
            system: [{k: v for k, v in run.items() if k not in ("right", "data")} for run in runs]
            for system, runs in own.items()
        }
        for task, own in found.items()
    }
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(kept, indent=1) + "\n")
