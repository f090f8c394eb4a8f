"""Natural language inference on small data: SICK, and SNLI without its training pairs.

    python benchmarks/pairs.py                             # both data sets, all systems, 3 seeds
    python benchmarks/pairs.py --only sick --systems ms-transformer --seeds 1
    python benchmarks/pairs.py --table                     # only print what has been measured

`sick` has 4,500 training pairs; `snli` trains on the 9,842 dev pairs of SNLI (1,500 of which, with premises
of their own, are dev here) and on 8,330 counterfactual pairs, and tests on the SNLI test pairs: the papers
had 550,000. Needs the data folder (HEADWISE_DATA, default ../shared/data). Every run is cached by its whole
configuration, and an interrupted run is resumed. Models are chosen on dev only; the test pairs are read
once for each run.
"""

import argparse
import gzip
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from accuracy_tables import print_costs, print_header, print_paired, print_row, save_summary, spread, values
from headwise.data.duplicates import normal_text
from headwise.data.kinds import KINDS
from headwise.data.pair import Pair, PairOptions
from headwise.data.pairs import read_aligned_pairs, read_pairs
from headwise.data.parts import NAMES, Parts
from headwise.features.parse_files import read_parses
from headwise.features.vectors import WordVectors, load_vectors
from headwise.linear.pair_baseline import fit_pair_baseline
from headwise.memory import keep_freed_memory
from headwise.recipe import build_recipe, read_recipe
from headwise.report.labels import evaluate_labels
from headwise.tasks import find_task
from headwise.train.classification import ClassificationObjective
from headwise.train.fit import fit, targets_of
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

SUMMARY = HERE / "results" / "pairs.json"
VECTORS = "vectors/minilm_static_200d.txt.gz"
LINEAR = "tfidf-svm"
SYSTEMS = (
    "ms-transformer",
    "ms-san",
    "star-transformer",
    "transformer",
    "bilstm",
    "ms-transformer-cross",
    LINEAR,
)
OWN_RECIPES = ("sick-ms-transformer", "sick-ms-san")  # the others are nli-SYSTEM
SYNTAX = ("ms-san",)  # these go by dependency trees
DEV_PAIRS, DEV_SEED = 1_500, 0  # of SNLI dev

# Test accuracy with 550,000 training pairs: MS-Trans Table 4 (Guo et al. 2020), MS-SAN Table 1 (Qi et al.
# 2020), Star-Transformer (Guo et al. 2019).
PAPER = {
    "sick": {},
    "snli": {"ms-transformer": 85.9, "ms-san": 87.0, "star-transformer": 86.0, "transformer": 82.2},
}


@dataclass(frozen=True)
class Task:
    """A data set with its three parts; the words of all texts stand between spaces."""

    name: str
    parts: Parts[list[Pair]]

    @property
    def leaked(self) -> np.ndarray:
        """`[test pairs]`: whether the pair, in either order, also occurs in training or dev."""
        seen = {_key(pair) for pair in (*self.parts.train, *self.parts.dev)}
        return np.array([_key(pair) in seen for pair in self.parts.test])


def _key(pair: Pair) -> frozenset[str]:
    return frozenset((normal_text(pair.first), normal_text(pair.second)))


def load_task(name: str) -> Task:
    """`sick` or `snli`."""
    if name == "sick":
        files = {"train": "train", "dev": "trial", "test": "test_annotated"}
        parts = {part: sick(file, "trial" if part == "dev" else part) for part, file in files.items()}
        return Task(name, Parts(KINDS["pair"], **parts))
    split = KINDS["pair"].split(esnli("dev"), DEV_PAIRS, 0, DEV_SEED)
    kinds = ("original", "revised_premise", "revised_hypothesis")
    more = [pair for kind in kinds for pair in counterfactual(kind)]
    return Task(name, Parts(KINDS["pair"], [*split.train, *more], split.dev, esnli("test")))


def sick(file: str, part: str) -> list[Pair]:
    options = PairOptions(label_column="entailment_judgment")
    pairs = read_pairs(DATA / f"sick/SICK_{file}.txt.gz", options).items
    return parsed(pairs, *(f"sick/{part}.{side}" for side in "AB"))


def counterfactual(kind: str) -> list[Pair]:
    pairs = read_pairs(DATA / f"snli/counterfactual/{kind}/train.tsv.gz").items
    return parsed(pairs, *(f"snli/counterfactual_{kind}_train.{side}" for side in "12"))


def parsed(pairs: list[Pair], *files: str) -> list[Pair]:
    """Pairs whose texts are tokenised and parsed in files of words and heads. A hundred texts have double
    spaces, which the parser took for words; there each word depends on the one before."""
    found = list(pairs)
    for side, file in zip(("first", "second"), files, strict=True):
        path = DATA / "syntax" / f"{file}.parsed.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts = [line.rstrip("\n").split("\t") for line in lines]
        for place, (text, numbers) in enumerate(texts):
            words, heads = text.split(), tuple(map(int, numbers.split()))
            chain = tuple(range(len(words)))
            own = {side: " ".join(words), f"{side}_heads": heads if len(heads) == len(words) else chain}
            found[place] = replace(found[place], **own)
        if len(texts) != len(found):
            raise SystemExit(f"{path}: {len(texts)} parses for {len(found)} pairs")
    return found


def esnli(part: str) -> list[Pair]:
    folder = DATA / "snli" / "esnli"
    files = [folder / f"{name}.{part}.gz" for name in ("s1", "s2", "labels")]
    pairs = read_aligned_pairs(*files).items
    for side, file in (("first", "s1"), ("second", "s2")):
        heads = read_parses(str(DATA / "syntax" / "snli" / f"{file}.{part}.heads.gz"))
        pairs = [replace(pair, **{f"{side}_heads": own}) for pair, own in zip(pairs, heads, strict=True)]
    return pairs


def run_linear(task: Task) -> Result:
    """TF-IDF of shared and differing words + linear SVM, its C chosen on dev."""
    began = time.monotonic()
    labels = sorted({pair.label or "" for pair in task.parts.train})
    train, dev, test = ((own, targets_of(own, labels)) for own in three(task))
    model = fit_pair_baseline(train, dev, tokenizer="whitespace")
    assert model is not None
    right = model.predict(task.parts.test) == test[1]
    dev_accuracy = float((model.predict(task.parts.dev) == dev[1]).mean())
    return judged(right, task.leaked) | {"dev": dev_accuracy, "seconds": time.monotonic() - began}


def three(task: Task) -> list[list[Pair]]:
    return [getattr(task.parts, part) for part in NAMES]


def run_model(task: Task, layers: Layers, seed: int, vectors: WordVectors, folder: Path) -> Result:
    """Train one model and read the test pairs once."""
    recipe = build_recipe(*layers)
    recipe = replace(recipe, train=replace(recipe.train, seed=seed))

    resume = (folder / "state.safetensors").exists()
    fitted = fit(
        find_task("pair"),
        task.parts,
        recipe,
        folder,
        vectors=vectors,
        resume=resume,
        report=show_epochs("pairs"),
    )
    targets = targets_of(task.parts.test, fitted.model.labels)
    began = time.monotonic()
    test = evaluate_labels(fitted.model, task.parts.test, targets)
    speed = len(targets) / (time.monotonic() - began)
    # The same model once more with the linear expert beside it; only dev decides how much say that has.
    model = fitted.model
    train, dev = ((own, targets_of(own, model.labels)) for own in three(task)[:2])
    objective = ClassificationObjective(model, train, dev)
    add_expert(objective, model.outputs_of(objective.dev_items))
    mixed = judged(evaluate_labels(model, task.parts.test, targets).predicted == targets, task.leaked)
    return judged(test.predicted == targets, task.leaked) | {
        "with_expert": {key: value for key, value in mixed.items() if key.startswith("test")},
        "expert_weight": model.expert_weight,
        "dev": fitted.dev["accuracy"],
        "dev_loss": fitted.dev["loss"],
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
        bare = {part: without_parses(getattr(task.parts, part)) for part in NAMES}
        task = replace(task, parts=Parts(KINDS["pair"], **bare))
    layers = recipe_layers(name, system)

    def measure(folder: Path) -> Result:
        if system == LINEAR:
            return run_linear(task)
        if not vectors:
            vectors.append(load_vectors(DATA / VECTORS))
        return run_model(task, layers, seed, vectors[0], folder)

    data = [KINDS["pair"].fingerprint(part).sha256 for part in three(task)]
    cached_run(Run(name, system, seed, recipe_of(layers), data), measure, CACHE, "pairs-")


def without_parses(pairs: list[Pair]) -> list[Pair]:
    return [replace(pair, first_heads=None, second_heads=None) for pair in pairs]


def recipe_layers(task: str, system: str) -> Layers:
    """The layers of settings of a system on a data set, which may have a recipe of its own."""
    if system == LINEAR:
        return []
    vectors = {"vectors": {"file": VECTORS}, "words": {"vector_size": 200}}
    own = f"{task}-{system}"
    return [read_recipe(Path(own if own in OWN_RECIPES else f"nli-{system}")), vectors]


def collected(tasks: list[str], systems: list[str]) -> Found:
    """Cached results of the recipes as they are now."""
    return collect(tasks, systems, lambda *job: recipe_of(recipe_layers(*job)), CACHE)


def print_tables(found: Found) -> None:
    """Accuracy by system and data set, the papers' figures, paired differences, and what it costs."""
    tasks = list(found)
    systems = list(found[tasks[0]])
    print_header(["test accuracy", *tasks])
    for system in systems:
        runs = [values(found[task][system], lambda run: run["test"]) for task in tasks]
        if any(runs):
            print_row([system, *(f"{spread(own)} ({len(own)})" if own else "-" for own in runs)])
    print_header(["with the linear expert beside the encoder", *tasks])
    for system in systems:
        runs = [
            values(found[task][system], lambda run: run.get("with_expert", {}).get("test"))
            for task in tasks
        ]
        if any(runs):
            print_row([system, *(f"{spread(own)} ({len(own)})" if own else "-" for own in runs)])
    print_header(["the papers, 550,000 pairs", *tasks])
    for system in systems:
        figures = [PAPER[task].get(system) for task in tasks]
        if any(figures):
            print_row([system, *(f"{figure or '-'}" for figure in figures)])
    for task in tasks:
        print(f"\n{task}:\n")
        for rival in ("transformer", LINEAR):
            for system in systems:
                if system != rival and rival in systems:
                    print_paired(found, [task], system, rival)
        print_costs(found, [task], systems)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(PAPER), help="data sets: sick, snli")
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
    print_tables(found)
    save_summary(found, SUMMARY)
    return 0


if __name__ == "__main__":
    sys.exit(main())
