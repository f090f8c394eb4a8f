"""Read multiple-instance data: bags of vectors, where the label belongs to the whole bag (set).

Two formats of comma-separated values, one instance per line:
    csv   bag_label,bag_id,feature,feature,...           with or without a header
    uci   molecule,conformation,feature,...,label.       UCI's Musk: the molecule is the bag

Codes: HW290 a feature that is no finite number; HW291 an instance with more or fewer features than the
others; HW292 a bag with two labels; HW293 columns that cannot be those of bags, or not those of a model.
"""

import hashlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray

from headwise.data.columns.column_names import LABEL_NAMES, normal_name
from headwise.data.columns.file_source import DataSource, look_ahead
from headwise.data.columns.item_options import DEFAULT_BAG_OPTIONS, BagFormat, BagOptions
from headwise.data.columns.named_columns import find_column
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError, OnError, raise_error
from headwise.data.files.archives import read_member_lines
from headwise.data.formats.csv import read_cells
from headwise.data.formats.csv_records import Cells
from headwise.data.items.dataset import Dataset

BAG_NAMES = ("bag_id", "bag", "bag_name", "bagid", "set_id", "set", "group_id", "group", "molecule_name")
BAG_LABEL_NAMES = ("bag_label", "baglabel", "set_label", *LABEL_NAMES)
_GUESSED = "columns guessed: "
LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class Bag:
    """A bag of instances.

    Attributes:
        id: Its name in the file.
        label: The label's name; empty where labels are not read.
        instances: float32, `[instances, features]`, in the file's order.
        line: The line of the file, from 1, of its first instance.
    """

    id: str
    label: str
    instances: NDArray[np.float32]
    line: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """The label, if there is one."""
        return (self.label,) if self.label else ()


def instances_digest(bag: Bag) -> str:
    """A hash of a bag's instances that does not depend on their order."""
    rows = sorted(row.tobytes() for row in bag.instances)
    return hashlib.sha256(b"".join(rows)).hexdigest()


@dataclass(frozen=True)
class BagData(Dataset[Bag]):
    """The bags of one file in the order in which they first occur, and how they were read.

    Attributes:
        features: The names of the features, or the numbers of their columns.
    """

    features: tuple[str, ...] = ()

    @property
    def instances(self) -> int:
        """How many instances there are in all bags."""
        return sum(len(bag.instances) for bag in self.items)


@dataclass(frozen=True)
class _BagColumns:
    """The columns of a file of bags: all names, the indices (from 0) of the bag, label and feature columns,
    and the guesses to mention in error messages."""

    names: tuple[str, ...]
    bag: int
    label: int | None
    features: tuple[int, ...]
    guess_note: str


@dataclass
class _BagBuilder:
    """A bag that is being read; `values` holds the features of its instances one after the other."""

    label: str
    line: int
    values: "array[float]" = field(default_factory=lambda: array("f"))


def read_bags(
    path: str | PathLike[str],
    options: BagOptions = DEFAULT_BAG_OPTIONS,
    on_error: OnError = raise_error,
    *,
    features: Sequence[str] | None = None,
    labelled: bool = True,
) -> BagData:
    """Read a file of bags into memory. The instances of a bag need not follow each other.

    Args:
        path: The file, plain or compressed; "-" is standard input; `archive.zip!member` a member of a zip.
        options: Reading options; what is not given is guessed.
        on_error: Called with the `DataError` of an instance that cannot be used. By default it raises; if
            it returns, the instance is skipped and reading goes on.
        features: The feature names of a model. A file whose header has them all may have them in any order,
            among other columns; without such names, the order counts.
        labelled: Whether labels are read; if not, the file need not have any.

    Raises:
        DataError: HW101 to HW106, HW111, HW112, HW114, HW120, HW290 to HW293.
    """
    decoding = options.encoding, options.encoding_errors
    reading = ReadOptions(
        delimiter=options.delimiter,
        quoting=options.quoting,
        escape=options.escape,
        encoding=options.encoding,
    )
    skipped = 0

    def counting(error: DataError) -> None:
        nonlocal skipped
        on_error(error)
        skipped += 1

    source = DataSource(fspath(path), reading, counting)
    sheet = source.table == "xlsx"
    lines = source.open() if sheet else read_member_lines(source.path, *decoding)
    head, rows = look_ahead(read_cells(lines, source))
    if not head:
        raise source.error("HW103", "no instances", expected="one instance a line")
    form = options.format
    if form is None:
        form = "uci" if is_uci(head[0][1]) else "csv"
        source.notes.append(f"format {form} guessed from the first line - override with --format")
    names, header = _column_names(form, head, source, options, features or ())
    sample = [cells for _, cells in head[header:]]
    named = features if header and features is not None and {*features} <= {*names} else ()
    free = [i for i, name in enumerate(names) if name not in named]
    lone = features is not None and not labelled and _has_no_labels(form, names, free, features)
    bag, label = _choose(form, names, free, sample, source, options, lone)
    chosen = _feature_columns(form, names, header, (bag, label), features, source)
    guess_note = "".join(f"; {note}" for note in source.notes if note.startswith(_GUESSED))
    columns = _BagColumns(names, bag, label if labelled else None, chosen, guess_note)
    if header:
        next(rows)
    bags: dict[str, _BagBuilder] = {}
    unlabelled: dict[str, int] | None = {} if options.empty_labels == "skip" else None
    for line, cells in rows:
        _add(line, cells, columns, bags, unlabelled, source)
    for name, line in (unlabelled or {}).items():
        if name in bags:
            problem = f"an empty label in the bag {name!r}, which has the label {bags[name].label!r}"
            source.report_error("HW120", problem, line, advice="fill it in or remove the row")
    if unlabelled:
        source.notes.append(f"bags without a label left out: {len({*unlabelled} - {*bags}):,}")
    shape = (-1, len(columns.features))
    finished = [
        Bag(name, bag.label, np.array(bag.values, dtype=np.float32).reshape(shape), bag.line)
        for name, bag in bags.items()
    ]
    feature_names = tuple(features) if features is not None else tuple(names[i] for i in columns.features)
    notes = tuple(source.notes)
    return BagData(
        finished, source.path, form, feature_names, notes, skipped=skipped, features=feature_names
    )


def is_uci(cells: Sequence[str]) -> bool:
    """Whether a row is one of UCI's Musk data: a name, its conformation, features, and the label with a
    full stop."""
    last = cells[-1].strip()
    return len(cells) > 3 and cell_number(cells[1]) is None and last.endswith(".") and last[:-1].isdecimal()


def cell_number(cell: str) -> float | None:
    """The number in a cell; None if it is not a number."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _column_names(
    form: BagFormat, head: Sequence[Cells], source: DataSource, options: BagOptions, features: Sequence[str]
) -> tuple[tuple[str, ...], bool]:
    """The columns' names, or their numbers from "1", and whether the first row is a header."""
    line, first = head[0]
    header = options.header
    if header is None:
        header = form == "csv" and (
            all(cell_number(cell) is None for cell in first[2:])
            or _is_header([cell.strip() for cell in first], features, options)
        )
    if not header:
        return tuple(str(i) for i in range(1, len(first) + 1)), False
    names = tuple(name.strip() or str(i) for i, name in enumerate(first, start=1))
    if len({*names}) < len(names):
        raise source.error("HW112", "two columns of the same name", line, advice="rename one")
    if len(head) == 1:
        raise source.error("HW113", "a header without rows below it", line)
    return names, True


def _is_header(cells: Sequence[str], features: Sequence[str], options: BagOptions) -> bool:
    """Whether a first row is a header although some names are numbers (as pandas numbers columns): it names
    the bag column, and the label column or all features of the model."""
    bag, label = (
        bool({*map(normal_name, cells)} & {*usual}) if requested is None else requested in cells
        for requested, usual in ((options.bag_column, BAG_NAMES), (options.label_column, BAG_LABEL_NAMES))
    )
    return bag and (label or (bool(features) and {*features} <= {*cells}))


def _has_no_labels(
    form: BagFormat, names: Sequence[str], free: Sequence[int], features: Sequence[str]
) -> bool:
    """Whether a file to predict has no label column, by the names, else by the number of columns."""
    if form == "uci":
        return False
    if len(free) < len(names):
        return not any(normal_name(names[i]) in BAG_LABEL_NAMES for i in free)
    return len(names) == len(features) + 1


def _choose(
    form: BagFormat,
    names: tuple[str, ...],
    free: Sequence[int],
    sample: Sequence[Sequence[str]],
    source: DataSource,
    options: BagOptions,
    lone: bool,
) -> tuple[int, int | None]:
    """The bag column and the label column, both from `free`; no label column if `lone`."""
    if len(free) < 2 - lone or len(names) < 3 - lone:
        expected = "the label of a bag, its name, and features"
        if free and len(free) < len(names):
            raise source.error("HW293", f"no column but {names[free[0]]!r} and features", expected=expected)
        raise source.error("HW293", f"{len(names)} columns", expected=expected, advice="give --delimiter")
    bag = label = None
    if options.bag_column:
        bag = find_column(options.bag_column, names, source, "--bag-column")
    if options.label_column:
        label = find_column(options.label_column, names, source, "--label-column")
    headed = not all(name.isdecimal() for name in names)  # without a header the first two columns are meant
    rest = [i for i in free if not headed or i not in (bag, label)] or free
    cells = [row for row in sample if len(row) == len(names)]
    guess: tuple[int, int | None]
    if lone:
        guess = _column_by_name(BAG_NAMES, names, rest), None
    elif form == "uci":
        guess = 0, len(names) - 1
    elif headed and (bag is None) != (label is None):
        guess = (
            _column_by_name(BAG_NAMES, names, rest, cells),
            _column_by_name(BAG_LABEL_NAMES, names, rest, cells),
        )
    else:
        first, second = _guess_order([names[i] for i in free], [[row[i] for i in free] for row in cells])
        guess = free[first], free[second]
    bag = guess[0] if bag is None else bag
    label = guess[1] if label is None else label
    if bag == label:
        raise source.error("HW293", f"the column {names[bag]!r} for both bags and labels")
    if not (options.bag_column and (options.label_column or lone)):
        message = f"{_GUESSED}bag={names[bag]!r}, "
        message += "no labels" if label is None else f"label={names[label]!r}"
        source.notes.append(message + " - override with --bag-column/--label-column")
    return bag, label


def _feature_columns(
    form: BagFormat,
    names: tuple[str, ...],
    header: bool,
    taken: tuple[int, int | None],
    features: Sequence[str] | None,
    source: DataSource,
) -> tuple[int, ...]:
    """The feature columns, in the model's order if a model is to read them."""
    non_features = {*taken, 1} if form == "uci" else {*taken}
    rest = tuple(i for i in range(len(names)) if i not in non_features)
    if features is None:
        return rest
    if header and ({*features} <= {*names} or not all(name.isdecimal() for name in features)):
        lacking = next((name for name in features if name not in names), None)
        if lacking is not None:
            expected = "the features that the model was trained on"
            raise source.error("HW293", f"no column {lacking!r}", expected=expected)
        return tuple(names.index(name) for name in features)
    if len(rest) != len(features):
        expected = f"the {len(features)} that the model was trained on"
        raise source.error("HW293", f"{len(rest)} features", expected=expected)
    return rest


def _column_by_name(
    usual_names: Sequence[str],
    names: Sequence[str],
    free: Sequence[int],
    sample: Sequence[Sequence[str]] = (),
) -> int:
    """The column with one of the usual names, else the first that does not hold numbers."""
    named = next((i for i in free if normal_name(names[i]) in usual_names), None)
    words = next((i for row in sample[:1] for i in free if cell_number(row[i]) is None), free[0])
    return words if named is None else named


def _guess_order(names: Sequence[str], sample: Sequence[Sequence[str]]) -> tuple[int, int]:
    """The bag column and the label column: by their names, else the first two columns.

    Usually the label comes first; if that gives a bag two labels, and the other order does not, it comes
    second.
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
    line: int,
    cells: Sequence[str],
    columns: _BagColumns,
    bags: dict[str, _BagBuilder],
    unlabelled: dict[str, int] | None,
    source: DataSource,
) -> None:
    """Add an instance to its bag, or to the `unlabelled` bags (their first lines) if these are left out, or
    report what is wrong with it."""
    width = len(columns.names)
    if len(cells) != width:
        problem = f"an instance of {len(cells)} column{'s' * (len(cells) != 1)}"
        expected = f"{width}, as in the first line"
        source.report_error("HW291", problem, line, expected=expected)
        return
    name, label = cells[columns.bag].strip(), ""
    if columns.label is not None:
        label = cells[columns.label].strip()
    if label[:-1].isdecimal():
        label = label.removesuffix(".")
    if name and not label and columns.label is not None and unlabelled is not None:
        unlabelled.setdefault(name, line)
        return
    if not name or (not label and columns.label is not None):
        code, problem = ("HW120", "an empty label") if name else ("HW293", "an instance without a bag")
        advice = "fill it in or remove the row" + " (--empty-labels skip leaves such bags out)" * bool(name)
        source.report_error(code, problem, line, advice=advice)
        return
    bag = bags.get(name)
    if bag and bag.label != label:
        problem = f"the bag {name!r} has the label {label!r} here and {bag.label!r} in line {bag.line}"
        expected = f"one label for all instances of a bag{columns.guess_note}"
        source.report_error("HW292", problem, line, expected=expected)
        return
    values = array("f")
    for i in columns.features:
        value = cell_number(cells[i])
        if value is None or not abs(value) <= LARGEST_FLOAT32:
            problem = f"{cells[i]!r} in the column {columns.names[i]!r}"
            expected = "a finite number (float32)"
            advice = "fill in missing values, such as by the feature's mean, or remove the row"
            source.report_error(
                "HW290", problem, line, expected=expected, advice=advice + columns.guess_note
            )
            return
        values.append(value)
    if bag is None:
        bag = bags[name] = _BagBuilder(label, line)
    bag.values.extend(values)
