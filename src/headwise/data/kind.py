"""What a kind of item is: texts, pairs, sentences of words, bags, streams of symbols.

A kind knows how files of its items are read, which items are the same, what identifies a list of them, and
how one is shown. It is made for an answer (a label, a number, ...), which says what the answer column must
hold. Everything else (splitting, parses, parts) is written once over these.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from headwise.data.alike import alike_keys
from headwise.data.answers import LABEL, Answer
from headwise.data.doctor.file import BetweenCheck, Check
from headwise.data.errors import OnError, stop
from headwise.data.example import Parse
from headwise.data.fingerprint import Fingerprint, hash_fields
from headwise.data.head import Head
from headwise.data.nouns import Nouns
from headwise.data.rows import Rows
from headwise.data.split import Split, fold_items, split_items
from headwise.errors import ConfigError
from headwise.features.tokenize import count_words

Item = TypeVar("Item")


class Kind(ABC, Generic[Item]):
    """A kind of item with its answer.

    Args:
        answer: What the answer column must hold.
    """

    nouns: ClassVar[Nouns]
    """What items are called."""

    options: type[Any]
    """The dataclass of how files are read."""

    sides: ClassVar[int] = 0
    """How many texts an item has that may be parsed."""

    has_keys: ClassVar[bool] = True
    """Whether items can be told apart, so that duplicates are found."""

    checks: ClassVar[tuple[Check, ...]] = ()
    """What the doctor looks at in each file."""

    between: ClassVar[tuple[BetweenCheck, ...]] = ()
    """What the doctor looks at in several files."""

    columns_are: ClassVar[str] = "text from column"
    """What the doctor's report calls the columns of items."""

    classes_are: ClassVar[str] = "class"
    """What the doctor's report calls what it counts in each file."""

    lines: ClassVar[str] = ""
    """What the doctor looks at one by one, where these are not the items."""

    def __init__(self, answer: Answer = LABEL):
        self.answer = answer

    @abstractmethod
    def read(self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None) -> Any:
        """Read a file with answers into memory.

        Args:
            path: The file, plain or compressed; "-" is standard input.
            options: What is not to be guessed, of the type `options`.
            on_error: Is given the `DataError` of a record that cannot be used. By default it raises; if it
                returns, the record is left out and reading goes on.
            like: What items must fit: see `likeness`.

        Returns:
            A data set with `items`, `path`, `format`, `columns`, `notes`, `labels`, `skipped`, `findings`.

        Raises:
            DataError: The file cannot be read.
        """

    @abstractmethod
    def rows(
        self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None
    ) -> Rows[Item]:
        """Read a file to predict record by record; answers are optional.

        Raises:
            DataError: As `read`, at once or while iterating.
        """

    def prepare(self, paths: Sequence[str], options: Any) -> Any:
        """What reading has to know of all files before one is read (`like`); None for most kinds.

        Args:
            paths: The training file first.
            options: How they are read.
        """
        return None

    def likeness(self, data: Any) -> Any:
        """What other files must fit, from the training file: the names of columns that are labels, the
        features of bags, the vocabulary of a stream. A model has the same to say of files that it reads."""
        return None

    def key(self, item: Item) -> str:
        """What is the same for items that are duplicates (case and white space aside)."""
        raise NotImplementedError(f"{self.nouns.many} are not told apart")

    def seen_key(self, item: Item) -> str:
        """What is the same for items of which a model that has learnt one knows the others."""
        return self.key(item)

    def part_options(self, options: Any, part: str, cut: Sequence[str]) -> Any:
        """How the file of a part is read.

        Args:
            options: What is not to be guessed.
            part: The part that it is given for.
            cut: The parts that are to be split off the training file.
        """
        return options

    def split(
        self, items: Sequence[Item], dev: float | int, test: float | int = 0, seed: int = 0, path: str = ""
    ) -> Split[list[Item]]:
        """Split items into three parts, those alike on one side; see `split_items`.

        Raises:
            DataError: HW141, there are too few.
        """
        keys, strata = self.apart(items, 0), self.answer.strata(items)
        return split_items(items, keys, strata, dev, test, seed, path=path, nouns=self.nouns)

    def apart(self, items: Sequence[Item], count: int) -> list[str]:
        """What is the same for items that no two of so many parts may share: of texts those alike, see
        `alike_keys`."""
        keys = [self.key(item) for item in items]
        return alike_keys(keys, self.answer.strata(items)) if self.sides == 1 else keys

    def folds(self, items: Sequence[Item], count: int, seed: int = 0) -> list[int]:
        """The fold of each item; see `fold_items`."""
        return fold_items(self.apart(items, count), self.answer.strata(items), count, seed)

    def tell(self, parts: Mapping[str, Any]) -> tuple[str, ...]:
        """What there is to tell of the parts, by name, once the data are split."""
        return ()

    @abstractmethod
    def fields(self, item: Item) -> Iterable[str | None]:
        """What identifies an item with its answer, for the fingerprint."""

    def fingerprint(self, items: Iterable[Item]) -> Fingerprint:
        """Which data it was; line numbers and file names do not matter."""
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
        """The words of each text of an item, one for each of its `sides`."""
        raise self.refuse_parses()

    def with_heads(self, item: Item, heads: Sequence[Parse]) -> Item:
        """An item with the parse of each of its texts."""
        raise self.refuse_parses()

    def has_heads(self, item: Item) -> bool:
        """Whether all texts of an item are parsed."""
        return False

    def refuse_parses(self) -> ConfigError:
        """What to say of parses of items that have no texts."""
        return ConfigError(f"parses are the syntax of texts, but {self.nouns.many} have none")

    def text(self, item: Item) -> str:
        """All that is written in an item."""
        return self.show(item)

    def size(self, item: Item) -> int:
        """The length of an item, in what `nouns.length` says."""
        return count_words(self.text(item))

    def examine(self, path: str, options: Any = None, on_error: OnError = stop, *, like: Any = None) -> Any:
        """Read a file for the doctor."""
        return self.read(path, options, on_error, like=like)

    def columns_of(self, data: Any) -> tuple[str, str | None]:
        """The columns of items and of answers, for the doctor's report."""
        return data.columns.text, data.columns.label

    def classes_of(self, data: Any) -> tuple[tuple[str, int, float], ...]:
        """What the doctor counts in a file: its labels, how often each occurs, and in which share."""
        if not self.answer.classes:
            return ()
        total = max(len(data.items), 1)
        return tuple((label, n, n / total) for label, n in data.labels.items())

    @abstractmethod
    def show(self, item: Item) -> str:
        """An item on one line, for lists of errors."""

    def asked(self, reading: Mapping[str, Any]) -> str | None:
        """What the user has said of how to read a file that only such files have; None if nothing."""
        return None

    @abstractmethod
    def recognise(self, head: Head, reading: Mapping[str, Any]) -> str | None:
        """What speaks for a training file of such items with such answers; None if nothing does.

        Args:
            head: The file's beginning.
            reading: What the user has said of how to read it.
        """
