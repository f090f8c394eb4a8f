"""Item types: texts, pairs, tagged sentences, bags, streams of symbols.

An item type reads files of its items, tells which items are equal, fingerprints a list of them, and shows
one. It is combined with a label type (a label, a number, ...), which says what the label column must hold.
Everything else (splitting, parses, parts) is generic over item types.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from headwise.core.config import from_dict
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import Tokenizer, count_words
from headwise.data.columns.file_source import FileHead
from headwise.data.errors import OnError, raise_error
from headwise.data.files.fingerprint import Fingerprint, hash_fields
from headwise.data.items.dataset import InputRows
from headwise.data.items.examples import DisplayNames, Parse
from headwise.data.items.label_types import SINGLE_LABEL_TYPE, LabelType

if TYPE_CHECKING:
    from headwise.data.splits.splitting import Split

Item = TypeVar("Item")


class ItemType(ABC, Generic[Item]):
    """An item type with its label type."""

    nouns: ClassVar[DisplayNames]
    """The display names of the items."""

    options: type
    """The dataclass of the reading options."""

    sides: ClassVar[int] = 0
    """How many texts of an item can have a parse."""

    has_tags: ClassVar[bool] = False
    """Whether each word of an item has a tag."""

    prediction_options: tuple[type[Any], ...] = ()
    """Further dataclasses of options for reading a file to predict."""

    has_keys: ClassVar[bool] = True
    """Whether items can be compared, so that duplicates are found."""

    columns_heading: ClassVar[str] = "text from column"
    """The doctor's introduction of the item columns."""

    class_noun: ClassVar[str] = "class"
    """The doctor's word for what it counts in each file."""

    lines: ClassVar[str] = ""
    """The word for what the doctor inspects, if that is not the items."""

    def __init__(self, label_type: LabelType = SINGLE_LABEL_TYPE):
        self.label_type = label_type

    @property
    def is_text_classification(self) -> bool:
        """Whether the items are single texts with one label each."""
        return self.sides == 1 and self.label_type.one_label

    @abstractmethod
    def read(
        self, path: str, options: Any = None, on_error: OnError = raise_error, *, schema: Any = None
    ) -> Any:
        """Read a file with labels into memory.

        Args:
            path: The file, plain or compressed; "-" is standard input.
            options: Reading options, of the type `options`; what is not given is guessed.
            on_error: Called with the `DataError` of a record that cannot be used. By default it raises; if
                it returns, the record is skipped and reading goes on.
            schema: The schema that items must fit, see `schema`.

        Returns:
            A data set with `items`, `path`, `format`, `columns`, `notes`, `labels`, `skipped`, `findings`.

        Raises:
            DataError: The file cannot be read.
        """

    @abstractmethod
    def rows(self, path: str, options: Any = None, *, schema: Any = None) -> InputRows[Item]:
        """Read a file for prediction, record by record; labels are optional.

        Raises:
            DataError: As `read`, at once or while iterating.
        """

    def rows_to_predict(self, path: str, reading: Mapping[str, object], *, schema: Any = None) -> InputRows:
        """Read a file for prediction, by the user's reading settings, which have been checked.

        Raises:
            DataError, ConfigError: The file cannot be read with these settings.
        """
        return self.rows(path, from_dict(self.options, reading), schema=schema)

    def with_tokenizer(self, tokenizer: str) -> Self:
        """The item type for models with this tokenizer."""
        return self

    def prepare(self, paths: Sequence[str], options: Any) -> Any:
        """The schema of all files (`schema`), if it must be known before the first is read; None for most
        item types.

        Args:
            paths: The files, the training file first.
        """
        return None

    def schema(self, data: Any) -> Any:
        """The schema of the training file, which other files must fit: the names of multi-hot label
        columns, the features of bags, or the vocabulary of a stream. A model has the same for files that it
        reads."""
        return None

    def key(self, item: Item) -> str:
        """A text that is equal for duplicates (case and white space aside)."""
        raise NotImplementedError(f"{self.nouns.many} are not told apart")

    def contamination_key(self, item: Item) -> str:
        """A text that is equal for items that leak: a model trained on one has seen the others."""
        return self.key(item)

    def part_options(self, options: Any, part: str, cut: Sequence[str]) -> Any:
        """The reading options of a part's file.

        Args:
            options: The reading options of all files.
            part: The name of the part.
            cut: The parts that are split off the training file.
        """
        return options

    def split(
        self, items: Sequence[Item], dev: float | int, test: float | int = 0, seed: int = 0, path: str = ""
    ) -> "Split[list[Item]]":
        """Split items into train, dev and test parts, with near-duplicates on one side; see `split_items`.

        Raises:
            DataError: HW141, there are too few.
        """
        from headwise.data.splits.splitting import split_items

        keys, strata = self.group_keys(items, 0), self.label_type.strata(items)
        labels = self.label_type.label_sets(items)
        return split_items(items, keys, strata, dev, test, seed, labels=labels, path=path, nouns=self.nouns)

    def group_keys(self, items: Sequence[Item], count: int) -> Sequence[str]:
        """A group key for each item: no two of `count` parts may share one. Near-duplicate texts have the
        same key, see `near_duplicate_groups`."""
        from headwise.data.splits.duplicates import GroupKeys, near_duplicate_groups

        keys = [self.key(item) for item in items]
        if self.sides != 1:
            return keys
        return GroupKeys(keys, near_duplicate_groups(keys, self.label_type.strata(items)))

    def folds(self, items: Sequence[Item], count: int, seed: int = 0) -> list[int]:
        """The fold of each item; see `fold_items`."""
        from headwise.data.splits.splitting import fold_items

        keys, strata = self.group_keys(items, count), self.label_type.strata(items)
        return fold_items(keys, strata, count, seed, self.label_type.label_sets(items))

    def part_notes(self, parts: Mapping[str, Any]) -> tuple[str, ...]:
        """Notes for the user about the parts, by name, after splitting."""
        return ()

    def file_set_notes(self, data_sets: Sequence[Any]) -> list[str]:
        """Notes on several files that are read as one: on what they do not have in common."""
        return []

    @abstractmethod
    def fields(self, item: Item) -> Iterable[str | None]:
        """The texts that identify an item with its label, for the fingerprint."""

    def fingerprint(self, items: Iterable[Item]) -> Fingerprint:
        """The fingerprint of items; line numbers and file names do not matter."""
        counts: Counter[str] = Counter()
        number = 0

        def fields() -> Iterator[str | None]:
            nonlocal number
            for item in items:
                number += 1
                counts.update(getattr(item, "labels", ()))
                yield from self.fields(item)

        sha256 = hash_fields(fields())
        return Fingerprint(sha256, number, dict(sorted(counts.items())))

    def words(self, item: Item, cut: Callable[[str], Sequence[str]]) -> tuple[Sequence[str], ...]:
        """The words of each text of an item, one sequence for each of its `sides`; `cut` tokenises."""
        raise self.no_parses_error()

    def first_words(self, item: Item, count: int, tokenizer: Tokenizer) -> Item:
        """An item with the first `count` words of each of its texts."""
        raise self.no_parses_error()

    def characters(self, item: Item) -> int:
        """The number of characters of the longest text of an item, about."""
        return len(self.text(item))

    def with_parses(self, item: Item, heads: Sequence[Parse]) -> Item:
        """An item with the parse of each of its texts."""
        raise self.no_parses_error()

    def has_parses(self, item: Item) -> bool:
        """Whether all texts of an item are parsed."""
        return False

    def no_parses_error(self) -> ConfigError:
        """The error for parses of items that have no texts."""
        return ConfigError(f"parses are the syntax of texts, but {self.nouns.many} have none")

    def text(self, item: Item) -> str:
        """The whole text of an item."""
        return self.show(item)

    def size(self, item: Item) -> int:
        """The length of an item, in the unit that `nouns.length` names."""
        return count_words(self.text(item))

    def examine(
        self, path: str, options: Any = None, on_error: OnError = raise_error, *, schema: Any = None
    ) -> Any:
        """Read a file for the doctor."""
        return self.read(path, options, on_error, schema=schema)

    def columns_of(self, data: Any) -> tuple[str, str | None]:
        """The names of the item columns and the label column, for the doctor's report."""
        return data.columns.text, data.columns.label

    def classes_of(self, data: Any) -> tuple[tuple[str, int, float], ...]:
        """Label, count and share of each label in a file, for the doctor's report."""
        if not self.label_type.classes:
            return ()
        total = max(len(data.items), 1)
        return tuple((label, n, n / total) for label, n in data.labels.items())

    @abstractmethod
    def show(self, item: Item) -> str:
        """An item on one line, for lists of errors."""

    def implied_by(self, reading: Mapping[str, object]) -> str | None:
        """Why the reading options imply this item type, as text; None if they do not."""
        return None

    def recognise(self, head: FileHead, reading: Mapping[str, object]) -> str | None:
        """Why a file looks like training data of this item type and label type, as text; None if it does
        not."""
        return None
