"""The tables of default.py, in Markdown; nothing is written."""

import statistics
from collections.abc import Sequence

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.defaults.default_results import (
    OURS,
    Found,
    Gap,
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


def print_tables(found: Found, base: str = OURS) -> None:
    """All that the runs show.

    Args:
        base: The system that the others are compared with.
    """
    if not found:
        print("no runs yet")
        return
    for texts in sizes_of(found):
        print_accuracy(found, texts)
    for texts in sizes_of(found):
        print_gaps(found, texts, base)
    for texts in sizes_of(found):
        print_fields(found, texts)
        print_costs(found, texts)


def print_accuracy(found: Found, texts: int) -> None:
    """Accuracy (F1 of names) by set and system, and the mean over sets that every system was run on."""
    averages = means(found, texts)
    systems = [name for name in columns(found) if name in averages]
    sets = sorted({name for own in averages.values() for name in own})
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
    whole = [system for system in systems if all(name in averages[system] for name in mtl)]
    if len(mtl) == 16 and whole:
        cells = [
            percent(statistics.mean(averages[system][name] for name in mtl)) if system in whole else "-"
            for system in systems
        ]
        print_row(["**MTL-16, mean of 16**", *cells])
    counts = [sum(job.texts == texts and job.system == system for job in found) for system in systems]
    print_row(["runs", *(str(count or "") for count in counts)])


def kinds(
    averages: dict[str, dict[str, float]], sets: Sequence[str], systems: Sequence[str]
) -> list[list[str]]:
    """Groups of systems that share sets: those that stand in the row of some set, the largest first."""
    rows = {tuple(system for system in systems if name in averages[system]) for name in sets}
    largest = [row for row in rows if not any(set(row) < set(other) for other in rows)]
    return [list(row) for row in sorted(largest, key=lambda row: (-len(row), row)) if len(row) > 1]


def print_gaps(found: Found, texts: int, base: str) -> None:
    """Ours minus each of the others, over the sets that both have."""
    others = [name for name in columns(found) if name != base]
    rows = [(name, own) for name in others if (own := gap(found, texts, base, name))]
    if rows:
        print_header(
            [f"{base} minus, {size_name(texts)} texts", "points", "95 % interval", "sets", "worst set"]
        )
        for name, own in rows:
            print_row([name, *gap_cells(own)])


def columns(found: Found) -> list[str]:
    """Systems that there are runs of, and the best linear one."""
    return systems_of({**found, **best_linear(found)})


def gap_cells(own: Gap) -> list[str]:
    """A difference in points."""
    low, high, worst = (100 * value for value in (own.low, own.high, own.worst[1]))
    return [
        f"{100 * own.mean:+.1f}",
        f"{low:+.1f} to {high:+.1f}",
        str(own.sets),
        f"{own.worst[0]} {worst:+.1f}",
    ]


def print_fields(found: Found, texts: int) -> None:
    """The other scores, means over each system's own sets."""
    systems = systems_of(only(found, lambda job: job.texts == texts))
    print_header([f"{size_name(texts)} texts, mean", *FIELDS.values(), "sets"])
    for system in systems:
        cells, sets = [], 0
        for field in FIELDS:
            own = means(found, texts, field).get(system, {})
            sets = max(sets, len(own))
            mean = statistics.mean(own.values()) if own else None
            plain = "-" if mean is None else f"{mean:.3f}"
            cells.append(plain if field in PLAIN else percent(mean))
        print_row([system, *cells, str(sets or "-")])


def print_costs(found: Found, texts: int) -> None:
    """Time, memory, size and speed, medians over runs and in brackets the most (of speed the least)."""
    own = only(found, lambda job: job.texts == texts)
    print_header([f"{size_name(texts)} texts, median", *COSTS.values()])
    for system in systems_of(own):
        cells = []
        for field in COSTS:
            values = [
                result[field] for job, result in own.items() if job.system == system and field in result
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
    found: Found, sizes: Sequence[int], systems: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Head and rows of mean test accuracies by system and size, in percent; the best of a size is bold.

    The means are over the runs (sets and seeds) that all systems have.
    """
    head, columns = [""], list[list[str]]()
    for texts in sizes:
        averages = means(shared_runs(found, systems), texts)
        shared = averages[systems[0]]
        cells = [percent(statistics.mean(averages[system].values())) for system in systems]
        best = max(cells, key=float)
        columns.append([f"**{cell}**" if cell == best else cell for cell in cells])
        head.append(f"{size_name(texts)} texts ({len(shared)} sets)")
    return head, [[system, *cells] for system, *cells in zip(systems, *columns, strict=True)]


def gap_rows(found: Found, sizes: Sequence[int], rivals: Sequence[str]) -> list[list[str]]:
    """Rows of the difference of ours and each rival by size, over the sets that all of them were run on.

    A row has size, rival, mean in points, interval, number of sets, and the worst set.
    """
    rows = list[list[str]]()
    for texts in sizes:
        averages = means(found, texts)
        shared = set.intersection(*(set(averages[system]) for system in (OURS, *rivals)))
        runs = only(found, lambda job, shared=shared: set_of(job.set) in shared)
        gaps = [(rival, gap(runs, texts, OURS, rival)) for rival in rivals]
        rows += [
            [size_name(texts), rival, *gap_cells(difference)] for rival, difference in gaps if difference
        ]
    return rows


def accuracy_rows(
    found: Found, texts: int, sets: Sequence[str], rivals: Sequence[str]
) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the test accuracy of ours, whole and by its members, and of rivals: means over the
    seeds and splits of each set that ours was run on."""
    members = {"test": OURS, "encoder_alone": "encoder alone", "linear_model_alone": "linear model alone"}
    ours = [means(found, texts, field).get(OURS, {}) for field in members]
    others = [means(found, texts).get(rival, {}) for rival in rivals]
    rows = [
        [f"`{name}`", *(percent(scores.get(name)) for scores in (*ours, *others))]
        for name in dict.fromkeys(map(set_of, sets))
        if name in ours[0]
    ]
    return [f"{size_name(texts)} texts", *members.values(), *rivals], rows
