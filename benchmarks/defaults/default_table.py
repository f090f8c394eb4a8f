"""The tables of default.py, in Markdown; nothing is written."""

import statistics
from collections.abc import Sequence

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.defaults.default_results import (
    OURS,
    Gap,
    Results,
    best_linear,
    gap,
    means,
    only,
    set_of,
    shared_runs,
    sizes_of,
    systems_of,
)

FIELDS = {
    "encoder_alone": "encoder alone",
    "linear_model_alone": "linear model alone",
    "macro_f1": "macro F1",
    "log_loss": "log loss",
    "calibration_error": "calibration error",
}
PLAIN = ("log_loss",)  # not in percent
COSTS = {
    "seconds": "training s",
    "peak_mib": "peak MiB",
    "size_mib": "size MiB",
    "texts_per_second": "texts/s",
}


def size_name(texts: int) -> str:
    """`1,000` or `all`."""
    return f"{texts:,}" if texts else "all"


def print_tables(results: Results, base: str = OURS) -> None:
    """All that the runs show.

    Args:
        base: The system that the others are compared with.
    """
    if not results:
        print("no runs yet")
        return
    for texts in sizes_of(results):
        print_accuracy(results, texts)
    for texts in sizes_of(results):
        print_gaps(results, texts, base)
    for texts in sizes_of(results):
        print_fields(results, texts)
        print_costs(results, texts)


def print_accuracy(results: Results, texts: int) -> None:
    """Accuracy (F1 of names) by set and system, and the mean over sets that every system was run on."""
    averages = means(results, texts)
    systems = [name for name in columns(results) if name in averages]
    sets = sorted({name for by_set in averages.values() for name in by_set})
    print_header([f"{size_name(texts)} texts", *systems])
    for name in sets:
        print_row([name, *(percent(averages[system].get(name)) for system in systems)])
    # Taggers share no set with classifiers: each kind of rivals has a mean over its own sets.
    for kind in kinds(averages, sets, systems):
        shared = [name for name in sets if all(name in averages[system] for system in kind)]
        cells = [
            percent(statistics.mean(averages[system][name] for name in shared)) if system in kind else "-"
            for system in systems
        ]
        print_row([f"**mean of {len(shared)} sets that all have**", *cells])
    mtl = [name for name in sets if name.startswith("mtl16/")]
    complete = [system for system in systems if all(name in averages[system] for name in mtl)]
    if len(mtl) == 16 and complete:
        cells = [
            percent(statistics.mean(averages[system][name] for name in mtl)) if system in complete else "-"
            for system in systems
        ]
        print_row(["**MTL-16, mean of 16**", *cells])
    counts = [sum(job.texts == texts and job.system == system for job in results) for system in systems]
    print_row(["runs", *(str(count or "") for count in counts)])


def kinds(
    averages: dict[str, dict[str, float]], sets: Sequence[str], systems: Sequence[str]
) -> list[list[str]]:
    """Groups of systems that share sets: those with a score in the row of a set, the largest first."""
    rows = {tuple(system for system in systems if name in averages[system]) for name in sets}
    largest = [row for row in rows if not any(set(row) < set(larger) for larger in rows)]
    return [list(row) for row in sorted(largest, key=lambda row: (-len(row), row)) if len(row) > 1]


def print_gaps(results: Results, texts: int, base: str) -> None:
    """Ours minus each of the others, over the sets that both have."""
    rivals = [name for name in columns(results) if name != base]
    rows = [(name, difference) for name in rivals if (difference := gap(results, texts, base, name))]
    if rows:
        print_header(
            [f"{base} minus, {size_name(texts)} texts", "points", "95 % interval", "sets", "worst set"]
        )
        for name, difference in rows:
            print_row([name, *gap_cells(difference)])


def columns(results: Results) -> list[str]:
    """Systems that there are runs of, and the best linear one."""
    return systems_of({**results, **best_linear(results)})


def gap_cells(difference: Gap) -> list[str]:
    """A difference in points."""
    low, high, worst = (100 * value for value in (difference.low, difference.high, difference.worst[1]))
    return [
        f"{100 * difference.mean:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
        str(difference.sets),
        f"{difference.worst[0]} {worst:+.1f}",
    ]


def print_fields(results: Results, texts: int) -> None:
    """The other scores, means over each system's own sets."""
    systems = systems_of(only(results, lambda job: job.texts == texts))
    print_header([f"{size_name(texts)} texts, mean", *FIELDS.values(), "sets"])
    for system in systems:
        cells, sets = [], 0
        for field in FIELDS:
            by_set = means(results, texts, field).get(system, {})
            sets = max(sets, len(by_set))
            mean = statistics.mean(by_set.values()) if by_set else None
            plain = "-" if mean is None else f"{mean:.3f}"
            cells.append(plain if field in PLAIN else percent(mean))
        print_row([system, *cells, str(sets or "-")])


def print_costs(results: Results, texts: int) -> None:
    """Time, memory, size and speed, medians over runs and in brackets the most (of speed the least)."""
    runs = only(results, lambda job: job.texts == texts)
    print_header([f"{size_name(texts)} texts, median", *COSTS.values()])
    for system in systems_of(runs):
        cells = []
        for field in COSTS:
            values = [
                result[field] for job, result in runs.items() if job.system == system and field in result
            ]
            if not values:
                cells.append("-")
                continue
            worst = min(values) if field == "texts_per_second" else max(values)
            cells.append(f"{number(statistics.median(values))} ({number(worst)})")
        print_row([system, *cells])


def number(value: float) -> str:
    """Three digits or so."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def mean_accuracies(
    results: Results, sizes: Sequence[int], systems: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Head and rows of mean test accuracies by system and size, in percent; the best of a size is bold.

    The means are over the runs (sets and seeds) that all systems have.
    """
    head, columns = [""], list[list[str]]()
    for texts in sizes:
        averages = means(shared_runs(results, systems), texts)
        shared = averages[systems[0]]
        cells = [percent(statistics.mean(averages[system].values())) for system in systems]
        best = max(cells, key=float)
        columns.append([f"**{cell}**" if cell == best else cell for cell in cells])
        head.append(f"{size_name(texts)} texts ({len(shared)} sets)")
    return head, [[system, *cells] for system, *cells in zip(systems, *columns, strict=True)]


def gap_rows(results: Results, sizes: Sequence[int], rivals: Sequence[str]) -> list[list[str]]:
    """Rows of the difference of ours and each rival by size, over the sets that all of them were run on.

    A row has size, rival, mean in points, interval, number of sets, and the worst set.
    """
    rows = list[list[str]]()
    for texts in sizes:
        averages = means(results, texts)
        shared = set.intersection(*(set(averages[system]) for system in (OURS, *rivals)))
        runs = only(results, lambda job, shared=shared: set_of(job.set) in shared)
        gaps = [(rival, gap(runs, texts, OURS, rival)) for rival in rivals]
        rows += [
            [size_name(texts), rival, *gap_cells(difference)] for rival, difference in gaps if difference
        ]
    return rows


def accuracy_rows(
    results: Results, texts: int, sets: Sequence[str], rivals: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the test accuracy of ours, of its members, and of rivals: means over the
    seeds and splits of each set that ours was run on."""
    members = {"test": OURS, "encoder_alone": "encoder alone", "linear_model_alone": "linear model alone"}
    ours = [means(results, texts, field).get(OURS, {}) for field in members]
    rival_scores = [means(results, texts).get(rival, {}) for rival in rivals]
    rows = [
        [f"`{name}`", *(percent(scores.get(name)) for scores in (*ours, *rival_scores))]
        for name in dict.fromkeys(map(set_of, sets))
        if name in ours[0]
    ]
    return [f"{size_name(texts)} texts", *members.values(), *rivals], rows
