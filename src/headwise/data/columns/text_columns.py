"""Choose the text column and the label column of a table, and explain the choice."""

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

from headwise.core.errors import ConfigError
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_contents import (
    Column,
    other_labels_notes,
    span_columns,
    span_rows_error,
    unused_columns_notes,
)
from headwise.data.columns.column_names import (
    COLUMN_JOINER,
    LABEL_NAMES,
    RARELY_LABEL_NAMES,
    TEXT_NAMES,
    counts_reactions,
    has_usual_name,
    is_prediction,
    is_voted_name,
    join_text_parts,
    joined_column_names,
    most_usual_column,
    name_rank,
    names_person,
    normal_name,
)
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.named_columns import (
    MOST_SHOWN,
    check_distinct_columns,
    columns_of,
    find_column,
    shortened,
    tabular_names,
)
from headwise.data.columns.tabular_columns import TabularColumn
from headwise.data.errors import DataError


@dataclass(frozen=True)
class Columns:
    """The names of the chosen columns; None where there is no label column, or none of weights."""

    text: str
    label: str | None = None
    weight: str | None = field(default=None, kw_only=True)
    tabular: tuple[TabularColumn, ...] = field(default=(), kw_only=True)
    """The columns beside the text."""

    @property
    def label_columns(self) -> tuple[str, ...]:
        """The columns of labels."""
        return () if self.label is None else (self.label,)


def choose_columns(
    sample: Sequence[Record], source: DataSource, *, labelled: bool, numbers: bool = False
) -> Columns:
    """Choose the text and label columns by the options, else by the columns' names, else by their contents.

    Guesses are added to `source.notes`.

    Args:
        labelled: Whether a label column is needed; if not, it is None when in doubt, and a guess is not
            noted.

    Raises:
        DataError: HW111 (no such column), HW131 (cannot be guessed).
        ConfigError: Text and label are the same column.
    """
    options = source.options
    columns = columns_of(sample)
    names = [column.name for column in columns]
    tabular = tabular_names(sample, source)
    label, requested = None, list[Column]()
    if options.text_column:
        requested = _columns_of_text(options.text_column, columns, source)
    if options.label_column and labelled:
        label = columns[find_column(options.label_column, names, source, "--label-column")]
    for part, name in product([column.name for column in requested] or [None], tabular or [None]):
        check_distinct_columns(features=name, text_column=part, label_column=label and label.name)
    open_columns = [column for column in columns if column.name not in tabular]
    text, guessed = _joined_column(requested), list[str]()
    if text is None:
        text = _text_column([c for c in open_columns if c is not label])
        if text is None:
            flags = "--text-column (for pairs of texts --first-column and --second-column)"
            raise ambiguous_columns_error("the text column", flags, columns, source)
        guessed.append(f"text={text.name!r}")
    choose, read = _number_column if numbers else _label_column, requested or [text]
    if label is None:
        label = choose([c for c in open_columns if c not in read], needed=labelled)
    if label is None and labelled:
        raise ambiguous_columns_error("the label column", "--label-column", columns, source)
    guessed_label = label if labelled and not options.label_column else None
    if guessed_label:
        guessed.append(f"label={guessed_label.name!r}")
    if guessed:
        flags = "--text-column/--label-column" if labelled else "--text-column"
        source.notes.append(f"columns guessed: {', '.join(guessed)} - override with {flags}")
    if guessed_label and is_prediction(guessed_label.name):
        message = f"{guessed_label.name!r} is named like the labels that a model gave, not people"
        source.notes.append(f"{message} - override with --label-column")
    read_names = {column.name for column in (*read, label) if column}
    remaining = [column for column in open_columns if column.name not in read_names]
    if guessed_label:
        if names := span_columns(remaining, text):
            raise span_rows_error(names, guessed_label.name, source)
        unread = {column.name for column in remaining}
        unvoted = [c for c in _without_votes(open_columns) if c.name in unread]
        source.notes += other_labels_notes(unvoted, guessed_label)
    source.notes += unused_columns_notes(remaining)
    texts = (column for column in remaining if column.varies and not column.is_machine_written)
    if unused := [c for c in texts if (c.strings and c.words >= 3) or c.has_unique_words]:
        note = f"columns of text that are not used: {', '.join(repr(column.name) for column in unused)}"
        if len(unused) == 1 and guessed and label is not None:
            both = COLUMN_JOINER.join(column.name for column in columns if column in (text, *unused))
            flags = f"--task pair --first-column {unused[0].name!r} --second-column {text.name!r}"
            note += f" (to read both as one text: --text-column {both!r}; to compare them: {flags})"
        source.notes.append(note)
    return Columns(text.name, label.name if label else None)


def choose_text(sample: Sequence[Record], source: DataSource, *, without: Sequence[str] = ()) -> str:
    """Choose the text column in the same way as `choose_columns`, but none of those in `without`.

    Raises:
        DataError: HW111, HW131.
    """
    columns = columns_of(sample)
    requested = source.options.text_column
    if requested and (joint := _joined_column(_columns_of_text(requested, columns, source))):
        return joint.name
    taken = {*without, *tabular_names(sample, source)}
    text = _text_column([column for column in columns if column.name not in taken])
    if text is None:
        raise ambiguous_columns_error("the text column", "--text-column", columns, source)
    source.notes.append(f"columns guessed: text={text.name!r} - override with --text-column")
    return text.name


def named_label_column(sample: Sequence[Record], *, without: Collection[str | None]) -> str | None:
    """The column of names, not of numbers, that would be guessed to be the label if the table had none of
    the columns in `without`."""
    columns = [column for column in columns_of(sample) if column.name not in without]
    label = _label_column([c for c in columns if c is not _text_column(columns)], needed=False)
    rarely = label is None or label.numbers or normal_name(label.name) in RARELY_LABEL_NAMES
    return None if label is None or rarely else label.name


def _columns_of_text(requested: str, columns: Sequence[Column], source: DataSource) -> list[Column]:
    """The requested text column, or the columns that are joined into the text."""
    names = [column.name for column in columns]
    chosen = [
        columns[find_column(part, names, source, "--text-column")]
        for part in joined_column_names(requested, names)
    ]
    if twice := [column.name for n, column in enumerate(chosen) if column in chosen[:n]]:
        raise ConfigError(f"--text-column {requested} names the column {twice[0]!r} twice")
    return chosen


def _joined_column(columns: Sequence[Column]) -> Column | None:
    if len(columns) < 2:
        return columns[0] if columns else None
    values = [join_text_parts(row) for row in zip(*(column.values for column in columns), strict=True)]
    name = COLUMN_JOINER.join(column.name for column in columns)
    return Column(name, values, any(column.strings for column in columns))


def _preferred(columns: list[Column], *rules: Callable[[Column], bool]) -> list[Column]:
    """The columns that meet the rules, applied in order; a rule that none of the remaining meets is
    skipped."""
    for rule in rules:
        columns = [column for column in columns if rule(column)] or columns
    return columns


def _possible_texts(columns: list[Column]) -> list[Column]:
    """The columns that may be texts, by their values."""
    columns = [
        c
        for c in columns
        if c.strings
        and (not c.identifies or (_is_text_named(c) and not (c.is_machine_written or c.names_files)))
    ]
    lettered = [column for column in columns if column.has_letters]
    if any(not _is_label_named(c) and not c.is_categorical for c in lettered):
        columns = lettered
    columns = _preferred(columns, lambda c: c.is_mostly_filled)
    columns = [c for c in columns if _is_text_named(c) or not (c.has_few_values and c.words < 2)]
    varied = [column for column in columns if not column.has_few_values]
    return varied if any(column.words >= 3 for column in varied) else columns


def _text_column(columns: list[Column]) -> Column | None:
    """The column of texts: by its name, else that with the longest texts, else the only one whose values
    are no categories. None where a column asks and another one answers: which is the text is open."""
    columns = _possible_texts(columns)
    other_label = any(c.is_categorical and _is_label_named(c) for c in columns)
    candidates = [c for c in columns if not _is_label_named(c) or (c.is_prose and other_label)]
    named = _by_name(columns, TEXT_NAMES)
    answers = [c for c in candidates if c.words >= 3 and not c.heads and not c.asks]
    if answers and any(c.asks for c in candidates) and (named is None or named.asks):
        return None
    if named and not (named.heads and any(c.words >= 2 * named.words for c in candidates)):
        return named
    longest = sorted(candidates, key=lambda column: column.words, reverse=True)
    if len(longest) < 2 or longest[0].words >= 1.5 * longest[1].words:
        return longest[0] if longest else None
    varied = [column for column in candidates if not column.is_categorical]
    return varied[0] if len(varied) == 1 else None


def _without_votes(columns: list[Column]) -> list[Column]:
    """The columns without a `score` that counts the votes for a post."""
    voted = any(is_voted_name(column.name) for column in columns)
    voted = voted or {"title", "tags"} <= {normal_name(column.name) for column in columns}
    counted = any(counts_reactions(column.name) and column.numbers for column in columns)
    return [
        column
        for column in columns
        if normal_name(column.name) != "score" or not (voted or (counted and column.counts))
    ]


def _label_column(columns: list[Column], *, needed: bool) -> Column | None:
    """The column of labels: by its name, else the only one that is left of those whose values recur, by
    rules in this order. None where several are left, or none."""
    columns = _preferred(_without_votes(columns), lambda c: any(map(str.strip, c.values)))
    named = _by_name([column for column in columns if not column.holds_objects], LABEL_NAMES)
    named = named or _by_name(columns, LABEL_NAMES)
    if named and named.is_prose:
        remaining = [column for column in columns if column is not named]
        named = _by_name(remaining, LABEL_NAMES) or named
        if named.is_prose and named.words >= 3 and named.distinct == len(named.values):
            return None  # a text for each text, as of translations
    if named:
        return _with_names(named, columns)
    columns = [column for column in columns if not column.is_never_label]
    candidates = [
        c for c in columns if c.is_recurring or (c.has_few_values and has_usual_name(c.name, LABEL_NAMES))
    ]
    if needed and not any(column.varies for column in candidates):
        candidates += [column for column in columns if column.is_decimal]
    candidates = _preferred(
        candidates,
        lambda c: c.varies,
        lambda c: not is_prediction(c.name),
        lambda c: not c.heads,
        lambda c: normal_name(c.name) not in RARELY_LABEL_NAMES,
        lambda c: not c.is_decimal,
        lambda c: has_usual_name(c.name, LABEL_NAMES),
    )
    answers = {value for column in candidates if names_person(column.name) for value in column.values}
    agreed = [column for column in candidates if not names_person(column.name)]
    if answers and len(agreed) == 1 and answers.issuperset(agreed[0].values):
        return agreed[0]  # beside the answers of several people
    named = [column for column in candidates if not column.numbers]
    if len(named) == 1 and all(
        _are_numbers_of(column, named[0]) for column in candidates if column.numbers
    ):
        return named[0]
    return candidates[0] if len(candidates) == 1 else None


def _with_names(label: Column, columns: list[Column]) -> Column:
    """The column of the names of labels, if a column has their numbers, and this one is named after it:
    `label_text` for `label`."""
    beginning = f"{normal_name(label.name)}_"
    if not label.numbers:
        return label
    names = [c for c in columns if normal_name(c.name).startswith(beginning) and not c.numbers]
    names = [column for column in names if column.distinct > 1 and _are_numbers_of(label, column)]
    return names[0] if len(names) == 1 else label


def _are_numbers_of(numbers: Column, names: Column) -> bool:
    """Whether a column holds a number for each name of another column."""
    pairs = len({*zip(numbers.values, names.values, strict=True)})
    return numbers.distinct == names.distinct == pairs


def _number_column(columns: list[Column], *, needed: bool) -> Column | None:
    """The column of numeric labels: by its name, else the only column of decimals, else the only one of
    whole numbers (which may just count the texts), if no column is named like labels."""
    columns = _without_votes(columns)
    numbers = [column for column in columns if column.numbers]
    if named := _by_name(numbers, LABEL_NAMES):
        return named
    numbers = [column for column in numbers if not column.is_never_label]
    numbers = _preferred(numbers, lambda c: c.distinct > 1)
    measured = [column for column in numbers if column.is_decimal]
    if needed and len(measured) == 1:
        return measured[0]
    if named := _by_name(columns, LABEL_NAMES):
        return named
    return numbers[0] if needed and not measured and len(numbers) == 1 else None


def _is_text_named(column: Column) -> bool:
    return name_rank(column.name, TEXT_NAMES) is not None


def _is_label_named(column: Column) -> bool:
    return name_rank(column.name, LABEL_NAMES) is not None


def _by_name(columns: list[Column], names: tuple[str, ...]) -> Column | None:
    index = most_usual_column((column.name for column in columns), names)
    return None if index is None else columns[index]


def ambiguous_columns_error(
    what: str, flags: str, columns: Sequence[Column], source: DataSource, code: str = "HW131"
) -> DataError:
    """The error that a column cannot be guessed, with the columns to choose from."""
    shown, listed = list[str](), [*enumerate(columns, start=1)]
    if len(columns) > MOST_SHOWN:  # those first that can be one
        listed.sort(key=lambda place: place[1].is_never_label or place[1].identifies or not place[1].varies)
    for number, column in listed:
        examples = [shortened(value) for value in dict.fromkeys(column.values)][:3]
        shown.append(f"\n  {number} {column.name!r}: {', '.join(examples)}")
    lists = list[str]()
    for column in columns:
        if not column.strings and column.values[0][:1] in ("{", "["):
            value = json.loads(column.values[0])
            inner = [*_inner_values(column.name, value)]
            lists += [
                path
                for path, inner_value in [(column.name, value), *inner]
                if isinstance(inner_value, list) and inner_value and isinstance(inner_value[0], list | dict)
            ]
            shown += [f"\n  {path}: {shortened(as_text(value))}" for path, value in inner]
    if len(shown) > MOST_SHOWN:
        shown[MOST_SHOWN:] = [f"\n  and {len(shown) - MOST_SHOWN:,} more"]
    advice = f"give {flags} with one of these names or numbers:{''.join(shown)}"
    if "text" in what and lists:
        objects = 'an object in a line of its own for each text, {"text": ..., "label": ...}'
        advice = f"{lists[0]!r} may hold several texts in a record: write {objects}; or {advice}"
    if what == "the label column" and (numbered := _numbered_labels(columns)):
        label_names = ", ".join(map(repr, numbered[:8]))
        advice = (
            f"{label_names} may be several labels of a text: write these into one column with | between "
            f"them, for --task multi-label; or {advice}"
        )
    elif what == "the label column" and (annotators := _columns_of_equal_labels(columns)):
        annotator_names = ", ".join(map(repr, annotators[:8]))
        advice = (
            f"{annotator_names} hold the same labels: if several people gave them, write one column with "
            f"the label of most of them, or a probability for each; or {advice}"
        )
    if "text" in what and (elsewhere := [column.name for column in columns if column.names_files]):
        advice = f"{elsewhere[0]!r} names files: write their texts into a column; or {advice}"
    return source.error(code, f"{what} cannot be guessed", advice=advice)


def _numbered_labels(columns: Sequence[Column]) -> list[str]:
    """The names of columns that differ in a number at their ends, in which no row has a value twice, and
    some have fewer values than others, as labels of a text have; none if these are numbers."""
    stems: dict[str, list[Column]] = {}
    for column in columns:
        stem = column.name.rstrip("0123456789")
        if stem not in ("", column.name) and not column.numbers and not column.is_prose:
            stems.setdefault(stem, []).append(column)
    for named in stems.values():
        cells = zip(*(column.values for column in named), strict=True)
        rows = [[*filter(None, map(str.strip, row))] for row in cells]
        if len({*map(len, rows)}) > 1 and all(len({*row}) == len(row) for row in rows):
            return [column.name for column in named]
    return []


def _columns_of_equal_labels(columns: Sequence[Column]) -> list[str]:
    """The names of columns with the same few names of labels, as annotators write them; none if these are
    numbers."""
    names_of: dict[frozenset[str], list[str]] = {}
    for column in columns:
        values = frozenset(value.strip() for value in column.values if value.strip())
        if len(values) > 1 and column.is_recurring and not column.numbers:
            names_of.setdefault(values, []).append(column.name)
    return next((names for names in names_of.values() if len(names) > 1), [])


def _inner_values(path: str, value: object) -> Iterator[tuple[str, object]]:
    """The values of an object and of a list of objects, with the names that lead to them."""
    if isinstance(value, dict):
        yield from ((f"{path}.{key}", inner) for key, inner in value.items())
    elif isinstance(value, list):
        objects = ((number, item) for number, item in enumerate(value) if isinstance(item, dict))
        for number, item in objects:
            yield from _inner_values(f"{path}.{number}", item)
