"""Contamination check: items that occur in several parts of the data, which inflates scores."""

import base64
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.data.items.examples import DisplayNames
from headwise.data.items.item_type import ItemType
from headwise.data.splits.text_signatures import (
    EMPTY_DIGEST,
    TextTrigrams,
    first_places,
    normal_text,
    text_digests,
    words_for_comparison,
)

_HASH_BYTES = 6  # bytes; a million new texts against a million stored hashes give 1 / 280 false matches
_MAX_FINGERPRINTED = 4_000_000  # most items in a training-set fingerprint
_MIN_REPEATED = 0.1  # fraction of repeated items from which a message is written


@dataclass(frozen=True)
class PartOverlap:
    """Items that two parts of the data share.

    Attributes:
        source_part: The part that the model learns from: "train" or "dev".
        scored_part: The part whose scores the shared items inflate: "dev" or "test".
        distinct: Number of different items in both parts (ignoring case and white space).
        items: Number of items of `scored_part` that also occur in `source_part`.
        nearly_equal: Number of further items of `scored_part` that are near-duplicates of an item of
            `source_part` (see `headwise.data.splits.duplicates`).
        total: Number of items in `scored_part`.
        places: The numbers of these items within `scored_part`.
    """

    source_part: str
    scored_part: str
    distinct: int
    items: int
    nearly_equal: int
    total: int
    places: frozenset[int] = field(default=frozenset(), repr=False)

    @property
    def share(self) -> float:
        """The fraction of the items of `scored_part` that are duplicates or near-duplicates of items of
        `source_part`."""
        return (self.items + self.nearly_equal) / max(self.total, 1)

    def to_json(self) -> dict[str, object]:
        """The parts and the counts, as a JSON object."""
        return {
            "one": self.source_part,
            "other": self.scored_part,
            "distinct": self.distinct,
            "items": self.items,
            "near": self.nearly_equal,
            "total": self.total,
        }

    def message(self, nouns: DisplayNames) -> str:
        """A warning such as `12 of 40 test texts are training texts too, and 3 more nearly`."""
        names = {"train": "training"}
        source = names.get(self.source_part, self.source_part)
        scored = names.get(self.scored_part, self.scored_part)
        if self.items:
            count = self.items
            more = f"too, and {self.nearly_equal:,} more nearly" if self.nearly_equal else "too"
        else:
            count, more = self.nearly_equal, "but for a few words"
        return (
            f"{count:,} of {self.total:,} {scored} {nouns.many} are {source} {nouns.many} {more} "
            f"({100 * self.share:.1f} %): {scored} scores are optimistic"
        )


def find_overlaps(item_type: ItemType, parts: Mapping[str, Any]) -> tuple[PartOverlap, ...]:
    """The overlaps of all pairs of parts that share items; empty texts are not counted."""
    if not item_type.has_keys:
        return ()

    def compared_keys(items: Iterable[object]) -> ComparedKeys:
        return ComparedKeys.of(
            lambda: (normal_text(item_type.contamination_key(item)) for item in items), item_type.sides
        )

    compared = {name: compared_keys(part) for name, part in parts.items()}
    result = []
    for source_part, scored_part in combinations(compared, 2):
        part = compared[scored_part]
        equal, nearly_equal = part.shared_with(compared[source_part])
        if equal.any() or nearly_equal.any():
            distinct = len(np.unique(part.keys[equal]))
            counts = distinct, int(equal.sum()), int(nearly_equal.sum()), len(part.keys)
            places = frozenset(np.flatnonzero(equal | nearly_equal).tolist())
            result.append(PartOverlap(source_part, scored_part, *counts, places))
    return tuple(result)


@dataclass(frozen=True)
class ComparedKeys:
    """The keys of items, for comparison with those of others.

    Attributes:
        keys: Digests of the keys, `[items]`.
        words: Digests of their words, `[items]`.
        signed: The indices of the different single texts.
        trigrams: Their trigrams.
    """

    keys: NDArray[np.uint64]
    words: NDArray[np.uint64]
    signed: NDArray[np.int64]
    trigrams: TextTrigrams

    @classmethod
    def of(cls, keys: Callable[[], Iterable[str]], sides: int) -> "ComparedKeys":
        """Prepare keys for the comparison.

        Args:
            keys: Yields the key of each item, as `normal_text` returns it; empty keys match nothing.
            sides: How many texts an item has.
        """
        digests = text_digests(keys())
        if not sides:
            return cls(digests, np.full(len(digests), EMPTY_DIGEST), np.zeros(0, int), TextTrigrams.of(()))
        words = text_digests(map(words_for_comparison, keys()))
        # Different pairs may share a long text, so trigrams are compared for single texts only.
        signed = (first_places(words) == np.arange(len(words))) & (words != EMPTY_DIGEST) & (sides == 1)
        listed = (words_for_comparison(key) for key in compress(keys(), signed.tolist()))
        return cls(digests, words, np.flatnonzero(signed), TextTrigrams.of(listed))

    def shared_with(self, source: "ComparedKeys") -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether each item is among others, and whether only a near-duplicate of it is, `[items]`."""
        equal = np.isin(self.keys, source.keys) & (self.keys != EMPTY_DIGEST)
        duplicate = np.isin(self.words, source.words) & (self.words != EMPTY_DIGEST)
        similar = self.words[self.signed[self.trigrams.are_near(source.trigrams)]]
        duplicate |= np.isin(self.words, similar)
        return equal, duplicate & ~equal


def repetition_warning(item_type: ItemType, items: Sequence[object], what: str = "") -> str | None:
    """A warning if 10 % or more of the items of an evaluation part are repeated within it; else None."""
    if not item_type.has_keys or not len(items):
        return None
    keys = text_digests(normal_text(item_type.contamination_key(item)) for item in items)
    keys = keys[keys != EMPTY_DIGEST]
    again = len(keys) - len(np.unique(keys))
    if again < _MIN_REPEATED * len(items):
        return None
    return (
        f"{again:,} of {len(items):,} {what}{item_type.nouns.many} occur more than once: they are counted "
        "as independent, so intervals are too narrow and p-values too small"
    )


def fingerprint_overlaps(
    item_type: ItemType, fingerprint: object, who: str, parts: Mapping[str, Sequence[Any]]
) -> tuple[PartOverlap, ...]:
    """The overlaps of the dev and test parts with the training data of another model.

    Args:
        fingerprint: The training-set fingerprint of that model, as `make_fingerprint` returns it.
        who: The name of that model, for the message.
        parts: The items of each part, by its name.
    """
    result = []
    for name in ("dev", "test"):
        items = parts.get(name, ())
        flags = in_fingerprint(item_type, fingerprint, items)
        if places := frozenset(number for number, flag in enumerate(flags) if flag):
            result.append(
                PartOverlap(f"{who}'s training", name, len(places), len(places), 0, len(items), places)
            )
    return tuple(result)


def make_fingerprint(item_type: ItemType, items: Sequence[object], before: object = None) -> str | None:
    """The training-set fingerprint of items: the sorted 6-byte hashes of their words, in base64.

    None for more than 4 million items. `before` is the fingerprint of earlier items, which is merged in.
    """
    previous_hashes = _hashes(before)
    if len(items) + len(previous_hashes) > _MAX_FINGERPRINTED:
        return None
    hashes = {digest for item in items if (digest := _hash(item_type, item))}
    return base64.b64encode(b"".join(sorted(hashes | previous_hashes))).decode()


def in_fingerprint(item_type: ItemType, fingerprint: object, items: Sequence[object]) -> list[bool]:
    """Whether each item is in a training-set fingerprint; all False if the fingerprint is damaged."""
    hashes = _hashes(fingerprint) if item_type.has_keys else set()
    return [bool(hashes) and _hash(item_type, item) in hashes for item in items]


def _hashes(fingerprint: object) -> set[bytes]:
    """The hashes in a fingerprint; none if it is not valid base64."""
    try:
        data = base64.b64decode(fingerprint if isinstance(fingerprint, str) else "", validate=True)
    except ValueError:
        return set()
    return {data[place : place + _HASH_BYTES] for place in range(0, len(data), _HASH_BYTES)}


def _hash(item_type: ItemType, item: object) -> bytes | None:
    key = item_type.contamination_key(item)
    words = words_for_comparison(key) if item_type.sides else key
    data = words.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_HASH_BYTES).digest() if data else None
