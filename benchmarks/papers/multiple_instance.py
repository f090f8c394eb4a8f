"""Multiple-instance learning: bags of vectors, Set Transformer against pooling, 10-fold cross-validation.

    python -m benchmarks.papers.multiple_instance                             # Musk1 and Elephant, 3 seeds
    python -m benchmarks.papers.multiple_instance --only musk1 --seeds 1 --models sab+pma rff+mean
    python -m benchmarks.papers.multiple_instance --table                     # only print what was measured

Needs the data folder (HEADWISE_DATA, default ../shared/data). Every fold is cached by all that decides its
outcome: stop the command at any time and give it again. The folds are stratified by label, and another seed
gives other folds. In each fold a dev part of the training bags chooses the epoch (the C of the linear
machine); the test bags are read once. The table goes to results/multiple_instance.json.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.model_selection import StratifiedKFold

from benchmarks import DATA
from headwise import __version__
from headwise.core.allocator import keep_freed_memory
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.labels import label_targets
from headwise.data.readers.bags import Bag, BagData, read_bags
from headwise.data.splits.data_parts import DataParts
from headwise.linear.baselines import fit_bag_baseline
from headwise.models.tasks import find_task, find_task_settings
from headwise.nn.networks.bag_model import BagFeatures, BagModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import BagConfig
from headwise.training.loop import run_epochs
from headwise.training.settings import TrainConfig

RESULTS = Path(__file__).parent / "results"
SETS = ("musk1", "elephant")
LINEAR = "linear"
MODELS = {
    "sab+pma": "Set Transformer (SAB + PMA)",
    "isab16+pma": "Set Transformer (ISAB 16 + PMA)",
    "sab+mean": "SAB + mean-pooling",
    "rff+pma": "rFF + PMA",
    "rff+mean": "mean-pooling",
    "rff+max": "max-pooling",
    LINEAR: "mean, min, max + linear SVM",
}
FOLDS, DEV = 10, 0.15
BASELINE = "rff+mean"


@dataclass(frozen=True)
class Fold:
    """Training, dev and test bags of a fold, and the places of the latter in the file."""

    train: list[Bag]
    dev: list[Bag]
    test: list[Bag]
    places: np.ndarray


def folds(bags: Sequence[Bag], seed: int) -> Iterator[Fold]:
    """The folds of a seed; every bag is a test bag once."""
    labels = [bag.label for bag in bags]
    shuffled = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    for rest, places in shuffled.split(np.zeros(len(bags)), labels):
        split = ITEM_TYPES_BY_TASK["bags"].split([bags[place] for place in rest], DEV, 0.0, seed)
        yield Fold(split.train, split.dev, [bags[place] for place in places], places)


def settings_of(name: str, seed: int) -> tuple[ModelConfig, TrainConfig]:
    """headwise's defaults for data of this size, with another model."""
    defaults = find_task_settings("bags").defaults(100, vectors=False, encoder="")
    config = ModelConfig(task="bags", bags=BagConfig(**{**defaults.get("bags", {}), "model": name}))
    return config, TrainConfig(**{**defaults["train"], "seed": seed})


def run_fold(data: BagData, fold: Fold, name: str, seed: int) -> dict[str, Any]:
    """Train on a fold, and read its test bags once."""
    labels = sorted(data.labels)
    truth = label_targets(fold.test, labels)
    began = time.process_time()
    if name == LINEAR:
        parts = ((part, label_targets(part, labels)) for part in (fold.train, fold.dev))
        guesses = fit_bag_baseline(*parts, fold.test)
        return {"right": (guesses == truth).tolist(), "seconds": time.process_time() - began}
    config, training = settings_of(name, seed)
    torch.manual_seed(seed)
    model = BagModel(config, BagFeatures(data.features), labels)
    parts = DataParts(ITEM_TYPES_BY_TASK["bags"], fold.train, fold.dev, fold.test)
    objective = find_task("bags").objective(model, parts)
    with tempfile.TemporaryDirectory() as folder:
        progress = run_epochs(model, objective, training, Path(folder))
    guesses = model.logits([bag.instances for bag in fold.test]).argmax(axis=1)
    return {
        "right": (guesses == truth).tolist(),
        "dev_loss": progress.history[progress.best_epoch]["loss"],
        "dev_accuracy": progress.history[progress.best_epoch]["accuracy"],
        "best_epoch": progress.best_epoch + 1,
        "parameters": sum(p.numel() for p in model.parameters()),
        "seconds": time.process_time() - began,
    }


def run(data: BagData, source: str, name: str, seed: int, results: Path) -> list[dict[str, Any]]:
    """The results of all folds of a seed, from the cache where they are there."""
    fold_results = []
    folder = (
        results / "cache" / "multiple_instance" / f"{source}-{name}-{seed}-{identity(data, name, seed)}"
    )
    folder.mkdir(parents=True, exist_ok=True)
    for number, fold in enumerate(folds(data.items, seed)):
        path = folder / f"{number}.json"
        if not path.exists():
            result = {**run_fold(data, fold, name, seed), "places": fold.places.tolist()}
            partial = path.with_suffix(".partial")
            partial.write_text(json.dumps(result))
            os.replace(partial, path)
        fold_results.append(json.loads(path.read_text()))
    return fold_results


def identity(data: BagData, name: str, seed: int) -> str:
    """Of all that decides how the folds of a seed end."""
    key = {
        "data": ITEM_TYPES_BY_TASK["bags"].fingerprint(data.items).sha256,
        "system": name,
        "seed": seed,
        "dev": DEV,
    }
    if name != LINEAR:
        config, training = settings_of(name, seed)
        key |= {**config.to_json(), "train": asdict(training)}
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]


def collect(folds_of: list[list[dict[str, Any]]], bags: int) -> dict[str, Any]:
    """Scores and costs over the runs of all seeds.

    Args:
        folds_of: Their folds, seed by seed.
        bags: How many bags there are.
    """
    right = np.zeros((len(folds_of), bags))
    for seed, seed_folds in enumerate(folds_of):
        for fold in seed_folds:
            right[seed, fold["places"]] = fold["right"]
    every = [fold for seed_folds in folds_of for fold in seed_folds]
    accuracies = right.mean(1)
    return {
        "accuracy": float(accuracies.mean()),
        "deviation": float(accuracies.std(ddof=1)) if len(accuracies) > 1 else None,
        "seeds": len(accuracies),
        "dev_accuracy": _mean(fold.get("dev_accuracy") for fold in every),
        "dev_loss": _mean(fold.get("dev_loss") for fold in every),
        "best_epoch": _mean(fold.get("best_epoch") for fold in every),
        "parameters": every[0].get("parameters"),
        "seconds": sum(fold["seconds"] for fold in every) / len(accuracies),
        "right": right.mean(0).round(4).tolist(),
    }


def _mean(values: Any) -> float | None:
    present = [value for value in values if value is not None]
    return float(np.mean(present)) if present else None


def gap(model: Sequence[float], baseline: Sequence[float]) -> tuple[float, float, float]:
    """How many percent of the bags more the first has right, and the 95 % bootstrap interval of that."""
    gains = 100 * (np.asarray(model) - np.asarray(baseline))
    draws = np.random.default_rng(0).choice(gains, (10_000, len(gains))).mean(1)
    low, high = np.quantile(draws, [0.025, 0.975])
    return float(gains.mean()), float(low), float(high)


def print_table(summary: dict[str, dict[str, Any]]) -> None:
    """Print the stored results in Markdown."""
    for source, models in summary.items():
        print(f"\n{source}: {len(next(iter(models.values()))['right'])} bags, {FOLDS} folds\n")
        head = [
            "model",
            "accuracy",
            "seeds",
            "ahead of mean-pooling (95 %)",
            "dev",
            "parameters",
            "s a seed",
        ]
        print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
        for name, row in models.items():
            spread = "" if row["deviation"] is None else f" ± {100 * row['deviation']:.1f}"
            ahead = "-" if row["ahead"] is None else "{:+.1f} ({:+.1f} to {:+.1f})".format(*row["ahead"])
            dev = "-" if row["dev_accuracy"] is None else f"{100 * row['dev_accuracy']:.1f}"
            size = "-" if row["parameters"] is None else f"{row['parameters']:,}"
            cells = [MODELS.get(name, name), f"{100 * row['accuracy']:.1f}{spread}", str(row["seeds"])]
            print(f"| {' | '.join([*cells, ahead, dev, size, format(row['seconds'], '.0f')])} |")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(SETS), help="data sets: musk1, elephant")
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder")
    parser.add_argument("--table", action="store_true", help="only print stored results")
    options = parser.parse_args(argv)
    path = options.results / "multiple_instance.json"
    if options.table:
        print_table(json.loads(path.read_text())["sets"])
        return 0
    if not DATA.is_dir():
        print(f"no data folder at {DATA}; set HEADWISE_DATA", file=sys.stderr)
        return 2
    if options.threads:
        torch.set_num_threads(options.threads)
    keep_freed_memory()
    summary: dict[str, dict[str, Any]] = {}
    for source in options.only:
        data = read_bags(DATA / "mil" / f"{source}.csv.gz")
        summary[source] = {}
        for name in options.models:
            runs = [run(data, source, name, seed, options.results) for seed in range(options.seeds)]
            result = summary[source][name] = collect(runs, len(data.items))
            print(f"{source}, {MODELS.get(name, name)}: {100 * result['accuracy']:.1f}", flush=True)
    for models in summary.values():
        for name, row in models.items():
            comparable = BASELINE in models and name != BASELINE
            row["ahead"] = gap(row["right"], models[BASELINE]["right"]) if comparable else None
    result = {"sets": summary, "folds": FOLDS, "headwise": __version__, "torch": torch.__version__}
    path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print_table(summary)
    return 0


if __name__ == "__main__":
    sys.exit(main())
