"""The tables of docs/papers.md and of README, from the stored runs: head and rows of each."""

import statistics
from collections.abc import Callable, Sequence
from functools import cache

from benchmarks.common.accuracy_tables import gains_of, means_by_seed, spread, values
from benchmarks.common.differences import difference
from benchmarks.common.runs import Result, RunsByTask
from benchmarks.papers.accuracy import BRACKETS, LONGER, PHRASES, PUBLISHED, READ, Accuracy
from benchmarks.papers.classifying import LINEAR, REFIT

Cells = tuple[list[str], list[list[str]]]
"""The head of a table and its rows."""

DOMAINS = tuple(task for task in Accuracy.paper if task.startswith("mtl16/"))
FOUR = tuple(f"mtl16/{domain}" for domain in ("apparel", "books", "dvd", "MR"))
ENCODERS = (
    "ms-transformer",
    "bp-transformer",
    "star-transformer",
    "ms-san",
    "set-transformer",
    "bilstm",
    "transformer",
    LINEAR,
)
TITLES = {
    "ms-transformer": "Multi-Scale Transformer",
    "bp-transformer": "BP-Transformer",
    "star-transformer": "Star-Transformer",
    "ms-san": "MS-SAN",
    "set-transformer": "Set Transformer",
    "bilstm": "BiLSTM",
    "transformer": "Transformer",
    LINEAR: "TF-IDF + linear SVM (scikit-learn)",
}
ONE_SEED = " (one seed)"
Field = Callable[[Result], float | None]
FIELDS: dict[str, Field] = {
    "test": lambda run: run["test"],
    "fresh": lambda run: run["test_fresh"],
    "ensemble": lambda run: run.get("with_linear_model", {}).get("test"),
}


@cache
def stored() -> RunsByTask:
    """All runs of the settings as they are now."""
    bench = Accuracy()
    return bench.current_runs(list(bench.paper), [*bench.systems, *bench.more])


def percent(scores: Sequence[float], *, fixed: bool = False) -> str:
    """Mean and standard deviation over seeds; with a note where a random system has one seed."""
    return spread(list(scores)) + (ONE_SEED if len(scores) == 1 and not fixed else "")


def score(system: str, tasks: Sequence[str], field: str = "test") -> str:
    """The mean over data sets for each seed that has all of them; `-` where none has."""
    fixed = system.startswith(LINEAR)
    if len(tasks) == 1:
        return percent(values(stored()[tasks[0]][system], FIELDS[field]), fixed=fixed)
    return percent(means_by_seed(stored(), list(tasks), system, FIELDS[field]), fixed=fixed)


def paper(system: str, tasks: Sequence[str]) -> str:
    """The mean of the paper's figures."""
    figures = [Accuracy.paper[task].get(system) for task in tasks]
    published = [figure for figure in figures if figure is not None]
    return f"{statistics.mean(published):.2f}" if len(published) == len(tasks) else "-"


def minus(system: str, rival: str, tasks: Sequence[str], *, over_tasks: bool = False) -> str:
    """A system minus a rival with the 95 % interval; the number of seeds if both have several; and that of
    data sets where not all have runs that say which texts they had right."""
    if system == rival:
        return "-"
    gain = difference(gains_of(stored(), tasks, system, rival), over_tasks=over_tasks)
    if gain is None:
        return "-"
    seeds = f", {gain.seeds} seeds" if gain.seeds > 1 else ""
    return f"{gain}{seeds}" + (f", {gain.tasks} of {len(tasks)} sets" if gain.tasks < len(tasks) else "")


def without_empty(head: list[str], rows: list[list[str]]) -> Cells:
    """A table without its empty columns."""
    full = [place for place in range(len(head)) if any(row[place] != "-" for row in rows)]
    return [head[place] for place in full], [[row[place] for place in full] for row in rows]


def domains(field: str) -> Cells:
    """Four domains of MTL-16 and SST-5."""
    tasks = (*FOUR, "sst5")
    rows = [
        [system, *(score(system, [task], field) for task in tasks), score(system, FOUR, field)]
        for system in (*ENCODERS[:-1], "tree-lstm", "disan", LINEAR)
    ]
    head = ["", *(task.removeprefix("mtl16/") for task in tasks), "mean of the four domains"]
    return head, [row for row in rows if any(cell != "-" for cell in row[1:])]


def four() -> Cells:
    """README's table of encoders."""
    rows = []
    for system in ENCODERS:
        runs = [run for task in FOUR for run in stored()[task][system]]
        size = runs[0].get("encoder_parameters") if runs else None
        rows.append(
            [
                TITLES[system],
                score(system, FOUR),
                minus(system, "transformer", FOUR),
                minus(system, LINEAR, FOUR),
                paper(system, FOUR),
                score(system, ["sst5"]),
                paper(system, ["sst5"]),
                f"{size / 1e6:.1f} M" if size else "-",
            ]
        )
    head = [
        "",
        "mean of 4 domains",
        "minus the Transformer (95 %)",
        "minus the SVM (95 %)",
        "paper",
        "SST-5",
    ]
    return without_empty([*head, "paper", "parameters"], rows)


def differences() -> Cells:
    """Each encoder minus the Transformer and minus the linear model."""
    rows = [
        [
            system,
            *(
                minus(system, rival, tasks)
                for tasks in (FOUR, ["sst5"])
                for rival in ("transformer", LINEAR)
            ),
        ]
        for system in ENCODERS
    ]
    places = [(where, rival) for where in ("four domains", "SST-5") for rival in ("transformer", LINEAR)]
    head = ["95 % over texts and seeds", *(f"{where}: minus {rival}" for where, rival in places)]
    return without_empty(head, rows)


def costs() -> Cells:
    """Time and size, medians over the runs on the four domains."""
    rows = []
    for system in ENCODERS:
        runs = [run for task in FOUR for run in stored()[task][system] if "parameters" in run]
        if runs:
            seconds = [run["seconds"] for run in runs]
            rows.append(
                [
                    system,
                    f"{statistics.median(seconds):.0f} (at most {max(seconds):.0f})",
                    f"{statistics.median(run['best_epoch'] for run in runs):.0f}",
                    f"{runs[0]['encoder_parameters']:,}",
                    f"{statistics.median(run['texts_per_second'] for run in runs):,.0f}",
                ]
            )
    return [
        "median over runs",
        "training seconds",
        "best epoch",
        "encoder parameters",
        "test texts/s",
    ], rows


def sixteen(systems: Sequence[str], rivals: Sequence[str]) -> Cells:
    """The mean of all 16 domains, and differences with intervals over domains, seeds and texts."""
    rows = []
    for system in systems:
        if any(not stored()[task][system] for task in DOMAINS):
            continue
        name = system.removesuffix(LONGER).removesuffix(REFIT)
        seeds = (
            "-" if system.startswith(LINEAR) else str(min(len(stored()[task][system]) for task in DOMAINS))
        )
        scores = (score(system, DOMAINS, field).removesuffix(ONE_SEED) for field in FIELDS)
        cells = [system, seeds, *scores, paper(name, DOMAINS)]
        rows.append([*cells, *(minus(system, rival, DOMAINS, over_tasks=True) for rival in rivals)])
    head = ["mean of 16 domains", "seeds", "test", "not in training", "with the linear model", "paper"]
    return [*head, *(f"minus {rival} (95 %)" for rival in rivals)], rows


PLAIN = (
    *("ms-transformer", "ms-directions", "bilstm", "tree-lstm", "ms-san", "star-transformer", "s-lstm"),
    *("set-transformer", "bp-transformer", "transformer", "ms-full-windows", LINEAR),
)
READERS = tuple(f"{name}{READ}" for name in ("ms-directions", "ms-transformer", "bilstm"))
REFITTED = (
    f"ms-directions{READ}{REFIT}",
    *(f"{name}{REFIT}" for name in ("ms-transformer", "bilstm", "transformer")),
    f"bilstm{READ}{REFIT}",
    f"{LINEAR}{REFIT}",
)
LONG = tuple(
    f"{name}{REFIT}{LONGER}" for name in ("ms-directions", "ms-transformer", "bilstm", "transformer")
)


def by_domain() -> Cells:
    """The test accuracy on each domain."""
    systems = ("ms-transformer", "transformer", "bilstm", LINEAR, *LONG[:3], f"{LINEAR}{REFIT}")
    rows = [
        [
            task.removeprefix("mtl16/"),
            *(score(system, [task]).removesuffix(ONE_SEED) for system in systems),
        ]
        for task in DOMAINS
    ]
    return ["", *systems], rows


def sst(task: str, systems: Sequence[str], rival: str) -> Cells:
    """Systems on a treebank of sentences."""
    rows = [
        [
            system,
            score(system, [task]),
            paper(system, [task]),
            score(system, [task], "ensemble"),
            minus(system, rival, [task]),
        ]
        for system in systems
        if stored()[task][system]
    ]
    return ["", "test", "paper", "with the linear model", f"minus {rival} (95 %)"], rows


PHRASED = tuple(f"{name}{PHRASES}" for name in (BRACKETS, "bilstm", "ms-transformer", "transformer"))
SST5 = tuple(name for name in Accuracy.systems if name not in ("disan", LINEAR))
TREES = (BRACKETS, "tree-lstm", "disan", "bilstm + self-att", "s-lstm")


def published() -> Cells:
    """The readout (and depth) of each paper, compared with ours."""
    rows = []
    for name in ("ms-transformer", "ms-san", "star-transformer", "bp-transformer"):
        for tasks, where in (
            (["sst5"], "SST-5"),
            (["sst2"], "SST-2"),
            (DOMAINS, "mean of 16 domains"),
            (["imdb"], "IMDB"),
        ):
            theirs = score(f"{name}{PUBLISHED}", tasks)
            if theirs != "-":
                rows.append([where, name, theirs, score(name, tasks), paper(name, tasks)])
    return ["data", "encoder", "the paper's readout", "ours", "paper"], rows


def imdb() -> Cells:
    """Encoders on all of IMDB."""
    rows = []
    for system in ("star-transformer", "bp-transformer", "transformer"):
        runs = stored()["imdb"][system]
        if runs:
            minutes = statistics.median(run["seconds"] for run in runs) / 60
            cells = [system, score(system, ["imdb"]), score(system, ["imdb"], "ensemble")]
            rows.append(
                [*cells, paper(system, ["imdb"]), minus(system, "transformer", ["imdb"]), f"{minutes:.0f}"]
            )
    return [
        "",
        "test",
        "with the linear model",
        "paper",
        "minus transformer (95 %)",
        "minutes of training",
    ], rows


TABLES: dict[str, Callable[[], Cells]] = {
    "encoders": four,
    "domains": lambda: domains("test"),
    "domains, not in training": lambda: domains("fresh"),
    "domains, with the linear model": lambda: domains("ensemble"),
    "differences": differences,
    "costs": costs,
    "sixteen": lambda: sixteen(PLAIN, ("transformer", "bilstm", LINEAR)),
    "sixteen, structure": lambda: sixteen(
        ("ms-transformer", "ms-directions"), ("ms-full-windows", "transformer", "bilstm")
    ),
    "sixteen, masked words": lambda: sixteen(READERS, ("ms-transformer", "bilstm")),
    "sixteen, refit": lambda: sixteen(
        REFITTED, (f"transformer{REFIT}", f"bilstm{REFIT}", f"{LINEAR}{REFIT}")
    ),
    "sixteen, 12 epochs": lambda: sixteen(LONG, (f"bilstm{REFIT}{LONGER}", f"{LINEAR}{REFIT}")),
    "each domain": by_domain,
    "sst2": lambda: sst("sst2", (BRACKETS + PHRASES, BRACKETS, "tree-lstm", *SST5, LINEAR), "transformer"),
    "sst5": lambda: sst("sst5", (*SST5, *TREES, LINEAR), "transformer"),
    "phrases": lambda: sst("sst5", PHRASED, f"transformer{PHRASES}"),
    "published": published,
    "imdb": imdb,
}
"""The tables by their names in the documents."""
