"""Accuracy on the papers' data sets, beside the papers' figures.

    python benchmarks/accuracy.py                          # everything: MTL-16 (4 domains, 3 seeds), SST-5
    python benchmarks/accuracy.py --only mtl16/MR          # one data set
    python benchmarks/accuracy.py --systems ms-transformer --seeds 1
    python benchmarks/accuracy.py --table                  # only print what has been measured

Needs the data folder (HEADWISE_DATA, default ../shared/data). Every run is cached by its whole
configuration, and an interrupted run is resumed: kill it at any time and start it again. Models are
chosen on dev only; the test texts are read once for each run.
"""

import argparse
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from accuracy_tables import print_tables, save_summary
from headwise.data.duplicates import normal_text
from headwise.data.example import Example
from headwise.data.kinds import KINDS
from headwise.data.options import ReadOptions
from headwise.data.parses import ParseReader, parsed
from headwise.data.parts import Parts
from headwise.data.read import read_examples
from headwise.data.split import split_examples
from headwise.features.parse_files import read_parses
from headwise.features.vectors import WordVectors, load_vectors
from headwise.linear.baseline import fit_baseline
from headwise.memory import keep_freed_memory
from headwise.recipe import build_recipe, read_recipe
from headwise.report.labels import evaluate_labels
from headwise.tasks import find_task
from headwise.train.classification import ClassificationObjective
from headwise.train.fit import fit, label_names, targets_of
from headwise.train.label_expert import add_expert
from runs import (
    CACHE,
    DATA,
    HERE,
    Found,
    Layers,
    Result,
    Run,
    cached_run,
    collect,
    jobs,
    judged,
    recipe_of,
    show_epochs,
)

SUMMARY = HERE / "results" / "accuracy.json"
VECTORS = "vectors/reviews_300d.txt.gz"
LINEAR = "tfidf-svm"
SYSTEMS = (
    "ms-transformer",
    "ms-san",
    "star-transformer",
    "bp-transformer",
    "set-transformer",
    "transformer",
    "bilstm",
    "disan",
    LINEAR,
)  # "ms-full-windows" is an ablation of the first
SYNTAX = ("ms-san",)  # these go by dependency trees
PARTS = ("train", "dev", "test")
DEV_TEXTS, DEV_SEED = 200, 0  # MTL-16 does not mark its dev texts

# Test accuracy in the papers: MS-Trans Tables 2 and 3 (Guo et al. 2020), MS-SAN Table 3 (Qi et al. 2020),
# Star-Transformer (Guo et al. 2019), BP-Transformer (Ye et al. 2019), DiSAN (Shen et al. 2018).
PAPER = {
    "mtl16/apparel": {"ms-transformer": 87.25, "transformer": 82.25},
    "mtl16/books": {"ms-transformer": 85.25, "transformer": 81.50},
    "mtl16/dvd": {"ms-transformer": 86.25, "transformer": 77.75},
    "mtl16/MR": {"ms-transformer": 79.25, "transformer": 77.25},
    "sst5": {
        "ms-transformer": 51.9,
        "ms-san": 53.5,
        "star-transformer": 52.9,
        "bp-transformer": 52.71,
        "transformer": 50.4,
        "disan": 51.7,
    },
}


@dataclass(frozen=True)
class Task:
    """A data set with its three parts."""

    name: str
    train: list[Example]
    dev: list[Example]
    test: list[Example]

    @property
    def leaked(self) -> np.ndarray:
        """`[test texts]`: whether the text also occurs in training or dev (but for case and spaces)."""
        seen = {normal_text(example.text) for example in (*self.train, *self.dev)}
        return np.array([normal_text(example.text) in seen for example in self.test])


SST = ReadOptions(format="sst")
MTL = ReadOptions(format="label-text", encoding_errors="replace")


def read(texts: str, heads: str, options: ReadOptions) -> list[Example]:
    """The texts of a file with their parses, which do not fit three texts of SST (leaves with spaces)."""
    data = read_examples(DATA / texts, options)
    parses = DATA / "syntax" / f"{heads}.heads.gz"
    if not parses.exists():
        return data.items
    reader = ParseReader(str.split, lambda path, words: read_parses(path))
    examples: list[Example] = parsed(KINDS["classify"], data, str(parses), reader).items
    fits = (e.heads is not None and len(e.heads) == len(e.text.split()) for e in examples)
    return [e if own else replace(e, heads=None) for e, own in zip(examples, fits, strict=True)]


def load_task(name: str) -> Task:
    """`mtl16/DOMAIN` or `sst5`."""
    if name == "sst5":
        parts = ("train", "dev", "test")
        return Task(name, *(read(f"sst/trees/{part}.txt.gz", f"sst/{part}", SST) for part in parts))
    train, test = (read(f"{name}.task.{part}.gz", f"{name}.task.{part}", MTL) for part in ("train", "test"))
    split = split_examples(train, DEV_TEXTS, 0, DEV_SEED, path=name)
    return Task(name, split.train, split.dev, test)


def columns(examples: list[Example], labels: list[str]) -> tuple[list[str], np.ndarray]:
    """Texts and label numbers."""
    return [example.text for example in examples], targets_of(examples, labels)


def run_linear(task: Task) -> Result:
    """TF-IDF + linear SVM, its C chosen on dev."""
    labels = label_names(example.label or "" for example in task.train)
    began = time.monotonic()
    model = fit_baseline(columns(task.train, labels), columns(task.dev, labels), tokenizer="whitespace")
    texts, targets = columns(task.test, labels)
    assert model is not None
    return judged(model.predict(texts) == targets, task.leaked) | {
        "dev": model.dev_accuracy,
        "seconds": time.monotonic() - began,
    }


def run_model(task: Task, layers: Layers, seed: int, vectors: WordVectors, folder: Path) -> Result:
    """Train one model and read the test texts once."""
    recipe = build_recipe(*layers)
    recipe = replace(recipe, train=replace(recipe.train, seed=seed))

    resume = (folder / "state.safetensors").exists()
    parts = Parts(KINDS["classify"], task.train, task.dev, [])
    show = show_epochs("texts")
    fitted = fit(find_task("classify"), parts, recipe, folder, vectors=vectors, resume=resume, report=show)
    targets = targets_of(task.test, fitted.model.labels)
    began = time.monotonic()
    test = evaluate_labels(fitted.model, task.test, targets)
    speed = len(task.test) / (time.monotonic() - began)
    # The same model once more with the linear expert beside it; only dev decides how much say that has.
    objective = ClassificationObjective(
        fitted.model,
        (task.train, targets_of(task.train, fitted.model.labels)),
        (task.dev, targets_of(task.dev, fitted.model.labels)),
    )
    add_expert(objective, fitted.model.outputs_of(objective.dev_items))
    mixed = judged(evaluate_labels(fitted.model, task.test, targets).predicted == targets, task.leaked)
    return judged(test.predicted == targets, task.leaked) | {
        "with_expert": {key: value for key, value in mixed.items() if key.startswith("test")},
        "expert_weight": fitted.model.expert_weight,
        "dev": fitted.progress.best_score,
        "best_epoch": fitted.progress.best_epoch + 1,
        "seconds": fitted.progress.seconds,
        "texts_per_second": speed,
        "parameters": sum(p.numel() for p in fitted.model.parameters()),
        "encoder_parameters": sum(p.numel() for p in fitted.model.encoder.parameters()),
        "vector_tokens": fitted.coverage.token_percent if fitted.coverage else None,
    }


def cached(name: str, system: str, seed: int, tasks: dict[str, Task], vectors: list[WordVectors]) -> None:
    """Run a job unless its result is in the cache."""
    if name not in tasks:
        tasks[name] = load_task(name)
    task = tasks[name]
    if system not in SYNTAX:
        task = replace(task, **{part: without_parses(getattr(task, part)) for part in PARTS})
    layers = recipe_layers(name, system)

    def measure(folder: Path) -> Result:
        if system == LINEAR:
            return run_linear(task)
        if not vectors:
            vectors.append(load_vectors(DATA / VECTORS))
        return run_model(task, layers, seed, vectors[0], folder)

    data = [KINDS["classify"].fingerprint(getattr(task, part)).sha256 for part in PARTS]
    cached_run(Run(name, system, seed, recipe_of(layers), data), measure, CACHE)


def without_parses(examples: list[Example]) -> list[Example]:
    return [replace(example, heads=None) for example in examples]


def recipe_layers(task: str, system: str) -> Layers:
    """The layers of settings of a system on a data set."""
    if system == LINEAR:
        return []
    named = read_recipe(Path(f"{task.split('/')[0]}-{system}"))
    return [named, {"vectors": {"file": VECTORS}, "words": {"vector_size": 300}}]


def collected(tasks: list[str], systems: list[str]) -> Found:
    """Cached results of the recipes as they are now."""
    return collect(tasks, systems, lambda *job: recipe_of(recipe_layers(*job)), CACHE)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(PAPER), help="data sets: mtl16/DOMAIN or sst5")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
    parser.add_argument("--table", action="store_true", help="only print what has been measured")
    arguments = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data folder at {DATA}; set HEADWISE_DATA", file=sys.stderr)
        return 2
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    keep_freed_memory()
    if not arguments.table:
        tasks: dict[str, Task] = {}
        vectors: list[WordVectors] = []
        for name, system, seed in jobs(arguments.only, arguments.systems, arguments.seeds, [LINEAR]):
            cached(name, system, seed, tasks, vectors)
    found = collected(arguments.only, arguments.systems)
    print_tables(found, PAPER)
    save_summary(found, SUMMARY)
    return 0


if __name__ == "__main__":
    sys.exit(main())
