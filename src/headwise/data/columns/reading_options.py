"""How data files are read: every choice that headwise would otherwise guess.

There is a class of options for each item type: texts (`ReadOptions`, with subclasses for label sets,
weights and soft labels) here, other items in `headwise.data.columns.item_options`. They share the fields of
`EncodingOptions` and `TableOptions`, which come after their own. Importing this file loads neither torch
nor NumPy.
"""

from dataclasses import dataclass
from typing import Literal

from headwise.core.errors import ConfigError
from headwise.data.columns.tabular_columns import TabularColumn, parse_features

DEFAULT_LABEL_SEPARATOR = "|"
"""The default separator of the labels in a cell."""

FormatName = Literal[
    "csv", "tsv", "jsonl", "rasa", "xlsx", "parquet", "label-text", "fasttext", "sst", "text"
]


@dataclass(frozen=True, kw_only=True)
class EncodingOptions:
    """How the bytes of a file become characters."""

    encoding: str = "utf-8"
    """Character encoding, such as utf-8, utf-16, latin-1 or cp1252."""

    encoding_errors: Literal["strict", "replace"] = "strict"
    """What to do with bytes that cannot be decoded: stop, or read them as U+FFFD."""


@dataclass(frozen=True, kw_only=True)
class TableOptions(EncodingOptions):
    """How a csv file is cut into cells."""

    header: bool | None = None
    """Whether the first row of a csv or tsv file names the columns."""

    delimiter: str | None = None
    """Separator of the fields of a csv file, or of label and text; "\\\\t" is a tab."""

    quoting: Literal["double", "single", "none"] | None = None
    """Whether double (") or single (') quotation marks enclose the fields of a csv file, or are ordinary
    characters (none). By default double ones do, or single ones that enclose a field of nearly every row; a
    field that seems to hold whole rows is an error."""

    escape: str | None = None
    """Character of a csv file that makes a quotation mark or delimiter after it an ordinary one, such as a
    backslash."""


@dataclass(frozen=True)
class ReadOptions(TableOptions):
    """How data files are read. Options left out are guessed, and the guesses are reported."""

    format: FormatName | None = None
    """Format of the files; guessed from the name and the first lines by default."""

    text_column: str | None = None
    """Column of the text: its name (data.text: a nested field in JSON), or its number from 1. subject+body
    joins several columns, one text below the other."""

    label_column: str | None = None
    """Column of the label: its name, or its number from 1."""

    null_texts: Literal["empty", "skip", "error"] = "empty"
    """What to do with texts that are null (JSON, Parquet): read them as empty ones and report how many,
    leave out their rows and report how many, or stop."""

    sst_unit: Literal["sentences", "phrases"] = "sentences"
    """Nodes of sentiment trees that become texts: the roots (sentences), or in training all nodes
    (phrases)."""

    sst_labels: Literal["five", "binary"] = "five"
    """Labels of sentiment trees: 0 to 4 (five), or 0 and 1 without neutral texts (binary)."""

    @property
    def tabular_columns(self) -> tuple[TabularColumn, ...]:
        """The columns beside the text that `features` names; none for items that have none."""
        return tuple(parse_features(getattr(self, "features", None)))

    @property
    def has_column_options(self) -> bool:
        """Whether any option names a column; formats without columns reject such options."""
        names = ("text_column", "label_column", "label_columns", "features")
        optional = ("weight_column", "confidence_column", "probability_columns")
        named = any(getattr(self, name, None) for name in names)
        return named or any(getattr(self, name, None) not in (None, "none") for name in optional)


@dataclass(frozen=True)
class MultiLabelOptions(ReadOptions):
    """How files of texts with any number of labels are read."""

    label_separator: str | None = None
    """Separator of the labels of a cell. By default |, or a ; comma or blank between recurring parts; for a
    model the separator of its training data. Lists need none."""

    label_columns: str | None = None
    """Multi-hot columns, one for each label, with 1 or 0 (true or false, yes or no): names, or numbers from
    1, separated by commas; 3-8 is a range. The column names are the label names."""

    weight_column: str | None = None
    """Column of the training weights of the texts; or none."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with rows without labels: stop at a null and read an empty cell as no label, or leave out
    both and report how many."""

    features: str | None = None
    """Columns beside the text that the model reads too: price,country,created_at. Their types are guessed;
    price:number, zip:category and day:date name them (also decimal-comma, day-first, month-first)."""

    def __post_init__(self) -> None:
        if self.label_columns is not None and (self.label_column or self.label_separator):
            conflicting = "label_column" if self.label_column else "label_separator"
            raise ConfigError(f"label_columns and {conflicting} exclude each other; give one of them")
        if self.label_columns is not None and not self.flags:
            raise ConfigError(f"label_columns {self.label_columns!r}; expected names or numbers of columns")
        separator = self.label_separator
        if separator not in (None, " ") and not separator.strip():
            raise ConfigError(f"label_separator {separator!r}; expected a mark, or one blank")

    @property
    def flags(self) -> list[str]:
        """The names or numbers in `label_columns`."""
        return split_names(self.label_columns)


@dataclass(frozen=True)
class WeightOptions(ReadOptions):
    """How files of texts with training weights are read."""

    weight_column: str | None = None
    """Column of the training weights of the texts; or none."""

    features: str | None = None
    """Columns beside the text that the model reads too: price,country,created_at. Their types are guessed;
    price:number, zip:category and day:date name them (also decimal-comma, day-first, month-first)."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with rows whose label is empty: stop, or leave them out and report how many."""


@dataclass(frozen=True)
class SoftLabelOptions(WeightOptions):
    """How files of texts with one label each, which may be uncertain, are read."""

    probability_columns: str | None = None
    """Columns with the probability of each label, named like the labels: names, or numbers from 1,
    separated by commas; 3-8 is a range. In jsonl also one field with an object."""

    confidence_column: str | None = None
    """Column with the probability of the label; the other labels share the remaining probability. Or
    none."""

    def __post_init__(self) -> None:
        if self.probability_columns is not None and (self.label_column or self.confidence_column):
            conflicting = "label_column" if self.label_column else "confidence_column"
            raise ConfigError(f"probability_columns and {conflicting} exclude each other; give one of them")
        if self.probability_columns is not None and not split_names(self.probability_columns):
            raise ConfigError(f"probability_columns {self.probability_columns!r}; expected columns")


def split_names(names: str | None) -> list[str]:
    """The elements of a comma-separated list."""
    return [part.strip() for part in (names or "").split(",") if part.strip()]


DEFAULT_READ_OPTIONS = ReadOptions()
