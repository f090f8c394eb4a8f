"""What the parts of the data have in common, which makes scores too good."""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from headwise.data.duplicates import normal_text
from headwise.data.near import Known, words_of
from headwise.data.nouns import Nouns

_HASH = 6  # bytes: of a million texts that are new to a million known ones, one in 280 is taken for known
_MOST = 4_000_000  # items that are remembered
_AGAIN = 0.1  # share of the items that is told where it stands more than once


@dataclass(frozen=True)
class Overlap:
    """What two parts of the data have in common.

    Attributes:
        one: The part that was there first: "train" or "dev".
        other: The part whose scores it makes too good.
        distinct: How many different items both have (case and white space aside).
        items: How many items of `other` these are.
        near: How many more items of `other` are nearly the same as one of the first part (see
            `headwise.data.near`).
        total: How many items `other` has.
        places: Which items of `other` these are, by number.
    """

    one: str
    other: str
    distinct: int
    items: int
    near: int
    total: int
    places: frozenset[int] = field(default=frozenset(), repr=False)

    @property
    def share(self) -> float:
        """The share of the items of `other` that `one` has too, as they are or nearly."""
        return (self.items + self.near) / max(self.total, 1)

    def to_json(self) -> dict[str, Any]:
        """A JSON object of the counts."""
        return {name: value for name, value in asdict(self).items() if name != "places"}

    def told(self, nouns: Nouns) -> str:
        """`12 of 40 test texts are training texts too, and 3 more nearly`."""
        names = {"train": "training"}
        one, other = (names.get(name, name) for name in (self.one, self.other))
        if self.items:
            found, more = self.items, f"too, and {self.near:,} more nearly" if self.near else "too"
        else:
            found, more = self.near, "but for a few words"
        return (
            f"{found:,} of {self.total:,} {other} {nouns.many} are {one} {nouns.many} {more} "
            f"({100 * self.share:.1f} %): what is said of {other} {nouns.many} is too good for new ones"
        )


def overlaps(kind: Any, parts: Mapping[str, Any]) -> tuple[Overlap, ...]:
    """The overlaps of parts that have any; empty texts are not counted.

    Args:
        kind: The `headwise.data.kind.Kind` of the items.
        parts: The items of each part, by its name, in the order train, dev, test.
    """
    if not kind.has_keys:
        return ()
    keys = {name: [normal_text(kind.seen_key(item)) for item in part] for name, part in parts.items()}
    found = []
    for place, one in enumerate(list(keys)[:-1]):
        seen = Seen(kind, keys[one])
        for other in list(keys)[place + 1 :]:
            same, near = seen.places(keys[other])
            if same or near:
                distinct = len({keys[other][n] for n in same})
                places = frozenset([*same, *near])
                total = len(keys[other])
                found.append(Overlap(one, other, distinct, len(same), len(near), total, places))
    return tuple(found)


def repeated_told(kind: Any, items: Sequence[Any], what: str = "") -> str | None:
    """What there is to say where many items of a part that is judged on stand there more than once; None
    where few do.

    Args:
        kind: The `headwise.data.kind.Kind` of the items.
        items: The items.
        what: What part it is: "test ".
    """
    if not kind.has_keys or not len(items):
        return None
    keys = [key for item in items if (key := normal_text(kind.seen_key(item)))]
    again = len(keys) - len(set(keys))
    if again < _AGAIN * len(items):
        return None
    return (
        f"{again:,} of {len(items):,} {what}{kind.nouns.many} stand there more than once: intervals and p "
        "values take them for different ones, and are too sure"
    )


class Seen:
    """Items that others may be too, as they are or nearly.

    Args:
        kind: The `headwise.data.kind.Kind` of the items.
        keys: What is the same for equal ones, as `normal_text` has it; empty ones are like no other.
    """

    def __init__(self, kind: Any, keys: Iterable[str]):
        self._keys, self._texts = set(keys) - {""}, kind.sides > 0
        # Two pairs may well have a long text in common, and things without texts have no words.
        self._near = Known(map(words_of, self._keys) if self._texts else (), runs=kind.sides == 1)

    def places(self, keys: Sequence[str]) -> tuple[list[int], list[int]]:
        """The numbers of the items that are among these, and of others that nearly are."""
        same = [n for n, key in enumerate(keys) if key in self._keys]
        rest = (n for n, key in enumerate(keys) if key and key not in self._keys and self._texts)
        return same, [n for n in rest if self._near.has(words_of(keys[n]))]


def known_overlaps(kind: Any, kept: Any, who: str, parts: Mapping[str, Any]) -> tuple[Overlap, ...]:
    """The dev and test items that another model has learnt from.

    Args:
        kind: The `headwise.data.kind.Kind` of the items.
        kept: What `remember` has kept of those that it has learnt from.
        who: The other model's name.
        parts: The items of each part, by its name.
    """
    found = []
    for name in ("dev", "test"):
        items = parts.get(name, ())
        known = remembered(kind, kept, items)
        if places := frozenset(number for number, own in enumerate(known) if own):
            found.append(
                Overlap(f"{who}'s training", name, len(places), len(places), 0, len(items), places)
            )
    return tuple(found)


def remember(kind: Any, items: Sequence[Any], before: Any = None) -> str | None:
    """What tells later whether items are among these: a short hash of the words of each, base64.

    None where there are too many. `before` is what was kept of others that count as well.
    """
    known = _kept(before)
    if len(items) + len(known) > _MOST:
        return None
    hashes = {own for item in items if (own := _hash(kind, item))}
    return base64.b64encode(b"".join(sorted(hashes | known))).decode()


def remembered(kind: Any, kept: Any, items: Sequence[Any]) -> list[bool]:
    """Which items are among those of which `remember` has kept something; nothing is believed of that."""
    known = _kept(kept) if kind.has_keys else set()
    return [bool(known) and _hash(kind, item) in known for item in items]


def _kept(kept: Any) -> set[bytes]:
    """The hashes; none of what `remember` has not written."""
    try:
        data = base64.b64decode(kept, validate=True)
    except (TypeError, ValueError):
        return set()
    return {data[place : place + _HASH] for place in range(0, len(data), _HASH)}


def _hash(kind: Any, item: Any) -> bytes | None:
    """None for an empty text, which is like no other."""
    key = kind.seen_key(item)
    words = words_of(key) if kind.sides else key
    data = words.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_HASH).digest() if data else None
