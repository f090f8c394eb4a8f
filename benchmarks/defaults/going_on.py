"""`headwise train --base MODEL`: warm start from a model of other domains, compared with the English base.

    python -m benchmarks.defaults.going_on --sizes 250 all
    python -m benchmarks.defaults.going_on --table

For each four domains of MTL-16 a model is trained on the reviews of the twelve others, without those that
are test reviews of the four; then it is the base of a model of each of the four. It is compared with what
`default --sets mtl16` has measured, without an earlier model; `unseen` is the accuracy on
test reviews that are not in training. A run is a line of results/default.jsonl; what is there is not run
again. The models of twelve domains are kept in `--folder`, if one is named. Needs the data folder
(HEADWISE_DATA).
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.defaults.default import RESULTS, commit
from benchmarks.defaults.default_model import run_headwise
from benchmarks.defaults.default_results import ALL, Job, append_result, read_results
from benchmarks.defaults.default_sets import MTL, DataSet, Part, load, subset

SYSTEM = "headwise after 12 domains"
GROUPS = 4


def first_model(names: Sequence[str], folder: Path) -> Path:
    """The folder of a model of all domains but these."""
    model = folder / "model"
    if (model / "manifest.json").is_file():
        return model
    tests = {text for name in names for text in load(f"mtl16/{name}").test.items}
    texts: list[str] = []
    labels: list[str] = []
    for name in MTL:
        if name in names:
            continue
        part = load(f"mtl16/{name}").train
        rows = [
            (text, label) for text, label in zip(part.items, part.labels, strict=True) if text not in tests
        ]
        texts += [text for text, _ in rows]
        labels += [label for _, label in rows]
    sample = load(f"mtl16/{MTL[0]}").test.take(range(50))  # it has to be tested on something
    run_headwise(
        DataSet("others", "classify", Part(texts, labels), sample), Part(texts, labels), 0, [], folder
    )
    return model


def measure(sizes: Sequence[int], folder: Path, results: Path, system: str) -> None:
    """Do the runs that are not in the results."""
    done = read_results(results)
    for group in range(GROUPS):
        names = MTL[group::GROUPS]
        jobs = [Job(f"mtl16/{name}", system, texts, 0) for texts in sizes for name in names]
        for job in jobs:
            if job in done:
                continue
            base = first_model(names, folder / f"others-{group}")
            data = load(job.set)
            train = data.train.take(subset(data.train.labels, job.texts or None, 0))
            began = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime())
            result = run_headwise(data, train, 0, ["--base", str(base)], folder / "second")
            append_result(results, job, {**result, "commit": commit(), "at": began})
            print(f"{job}: {100 * result['test']:.1f} in {result['seconds']} s", flush=True)


def print_means(results: Path, systems: Sequence[str]) -> None:
    """Means over the domains that both have."""
    runs_by_job = read_results(results)
    columns = ("test", "unseen", "encoder_alone", "linear_model_alone")
    for texts in (250, ALL):
        names = [
            f"mtl16/{name}"
            for name in MTL
            if all(Job(f"mtl16/{name}", system, texts, 0) in runs_by_job for system in systems)
        ]
        if not names:
            continue
        print_header([f"{texts or 'all'} reviews, {len(names)} domains", *columns])
        for system in systems:
            runs = [runs_by_job[Job(name, system, texts, 0)] for name in names]
            means = [sum(run.get(column, run["test"]) for run in runs) / len(runs) for column in columns]
            print_row([system, *(f"{100 * mean:.1f}" for mean in means)])
        print()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", nargs="+", default=["all"], help="numbers of reviews, or all")
    parser.add_argument("--name", default=SYSTEM, help="of these runs, with other options or code")
    parser.add_argument(
        "--beside", default="headwise", help="the name of the runs without a previous model"
    )
    parser.add_argument("--folder", type=Path, help="keeps the models of twelve domains")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="only print stored results")
    arguments = parser.parse_args()
    if not arguments.table:
        sizes = [ALL if size == "all" else int(size) for size in arguments.sizes]
        with tempfile.TemporaryDirectory() as temporary:
            measure(sizes, arguments.folder or Path(temporary), arguments.results, arguments.name)
    print_means(arguments.results, (arguments.beside, arguments.name))


if __name__ == "__main__":
    main()
