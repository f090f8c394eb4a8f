"""Split one file into training, development and test texts that tell the truth.

Every class keeps its share in every part, and texts that differ in case or white space only go to
the same part. Which part a text goes to depends on the seed and on the text, not on its row, and
is the same on every machine.
"""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headwise.data.duplicates import normal_text, same_texts
from headwise.data.errors import DataError
from headwise.data.example import Example
from headwise.errors import ConfigError


@dataclass(frozen=True)
class Split:
    """The parts, each in the order of the original, and what there is to say about them."""

    train: list[Example]
    dev: list[Example]
    test: list[Example]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Group:
    """Examples of one text, that stay together."""

    indices: list[int]
    label: str | None


def split_examples(
    examples: Sequence[Example],
    dev: float | int = 0.1,
    test: float | int = 0.0,
    seed: int = 0,
    *,
    path: str = "",
) -> Split:
    """Split at random, stratified by label; what `dev` and `test` do not take is for training.

    A class's first text is always for training, so that no class is unknown there.

    Args:
        examples: The texts to split.
        dev: The development part: a share below 1 or a number of texts (an int).
        test: The test part, likewise.
        seed: Another seed gives another split.
        path: The file's name for messages.

    Raises:
        ConfigError: A size is negative, or a fraction above 1.
        DataError: HW141, if there are too few distinct texts for the sizes.
    """
    wanted = {"test": _size(test, len(examples), "test"), "dev": _size(dev, len(examples), "dev")}
    groups = [
        _Group(indices, _commonest([examples[i].label for i in indices]))
        for indices in same_texts(examples).values()
    ]
    groups.sort(key=lambda group: _draw(seed, examples[group.indices[0]].text))
    classes: dict[str | None, list[_Group]] = {}
    for group in groups:
        classes.setdefault(group.label, []).append(group)
    free = sum(len(group.indices) for own in classes.values() for group in own[1:])
    rounded_to_none = any(a and not wanted[name] for name, a in (("dev", dev), ("test", test)))
    if rounded_to_none or not groups or sum(wanted.values()) > free:
        raise _too_few(len(examples), len(groups), dev, test, path)

    part = ["train"] * len(examples)
    for name, size in wanted.items():
        _fill(name, size, classes, part)
    parts = {
        name: [example for example, own in zip(examples, part, strict=True) if own == name]
        for name in ("train", "dev", "test")
    }
    if any(size and not parts[name] for name, size in wanted.items()):
        raise _too_few(len(examples), len(groups), dev, test, path)
    return Split(**parts, notes=_notes(parts, wanted, len(examples) - len(groups)))


def _size(asked: float | int, total: int, name: str) -> int:
    if asked < 0 or (isinstance(asked, float) and asked >= 1 and asked != int(asked)):
        raise ConfigError(f"{name} size {asked}; expected a share below 1 or a number of texts")
    return round(asked * total) if asked < 1 else int(asked)


def _draw(seed: int, text: str) -> bytes:
    """A text's place in the random order."""
    key = f"{seed}\n{normal_text(text)}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(key, digest_size=16).digest()


def _commonest(labels: Sequence[str | None]) -> str | None:
    return Counter(labels).most_common(1)[0][0]


def _fill(name: str, size: int, classes: Mapping[str | None, list[_Group]], part: list[str]) -> None:
    """Move about `size` texts of the training part to the part `name`, class by class."""
    quotas = _apportion(size, {c: sum(len(g.indices) for g in own) for c, own in classes.items()})
    left = 0
    for label, own in classes.items():
        left += _move(own[1:], quotas[label], name, part)
    rest = [group for own in classes.values() for group in own[1:]]
    _move(rest, left, name, part)


def _move(groups: Sequence[_Group], room: int, name: str, part: list[str]) -> int:
    """Move groups that fit into `room` from the training part to `name`; return the room left."""
    for group in groups:
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


def _too_few(texts: int, distinct: int, dev: float, test: float, path: str) -> DataError:
    return DataError(
        "HW141",
        f"{texts} texts ({distinct} distinct) are too few for dev={dev}, test={test}",
        expected="at least one text in each part, and one of each class for training",
        advice="add texts, ask for smaller parts, or give the parts as files",
        path=path,
    )


def _notes(parts: Mapping[str, list[Example]], wanted: Mapping[str, int], repeated: int) -> tuple[str, ...]:
    notes = ["split into " + ", ".join(f"{len(own):,} {n}" for n, own in parts.items() if own)]
    if repeated:
        notes.append(f"{repeated:,} repeated texts stay with their first occurrence")
    off = [name for name, size in wanted.items() if len(parts[name]) != size]
    if off:
        notes.append(f"repeated texts made {' and '.join(off)} smaller than asked for")
    return tuple(notes)
