"""Choose the columns of both texts and of the label of text pairs, and say why.

Code: HW285, if they cannot be guessed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from headwise.data.columns import Column, check_apart, columns_of, find_column, unsure
from headwise.data.errors import DataError
from headwise.data.names import PAIR_LABEL_NAMES, PAIR_NAMES, normal_name
from headwise.data.pair import PairOptions
from headwise.data.soft_columns import WEIGHT_NAMES, choose_weight
from headwise.data.source import Record, Source


@dataclass(frozen=True)
class PairColumns:
    """The names of the chosen columns; no label column, or none of weights, where there is none."""

    first: str
    second: str
    label: str | None = None
    weight: str | None = None


def choose_pair_columns(
    sample: Sequence[Record],
    source: Source,
    *,
    labelled: bool,
    options: PairOptions,
    numbers: bool = False,
) -> PairColumns:
    """Choose by the options, else by the columns' names, else by what is in them.

    What was guessed is added to `source.notes`.

    Args:
        sample: The first records.
        source: The file.
        labelled: Whether a label column is needed; if not, it is None when in doubt.
        options: What is not to be guessed.
        numbers: Whether labels are numbers.

    Raises:
        DataError: HW111 (no such column), HW285 (cannot be guessed).
        ConfigError: Two are to be the same column.
    """
    columns = columns_of(sample)
    names = [column.name for column in columns]

    def find(asked: str | None, flag: str) -> str | None:
        return names[find_column(asked, names, source, flag)] if asked else None

    first = find(options.first_column, "--first-column")
    second = find(options.second_column, "--second-column")
    try:
        label = find(options.label_column, "--label-column")
    except DataError:
        if labelled:
            raise
        label = None
    asked = options.weight_column
    weight = (
        choose_weight(sample, source, asked, without=[first, second, label], many="pairs")
        if labelled
        else None
    )
    check_apart(first_column=first, second_column=second, label_column=label, weight_column=weight)
    columns = [column for column in columns if column.name != weight]
    guessed = []
    if first is None or second is None:
        texts = _texts([column for column in columns if column.name != label], alone=not labelled)
        if first is None and second is None and texts:
            first, second = texts
            guessed += [f"first={first!r}", f"second={second!r}"]
        elif texts and (first or second) in texts:
            other = texts[1 - texts.index(first or second or "")]
            guessed.append(f"{'second' if first else 'first'}={other!r}")
            first, second = first or other, second or other
    if first is None or second is None:
        flags = "--first-column and --second-column"
        raise unsure("the columns of the texts", flags, columns, source, "HW285")
    if options.label_column is None:
        others = [column for column in columns if column.name not in (first, second)]
        if numbers:
            others = [column for column in others if column.numbers] or others
        label = _label(others)
        if label is not None:
            guessed += [f"label={label!r}"] if labelled else []  # nobody goes by it else
        elif labelled:
            raise unsure("the column of the labels", "--label-column", columns, source, "HW285")
    if guessed:
        flags = "--first-column/--second-column" + "/--label-column" * labelled
        source.notes.append(f"columns guessed: {', '.join(guessed)} - override with {flags}")
    return PairColumns(first, second, label, weight)


def _texts(columns: Sequence[Column], *, alone: bool) -> tuple[str, str] | None:
    """The columns with usual names, else the only two that hold texts of several words, or where the texts
    may stand alone, the only two; neither numbers nor labels by their name are texts."""
    normal = {normal_name(column.name): column.name for column in reversed(columns)}
    for one, other in PAIR_NAMES:
        if one in normal and other in normal:
            return normal[one], normal[other]
    texts = [column.name for column in columns if column.words >= 2 and not column.categorical]
    if alone and len(columns) == 2 and normal.keys().isdisjoint(PAIR_LABEL_NAMES):
        texts = [column.name for column in columns if not column.numbers]
    return (texts[0], texts[1]) if len(texts) == 2 else None


def _label(columns: Sequence[Column]) -> str | None:
    normal = {normal_name(column.name): column.name for column in reversed(columns)}
    for name in PAIR_LABEL_NAMES:
        if name in normal:
            return normal[name]
    others = [column for column in columns if normal_name(column.name) not in WEIGHT_NAMES]
    found = [column.name for column in others if column.categorical]
    return found[0] if len(found) == 1 else None
