"""Split one file into training, development and test items that tell the truth.

Every class keeps its share in every part, and items with the same key (texts that are much alike) go to the
same part. Which part an item goes to depends on the seed and on the key, not on its
row, and is the same on every machine.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from headwise.config import check_range
from headwise.data.alike import alike_keys
from headwise.data.duplicates import same_items
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.data.nouns import TEXTS, Nouns
from headwise.errors import ConfigError

_MOST = 0.4
"""The share of a part that items alike make up at most, where others are left."""

Item = TypeVar("Item")
Part = TypeVar("Part")


@dataclass(frozen=True)
class SplitConfig:
    """How a file is split where no dev or test file is given."""

    dev: float = 0.15
    """Share of the training file for dev: it chooses the best epoch and sets the temperature."""
    test: float = 0.15
    """Share of the training file for the test; 0 for no test."""
    seed: int = 0
    """Another seed gives another split; the training seed does not change it."""

    def __post_init__(self) -> None:
        check_range(self, "dev", "test", low=0, high=1, open=True)
        if self.dev + self.test >= 1:
            raise ConfigError(f"dev {self.dev:g} and test {self.test:g} leave nothing to train on")


@dataclass(frozen=True)
class Split(Generic[Part]):
    """The parts, each in the order of the original, and what there is to say about them."""

    train: Part
    dev: Part
    test: Part
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Group:
    """Items of one key, that stay together."""

    indices: list[int]
    stratum: str | None


def split_items(
    items: Sequence[Item],
    keys: Sequence[str],
    strata: Sequence[str | None],
    dev: float | int = 0.1,
    test: float | int = 0.0,
    seed: int = 0,
    *,
    path: str = "",
    nouns: Nouns = TEXTS,
) -> Split[list[Item]]:
    """Split at random, stratified; what `dev` and `test` do not take is for training.

    The first item of a stratum is always for training, so that no class is unknown there.

    Args:
        items: The items to split.
        keys: What is the same for items that stay together, case and white space aside.
        strata: What each part has its share of.
        dev: The development part: a share below 1 or a number of items (an int).
        test: The test part, likewise.
        seed: Another seed gives another split.
        path: The file's name for messages.
        nouns: What the items are, likewise.

    Raises:
        ConfigError: A size is negative, or a fraction above 1.
        DataError: HW141, if there are too few distinct items for the sizes.
    """
    wanted = {"test": _size(test, len(items), "test"), "dev": _size(dev, len(items), "dev")}
    classes = _classes(keys, strata, seed)
    groups = [group for own in classes.values() for group in own]
    free = sum(len(group.indices) for own in classes.values() for group in own[1:])
    advice = f"add {nouns.many}, ask for smaller parts, or give the parts as files"
    if len(classes) > 1 and len(items) < 2 * len(classes):
        numbers = f"; for numbers there is {nouns.numbers}" if nouns.numbers else ""
        advice = (
            f"most labels occur once: add {nouns.many} of each{numbers}; if these are no labels, name the "
            "column that has them (--label-column of the command)"
        )
    rounded_to_none = any(a and not wanted[name] for name, a in (("dev", dev), ("test", test)))
    too_few = DataError(
        "HW141",
        f"{nouns.count(len(items))} ({len(groups)} distinct) are too few for dev={dev}, test={test}",
        expected=f"at least one {nouns.one} in each part, and one of each class for training",
        advice=advice,
        path=path,
    )
    if rounded_to_none or not groups or sum(wanted.values()) > free:
        raise too_few

    part = ["train"] * len(items)
    for name, size in wanted.items():
        _fill(name, size, classes, part)
    train, held, tested = (
        [item for item, own in zip(items, part, strict=True) if own == name]
        for name in ("train", "dev", "test")
    )
    parts = {"train": train, "dev": held, "test": tested}
    if any(size and not parts[name] for name, size in wanted.items()):
        raise too_few
    return Split(train, held, tested, _notes(parts, wanted, len(items) - len(groups), nouns))


def fold_items(keys: Sequence[str], strata: Sequence[str | None], count: int, seed: int = 0) -> list[int]:
    """The fold of each item, at random and stratified; -1 for an item of a stratum that is in no other
    group, so that no class is unknown where a fold is left out.

    Args:
        keys: What is the same for items that stay together, case and white space aside.
        strata: What each fold has its share of.
        count: Folds.
        seed: Another seed gives others.
    """
    folds, place = [-1] * len(keys), 0
    for own in _classes(keys, strata, seed).values():
        if len(own) == 1:
            continue
        for group in own:
            for index in group.indices:
                folds[index] = place % count
            place += 1
    return folds


def _classes(
    keys: Sequence[str], strata: Sequence[str | None], seed: int
) -> dict[str | None, list[_Group]]:
    """Items that stay together, in random order, by their strata."""
    classes: dict[str | None, list[_Group]] = {}
    for _, indices in sorted(same_items(keys).items(), key=lambda own: _draw(seed, own[0])):
        group = _Group(indices, _commonest([strata[i] for i in indices]))
        classes.setdefault(group.stratum, []).append(group)
    return classes


def split_examples(
    examples: Sequence[Example],
    dev: float | int = 0.1,
    test: float | int = 0.0,
    seed: int = 0,
    *,
    path: str = "",
) -> Split[list[Example]]:
    """Split texts, those of each label by their shares, and those alike on one side; see `split_items` and
    `alike_keys`."""
    strata = [example.label for example in examples]
    keys = alike_keys([example.text for example in examples], strata)
    return split_items(examples, keys, strata, dev, test, seed, path=path)


def _size(asked: float | int, total: int, name: str) -> int:
    if asked < 0 or (isinstance(asked, float) and asked >= 1 and asked != int(asked)):
        raise ConfigError(f"{name} size {asked}; expected a share below 1 or a number")
    return round(asked * total) if asked < 1 else int(asked)


def _draw(seed: int, key: str) -> bytes:
    """The place of a key in the random order."""
    key = f"{seed}\n{key}"
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _commonest(labels: Sequence[str | None]) -> str | None:
    return Counter(labels).most_common(1)[0][0]


def _fill(name: str, size: int, classes: Mapping[str | None, list[_Group]], part: list[str]) -> None:
    """Move about `size` texts of the training part to the part `name`, class by class."""
    quotas = _apportion(size, {c: sum(len(g.indices) for g in own) for c, own in classes.items()})
    left = 0
    for label, own in classes.items():
        left += _move(own[1:], quotas[label], name, part, size)
    rest = [group for own in classes.values() for group in own[1:]]
    _move(rest, left, name, part, size)


def _move(groups: Sequence[_Group], room: int, name: str, part: list[str], size: int) -> int:
    """Move groups that fit into `room` from the training part to `name`, which is to have `size` items;
    return the room left. A group that is much of the part, such as a phrase that everybody writes, would
    be most of what it judges by, so these come last."""
    for group in sorted(groups, key=lambda own: len(own.indices) > _MOST * size):  # else as they are
        if part[group.indices[0]] == "train" and len(group.indices) <= room:
            room -= len(group.indices)
            for index in group.indices:
                part[index] = name
    return room


def _apportion(size: int, counts: Mapping[str | None, int]) -> dict[str | None, int]:
    """Shares of `size` in proportion to `counts`, by the largest remainder."""
    total = sum(counts.values())
    shares = {label: size * count // total for label, count in counts.items()}
    by_remainder = sorted(counts, key=lambda label: -(size * counts[label] % total))
    for label in by_remainder[: size - sum(shares.values())]:
        shares[label] += 1
    return shares


def _notes(
    parts: Mapping[str, Sequence[object]], wanted: Mapping[str, int], repeated: int, nouns: Nouns
) -> tuple[str, ...]:
    notes = ["split into " + ", ".join(f"{len(own):,} {n}" for n, own in parts.items() if own)]
    if repeated:
        notes.append(f"{repeated:,} {nouns.many} stay with others like them")
    off = [name for name, size in wanted.items() if len(parts[name]) != size]
    if off:
        notes.append(f"{nouns.many} alike made {' and '.join(off)} smaller than asked for")
    return tuple(notes)
