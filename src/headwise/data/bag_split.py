"""Split one file of bags into training, dev and test bags; and what identifies a list of bags."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from headwise.data.bags import Bag
from headwise.data.example import Example
from headwise.data.fingerprint import Fingerprint
from headwise.data.split import split_examples


@dataclass(frozen=True)
class BagSplit:
    """The parts, each in the order of the original, and what there is to say about them."""

    train: list[Bag]
    dev: list[Bag]
    test: list[Bag]
    notes: tuple[str, ...] = ()


def split_bags(
    bags: Sequence[Bag], dev: float | int = 0.1, test: float | int = 0.0, seed: int = 0, *, path: str = ""
) -> BagSplit:
    """Split at random, stratified by label; bags with the same instances go to the same part.

    Args:
        bags: The bags to split.
        dev, test, seed, path: See `headwise.data.split.split_examples`.

    Raises:
        ConfigError, DataError: As `split_examples`.
    """
    examples = [Example(instances_digest(bag), bag.label, place) for place, bag in enumerate(bags)]
    split = split_examples(examples, dev, test, seed, path=path)
    train, held, tested = (
        [bags[example.line] for example in part] for part in (split.train, split.dev, split.test)
    )
    notes = tuple(note.replace(" texts ", " bags ") for note in split.notes)
    return BagSplit(train, held, tested, notes)


def fingerprint_bags(bags: Sequence[Bag]) -> Fingerprint:
    """The fingerprint of bags: of their names, labels and instances, in their order."""
    digest, counts = hashlib.sha256(), dict[str, int]()
    for bag in bags:
        for part in (bag.id.encode(), bag.label.encode(), instances_digest(bag).encode()):
            digest.update(len(part).to_bytes(8, "big") + part)
        counts[bag.label] = counts.get(bag.label, 0) + 1
    return Fingerprint(digest.hexdigest(), len(bags), dict(sorted(counts.items())))


def instances_digest(bag: Bag) -> str:
    """What is the same for the same instances, in whatever order they stand."""
    rows = sorted(row.tobytes() for row in bag.instances)
    return hashlib.sha256(b"".join(rows)).hexdigest()
