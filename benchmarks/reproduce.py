"""Every table and figure of the papers, by one command each.

    python benchmarks/reproduce.py --list                     # all rows, and the state of each
    python benchmarks/reproduce.py ms-trans/table2            # run it, or go on with it
    python benchmarks/reproduce.py ms-trans/table3 --only ms-transformer transformer --seeds 1
    python benchmarks/reproduce.py ms-trans/table3 --table    # print what has been measured; writes nothing

A row is measured here, has settings only (nobody has run it yet), needs data that you must bring (the row
says which, and the command that takes them), or is missing, with the reason. Results are kept run by run in
benchmarks/results; what is stopped goes on where it was. Needs the data folder (HEADWISE_DATA).
"""

import argparse
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

from accuracy import Accuracy
from accuracy_tables import paired, print_header, print_row, spread
from pairs import Pairs
from reproduce_row import Row, Table
from reproduce_rows import TABLES
from runs import DATA, HERE, Bench, Found, Result, stoppable
from tagging import Tagging

BENCHES: dict[str, Bench] = {"accuracy": Accuracy(), "pairs": Pairs(), "tagging": Tagging()}


def found_of(row: Row) -> Found:
    """The runs of a row, by data set."""
    return BENCHES[row.bench].found(row.tasks, [row.system])


def state(row: Row) -> str:
    """How far a row is."""
    if row.bench:
        runs = [len(own[row.system]) for own in found_of(row).values()]
        if not any(runs):
            return "settings only"
        seeds = f"{min(filter(None, runs))} to {max(runs)}" if len({*runs} - {0}) > 1 else f"{max(runs)}"
        sets = f" on {sum(map(bool, runs))} of {len(runs)} data sets" if len(runs) > 1 else ""
        return f"measured here: {seeds} seed{'s' * (max(runs) > 1)}{sets}"
    if row.command:
        done = row.kept and any((HERE / "results").glob(row.kept))
        return "measured here" if done else f"settings only: benchmarks/{row.command}"
    return f"bring data: {row.bring}" if row.bring else f"missing: {row.missing}"


def print_list(tables: dict[str, Table]) -> None:
    """All rows and their states."""
    for name, table in tables.items():
        print(f"\n{name}: {table.title}")
        wide = max(len(row.name) for row in table.rows)
        for row in table.rows:
            print(f"  {row.name:{wide}}  {state(row)}")


def run(row: Row, seeds: int) -> Iterator[None]:
    """Run a row, a seed at a time."""
    if row.command:
        print(f"{row.name}: {row.command}", flush=True)
        script, *words = shlex.split(row.command)
        subprocess.run([sys.executable, str(HERE / script), *words], check=False)
    elif not row.bench:
        print(f"{row.name}: {state(row)}")
    for seed in range(seeds):
        for task in row.tasks:
            bench = BENCHES[row.bench]
            if seed == 0 or row.system not in bench.once:
                bench.run(task, row.system, seed)
        yield


def print_table(table: Table) -> None:
    """What has been measured: mean and spread over seeds, the same on the test texts that are not in
    training, the paper's figure, and the difference from the rival, text by text."""
    against = f"minus {table.rival}" if table.rival else ""
    print_header([table.title, "data sets", "test", "without leaks", "paper", against])
    for row in table.rows:
        if not row.bench:
            print_row([row.name, "", state(row), "", "", ""])
            continue
        bench, found = BENCHES[row.bench], found_of(row)
        done = [task for task in row.tasks if found[task][row.system]]
        runs = [run for task in done for run in found[task][row.system]]
        paper = [bench.paper[task][row.system] for task in done if row.system in bench.paper[task]]
        mean = f"{sum(paper) / len(paper):.2f}" if paper and len(paper) == len(done) else ""
        cells = [
            f"{len(done)} of {len(row.tasks)}",
            mean_of(runs, "test"),
            mean_of(runs, "test_fresh"),
            mean,
        ]
        print_row([row.name, *cells, difference(row, table.rival, done)])


def mean_of(runs: list[Result], field: str) -> str:
    """Mean and spread over the seeds, each of which is a mean over data sets."""
    seeds: dict[int, list[float]] = {}
    for own in runs:
        if field in own:
            seeds.setdefault(own["seed"], []).append(own[field])
    most = max(map(len, seeds.values()), default=0)
    means = [sum(own) / len(own) for own in seeds.values() if len(own) == most]
    return f"{spread(means)} ({len(means)})" if means else "-"


def difference(row: Row, rival: str, tasks: list[str]) -> str:
    """A row minus the rival, with the interval; empty where there are no runs to compare."""
    if not rival or row.system == rival or not tasks:
        return ""
    found = BENCHES[row.bench].found(tasks, [row.system, rival])
    gain = paired(found, tasks, row.system, rival)
    if gain is None:
        return ""
    pairs, mean, low, high = gain
    return f"{mean:+.2f} ({low:+.2f} to {high:+.2f}; {pairs} pairs)"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", nargs="?", metavar="TABLE", help="such as ms-trans/table2")
    parser.add_argument("--list", action="store_true", help="all rows and their states")
    parser.add_argument("--only", nargs="+", metavar="ROW")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--table", action="store_true", dest="show", help="only print what is measured")
    given = parser.parse_args(arguments)
    if given.table is not None and given.table not in TABLES:
        near = get_close_matches(given.table, TABLES, 1)
        parser.error(
            f"unknown table {given.table!r}; " + (f"did you mean {near[0]}?" if near else "see --list")
        )
    chosen = TABLES if given.table is None else {given.table: TABLES[given.table]}
    if given.only and given.table is None:
        parser.error("--only: name the table of the rows")
    if given.seeds < 1:
        parser.error(f"--seeds {given.seeds}; expected 1 or more")
    if given.only:
        table = chosen[given.table]
        rows = {row.name: row for row in table.rows}
        for name in given.only:
            if name not in rows:
                parser.error(f"unknown row {name!r}; {given.table} has {', '.join(rows)}")
        chosen = {given.table: replace(table, rows=tuple(rows[name] for name in given.only))}
    if given.list or (given.table is None and not given.show):
        print_list(chosen)
        return 0
    if given.show:
        for table in chosen.values():
            print_table(table)
        return 0
    table = chosen[given.table]
    if not DATA.is_dir() and any(row.bench for row in table.rows):
        print(f"no data folder at {DATA}; set HEADWISE_DATA", file=sys.stderr)
        return 2
    with stoppable() as stopped:
        running = [run(row, given.seeds) for row in table.rows]
        while running:  # seed by seed, so that an unfinished table is balanced
            running = [own for own in running if next(own, StopIteration) is not StopIteration]
        print_table(TABLES[given.table])
    return 130 if stopped else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # --list | head
    sys.exit(main())
