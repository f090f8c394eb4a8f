"""Natural language inference on small data: SICK, and SNLI without its training pairs.

    python -m benchmarks.papers.pairs                             # both data sets, all systems, 3 seeds
    python -m benchmarks.papers.pairs --only sick --systems ms-transformer --seeds 1
    python -m benchmarks.papers.pairs --table                     # only print stored results

`sick` has 4,500 training pairs; `snli` trains on the 9,842 dev pairs of SNLI (1,500 of which, with premises
of their own, are dev here) and on 8,330 counterfactual pairs, and tests on the SNLI test pairs: the papers
had 550,000. Needs the data folder (HEADWISE_DATA, default ../shared/data). Every run is stored with its
complete configuration, and an interrupted run is resumed. Models are chosen on dev only; the test pairs are
read once for each run.
"""

import gzip
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks import DATA
from benchmarks.common.accuracy_tables import print_tables
from benchmarks.common.aligned_pairs import read_aligned_pairs
from benchmarks.common.runs import Layers, RunsByTask, read_recipe
from benchmarks.papers.classifying import LINEAR, Classifying, Task, named
from headwise.data.columns.item_options import PairOptions
from headwise.data.items.examples import Pair
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.readers.pair_files import read_pairs
from headwise.data.splits.data_parts import DataParts
from headwise.data.splits.duplicates import normal_text
from headwise.linear.baselines import fit_pair_baseline
from headwise.text.parse_files import read_parses

# How names of systems end whose words look at those like them in the other text, or that learn three times
# as long: of SNLI most were best at the end of 8 epochs.
MATCH, LONGER, ATTENDED = " + match", ", 24 epochs", " + self-att"
BEYOND: dict[str, dict[str, Any]] = {
    MATCH: {"pair": {"interaction": "match", "cross_dropout": 0.2}},
    LONGER: {"train": {"epochs": 24}},
    ATTENDED: {"model": {"readout": "attentive"}},
}
# With the readout and the features of the pair of its paper, not those that SICK's dev pairs chose.
PUBLISHED = ", as published"
AS_PUBLISHED: dict[str, dict[str, Any]] = {
    "ms-transformer": {"model": {"readout": "node+max"}, "pair": {"features": "concat-absolute"}},
    "ms-san": {"model": {"readout": "attentive,max"}},
    "star-transformer": {"model": {"readout": "node+max"}},
}
OWN_RECIPES = ("sick-ms-transformer", "sick-ms-san")  # the others are nli-SYSTEM
DEV_PAIRS, DEV_SEED = 1_500, 0  # of SNLI dev


def _scales(*scales: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """A row of MS-Trans Table 6: 5 heads in each of 3 layers."""
    return "ms-transformer", {"heads": 5, "head_size": 40, "scales": list(scales), **more}


def _masks(direction: bool, *distances: str) -> tuple[str, dict[str, Any]]:
    """A row of MS-SAN Tables 2 and 4: the masks in turn, of each half of the heads."""
    return "ms-san", {"direction": direction, "distances": list(distances)}


_ALL = ("1", "3", "n/16", "n/8", "n/4")
# Ablations: the system whose recipe it is, and the encoder's settings beyond it.
ABLATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    **{f"alpha {alpha}": _scales(*_ALL, alpha=alpha) for alpha in (1.0, 0.5, 0.0, -0.5, -1.0)},
    **{f"scale {scale}": _scales(scale) for scale in ("3", "n/16", "n/8", "n/4")},
    "san": _masks(False, "none"),
    "san + direction": _masks(True, "none"),
    "san + word": _masks(False, "word", "none", "none"),
    "san + dp": _masks(False, "tree", "none", "none"),
    "san + word & dp": _masks(False, "word", "tree", "none"),
    "san + direction & word": _masks(True, "word", "none", "none"),
    "san + direction & dp": _masks(True, "tree", "none", "none"),
    "san + rel pos": _masks(False, "shaw"),
    "san + xl pos": _masks(False, "xl"),
    "san + direction & rel pos": _masks(True, "shaw"),
    "san + direction & xl pos": _masks(True, "xl"),
    "ms-san, separate": ("ms-san", {"separate": True}),
}

# MS-Trans Table 6 with two layers in place of three, which the paper has not.
TWO_LAYERS = ", two layers"
SHALLOW = {
    f"{name}{TWO_LAYERS}": (like, encoder | {"layers": 2})
    for name, (like, encoder) in ABLATIONS.items()
    if name.startswith(("alpha ", "scale "))
}
# These have no paper's figure either.
OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "ms-transformer, one layer": ("ms-transformer", {"layers": 1}),
    "bilstm, twice as wide": ("bilstm", {"hidden": 200}),
}

# Test accuracy with 550,000 training pairs: MS-Trans Tables 5 and 6 (Guo et al. 2020), MS-SAN Tables 1 to 4
# (Qi et al. 2020), Star-Transformer (Guo et al. 2019), BP-Transformer (Ye et al. 2019; words of a text see
# the other one).
_ALPHAS, _SCALES = (85.5, 85.9, 84.9, 84.7, 84.3), (84.3, 83.9, 81.7, 80.7)
_MASKS = (85.6, 86.3, 86.3, 86.3, 86.6, 86.6, 86.7, 86.0, 86.3, 86.2, 86.6, 86.6)
PAPER: dict[str, dict[str, float]] = {
    "sick": {},
    "snli": {
        "ms-transformer": 85.9,
        "ms-san": 87.0,
        "star-transformer": 86.0,
        "bp-transformer": 88.25,
        "transformer": 82.2,
        "bilstm": 83.3,
        f"bilstm{ATTENDED}": 84.2,
        f"ms-transformer{PUBLISHED}": 85.9,
        f"ms-san{PUBLISHED}": 87.0,
        f"star-transformer{PUBLISHED}": 86.0,
        **dict(zip(ABLATIONS, _ALPHAS + _SCALES + _MASKS, strict=True)),
    },
}


class Pairs(Classifying):
    """Pairs of texts, each with one label; words are separated by spaces."""

    name, kind, unit = "pairs", "pair", "pairs"
    paper = PAPER
    systems = (
        "ms-transformer",
        "ms-san",
        "star-transformer",
        "transformer",
        "bilstm",
        "ms-transformer-cross",
        "bp-transformer",
        LINEAR,
    )
    more = (
        *ABLATIONS,
        *SHALLOW,
        *OURS,
        *(f"{name}{LONGER}" for name in ("ms-san", "ms-transformer", "bilstm", "transformer")),
        *(f"{name}{MATCH}" for name in ("ms-san", "san", "ms-transformer", *OURS, "bilstm", "transformer")),
        f"bilstm{ATTENDED}",
        *(f"{name}{PUBLISHED}" for name in AS_PUBLISHED),
    )
    vectors = "vectors/minilm_static_200d.txt.gz"

    def load(self, task: str) -> Task:
        if task == "sick":
            files = {"train": "train", "trial": "trial", "test": "test_annotated"}
            three = [sick(file, part) for part, file in files.items()]
        else:
            split = ITEM_TYPES_BY_TASK["pair"].split(esnli("dev"), DEV_PAIRS, 0, DEV_SEED)
            kinds = ("original", "revised_premise", "revised_hypothesis")
            more = [pair for kind in kinds for pair in counterfactual(kind)]
            three = [[*split.train, *more], split.dev, esnli("test")]
        train, dev, test = three
        seen = {_key(pair) for pair in (*train, *dev)}  # in either order
        return Task(
            DataParts(ITEM_TYPES_BY_TASK["pair"], *three), np.array([_key(pair) in seen for pair in test])
        )

    def layers(self, task: str, system: str) -> Layers:
        if system == LINEAR:
            return []
        (like, encoder), (_, endings) = system_of(system), named(system, (*BEYOND, PUBLISHED))
        vectors = {"vectors": {"file": self.vectors}, "words": {"vector_size": 200}}
        tuned = f"{task}-{like}"
        recipe = read_recipe(tuned if tuned in OWN_RECIPES else f"nli-{like}")
        overrides = [vectors, *([{"encoder": encoder}] if encoder else [])]
        beyond = BEYOND | {PUBLISHED: AS_PUBLISHED.get(like, {})}
        return [recipe, *overrides, *(more for ending, more in beyond.items() if ending in endings)]

    def baseline(
        self, *parts: tuple[list[Any], np.ndarray], refit: bool = False
    ) -> Callable[[list[Any]], np.ndarray]:
        model = fit_pair_baseline(*parts, tokenizer="whitespace", refit=refit)
        assert model is not None
        return model.predict

    def reads_trees(self, system: str) -> bool:
        return system_of(system)[0] == "ms-san"

    def bare(self, item: Pair) -> Pair:
        return replace(item, first_parse=None, second_parse=None)

    def show(self, by_task: RunsByTask) -> None:
        print_tables(by_task, PAPER)


def system_of(name: str) -> tuple[str, dict[str, Any]]:
    """The system whose recipe it is, and the encoder's settings beyond it."""
    name, _ = named(name, (*BEYOND, PUBLISHED))
    return (ABLATIONS | SHALLOW | OURS).get(name, (name, {}))


def _key(pair: Pair) -> frozenset[str]:
    return frozenset((normal_text(pair.first), normal_text(pair.second)))


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
    parsed_pairs = list(pairs)
    for side, file in zip(("first", "second"), files, strict=True):
        path = DATA / "syntax" / f"{file}.parsed.gz"
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts = [line.rstrip("\n").split("\t") for line in lines]
        for place, (text, numbers) in enumerate(texts):
            words, heads = text.split(), tuple(map(int, numbers.split()))
            chain = tuple(range(len(words)))
            fields = {side: " ".join(words), f"{side}_parse": heads if len(heads) == len(words) else chain}
            parsed_pairs[place] = replace(parsed_pairs[place], **fields)
        if len(texts) != len(parsed_pairs):
            raise SystemExit(f"{path}: {len(texts)} parses for {len(parsed_pairs)} pairs")
    return parsed_pairs


def esnli(part: str) -> list[Pair]:
    folder = DATA / "snli" / "esnli"
    files = [folder / f"{name}.{part}.gz" for name in ("s1", "s2", "labels")]
    pairs = read_aligned_pairs(*files)
    for side, file in (("first", "s1"), ("second", "s2")):
        heads = read_parses(str(DATA / "syntax" / "snli" / f"{file}.{part}.heads.gz"))
        pairs = [replace(pair, **{f"{side}_parse": tree}) for pair, tree in zip(pairs, heads, strict=True)]
    return pairs


if __name__ == "__main__":
    Pairs().command(__doc__ or "")
