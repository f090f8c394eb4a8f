"""Items that occur several times in a file, such as texts that several people labelled: one row is kept of
each, with the label that most rows have, or that the last row has.

Items are equal as in a split: case and white space aside (`ItemType.key`), with the same values in the
columns beside the text. Empty texts are no repetitions of each other.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from headwise.core.errors import ConfigError
from headwise.data.items.item_type import ItemType
from headwise.data.splits.split_config import RepeatedTexts
from headwise.data.splits.text_signatures import normal_text, repeated_places, text_digests


@dataclass(frozen=True)
class RepeatedItems:
    """The items of a list that occur several times.

    Attributes:
        groups: The indices of the equal items, a group for each item that occurs several times.
        left_out: The indices of the items that the rule leaves out.
        tied: The first index of each group with several most frequent labels.
    """

    groups: Sequence[Sequence[int]] = ()
    left_out: frozenset[int] = frozenset()
    tied: Sequence[int] = ()

    @classmethod
    def of(cls, item_type: ItemType, items: Sequence[Any], rule: RepeatedTexts) -> Self:
        """Find the items that occur several times.

        Args:
            rule: `keep` keeps all. `majority` keeps the first one with the most frequent label, counted by
                weight (of equally frequent ones, the label that comes first); `last` the last one.

        Raises:
            ConfigError: Majorities of numbers or probabilities are asked for, or items that are not
                compared.
        """
        if rule == "keep":
            return cls()
        _check_rule(item_type, items, rule)
        groups = repeated_places(text_digests(_key(item_type, item) for item in items))
        left_out, tied = set[int](), list[int]()
        for places in groups:
            selected = places[-1]
            if rule == "majority":
                selected, is_tied = _majority(items, places)
                tied += [places[0]] * is_tied
            left_out.update(place for place in places if place != selected)
        return cls(groups, frozenset(left_out), tied)

    def taken_from(self, items: Sequence[Any]) -> list[Any]:
        """The items without those that are left out."""
        return [item for place, item in enumerate(items) if place not in self.left_out]


def without_repeated(item_type: ItemType, data: Any, rule: RepeatedTexts) -> tuple[Any, tuple[str, ...]]:
    """A data set with one row of each item that occurs several times (see `RepeatedItems.of`), and notes
    for the user."""
    repeated, nouns = RepeatedItems.of(item_type, data.items, rule), item_type.nouns
    if not repeated.groups:
        return data, ()
    groups, left_out, tied = len(repeated.groups), len(repeated.left_out), len(repeated.tied)
    label = "the most frequent label" if rule == "majority" else "the last label"
    occur, rows = "occurs" if groups == 1 else "occur", "row is" if left_out == 1 else "rows are"
    notes = [
        f"{nouns.count(groups)} {occur} several times; one row of each, with {label}, is used, and "
        f"{left_out:,} {rows} left out (first {data.where(min(repeated.left_out))})"
    ]
    if tied:
        notes.append(
            f"{nouns.count(tied)} with several most frequent labels, of which the one that comes first is "
            f"used (first {data.where(min(repeated.tied))})"
        )
    return data.with_items(repeated.taken_from(data.items)), tuple(notes)


def _check_rule(item_type: ItemType, items: Sequence[Any], rule: RepeatedTexts) -> None:
    option, many = f"split.repeated_texts = {rule!r}", item_type.nouns.many
    if not item_type.has_keys:
        raise ConfigError(f"{option}: {many} are not compared with each other; leave it out")
    if rule == "majority" and item_type.label_type.numeric:
        raise ConfigError(f"{option}: numbers have no majority; take 'last', or a mean of your own")
    if rule == "majority" and any(getattr(item, "shares", None) is not None for item in items):
        raise ConfigError(f"{option}: probabilities have no majority; take 'last', or one row per text")


def _key(item_type: ItemType, item: Any) -> str:
    """What is equal for equal items; "" for an item without text."""
    key = normal_text(item_type.key(item))
    tabular = getattr(item, "tabular", None)
    return key if tabular is None or not key else f"{key}\n{tabular.values!r}"


def _majority(items: Sequence[Any], places: Sequence[int]) -> tuple[int, bool]:
    """The first of these places whose label is the most frequent one, and whether others are as
    frequent."""
    votes: dict[Hashable, float] = {}
    for place in places:
        label = _label(items[place])
        votes[label] = votes.get(label, 0.0) + getattr(items[place], "weight", 1.0)
    most = max(votes.values())
    first = next(place for place in places if votes[_label(items[place])] == most)
    return first, sum(count == most for count in votes.values()) > 1


def _label(item: Any) -> Hashable:
    """The label, the set of labels, or the tags of an item, which are compared as a whole."""
    tags = getattr(item, "tags", None)
    return frozenset(item.labels) if tags is None else tuple(tags)
