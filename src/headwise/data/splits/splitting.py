"""Split one file into training, development and test parts without leakage.

The split is stratified by class, and items with the same key (near-duplicates) go to the same part. The
part of an item depends on the seed and its key, not on its position, and is the same on every machine.
Every label of the data occurs in training, whichever part or fold is held out: where it would not, the
first group of near-duplicates with the label is kept in training as a whole.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.items.examples import TEXTS, DisplayNames, Example
from headwise.data.splits.duplicates import GroupKeys, group_numbers, key_numbers, near_duplicate_groups
from headwise.data.splits.text_signatures import normal_text

_PARTS = "train", "dev", "test"
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
class _Groups:
    """Items with one key, which stay together, in random order.

    Attributes:
        members: The indices of the items, group after group, in their order, `[items]`.
        ends: Where each group begins in `members`, and the end, `[groups + 1]`.
        group_of: The group of each item, `[items]`.
        strata: The groups of each stratum, which is the most common one of its items.
    """

    members: NDArray[np.int64]
    ends: NDArray[np.int64]
    group_of: NDArray[np.int64]
    strata: dict[str | None, NDArray[np.int64]]

    @classmethod
    def of(cls, keys: Sequence[str], strata: Sequence[str | None], seed: int) -> "_Groups":
        """The groups of items with these keys and strata."""
        numbers = group_numbers(keys)
        firsts = np.flatnonzero(numbers == np.arange(len(numbers)))
        digests = bytearray()
        for first in firsts.tolist():
            key = f"{seed}\n{normal_text(keys[first])}".encode("utf-8", "surrogatepass")
            digests += hashlib.blake2b(key, digest_size=16).digest()
        halves = np.frombuffer(digests, dtype=">u8").reshape(-1, 2)
        order = np.lexsort((halves[:, 1], halves[:, 0]))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        group_of = ranks[np.searchsorted(firsts, numbers)]
        members = np.argsort(group_of, kind="stable")
        ends = np.append(0, np.bincount(group_of, minlength=len(firsts)).cumsum())
        stratum_of = [strata[first] for first in members[ends[:-1]].tolist()]
        for group in np.flatnonzero(np.diff(ends) > 1).tolist():
            listed = members[ends[group] : ends[group + 1]].tolist()
            stratum_of[group] = Counter(strata[item] for item in listed).most_common(1)[0][0]
        codes, names = key_numbers(stratum_of), [*dict.fromkeys(stratum_of)]
        strata_groups = {name: np.flatnonzero(codes == code) for code, name in enumerate(names)}
        return cls(members, ends, group_of, strata_groups)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def size(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """The number of items of these groups, `[groups]`."""
        return self.ends[groups + 1] - self.ends[groups]

    def items(self, group: int) -> NDArray[np.int64]:
        """The items of a group."""
        return self.members[self.ends[group] : self.ends[group + 1]]


@dataclass(frozen=True, eq=False)
class LabelOccurrences:
    """The labels of the items of a data set; an item may have several, or none.

    Attributes:
        items: The item of each occurrence of a label, `[occurrences]`.
        labels: The number of the label, from 0, `[occurrences]`.
        count: The number of different labels.
    """

    items: NDArray[np.int64]
    labels: NDArray[np.int64]
    count: int

    @classmethod
    def of(
        cls, strata: Sequence[str | None], label_sets: Sequence[Collection[str]] | None
    ) -> "LabelOccurrences":
        """The occurrences of the labels of each item; by default strata are labels."""
        if label_sets is None:
            label_sets = [() if stratum is None else (stratum,) for stratum in strata]
        labels = key_numbers([*chain.from_iterable(label_sets)])
        items = np.repeat(np.arange(len(label_sets)), [len(names) for names in label_sets])
        return cls(items, labels, int(labels.max(initial=-1)) + 1)

    def missing(self, training: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The labels that no training item has; `training` marks these items, `[items]`."""
        counts = np.bincount(self.labels[training[self.items]], minlength=self.count)
        return np.flatnonzero(counts == 0)

    def first_groups(self, group_of: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first group with each label, `[labels]`; `group_of` has the group of each item, `[items]`."""
        first = np.full(self.count, len(group_of))
        np.minimum.at(first, self.labels, group_of[self.items])
        return first

    def held_out_groups(
        self, folds: NDArray[np.int64], group_of: NDArray[np.int64]
    ) -> list[NDArray[np.int64]]:
        """The groups of each label that occurs in one fold only, labels of few groups first.

        Args:
            folds: The fold of each item, `[items]`; -1 is always for training.
            group_of: The group of each item, `[items]`.
        """
        least, most = np.full(self.count, len(folds)), np.full(self.count, -1)
        np.minimum.at(least, self.labels, folds[self.items])
        np.maximum.at(most, self.labels, folds[self.items])
        lost = np.flatnonzero((least == most) & (most >= 0))
        entries = np.flatnonzero(np.isin(self.labels, lost))
        entries = entries[np.argsort(self.labels[entries], kind="stable")]
        ends = np.searchsorted(self.labels[entries], lost, side="right")
        groups = np.split(group_of[self.items[entries]], ends[:-1]) if len(lost) else []
        return sorted(map(np.unique, groups), key=len)


def split_items(
    items: Sequence[Item],
    keys: Sequence[str],
    strata: Sequence[str | None],
    dev: float | int = 0.1,
    test: float | int = 0.0,
    seed: int = 0,
    *,
    labels: Sequence[Collection[str]] | None = None,
    path: str = "",
    nouns: DisplayNames = TEXTS,
) -> Split[list[Item]]:
    """A stratified random split; the items in neither `dev` nor `test` are for training.

    The first group of each stratum is for training. If a label still occurs in dev and test only, as its
    items are near-duplicates of items with other labels, the first group with the label is for training,
    too.

    Args:
        keys: The group key of each item; items with equal keys (ignoring case and white space) stay
            together.
        strata: The stratum of each item, usually its label.
        dev: The size of the development part: a fraction below 1 or a number of items (an int).
        test: The size of the test part, as for `dev`.
        labels: All labels of each item, which training is to have; by default its stratum.

    Raises:
        ConfigError: A size is negative, or a fraction above 1.
        DataError: HW141, if there are too few distinct items for the sizes.
    """
    sizes = {"test": _part_size(test, len(items), "test"), "dev": _part_size(dev, len(items), "dev")}
    groups = _Groups.of(keys, strata, seed)
    classes, occurrences = groups.strata, LabelOccurrences.of(strata, labels)
    parts_of_own = "give the parts as files" if path else "give dev=(X, y)"
    advice = f"add {nouns.many}, ask for smaller parts, or {parts_of_own}"
    if len(classes) > 1 and len(items) < 2 * len(classes):
        numbers = f"; for numbers there is {nouns.numbers}" if nouns.numbers else ""
        answers = "name the column that has them (--label-column)" if path else "give other ones as y"
        once = f"most labels occur once: add {nouns.many} of each{numbers}"
        advice = f"{once}; if these are not labels, {answers}"
    rounded_to_none = any(a and not sizes[name] for name, a in (("dev", dev), ("test", test)))
    too_few = DataError(
        "HW141",
        f"{nouns.count(len(items))} ({len(groups)} distinct) are too few for dev={dev}, test={test}",
        expected=f"at least one {nouns.one} in each part, and one of each class for training",
        advice=advice,
        path=path,
    )
    if rounded_to_none or not len(groups):
        raise too_few
    for_training = np.zeros(len(groups), dtype=np.bool_)
    for_training[[listed[0] for listed in classes.values()]] = True
    part = np.zeros(len(items), dtype=np.int8)
    while True:
        if sum(sizes.values()) > groups.size(np.flatnonzero(~for_training)).sum():
            raise too_few
        for name, size in sizes.items():
            _fill_part(_PARTS.index(name), size, groups, for_training, part)
        missing = occurrences.missing(part == 0)
        if not len(missing):
            break
        for_training[occurrences.first_groups(groups.group_of)[missing]] = True
        part[:] = 0
    train, held, tested = (
        [items[place] for place in np.flatnonzero(part == number).tolist()] for number in range(len(_PARTS))
    )
    parts = {"train": train, "dev": held, "test": tested}
    if any(size and not parts[name] for name, size in sizes.items()):
        raise too_few
    return Split(train, held, tested, _notes(parts, sizes, len(items) - len(groups), nouns))


def fold_items(
    keys: Sequence[str],
    strata: Sequence[str | None],
    count: int,
    seed: int = 0,
    labels: Sequence[Collection[str]] | None = None,
) -> list[int]:
    """The fold of each item of stratified random folds.

    The fold is -1 (always for training) if the item's group is the only one of its stratum. If a label
    still occurs in one fold only, the first group with the label has -1, too. So every label occurs in
    training whichever fold is held out.

    Args:
        keys: The group key of each item; items with equal keys (ignoring case and white space) stay
            together.
        strata: The stratum of each item, usually its label.
        count: The number of folds, 2 or more.
        labels: All labels of each item, which training is to have; by default its stratum.
    """
    folds, place = np.full(len(keys), -1), 0
    groups = _Groups.of(keys, strata, seed)
    for stratum_groups in groups.strata.values():
        if len(stratum_groups) == 1:
            continue
        for group in stratum_groups.tolist():
            folds[groups.items(group)] = place % count
            place += 1
    for with_label in LabelOccurrences.of(strata, labels).held_out_groups(folds, groups.group_of):
        first_items = groups.members[groups.ends[with_label]]
        if (folds[first_items] >= 0).all():  # else a group was kept for another label that it has
            folds[groups.items(int(with_label[0]))] = -1
    return folds.tolist()


def split_examples(
    examples: Sequence[Example],
    dev: float | int = 0.1,
    test: float | int = 0.0,
    seed: int = 0,
    *,
    path: str = "",
) -> Split[list[Example]]:
    """Split texts, stratified by label, with near-duplicates in the same part; see `split_items` and
    `near_duplicate_groups`."""
    strata, texts = [example.label for example in examples], [example.text for example in examples]
    keys = GroupKeys(texts, near_duplicate_groups(texts, strata))
    return split_items(examples, keys, strata, dev, test, seed, path=path)


def _part_size(size: float | int, total: int, name: str) -> int:
    """The number of items of a part, from a fraction or a number."""
    if size < 0 or (isinstance(size, float) and size >= 1 and size != int(size)):
        raise ConfigError(f"{name} size {size}; expected a share below 1 or a number")
    return round(size * total) if size < 1 else int(size)


def _fill_part(
    number: int, size: int, groups: _Groups, for_training: NDArray[np.bool_], part: NDArray[np.int8]
) -> None:
    """Move about `size` items from the training part to another part, in proportion to the classes; no
    group that is `for_training`, `[groups]`."""
    classes = groups.strata
    quotas = _quotas(size, {label: int(groups.size(listed).sum()) for label, listed in classes.items()})
    movable = {label: listed[~for_training[listed]] for label, listed in classes.items()}
    left = 0
    for label, listed in movable.items():
        left += _move_groups(listed, quotas[label], number, groups, part, size)
    if left:
        _move_groups(np.concatenate([*movable.values()]), left, number, groups, part, size)


def _move_groups(
    listed: NDArray[np.int64], room: int, number: int, groups: _Groups, part: NDArray[np.int8], size: int
) -> int:
    """Move groups of at most `room` items from the training part to the part `number` of `size` items, and
    return the room left.

    Groups that would fill more than 40 % of the part, such as a very common phrase, come last, since they
    would dominate its scores."""
    sizes = groups.size(listed)
    large = sizes > _MAX_GROUP_FRACTION * size
    order = np.concatenate([np.flatnonzero(~large), np.flatnonzero(large)])
    for group, count in zip(listed[order].tolist(), sizes[order].tolist(), strict=True):
        if not room:
            break
        items = groups.items(group)
        if count <= room and not part[items[0]]:
            room -= count
            part[items] = number
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
    notes = ["split into " + ", ".join(f"{len(items):,} {n}" for n, items in parts.items() if items)]
    if repeated:
        notes.append(f"{repeated:,} {nouns.many} stay in the same part as their near-duplicates")
    off = [name for name, size in sizes.items() if len(parts[name]) != size]
    if off:
        notes.append(f"near-duplicates made {' and '.join(off)} smaller than asked for")
    return tuple(notes)
