"""Sequence labelling on real data: names of CoNLL-2003 and WNUT-17, parts of speech of UD EWT and the
Penn Treebank sample, with the papers' figures.

    python -m benchmarks.papers.tagging                              # everything, one seed of each
    python -m benchmarks.papers.tagging --only conll2003 --seeds 3
    python -m benchmarks.papers.tagging --table                      # only print stored results

Needs the data folder (HEADWISE_DATA, default ../shared/data). Every run is stored with its complete
configuration, and an interrupted run is resumed: kill it at any time and start it again. Models are
chosen on dev only; the test sentences are read once for each run. A data set such as `conll2003-glove` is
the same with GloVe 6B (100 features), the paper's vectors, and a longer training; `conll2003-glove-all` has
all of its words in place of the 120,000 most frequent (glove_words.py) and runs only where it
is named. The treebank sample has no split of its own: of its 199 files the first 160 are for training, the
next 19 for dev and the last 20 for the test.
"""

import statistics
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks import DATA
from benchmarks.common.accuracy_tables import print_header, print_row
from benchmarks.common.paired_taggers import COUNTS, packed, paired_taggers
from benchmarks.common.runs import Bench, Layers, Result, RunsByTask, listening, read_recipe, show_epochs
from benchmarks.papers.glove_words import glove_file
from benchmarks.papers.memory_tagger import MemoryTagger
from headwise.app.configuration import build_config
from headwise.app.training_plan import RunData, TrainingPlan
from headwise.app.workflows.train import fit_evaluate_save
from headwise.artifacts import read_info
from headwise.data.columns.item_options import TagOptions
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.readers.tagged_files import TaggedData, read_tagged
from headwise.data.splits.data_parts import PART_NAMES, DataParts
from headwise.metrics.tag_schemes import detect_scheme
from headwise.models.tag_evaluation import score_tagging, tag_counts
from headwise.models.tasks import find_task
from headwise.text.vector_files import load_vectors
from headwise.text.vocabulary import WordVectors

Sentences = DataParts[Any]
GLOVE_VECTORS = "vectors/glove_6B_100d.txt.gz"
ALL = 400_000  # words that all of GloVe 6B has
MEMORY = "memory of the training words"
PLAIN = {"characters": {"network": "none", "shape": 0}, "tagger": {"crf": False, "constraints": False}}
CHAR = {"tagger": {"crf": False, "constraints": False}}
# GloVe 6B is lower case: without shapes a plain tagger sees no capitals.
SHAPES = {"characters": {"network": "none", "shape": 20}, "tagger": {"crf": False, "constraints": False}}
ALONE = {"linear_model": {"kind": "none"}}
LINEAR_MODEL = {"linear_model": {"kind": "linear"}}  # the linear CRF in an ensemble with the encoder's
REFIT = {"train": {"refit": True}}  # once dev has chosen the epoch, train again on dev sentences too
# All taggers were best in their last epoch, so twice as many; and vectors learn as fast as the rest.
LONGER: dict[str, Any] = {"train": {"refit": True, "epochs": 40, "vectors_learning_rate": 1e-3}}
# name -> the recipe and further settings
SYSTEMS: dict[str, tuple[str, dict[str, Any]]] = {
    "ms-transformer": ("tag-ms-transformer", PLAIN),
    "ms-transformer + char": ("tag-ms-transformer", CHAR),
    "ms-transformer + char + crf": ("tag-ms-transformer", {}),
    "ms-transformer + char + crf + refit": ("tag-ms-transformer", REFIT),
    "ms-transformer + char + crf + refit, 40 epochs": ("tag-ms-transformer", LONGER),
    "ms-transformer + directions + char + crf": ("tag-ms-transformer-glove", ALONE),
    "ms-transformer + directions + char + crf + refit": ("tag-ms-transformer-glove", ALONE | REFIT),
    "ms-transformer + directions + char + crf + linear model": ("tag-ms-transformer-glove", {}),
    "ms-transformer + shapes": ("tag-ms-transformer", SHAPES),
    "transformer": ("tag-transformer", PLAIN),
    "transformer + shapes": ("tag-transformer", SHAPES),
    "transformer + char": ("tag-transformer", CHAR),
    "transformer + char + crf": ("tag-transformer", {}),
    "bilstm + char": ("tag-bilstm", CHAR),
    "bilstm + char + crf": ("tag-bilstm", {}),
    "bilstm + char + crf + refit": ("tag-bilstm", REFIT),
    "bilstm + char + crf + refit, 40 epochs": ("tag-bilstm", LONGER),
    "bilstm + char + crf + linear model": ("tag-bilstm", LINEAR_MODEL),
    "star-transformer + char + crf": ("tag-star-transformer", {}),
}
RIVALS = ("transformer", "bilstm")  # of windows, with the same additions
GLOVE, ALL_WORDS = "-glove", "-glove-all"  # end the names of data sets
# Words that training has once keep their vector or are unknown, as are those that only the test has.
GLOVE_RECIPE: dict[str, Any] = {
    "vectors": {"extra_words": 120_000},
    "words": {"min_count": 2, "max_words": 150_000, "word_dropout": 0.01},
    "characters": {"features": 50, "shape": 20},
    "train": {"epochs": 20, "vectors_learning_rate": 3e-4, "average": 0.999},
}
# F1 of names, accuracy of parts of speech: MS-Trans Table 4 (Guo et al. 2020); the BiLSTM-CRF is
# that of Ma & Hovy (2016). The parts of speech are of the whole Penn Treebank, which we do not have.
_CONLL = {
    "ms-transformer": 89.38,
    "ms-transformer + char": 91.33,
    "ms-transformer + char + crf": 91.59,
    "transformer": 86.48,
    "transformer + char": 88.26,
    "bilstm + char + crf": 91.21,
}
PAPER: dict[str, dict[str, float]] = {
    "conll2003": _CONLL,
    "conll2003-glove": _CONLL,
    "conll2003-glove-all": _CONLL,
    "wnut17": {},
    "ewt-xpos": {},
    "ewt-xpos-glove": {},
    "treebank": {},
    "treebank-glove": {},
}
FILES = {
    "conll2003": [f"conll2003/eng.{part}.gz" for part in ("train", "testa", "testb")],
    "wnut17": [
        f"wnut17/{name}.gz"
        for name in ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    ],
    "ewt-xpos": [f"ud_english_ewt/en_ewt-ud-{part}.conllu.gz" for part in ("train", "dev", "test")],
}
NAMED = ("conll2003", "wnut17")  # their tags are names; the others are parts of speech
TREEBANK = "ptb_wsj/treebank.zip!*.mrg"
TREEBANK_CUTS = (160, 179)  # files


def bare(task: str) -> str:
    """The name of a data set without its vectors."""
    return task.removesuffix(ALL_WORDS).removesuffix(GLOVE)


def read(name: str) -> Sentences:
    """A data set with its three parts."""
    name = bare(name)
    if name == "treebank":
        data = read_tagged(DATA / TREEBANK)
        first, second = (data.documents[cut] for cut in TREEBANK_CUTS)
        parts = (data.items[:first], data.items[first:second], data.items[second:])
        return DataParts(ITEM_TYPES_BY_TASK["tag"], *parts)
    options = TagOptions(tag_column="xpos") if name == "ewt-xpos" else TagOptions()
    read: list[TaggedData] = [read_tagged(DATA / path, options) for path in FILES[name]]
    return DataParts(ITEM_TYPES_BY_TASK["tag"], *(list(part.items) for part in read))


class Tagging(Bench):
    """Taggers."""

    name = "tagging"
    paper = PAPER
    systems = (MEMORY, *SYSTEMS)
    large = ("conll2003-glove-all",)
    once = (MEMORY,)
    paired = True
    seeds = 1
    vectors = "vectors/minilm_static_200d.txt.gz"

    def __init__(self, results: Path | None = None):
        super().__init__(results)
        self.glove = cache(lambda: load_vectors(DATA / GLOVE_VECTORS))
        self.all_glove = cache(lambda: load_vectors(glove_file()))

    def load(self, task: str) -> Sentences:
        return read(task)

    def layers(self, task: str, system: str) -> Layers:
        if system == MEMORY:
            return []
        recipe, more = SYSTEMS[system]
        score = {"train": {"score": "f1" if bare(task) in NAMED else "accuracy"}}
        if task != bare(task):
            overrides: dict[str, Any] = {"vectors": {"file": GLOVE_VECTORS}, "words": {"vector_size": 100}}
            if task.endswith(ALL_WORDS):
                overrides["vectors"] = {"file": "glove.6B.100d.txt", "extra_words": ALL}
                overrides["words"]["max_words"] = ALL
            glove = {} if recipe.endswith(GLOVE) else GLOVE_RECIPE
            return [read_recipe(recipe), glove, more, overrides | score]
        overrides = {"vectors": {"file": self.vectors}, "words": {"vector_size": 200}}
        return [read_recipe(recipe), more, overrides | score]

    def vectors_of(self, task: str) -> WordVectors:
        """The word vectors of a data set."""
        if task.endswith(ALL_WORDS):
            return self.all_glove()
        return self.glove() if task.endswith(GLOVE) else self.word_vectors()

    def prints(self, data: Sentences, system: str) -> list[str]:
        return [data.item_type.fingerprint(getattr(data, part)).sha256 for part in PART_NAMES]

    def measure(self, data: Sentences, task: str, system: str, seed: int, folder: Path) -> Result:
        if system == MEMORY:
            return remembered(data)
        recipe = build_config(*self.layers(task, system))
        recipe = replace(recipe, train=replace(recipe.train, seed=seed))
        outcome = fit_evaluate_save(
            TrainingPlan(find_task("tag"), RunData(data), recipe, self.vectors_of(task)),
            folder,
            resume=(folder / "training" / "state.safetensors").exists(),
            baseline=False,
            reporter=listening(show_epochs("sentences", recipe.train.score)),
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
            COUNTS: packed(tag_counts(outcome.test.predicted, data.test, outcome.fitted.model.written)),
        }

    def show(self, by_task: RunsByTask) -> None:
        for name, by_system in by_task.items():
            if not any(by_system.values()):
                continue
            measured = "F1" if bare(name) in NAMED else "accuracy"
            print_header([f"{name}, test {measured}", "ours", "seeds", "paper", "train s", "parameters"])
            for system, runs in by_system.items():
                if runs:
                    print_row([system, *row_of(runs, PAPER[name].get(system))])
        print_differences(by_task)


def print_differences(by_task: RunsByTask) -> None:
    """What windows are ahead by on the same sentences, with each set of additions; nothing of runs without
    counts of single sentences."""
    rows = []
    for name, by_system in by_task.items():
        for first, runs in by_system.items():
            windows, _, additions = first.partition(" + ")
            if windows != "ms-transformer" or not runs:
                continue
            for rival in RIVALS:
                second = " + ".join([rival, additions]) if additions else rival
                if (
                    by_system.get(second)
                    and (gain := paired_taggers(by_task, [name], first, second)) is not None
                ):
                    rows.append([name, first, second, str(gain), str(gain.runs)])
    if rows:
        print_header(["on the same sentences", "system", "minus", "points (95 %)", "pairs of runs"])
        for row in rows:
            print_row(row)


def row_of(runs: list[Result], paper: float | None) -> list[str]:
    """The cells of a system's runs."""
    scores = [100 * run["test"] for run in runs]
    spread = f" ± {statistics.stdev(scores):.2f}" if len(scores) > 1 else ""
    return [
        f"{statistics.mean(scores):.2f}{spread}",
        str(len(scores)),
        "" if paper is None else f"{paper:.2f}",
        f"{statistics.median(run['seconds'] for run in runs):.0f}",
        f"{runs[0].get('encoder_parameters', 0):,}",
    ]


def remembered(data: Sentences) -> Result:
    """A memory of the training words: each word's most frequent tag."""
    began = time.monotonic()
    scheme = detect_scheme(sentence.tags for sentence in data.train).scheme
    memory = MemoryTagger(data.train, scheme).predict(data.test)
    tokens, entities = score_tagging(memory, data.test, scheme)
    score = tokens.accuracy if entities is None else entities.f1
    return {"test": score, "seconds": time.monotonic() - began}


def best_of(scores: dict[str, Any]) -> tuple[float, tuple[float, float]]:
    """The score that taggers of such data are compared by, and its interval."""
    if "entities" in scores:
        return scores["entities"]["f1"], scores["entities"]["f1_interval"]
    return scores["tokens"]["accuracy"], scores["tokens"]["accuracy_interval"]


if __name__ == "__main__":
    Tagging().command(__doc__ or "")
