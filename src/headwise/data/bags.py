"""Read multiple-instance data: bags of vectors, where the label belongs to the whole bag (set).

Two formats of comma-separated values, an instance a line:
    csv   bag_label,bag_id,feature,feature,...           with or without a header
    uci   molecule,conformation,feature,...,label.       UCI's Musk: the molecule is the bag

Codes: HW290 a feature that is no finite number; HW291 an instance with more or fewer features than the
others; HW292 a bag with two labels; HW293 columns that cannot be those of bags.
"""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headwise.data.archives import lines_of
from headwise.data.columns import find_column
from headwise.data.errors import Report, stop
from headwise.data.formats.csv import Cells, read_cells
from headwise.data.names import LABEL_NAMES, normal_name
from headwise.data.options import ReadOptions
from headwise.data.source import Source, look_ahead

BagFormat = Literal["csv", "uci"]


@dataclass(frozen=True)
class BagOptions:
    """How files of bags are read. What is not given is guessed, and the guess is told."""

    format: BagFormat | None = None
    """The file's format; guessed from the first lines by default."""

    bag_column: str | None = None
    """The column that says which bag an instance belongs to: its name, or its number from 1."""

    label_column: str | None = None
    """The column of the bags' labels: its name, or its number from 1."""

    header: bool | None = None
    """Whether the first row names the columns."""

    delimiter: str | None = None
    """What separates the fields; "\\\\t" is a tab."""

    encoding: str = "utf-8"
    """The character encoding."""


DEFAULT = BagOptions()

BAG_NAMES = ("bag_id", "bag", "bag_name", "bagid", "set_id", "set", "group_id", "group", "molecule_name")
BAG_LABEL_NAMES = ("bag_label", "baglabel", "set_label", *LABEL_NAMES)
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Bag:
    """A bag of instances.

    Attributes:
        id: Its name in the file.
        label: The label's name.
        instances: float32, `[instances, features]`, in the file's order.
        line: The line of the file, from 1, of its first instance.
    """

    id: str
    label: str
    instances: NDArray[np.float32]
    line: int = 0


@dataclass(frozen=True)
class BagData:
    """The bags of one file, and how they were read.

    Attributes:
        bags: The bags, in the order in which they first occur.
        path: The file as the user named it.
        format: The name of its format.
        features: The names of the features, or the numbers of their columns.
        notes: What was guessed, for the user, one sentence each.
    """

    bags: list[Bag]
    path: str
    format: BagFormat
    features: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def instances(self) -> int:
        """How many instances there are in all bags."""
        return sum(len(bag.instances) for bag in self.bags)

    @property
    def labels(self) -> dict[str, int]:
        """How many bags each label has, the most frequent first, then by name."""
        counts: dict[str, int] = {}
        for bag in self.bags:
            counts[bag.label] = counts.get(bag.label, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True)
class _Columns:
    """Names of all columns, and which are those of bags, labels and features, from 0."""

    names: tuple[str, ...]
    bag: int
    label: int
    features: tuple[int, ...]


@dataclass
class _Growing:
    """A bag that may get more instances; `values` are their features one after the other."""

    label: str
    line: int
    values: "array[float]" = field(default_factory=lambda: array("f"))


def read_bags(path: str | PathLike[str], options: BagOptions = DEFAULT, report: Report = stop) -> BagData:
    """Read a file of bags into memory. The instances of a bag need not follow each other.

    Args:
        path: The file, plain or compressed; "-" is standard input; `archive.zip!member` a member of a zip.
        options: What is not to be guessed.
        report: Is given the `DataError` of an instance that cannot be used. By default it raises; if it
            returns, the instance is left out and reading goes on.

    Raises:
        DataError: HW101 to HW106, HW111, HW112, HW114, HW120, HW290 to HW293.
    """
    reading = ReadOptions(delimiter=options.delimiter, encoding=options.encoding)
    source = Source(fspath(path), reading, report)
    head, rows = look_ahead(read_cells(lines_of(source.path, options.encoding), source))
    if not head:
        raise source.error("HW103", "no instances", expected="one instance a line")
    form = options.format
    if form is None:
        form = "uci" if _is_uci(head[0][1]) else "csv"
        source.notes.append(f"format {form} guessed from the first line - override with --format")
    names, header = _names(form, head, source, options)
    columns = _choose(form, names, [cells for _, cells in head[header:]], source, options)
    if header:
        next(rows)
    bags: dict[str, _Growing] = {}
    for line, cells in rows:
        _add(line, cells, columns, bags, source)
    shape = (-1, len(columns.features))
    finished = [
        Bag(name, bag.label, np.array(bag.values, dtype=np.float32).reshape(shape), bag.line)
        for name, bag in bags.items()
    ]
    features = tuple(names[i] for i in columns.features)
    return BagData(finished, source.path, form, features, tuple(source.notes))


def _is_uci(cells: Sequence[str]) -> bool:
    """A name, a conformation of it and features, and at last the label with a full stop."""
    last = cells[-1].strip()
    return len(cells) > 3 and _number(cells[1]) is None and last.endswith(".") and last[:-1].isdecimal()


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _names(
    form: BagFormat, head: Sequence[Cells], source: Source, options: BagOptions
) -> tuple[tuple[str, ...], bool]:
    """The columns' names, or their numbers from "1", and whether the first row tells them."""
    line, first = head[0]
    header = options.header
    if header is None:
        header = form == "csv" and all(_number(cell) is None for cell in first[2:])
    if not header:
        return tuple(str(i) for i in range(1, len(first) + 1)), False
    names = tuple(name.strip() or str(i) for i, name in enumerate(first, start=1))
    if len({*names}) < len(names):
        raise source.error("HW112", "two columns of the same name", line, advice="rename one")
    if len(head) == 1:
        raise source.error("HW113", "a header without rows below it", line)
    return names, True


def _choose(
    form: BagFormat,
    names: tuple[str, ...],
    sample: Sequence[Sequence[str]],
    source: Source,
    options: BagOptions,
) -> _Columns:
    if len(names) < 3:
        expected = "the label of a bag, its name, and features"
        raise source.error("HW293", f"{len(names)} columns", expected=expected, advice="give --delimiter")
    bag, label = (0, len(names) - 1) if form == "uci" else _guess_order(names, sample)
    asked = options.bag_column, options.label_column
    if asked[0]:
        bag = find_column(asked[0], names, source, "--bag-column")
    if asked[1]:
        label = find_column(asked[1], names, source, "--label-column")
    if bag == label:
        raise source.error("HW293", f"the column {names[bag]!r} for both bags and labels")
    if not all(asked):
        told = f"columns guessed: bag={names[bag]!r}, label={names[label]!r}"
        source.notes.append(told + " - override with --bag-column/--label-column")
    others = {bag, label, 1} if form == "uci" else {bag, label}
    return _Columns(names, bag, label, tuple(i for i in range(len(names)) if i not in others))


def _guess_order(names: Sequence[str], sample: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The columns of bags and of labels: by their names, else one of the first two.

    Usually the label is first; if that gives a bag two labels, and the other order does not, it is second.
    """
    normal = [normal_name(name) for name in names]
    bag = next((normal.index(name) for name in BAG_NAMES if name in normal), None)
    label = next((normal.index(name) for name in BAG_LABEL_NAMES if name in normal), None)
    if bag is not None and label is not None:
        return bag, label
    pairs = {(cells[0], cells[1]) for cells in sample if len(cells) > 1 and cells[0] and cells[1]}
    first, second = ({pair[column] for pair in pairs} for column in (0, 1))
    return (0, 1) if len(first) == len(pairs) > len(second) else (1, 0)


def _add(
    line: int, cells: Sequence[str], columns: _Columns, bags: dict[str, _Growing], source: Source
) -> None:
    """Take in an instance, or report what is wrong with it."""
    width = len(columns.names)
    if len(cells) != width:
        found = f"an instance of {len(cells)} column{'s' * (len(cells) != 1)}"
        expected = f"{width}: a bag, a label and {len(columns.features)} features"
        source.report(source.error("HW291", found, line, expected=expected))
        return
    name, label = cells[columns.bag].strip(), cells[columns.label].strip()
    if label[:-1].isdecimal():
        label = label.removesuffix(".")
    if not name or not label:
        code, found = ("HW120", "an empty label") if name else ("HW293", "an instance without a bag")
        source.report(source.error(code, found, line, advice="fill it in or remove the row"))
        return
    known = bags.get(name)
    if known and known.label != label:
        found = f"the bag {name!r} has the label {label!r} here and {known.label!r} in line {known.line}"
        source.report(source.error("HW292", found, line, expected="one label for all instances of a bag"))
        return
    values = array("f")
    for i in columns.features:
        value = _number(cells[i])
        if value is None or not abs(value) <= LARGEST:
            found = f"{cells[i]!r} in the column {columns.names[i]!r}"
            expected = "a finite number (float32)"
            advice = "fill in missing values, such as by the feature's mean, or remove the row"
            source.report(source.error("HW290", found, line, expected=expected, advice=advice))
            return
        values.append(value)
    if known is None:
        known = bags[name] = _Growing(label, line)
    known.values.extend(values)
