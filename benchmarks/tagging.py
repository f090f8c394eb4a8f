"""Sequence labelling on real data: names of CoNLL-2003 and WNUT-17, parts of speech of UD EWT and the
Penn Treebank sample, beside the papers' figures.

    python benchmarks/tagging.py                              # everything, one seed of each
    python benchmarks/tagging.py --only conll2003 --seeds 3
    python benchmarks/tagging.py --table                      # only print what has been measured

Needs the data folder (HEADWISE_DATA, default ../shared/data). Every run is cached by its whole
configuration, and an interrupted run is resumed: kill it at any time and start it again. Models are
chosen on dev only; the test sentences are read once for each run. The treebank sample has no split of its
own: of its 199 files the first 160 are for training, the next 19 for dev and the last 20 for the test.
"""

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

from headwise.data.kinds import KINDS
from headwise.data.parts import Parts
from headwise.data.tag_options import TagOptions
from headwise.data.tagged import TaggedData, read_tagged
from headwise.features.vectors import WordVectors, load_vectors
from headwise.linear.tag_baseline import MemoryTagger
from headwise.memory import keep_freed_memory
from headwise.recipe import build_recipe, read_recipe
from headwise.report.tags import judge_tags
from headwise.scores.scheme_check import detect_scheme
from headwise.store import read_info
from headwise.tasks import find_task
from headwise.verbs.train import train_parts
from runs import (
    DATA,
    HERE,
    Found,
    Layers,
    Result,
    Run,
    cached_run,
    collect,
    jobs,
    listening,
    recipe_of,
    show_epochs,
)

Sentences = Parts[Any]
CACHE = HERE / "results" / "cache" / "tagging"
SUMMARY = HERE / "results" / "tagging.json"
VECTORS = "vectors/minilm_static_200d.txt.gz"
PLAIN = {"characters": {"network": "none"}, "tagger": {"crf": False, "constraints": False}}
CHAR = {"tagger": {"crf": False, "constraints": False}}
# name -> the recipe and what is said beyond it
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "ms-transformer": ("tag-ms-transformer", PLAIN),
    "ms-transformer + char": ("tag-ms-transformer", CHAR),
    "ms-transformer + char + crf": ("tag-ms-transformer", {}),
    "transformer": ("tag-transformer", PLAIN),
    "transformer + char": ("tag-transformer", CHAR),
    "bilstm + char + crf": ("tag-bilstm", {}),
}
# F1 of names, accuracy of parts of speech: MS-Trans Tables 4 and 5 (Guo et al. 2020); the BiLSTM-CRF is
# that of Ma & Hovy (2016). The parts of speech are of the whole Penn Treebank, which we do not have.
PAPER: dict[str, dict[str, float]] = {
    "conll2003": {
        "ms-transformer": 89.38,
        "ms-transformer + char": 91.33,
        "ms-transformer + char + crf": 91.59,
        "transformer": 86.48,
        "transformer + char": 88.26,
        "bilstm + char + crf": 91.21,
    },
    "wnut17": {},
    "ewt-xpos": {},
    "treebank": {},
}
FILES = {
    "conll2003": [f"conll2003/eng.{part}.gz" for part in ("train", "testa", "testb")],
    "wnut17": [
        f"wnut17/{name}.gz"
        for name in ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    ],
    "ewt-xpos": [f"ud_english_ewt/en_ewt-ud-{part}.conllu.gz" for part in ("train", "dev", "test")],
}
TREEBANK = "ptb_wsj/treebank.zip!*.mrg"
TREEBANK_CUTS = (160, 179)  # files


def load(name: str) -> Sentences:
    """A data set with its three parts."""
    if name == "treebank":
        data = read_tagged(DATA / TREEBANK)
        first, second = (data.documents[cut] for cut in TREEBANK_CUTS)
        parts = (data.items[:first], data.items[first:second], data.items[second:])
        return Parts(KINDS["tag"], *parts)
    options = TagOptions(tag_column="xpos") if name == "ewt-xpos" else TagOptions()
    read: list[TaggedData] = [read_tagged(DATA / path, options) for path in FILES[name]]
    return Parts(KINDS["tag"], *(list(part.items) for part in read))


def headline(data: Sentences) -> str:
    """The dev score that taggers of these data are chosen by."""
    return find_task("tag").suggested(data)["train"]["score"]


def layers_of(system: str, data: Sentences) -> Layers:
    """The layers of settings of a system."""
    recipe, more = SYSTEMS[system]
    own = {"vectors": {"file": VECTORS}, "words": {"vector_size": 200}, "train": {"score": headline(data)}}
    return [read_recipe(Path(recipe)), more, own]


def measure(name: str, system: str, seed: int, data: Sentences, vectors: Callable[[], WordVectors]) -> None:
    """Run a system on a data set unless its result is in the cache."""
    layers = layers_of(system, data)
    recipe = build_recipe(*layers)
    recipe = replace(recipe, train=replace(recipe.train, seed=seed))

    def train_and_test(folder: Path) -> Result:
        resume = (folder / "training" / "state.safetensors").exists()
        show = show_epochs("sentences", headline(data))
        outcome = train_parts(
            data,
            recipe,
            folder,
            vectors=vectors(),
            resume=resume,
            baseline=False,
            listener=listening(show),
        )
        (score, interval), (dev, _) = map(best_of, (outcome.test.to_json(), outcome.fitted.dev))
        return {
            "test": score,
            "interval": interval,
            "dev": dev,
            "seconds": outcome.fitted.progress.seconds,
            "best_epoch": outcome.fitted.progress.best_epoch + 1,
            "encoder_parameters": sum(p.numel() for p in outcome.fitted.model.encoder.parameters()),
            "coverage": None if outcome.fitted.coverage is None else outcome.fitted.coverage.token_percent,
            "metrics": read_info(folder)["metrics"]["test"],
        }

    prints = [data.kind.fingerprint(part).sha256 for part in (data.train, data.dev, data.test)]
    cached_run(Run(name, system, seed, recipe_of(layers), prints), train_and_test, CACHE)


def memory_score(data: Sentences) -> float:
    """The baseline's score on the test sentences."""
    scheme = detect_scheme(own.tags for own in data.train).scheme
    memory = MemoryTagger(data.train, scheme).predict(data.test)
    tokens, entities = judge_tags(memory, data.test, scheme)
    return tokens.accuracy if entities is None else entities.f1


def best_of(scores: dict[str, Any]) -> tuple[float, tuple[float, float]]:
    """The score that taggers of such data are compared by, and its interval."""
    if "entities" in scores:
        return scores["entities"]["f1"], scores["entities"]["f1_interval"]
    return scores["tokens"]["accuracy"], scores["tokens"]["accuracy_interval"]


def collected(sets: dict[str, Sentences], systems: Sequence[str]) -> Found:
    """Cached results of the recipes as they are now."""
    return collect(
        list(sets), systems, lambda name, system: recipe_of(layers_of(system, sets[name])), CACHE
    )


def summarise(found: Found, memory: dict[str, float]) -> dict[str, Any]:
    """What the table needs, for docs and machines."""
    summary: dict[str, Any] = {}
    for name, own in found.items():
        systems = {}
        for system, runs in own.items():
            if not runs:
                continue
            scores = [100 * run["test"] for run in runs]
            systems[system] = {
                "mean": statistics.mean(scores),
                "spread": statistics.stdev(scores) if len(scores) > 1 else None,
                "scores": scores,
                "seconds": statistics.median(run["seconds"] for run in runs),
                "encoder_parameters": runs[0]["encoder_parameters"],
                "coverage": runs[0]["coverage"],
                "paper": PAPER[name].get(system),
            }
        if systems:
            summary[name] = {"memory": memory.get(name), "systems": systems}
    return summary


def print_table(summary: dict[str, Any]) -> None:
    """A table for people, in Markdown."""
    for name, own in summary.items():
        measure_ = "F1" if name in ("conll2003", "wnut17") else "accuracy"
        print(f"\n{name} (test {measure_}; a memory of the training words: {own['memory']:.2f})\n")
        print("| system | ours | seeds | paper | train s | encoder parameters |")
        print("|---|---:|---:|---:|---:|---:|")
        for system in SYSTEMS:
            if system not in own["systems"]:
                continue
            row = own["systems"][system]
            spread = "" if row["spread"] is None else f" ± {row['spread']:.2f}"
            paper = "" if row["paper"] is None else f"{row['paper']:.2f}"
            cells = (f"{row['mean']:.2f}{spread}", str(len(row["scores"])), paper, f"{row['seconds']:.0f}")
            print(f"| {system} | {' | '.join(cells)} | {row['encoder_parameters']:,} |")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=list(PAPER), choices=list(PAPER), metavar="DATA")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--threads", type=int, default=0, help="of torch; 0 = all cores")
    parser.add_argument("--table", action="store_true", help="only print what has been measured")
    arguments = parser.parse_args()
    if not DATA.is_dir():
        print(f"no data folder at {DATA}; set HEADWISE_DATA", file=sys.stderr)
        return 2
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    keep_freed_memory()
    sets = {name: load(name) for name in arguments.only}
    if not arguments.table:
        vectors = cache(lambda: load_vectors(DATA / VECTORS))
        for name, system, seed in jobs(arguments.only, arguments.systems, arguments.seeds):
            measure(name, system, seed, sets[name], vectors)
    found = collected(sets, list(SYSTEMS))
    memory = {name: 100 * memory_score(data) for name, data in sets.items() if any(found[name].values())}
    summary = summarise(found, memory)
    print_table(summary)
    before = json.loads(SUMMARY.read_text()) if SUMMARY.exists() else {}
    SUMMARY.write_text(json.dumps(before | summary, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
