"""Files of text pairs as training, dev and test pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headwise.data.numbers import numbers_of
from headwise.data.pair import Pair
from headwise.data.pair_parses import labels_of, sides, with_heads
from headwise.data.pair_split import split_pairs
from headwise.data.pairs import PairData, read_pairs
from headwise.data.read import check_labels
from headwise.errors import ConfigError, HeadwiseError
from headwise.recipe import Recipe
from headwise.train.run import Parses, parsed

PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class PairParts:
    """The three parts of the data, and what there is to tell about how they came to be."""

    train: list[Pair]
    dev: list[Pair]
    test: list[Pair]
    notes: tuple[str, ...] = ()


def read_pair_parts(
    train: str, dev: str | None, test: str | None, recipe: Recipe, parses: Parses
) -> PairParts:
    """Read the files; split off dev, and test where there is none.

    Raises:
        DataError: A file cannot be read, a label of dev or test does not occur in training, or a score is
            not a number.
        HeadwiseError: The training file has one label only, or there are to be no dev pairs.
    """
    scored = recipe.model.task == "pair-score"
    tokenizer = recipe.model.words.tokenizer
    data = parsed_pairs(read_pairs(train, recipe.data), parses.train, tokenizer)
    if len(data.labels) < 2:
        found = f"only the label {next(iter(data.labels))!r}" if data.labels else "no labels"
        raise HeadwiseError(
            f"{train}: {found} in {len(data.pairs):,} pairs (read as {data.format}); two or more are "
            "needed. If another column holds them, name it with --label-column",
            code="HW406",
        )
    notes = [f"{train}: {note}" for note in data.notes]
    others: dict[str, PairData] = {}
    for name, path, heads in (("dev", dev, parses.dev), ("test", test, parses.test)):
        if path is None and heads is not None:
            raise ConfigError(f"{heads}: parses of {name} pairs, but there is no file of {name} pairs")
        if path is not None:
            others[name] = parsed_pairs(read_pairs(path, recipe.data), heads, tokenizer)
            notes += [f"{path}: {note}" for note in others[name].notes]
            if not scored:
                check_labels(labels_of(data), labels_of(others[name]))
    if scored:
        for own in (data, *others.values()):
            scores_of(own.pairs, own.path)
    if "dev" not in others and not recipe.split.dev:
        raise HeadwiseError(
            "there are no dev pairs: give some with --dev, or a --split.dev above 0", code="HW405"
        )
    cut_dev = 0.0 if "dev" in others else recipe.split.dev
    cut_test = 0.0 if "test" in others else recipe.split.test
    parts = {name: other.pairs for name, other in others.items()}
    train_part = data.pairs
    if cut_dev or cut_test:
        seed = recipe.split.seed
        split = split_pairs(data.pairs, cut_dev, cut_test, seed, path=train, stratify=not scored)
        notes += [f"{train}: {note}" for note in split.notes]
        train_part = split.train
        parts = {"dev": split.dev, "test": split.test} | parts
    return PairParts(train_part, parts.get("dev", []), parts.get("test", []), tuple(notes))


def parsed_pairs(data: PairData, paths: str | None, tokenizer: str) -> PairData:
    """Pairs with the parses of two files, `FIRST,SECOND`, if they are given.

    Raises:
        ConfigError: One file only.
        DataError, HeadsError: As `headwise.train.run.parsed`.
    """
    if paths is None:
        return data
    files = two_files(paths)
    first, second = (parsed(side, file, tokenizer) for side, file in zip(sides(data), files, strict=True))
    return with_heads(data, first, second)


def two_files(paths: str) -> tuple[str, str]:
    """The files with the parses of the first and of the second texts.

    Raises:
        ConfigError: There are not two.
    """
    files = tuple(path.strip() for path in paths.split(","))
    if len(files) != 2 or not all(files):
        raise ConfigError(
            f"{paths}: a pair has two texts; give two files of parses with a comma between, FIRST,SECOND"
        )
    return files


def scores_of(pairs: Sequence[Pair], path: str = "") -> np.ndarray:
    """The scores of pairs, `[pairs]`.

    Raises:
        DataError: HW287, one is not a number.
    """
    return numbers_of([pair.label for pair in pairs], [pair.line for pair in pairs], path)


def label_numbers(pairs: Sequence[Pair], labels: Sequence[str]) -> np.ndarray:
    """Label numbers of pairs, `[pairs]`."""
    number = {label: n for n, label in enumerate(labels)}
    return np.array([number[pair.label or ""] for pair in pairs], dtype=np.int64)
