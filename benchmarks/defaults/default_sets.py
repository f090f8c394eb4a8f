"""The data sets of default.py, and nested subsets of their training texts.

What is trained on is the training part alone; a dev part that a set has is left out, as every system takes
its own from the texts that it is given. Nothing is cleaned: `mtl16` and `sst` come tokenised.
"""

import random
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from benchmarks import DATA
from benchmarks.common.aligned_pairs import read_aligned_pairs
from benchmarks.common.runs import REVIEWS
from benchmarks.defaults import made_sets, unseen_sets
from headwise.data.columns.item_options import PairOptions, TagOptions
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.readers.labelled_files import read_examples
from headwise.data.readers.pair_files import read_pairs
from headwise.data.readers.tagged_files import read_tagged
from headwise.data.splits.splitting import split_examples
from headwise.metrics.tag_schemes import Scheme

MOST_TEST = 5_000
"""Test texts that are read of a set; of more, a fixed sample of this size."""

Kind = Literal["classify", "pair", "tag"]


@dataclass(frozen=True)
class Part:
    """Texts of a set: strings, pairs of strings, or lists of words; and their labels (of words: lists)."""

    items: Sequence[Any]
    labels: Sequence[Any]

    def __len__(self) -> int:
        return len(self.items)

    def take(self, rows: Sequence[int]) -> "Part":
        """Some of them."""
        return Part([self.items[row] for row in rows], [self.labels[row] for row in rows])


@dataclass(frozen=True)
class DataSet:
    """A set.

    Attributes:
        scheme: Of the tags: how names are written into them ("plain" where they are none).
    """

    name: str
    kind: Kind
    train: Part
    test: Part
    scheme: Scheme = "plain"


MTL = (
    *("MR", "apparel", "baby", "books", "camera_photo", "dvd", "electronics", "health_personal_care"),
    *("imdb", "kitchen_housewares", "magazines", "music", "software", "sports_outdoors", "toys_games"),
    "video",
)
HELPDESK_SPLITS = 5
SST = ReadOptions(format="sst")
LABEL_TEXT = ReadOptions(format="label-text", encoding_errors="replace")
HELPDESK = ReadOptions(text_column="text", label_column="intent")


def _texts(path: str | Path, options: ReadOptions) -> Part:
    examples = read_examples(DATA / path, options).items
    return Part([example.text for example in examples], [example.label for example in examples])


def _two(train: str, test: str, options: ReadOptions) -> tuple[Part, Part]:
    return _texts(train, options), _texts(test, options)


def _imdb() -> tuple[Part, Part]:
    return _reviews("train"), _reviews("test")


def _reviews(part: str) -> Part:
    by_label = {label: _texts(f"imdb/{part}_{label}.tsv.xz", REVIEWS).items for label in ("neg", "pos")}
    return Part(
        [t for texts in by_label.values() for t in texts],
        [label for label in by_label for _ in by_label[label]],
    )


def _helpdesk(split: int) -> tuple[Part, Part]:
    """The split that `headwise train --split.seed` makes; its dev texts are for training here."""
    path = str(files("headwise") / "data" / "samples" / "helpdesk.tsv")
    parts = split_examples(read_examples(path, HELPDESK).items, 0, 0.15, split)
    train, test = ([(e.text, e.label) for e in examples] for examples in (parts.train, parts.test))
    return Part(*zip(*train, strict=True)), Part(*zip(*test, strict=True))


def _sick() -> tuple[Part, Part]:
    options = PairOptions(label_column="entailment_judgment")
    parts = (
        read_pairs(DATA / f"sick/SICK_{part}.txt.gz", options).items for part in ("train", "test_annotated")
    )
    train, test = (_pairs(part) for part in parts)
    return train, test


def _snli() -> tuple[Part, Part]:
    """Trained on the dev pairs and the counterfactual ones: there are no others."""
    kinds = ("original", "revised_premise", "revised_hypothesis")
    more = [read_pairs(DATA / f"snli/counterfactual/{kind}/train.tsv.gz").items for kind in kinds]
    train, test = (
        read_aligned_pairs(*(DATA / f"snli/esnli/{file}.{part}.gz" for file in ("s1", "s2", "labels")))
        for part in ("dev", "test")
    )
    return _pairs([*train, *(pair for pairs in more for pair in pairs)]), _pairs(test)


def _pairs(pairs: Sequence[Any]) -> Part:
    return Part([(pair.first, pair.second) for pair in pairs], [pair.label for pair in pairs])


def _tagged(train: str, test: str, options: TagOptions = TagOptions()) -> tuple[Part, Part]:  # noqa: B008
    read = [read_tagged(DATA / path, options).items for path in (train, test)]
    first, second = (
        Part([list(s.tokens) for s in part], [list(s.tags or ()) for s in part]) for part in read
    )
    return first, second


Loader = Callable[[], tuple[Part, Part]]
AnyLoader = TypeVar("AnyLoader")
_CLASSIFY: dict[str, Loader] = {
    **{
        f"mtl16/{domain}": lambda domain=domain: _two(
            f"mtl16/{domain}.task.train.gz", f"mtl16/{domain}.task.test.gz", LABEL_TEXT
        )
        for domain in MTL
    },
    "sst2": lambda: _two(
        "sst/trees/train.txt.gz", "sst/trees/test.txt.gz", ReadOptions(format="sst", sst_labels="binary")
    ),
    "sst5": lambda: _two("sst/trees/train.txt.gz", "sst/trees/test.txt.gz", SST),
    "imdb": _imdb,
    "banking77": lambda: _two(
        "intents/banking77.train.csv.gz",
        "intents/banking77.test.csv.gz",
        ReadOptions(text_column="text", label_column="category"),
    ),
    "clinc150": lambda: _two(
        "intents/clinc150.train.csv.gz",
        "intents/clinc150.test.csv.gz",
        ReadOptions(text_column="text", label_column="label"),
    ),
    **{
        name: lambda name=name: _two(
            f"tweets/{name}.train.tsv.gz", f"tweets/{name}.test.tsv.gz", LABEL_TEXT
        )
        for name in ("emotion", "irony", "offensive")
    },
    **{f"helpdesk/{split}": lambda split=split: _helpdesk(split) for split in range(HELPDESK_SPLITS)},
}
_PAIRS: dict[str, Loader] = {"sick": _sick, "snli": _snli}
_TAGS: dict[str, tuple[Loader, Scheme]] = {
    "ewt-xpos": (
        lambda: _tagged(
            *(f"ud_english_ewt/en_ewt-ud-{part}.conllu.gz" for part in ("train", "test")),
            TagOptions(tag_column="xpos"),
        ),
        "plain",
    ),
    "conll2003": (lambda: _tagged("conll2003/eng.train.gz", "conll2003/eng.testb.gz"), "iob1"),
    "wnut17": (
        lambda: _tagged("wnut17/wnut17train.conll.gz", "wnut17/emerging.test.annotated.gz"),
        "iob2",
    ),
}
GROUPS: dict[str, list[str]] = {
    "texts": list(_CLASSIFY),
    "pairs": list(_PAIRS),
    "tags": list(_TAGS),
    "all": [*_CLASSIFY, *_PAIRS, *_TAGS],
    "made": [*made_sets.CLASSIFY, *made_sets.PAIRS, *made_sets.TAGS],
    "unseen": list(unseen_sets.CLASSIFY),
    "mtl16": [f"mtl16/{domain}" for domain in MTL],
    "helpdesk": [f"helpdesk/{split}" for split in range(HELPDESK_SPLITS)],
    "quick": [
        *(f"mtl16/{domain}" for domain in ("MR", "apparel", "books", "music")),
        *("sst2", "imdb", "banking77", "clinc150", "emotion", "irony", "offensive", "helpdesk/0"),
    ],
}
"""What `--sets` takes besides the names of sets. All are the real ones; what is made of them is not among
them."""


def load(name: str) -> DataSet:
    """A set by its name."""
    if name in [*GROUPS["made"], *GROUPS["unseen"]]:
        return _of_rows(name)
    if name in _TAGS:
        loader, scheme = _TAGS[name]
        return DataSet(name, "tag", *_cut(loader()), scheme=scheme)
    kind: Kind = "pair" if name in _PAIRS else "classify"
    return DataSet(name, kind, *_cut(named({**_CLASSIFY, **_PAIRS}, name)()))


def named(loaders: Mapping[str, AnyLoader], name: str) -> AnyLoader:
    """The loader of a set that the command line names."""
    if name not in loaders:
        sys.exit(f"usage: name one or more of these sets: {', '.join(loaders)}; got {name}")
    return loaders[name]


def _of_rows(name: str) -> DataSet:
    """A set that comes as rows, each an item and its label."""
    tags = made_sets.TAGS.get(name)
    kind: Kind = "tag" if tags else "pair" if name in made_sets.PAIRS else "classify"
    loaders: dict[str, Any] = made_sets.CLASSIFY | made_sets.PAIRS | unseen_sets.CLASSIFY
    loader, scheme = tags or (loaders[name], "plain")
    train, test = (Part(*zip(*rows, strict=True)) for rows in loader())
    return DataSet(name, kind, *_cut((train, test)), scheme=scheme)


def _cut(parts: tuple[Part, Part]) -> tuple[Part, Part]:
    train, test = parts
    if len(test) > MOST_TEST:
        test = test.take(sorted(random.Random(0).sample(range(len(test)), MOST_TEST)))
    return train, test


def subset(labels: Sequence[Any], texts: int | None, seed: int) -> list[int]:
    """The first `texts` rows of a random order in which every beginning has the labels' shares.

    One text of each label comes first; smaller subsets are the beginnings of larger ones. Lists of tags are
    not balanced.

    Args:
        texts: None for all rows.
    """
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(labels))
    if labels and isinstance(labels[0], Hashable):
        within: dict[Any, list[int]] = {}
        for row in order:
            within.setdefault(labels[row], []).append(int(row))
        place = np.empty(len(labels))
        for rows in within.values():
            # The k-th of n texts of a label lies at random in the k-th of n equal stretches of the order.
            place[rows] = (np.arange(len(rows)) + draw.random(len(rows))) / len(rows)
            place[rows[0]] -= 1
        order = np.argsort(place)
    return [int(row) for row in order[:texts]]
