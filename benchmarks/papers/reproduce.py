"""Every table and figure of the papers, by one command each.

    python -m benchmarks.papers.reproduce --list                     # all rows, and the state of each
    python -m benchmarks.papers.reproduce ms-trans/table2            # run it, or go on with it
    python -m benchmarks.papers.reproduce ms-trans/table3 --only ms-transformer transformer --seeds 1
    python -m benchmarks.papers.reproduce ms-trans/table3 --table  # print stored results

A row is measured here, not measured yet, needs data that you must bring (the row says which, and the
command that takes them), or is not run, with the reason. Results are kept run by run in results/;
stored runs are not repeated, and stopped ones resume. Needs the data folder
(HEADWISE_DATA), but for figures and sets that are drawn.
"""

import argparse
import os
import shlex
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches

from benchmarks import DATA, ROOT
from benchmarks.common.accuracy_tables import paired, print_header, print_row, spread
from benchmarks.common.paired_taggers import paired_taggers
from benchmarks.common.runs import Bench, Result, RunsByTask, stoppable
from benchmarks.papers.accuracy import Accuracy
from benchmarks.papers.pairs import Pairs
from benchmarks.papers.reproduce_kept import cells, stored_runs
from benchmarks.papers.reproduce_row import Row, Table
from benchmarks.papers.reproduce_rows import TABLES
from benchmarks.papers.tagging import Tagging

BENCHES: dict[str, Bench] = {"accuracy": Accuracy(), "pairs": Pairs(), "tagging": Tagging()}


def bench_runs(row: Row) -> RunsByTask:
    """The runs of a row, by data set."""
    return BENCHES[row.bench].current_runs(row.tasks, [row.system])


def state(row: Row) -> str:
    """How far a row is."""
    if row.bench:
        runs = [len(by_system[row.system]) for by_system in bench_runs(row).values()]
        if not any(runs):
            return "not measured yet"
        seeds = f"{min(filter(None, runs))} to {max(runs)}" if len({*runs} - {0}) > 1 else f"{max(runs)}"
        sets = f" on {sum(map(bool, runs))} of {len(runs)} data sets" if len(runs) > 1 else ""
        return f"measured here: {seeds} seed{'s' * (max(runs) > 1)}{sets}"
    if (stored := stored_runs(row)) is not None:
        seeds = f"{len(stored.seeds)} seed{'s' * (len(stored.seeds) > 1)}"
        return f"measured here: {', '.join(note for note in (seeds, stored.how) if note)}"
    if row.command:
        return f"not measured yet: python -m {row.command}"
    return f"bring data: {row.bring}" if row.bring else f"not run: {row.missing}"


def print_list(tables: dict[str, Table]) -> None:
    """All rows and their states."""
    for name, table in tables.items():
        print(f"\n{name}: {table.title}")
        wide = max(len(row.name) for row in table.rows)
        for row in table.rows:
            print(f"  {row.name:{wide}}  {state(row)}")


def run(row: Row, seeds: int, paired: bool) -> Iterator[str]:
    """Run the missing seeds of a row, one at a time; yields done, failed or impossible."""
    if row.command:
        for seed in range(seeds if row.seeded else 1):
            yield run_command(row, seed)
    elif not row.bench:
        print(f"{row.name}: {state(row)}")
        yield "cannot"
    else:
        bench = BENCHES[row.bench]
        for seed in range(seeds):
            for task in row.tasks:
                if seed == 0 or row.system not in bench.once:
                    bench.run(task, row.system, seed, paired=paired)
            yield "done"


def run_command(row: Row, seed: int) -> str:
    """Run the command of a row with a seed unless its result is there.

    The command gets its one signal from us, to save what it has: it does not hear the terminal's. A second
    one ends it at once.
    """
    stored = stored_runs(row)
    if stored is not None and ({seed} & {*stored.seeds} - {*stored.stopped} or not row.seeded):
        return "done"
    command = row.command + f" --seed {seed}" * row.seeded
    print(f"{row.name}: {command}", flush=True)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    }
    child = subprocess.Popen(
        [sys.executable, "-m", *shlex.split(command)], env=environment, process_group=0
    )
    try:
        ended = child.wait()
    except KeyboardInterrupt:
        child.send_signal(signal.SIGINT)
        try:
            child.wait()
        finally:
            child.kill()
            child.wait()
        raise
    if ended:
        print(f"{row.name}: the command ended with {ended}", file=sys.stderr)
    return "failed" if ended else "done"


def print_table(table: Table) -> None:
    """The stored results: mean and spread over seeds, the same on the test texts that are not in
    training, the paper's figure, and the difference from the rival, text by text."""
    trained = [row for row in table.rows if row.bench]
    made = {row: stored for row in table.rows if (stored := stored_runs(row)) is not None}
    if trained:
        against = f"minus {table.rival}" if table.rival else ""
        print_header([table.title, "data sets", "test", "without leaks", "paper", against])
        for row in trained:
            print_row(trained_cells(row, table.rival))
    if made:
        print_header([table.title, "measured (seeds)", "paper", "beside it", "trained"])
        for row, stored in made.items():
            print_row([row.name, *cells(row, stored)])
    if not (trained or made):
        print(f"\n{table.title}")
    rest = [row for row in table.rows if not row.bench and row not in made]
    print("\n" * bool(rest), end="")
    for row in rest:
        print(f"- {row.name}{f' (paper: {row.paper})' * bool(row.paper)}: {state(row)}")


def trained_cells(row: Row, rival: str) -> list[str]:
    """The cells of a row that a benchmark trains."""
    bench, by_task = BENCHES[row.bench], bench_runs(row)
    done = [task for task in row.tasks if by_task[task][row.system]]
    runs = [run for task in done for run in by_task[task][row.system]]
    of = done or row.tasks
    figures = [bench.paper[task][row.system] for task in of if row.system in bench.paper[task]]
    paper = f"{statistics.mean(figures):.2f}" if len(figures) == len(of) else ""
    return [
        row.name,
        f"{len(done)} of {len(row.tasks)}",
        mean_of(runs, "test"),
        mean_of(runs, "test_fresh"),
        row.paper or paper,
        difference(row, rival, done),
    ]


def mean_of(runs: list[Result], field: str) -> str:
    """Mean and spread over the seeds, each of which is a mean over data sets."""
    seeds: dict[int, list[float]] = {}
    for run in runs:
        if field in run:
            seeds.setdefault(run["seed"], []).append(run[field])
    most = max(map(len, seeds.values()), default=0)
    means = [sum(scores) / len(scores) for scores in seeds.values() if len(scores) == most]
    return f"{spread(means)} ({len(means)})" if means else "-"


def difference(row: Row, rival: str, tasks: list[str]) -> str:
    """A row minus the rival, with the interval, or the difference of the means where the runs do not record
    which texts they had right; empty where there is nothing to compare."""
    if not rival or row.system == rival or not tasks:
        return ""
    by_task = BENCHES[row.bench].current_runs(tasks, [row.system, rival])
    gain = (paired_taggers if row.bench == "tagging" else paired)(by_task, tasks, row.system, rival)
    if gain is None:
        both = [by_task[task] for task in tasks if by_task[task][row.system] and by_task[task][rival]]
        gains = [mean_test(by_system[row.system]) - mean_test(by_system[rival]) for by_system in both]
        return f"{100 * statistics.mean(gains):+.2f} (not paired)" if gains else ""
    on = f" on {gain.tasks} of {len(row.tasks)} data sets" if gain.tasks < len(row.tasks) else ""
    pairs = f"{gain.runs} pair{'s' * (gain.runs > 1)}"
    return f"{gain.mean:+.2f} ({gain.low:+.2f} to {gain.high:+.2f}; {pairs}{on})"


def mean_test(runs: Sequence[Result]) -> float:
    return statistics.mean(run["test"] for run in runs)


STATES = """
not measured yet: reproduce.py TABLE --only ROW runs it; bring data: what to get, and the command that then
runs it; not run: why. reproduce.py TABLE --table prints what is measured."""

LEGEND = """
test: percent, the mean over the data sets; ± the deviation over seeds (how many seeds have all data sets)
without leaks: the same on the test texts that are neither in training nor in dev
paper: what the paper says, of its own data; over several data sets the mean of its rows
minus ...: on the same test texts, seed by seed, with the 95 % interval of a bootstrap over texts and
  seeds, and the number of pairs of runs (with one of a data set the interval holds no seed
  noise); not paired: of the means, as old runs did not keep which texts they had right
  (reproduce.py TABLE --paired runs those again)"""


def unknown(what: str, name: str, names: Sequence[str], where: str) -> str:
    """The message for an unknown name, with the names that contain or resemble it."""
    matches = [candidate for candidate in names if name in candidate] or get_close_matches(name, names, 3)
    return f"unknown {what} {name!r}; " + (
        f"did you mean {' or '.join(map(repr, matches))}?" if matches else where
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", nargs="?", metavar="TABLE", help="such as ms-trans/table2")
    parser.add_argument("--list", action="store_true", help="all rows and their states")
    parser.add_argument(
        "--only", nargs="+", metavar="ROW", help="rows of the table, by name; all by default"
    )
    parser.add_argument("--seeds", type=int, default=3, help="from 0 on, of each row; 3 by default")
    parser.add_argument(
        "--paired",
        action="store_true",
        help="repeat runs without marks of single texts, so that differences can be paired",
    )
    parser.add_argument("--table", action="store_true", dest="show", help="only print what is measured")
    options = parser.parse_args(arguments)
    if options.table is not None and options.table not in TABLES:
        parser.error(unknown("table", options.table, list(TABLES), "see --list"))
    chosen = TABLES if options.table is None else {options.table: TABLES[options.table]}
    if options.only and options.table is None:
        parser.error("--only: name the table of the rows")
    if options.seeds < 1:
        parser.error(f"--seeds {options.seeds}; expected 1 or more")
    if options.only:
        table = chosen[options.table]
        rows = {row.name: row for row in table.rows}
        for name in options.only:
            if name not in rows:
                parser.error(unknown("row", name, list(rows), f"{options.table} has {', '.join(rows)}"))
        chosen = {options.table: replace(table, rows=tuple(rows[name] for name in options.only))}
    if options.list or (options.table is None and not options.show):
        print_list(chosen)
        print(STATES)
        return 0
    if options.show:
        for table in chosen.values():
            print_table(table)
        print(LEGEND)
        return 0
    table = chosen[options.table]
    if not DATA.is_dir() and any(row.bench for row in table.rows):
        print(f"no data folder at {DATA}; set HEADWISE_DATA", file=sys.stderr)
        return 2
    ends: set[str] = set()
    with stoppable() as stopped:
        running = [run(row, options.seeds, options.paired) for row in table.rows]
        while running:  # seed by seed, so that an unfinished table is balanced
            outcomes = [(job, next(job, None)) for job in running]
            running = [job for job, end in outcomes if end is not None]
            ends |= {end for _, end in outcomes if end is not None}
        print_table(table)
    if stopped:
        return 130
    return 1 if "failed" in ends else 0 if "done" in ends else 2


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # --list | head
    sys.exit(main())
