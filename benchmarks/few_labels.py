"""What reading reviews without labels is worth where labels are few: encoders with and without it.

    python benchmarks/reviews_encoder.py ms-transformer     # the reading, once
    python benchmarks/few_labels.py --systems ms-transformer "ms-transformer + masked words"
    python benchmarks/few_labels.py --table

Of the training reviews of a domain of MTL-16 so many are trained on, 100 are dev, and all others judge; no
test text is read. Settings are those of `benchmarks/accuracy.py`, but for 16 epochs. Two draws of each of
four domains; what is there is not run again.
"""

import argparse
import random
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from accuracy import READ, Accuracy
from headwise.data.kinds import KINDS
from headwise.data.labels import targets_of
from headwise.data.parts import Parts
from headwise.recipe import build_recipe
from headwise.report.labels import evaluate_labels
from headwise.tasks import find_task
from headwise.train.fit import fit
from runs import HERE, append_line, read_lines

RESULTS = HERE / "results" / "few_labels.jsonl"
DOMAINS = ("MR", "apparel", "music", "electronics")
SYSTEMS = tuple(
    f"{name}{how}" for name in ("ms-transformer", "ms-directions", "bilstm") for how in ("", READ)
)
EPOCHS, DEV, DRAWS = 16, 100, 2


def measure(bench: Accuracy, domain: str, system: str, texts: int, draw: int) -> dict[str, Any]:
    """Train on a few reviews, and judge on the other training reviews."""
    items = list(bench.read(bench.load(f"mtl16/{domain}"), system).parts.train)
    random.Random(draw).shuffle(items)
    rest = items[texts + DEV :]
    recipe = build_recipe(
        *bench.layers(f"mtl16/{domain}", system), {"train": {"epochs": EPOCHS, "seed": draw}}
    )
    bare = replace(recipe.model, base=replace(recipe.model.base, name=""))
    recipe = replace(recipe, model=bare, former=bench.former(system))  # recipes say none of the base
    parts = Parts(KINDS["classify"], items[:texts], items[texts : texts + DEV], [])
    with tempfile.TemporaryDirectory() as folder:
        fitted = fit(
            find_task("classify"), parts, recipe, Path(folder) / "run", vectors=bench.word_vectors()
        )
    targets = targets_of(rest, fitted.model.labels)
    right = evaluate_labels(fitted.model, rest, targets).predicted == targets
    return {"accuracy": float(right.mean()), "judged": len(rest), "seconds": fitted.progress.seconds}


def show(texts: int) -> None:
    """Print the means over the draws that all systems have which were run."""
    found: dict[str, dict[tuple[str, int], float]] = {}
    for own in read_lines(RESULTS):
        if own["texts"] == texts:
            found.setdefault(own["system"], {})[own["domain"], own["draw"]] = 100 * own["accuracy"]
    shared = set.intersection(*map(set, found.values())) if found else set()
    for system in (name for name in SYSTEMS if name in found and shared):
        mean = statistics.mean(found[system][draw] for draw in shared)
        print(f"| {system} | {mean:.1f} | {len(shared)} |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=SYSTEMS)
    parser.add_argument("--texts", type=int, default=250)
    parser.add_argument("--table", action="store_true", help="only print what has been measured")
    options = parser.parse_args()
    torch.set_num_threads(1)
    bench = Accuracy()
    keys = ("domain", "system", "texts", "draw")
    done = {tuple(own[key] for key in keys) for own in read_lines(RESULTS)}
    jobs = ((d, s, options.texts, n) for n in range(DRAWS) for d in DOMAINS for s in options.systems)
    for job in jobs if not options.table else ():
        if job not in done:
            found = measure(bench, *job)
            append_line(RESULTS, dict(zip(keys, job, strict=True)) | found)
            print(*job, f"{100 * found['accuracy']:.1f}", flush=True)
    show(options.texts)


if __name__ == "__main__":
    sys.exit(main())
