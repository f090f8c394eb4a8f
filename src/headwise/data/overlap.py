"""What the parts of the data have in common, which makes scores too good."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

from headwise.data.duplicates import normal_text


@dataclass(frozen=True)
class Overlap:
    """What two parts of the data have in common.

    Attributes:
        one: The part that was there first: "train" or "dev".
        other: The part whose scores it makes too good.
        distinct: How many different items both have (case and white space aside).
        items: How many items of `other` these are.
        total: How many items `other` has.
    """

    one: str
    other: str
    distinct: int
    items: int
    total: int

    @property
    def share(self) -> float:
        """The share of the items of `other` that `one` has too."""
        return self.items / max(self.total, 1)

    def to_json(self) -> dict[str, Any]:
        """A JSON object of the same fields."""
        return asdict(self)


def overlaps(kind: Any, parts: Mapping[str, Any]) -> tuple[Overlap, ...]:
    """The overlaps of parts that have any; empty texts are not counted.

    Args:
        kind: The `headwise.data.kind.Kind` of the items.
        parts: The items of each part, by its name, in the order train, dev, test.
    """
    if not kind.has_keys:
        return ()
    keys = {name: Counter(normal_text(kind.key(item)) for item in part) for name, part in parts.items()}
    found = []
    for one, other in combinations(keys, 2):
        shared = (keys[one].keys() & keys[other].keys()) - {""}
        if shared:
            times = sum(keys[other][key] for key in shared)
            found.append(Overlap(one, other, len(shared), times, keys[other].total()))
    return tuple(found)
