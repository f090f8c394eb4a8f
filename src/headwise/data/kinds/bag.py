"""The item type of bags of instances (multiple-instance learning)."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from headwise.data.bag_sniff import looks_like_bags
from headwise.data.bags import DEFAULT, Bag, BagData, BagOptions, instances_digest, read_bags
from headwise.data.doctor.bags import constant, single
from headwise.data.doctor.file import BetweenCheck, Check
from headwise.data.doctor.texts import repeated, shared
from headwise.data.errors import OnError, stop
from headwise.data.head import Head
from headwise.data.kind import Kind
from headwise.data.nouns import Nouns
from headwise.data.rows import Row, Rows


class BagKind(Kind[Bag]):
    """Bags of feature vectors, with one label per bag."""

    nouns: ClassVar[Nouns] = Nouns("bag", "bags", "instances")
    options = BagOptions
    checks: ClassVar[tuple[Check, ...]] = (repeated, constant, single)
    between: ClassVar[tuple[BetweenCheck, ...]] = (shared,)
    columns_are: ClassVar[str] = "features in columns"

    def read(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> BagData:
        return read_bags(path, options or DEFAULT, on_error, features=like)

    def rows(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> Rows[Bag]:
        """The bags of a file, read into memory at once, as the instances of a bag may be anywhere in it."""
        data = read_bags(path, options or DEFAULT, on_error, features=like, labelled=False)
        rows = (Row(bag.line, {"bag": bag.id, "instances": len(bag.instances)}, bag) for bag in data.items)
        return Rows(rows, data.path, data.format, data.features, data.notes)

    def likeness(self, data: Any) -> Any:
        return data.features

    def key(self, item: Bag) -> str:
        return instances_digest(item)

    def fields(self, item: Bag) -> Iterable[str | None]:
        return item.id, item.label, instances_digest(item)

    def size(self, item: Bag) -> int:
        return len(item.instances)

    def columns_of(self, data: Any) -> tuple[str, str | None]:
        return f"{data.features[0]} to {data.features[-1]}", None

    def text(self, item: Bag) -> str:
        return ""

    def show(self, item: Bag) -> str:
        return item.id

    def implied_by(self, reading: Mapping[str, Any]) -> str | None:
        if "bag_column" in reading:
            return "a column of bags is named"
        return "the format uci is one of bags" if reading.get("format") == "uci" else None

    def recognise(self, head: Head, reading: Mapping[str, Any]) -> str | None:
        if reading.get("format") not in (None, "csv") or "text_column" in reading:
            return None
        return looks_like_bags(head.texts, reading.get("delimiter"))
