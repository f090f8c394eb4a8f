"""Split one file into training, development and test parts without leakage.

The split is stratified by class, and items with the same key (near-duplicates) go to the same part. The
part of an item depends on the seed and its key, not on its position, and is the same on every machine.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.items.examples import TEXTS, DisplayNames, Example
from headwise.data.splits.duplicates import indices_by_text, near_duplicate_keys

_MAX_GROUP_FRACTION = 0.4
"""Largest fraction of a part that one group of near-duplicates should fill."""

Item = TypeVar("Item")
Part = TypeVar("Part")


@dataclass(frozen=True)
class Split(Generic[Part]):
    """The parts of a split, each in the original order, and notes for the user."""

    train: Part
    dev: Part
    test: Part
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Group:
    """The indices of the items with one key, which stay together, and their stratum."""

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
    nouns: DisplayNames = TEXTS,
) -> Split[list[Item]]:
    """A stratified random split; the items in neither `dev` nor `test` are for training.

    The first item of each stratum goes to the training part, so that every class occurs in it.

    Args:
        items: The items to split.
        keys: The group key of each item; items with equal keys (ignoring case and white space) stay
            together.
        strata: The stratum of each item, usually its label.
        dev: The size of the development part: a fraction below 1 or a number of items (an int).
        test: The size of the test part, as for `dev`.
        seed: The random seed of the split.
        path: The file's name, for messages.
        nouns: The display names of the items, for messages.

    Raises:
        ConfigError: A size is negative, or a fraction above 1.
        DataError: HW141, if there are too few distinct items for the sizes.
    """
    sizes = {"test": _size(test, len(items), "test"), "dev": _size(dev, len(items), "dev")}
    classes = _groups_by_stratum(keys, strata, seed)
    groups = [group for stratum_groups in classes.values() for group in stratum_groups]
    free = sum(len(group.indices) for stratum_groups in classes.values() for group in stratum_groups[1:])
    advice = f"add {nouns.many}, ask for smaller parts, or give the parts as files"
    if len(classes) > 1 and len(items) < 2 * len(classes):
        numbers = f"; for numbers there is {nouns.numbers}" if nouns.numbers else ""
        advice = (
            f"most labels occur once: add {nouns.many} of each{numbers}; if these are no labels, name the "
            "column that has them (--label-column of the command)"
        )
    rounded_to_none = any(a and not sizes[name] for name, a in (("dev", dev), ("test", test)))
    too_few = DataError(
        "HW141",
        f"{nouns.count(len(items))} ({len(groups)} distinct) are too few for dev={dev}, test={test}",
        expected=f"at least one {nouns.one} in each part, and one of each class for training",
        advice=advice,
        path=path,
    )
    if rounded_to_none or not groups or sum(sizes.values()) > free:
        raise too_few

    part = ["train"] * len(items)
    for name, size in sizes.items():
        _fill_part(name, size, classes, part)
    train, held, tested = (
        [item for item, assigned in zip(items, part, strict=True) if assigned == name]
        for name in ("train", "dev", "test")
    )
    parts = {"train": train, "dev": held, "test": tested}
    if any(size and not parts[name] for name, size in sizes.items()):
        raise too_few
    return Split(train, held, tested, _notes(parts, sizes, len(items) - len(groups), nouns))


def fold_items(keys: Sequence[str], strata: Sequence[str | None], count: int, seed: int = 0) -> list[int]:
    """The fold of each item of stratified random folds.

    The fold is -1 (always for training) if the item's group is the only one of its stratum, so that every
    class occurs in training whichever fold is held out.

    Args:
        keys: The group key of each item; items with equal keys (ignoring case and white space) stay
            together.
        strata: The stratum of each item, usually its label.
        count: The number of folds.
        seed: The random seed of the folds.
    """
    folds, place = [-1] * len(keys), 0
    for stratum_groups in _groups_by_stratum(keys, strata, seed).values():
        if len(stratum_groups) == 1:
            continue
        for group in stratum_groups:
            for index in group.indices:
                folds[index] = place % count
            place += 1
    return folds


def _groups_by_stratum(
    keys: Sequence[str], strata: Sequence[str | None], seed: int
) -> dict[str | None, list[_Group]]:
    """The groups of items that stay together, by stratum, in random order."""
    classes: dict[str | None, list[_Group]] = {}
    for _, indices in sorted(
        indices_by_text(keys).items(), key=lambda entry: _random_order_key(seed, entry[0])
    ):
        group = _Group(indices, _most_common_label([strata[i] for i in indices]))
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
    """Split texts, stratified by label, with near-duplicates in the same part; see `split_items` and
    `near_duplicate_keys`."""
    strata = [example.label for example in examples]
    keys = near_duplicate_keys([example.text for example in examples], strata)
    return split_items(examples, keys, strata, dev, test, seed, path=path)


def _size(size: float | int, total: int, name: str) -> int:
    """The number of items of a part, from a fraction or a number."""
    if size < 0 or (isinstance(size, float) and size >= 1 and size != int(size)):
        raise ConfigError(f"{name} size {size}; expected a share below 1 or a number")
    return round(size * total) if size < 1 else int(size)


def _random_order_key(seed: int, key: str) -> bytes:
    """The sort key that puts group keys in random order."""
    key = f"{seed}\n{key}"
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _most_common_label(labels: Sequence[str | None]) -> str | None:
    return Counter(labels).most_common(1)[0][0]


def _fill_part(name: str, size: int, classes: Mapping[str | None, list[_Group]], part: list[str]) -> None:
    """Move about `size` items from the training part to the part `name`, in proportion to the classes."""
    quotas = _quotas(size, {c: sum(len(g.indices) for g in groups) for c, groups in classes.items()})
    left = 0
    for label, groups in classes.items():
        left += _move_groups(groups[1:], quotas[label], name, part, size)
    rest = [group for groups in classes.values() for group in groups[1:]]
    _move_groups(rest, left, name, part, size)


def _move_groups(groups: Sequence[_Group], room: int, name: str, part: list[str], size: int) -> int:
    """Move groups of at most `room` items from the training part to the part `name` of `size` items, and
    return the room left.

    Groups that would fill more than 40 % of the part, such as a very common phrase, come last, since they
    would dominate its scores."""
    for group in sorted(
        groups, key=lambda group: len(group.indices) > _MAX_GROUP_FRACTION * size
    ):  # stable
        if part[group.indices[0]] == "train" and len(group.indices) <= room:
            room -= len(group.indices)
            for index in group.indices:
                part[index] = name
    return room


def _quotas(size: int, counts: Mapping[str | None, int]) -> dict[str | None, int]:
    """The quota of each label, in proportion to `counts`, by the largest-remainder method."""
    total = sum(counts.values())
    shares = {label: size * count // total for label, count in counts.items()}
    by_remainder = sorted(counts, key=lambda label: -(size * counts[label] % total))
    for label in by_remainder[: size - sum(shares.values())]:
        shares[label] += 1
    return shares


def _notes(
    parts: Mapping[str, Sequence[object]], sizes: Mapping[str, int], repeated: int, nouns: DisplayNames
) -> tuple[str, ...]:
    """Notes for the user on the sizes of the parts and on near-duplicates."""
    notes = ["split into " + ", ".join(f"{len(items):,} {n}" for n, items in parts.items() if items)]
    if repeated:
        notes.append(f"{repeated:,} {nouns.many} stay with others like them")
    off = [name for name, size in sizes.items() if len(parts[name]) != size]
    if off:
        notes.append(f"{nouns.many} alike made {' and '.join(off)} smaller than asked for")
    return tuple(notes)
