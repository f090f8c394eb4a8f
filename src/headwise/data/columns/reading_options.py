"""How data files are read: every choice that headwise would otherwise guess, and how a file is split.

There is a class of options for each item type: texts (`ReadOptions`, with subclasses for label sets,
weights and soft labels), tagged sentences, streams of symbols, pairs and bags. They share the fields of
`EncodingOptions` and `TableOptions`, which come after their own. Importing this file loads neither torch
nor NumPy.
"""

from dataclasses import dataclass, fields
from typing import Literal

from headwise.core.config import check_range
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

    quoting: Literal["double", "none"] | None = None
    """Whether quotation marks enclose the fields of a csv file (double), or are ordinary characters (none).
    By default they enclose fields, and a field that seems to hold whole rows is an error."""

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
        return bool(self.text_column or self.label_column)


@dataclass(frozen=True)
class MultiLabelOptions(ReadOptions):
    """The same of files whose texts have any number of labels."""

    label_separator: str | None = None
    """Separator of the labels of a cell. By default |, or a ; or comma between recurring parts; for a model
    the separator of its training data. Lists need none."""

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
        if self.label_separator is not None and not self.label_separator.strip():
            raise ConfigError(f"label_separator {self.label_separator!r}; expected more than white space")

    @property
    def has_column_options(self) -> bool:
        weighed = self.weight_column not in (None, "none")
        more = self.label_columns is not None or self.features is not None
        return super().has_column_options or more or weighed

    @property
    def flags(self) -> list[str]:
        """The names or numbers in `label_columns`."""
        return split_names(self.label_columns)


@dataclass(frozen=True)
class WeightOptions(ReadOptions):
    """The same of files whose texts may count more or less in training."""

    weight_column: str | None = None
    """Column of the training weights of the texts; or none."""

    features: str | None = None
    """Columns beside the text that the model reads too: price,country,created_at. Their types are guessed;
    price:number, zip:category and day:date name them (also decimal-comma, day-first, month-first)."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with rows whose label is empty: stop, or leave them out and report how many."""

    @property
    def has_column_options(self) -> bool:
        weighed = self.weight_column not in (None, "none")
        return super().has_column_options or weighed or self.features is not None


@dataclass(frozen=True)
class SoftLabelOptions(WeightOptions):
    """The same of files whose texts have one label each, which need not be certain."""

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

    @property
    def has_column_options(self) -> bool:
        columns = (self.probability_columns, self.confidence_column)
        return super().has_column_options or any(column not in (None, "none") for column in columns)


def split_names(names: str | None) -> list[str]:
    """The elements of a comma-separated list."""
    return [part.strip() for part in (names or "").split(",") if part.strip()]


DEFAULT_READ_OPTIONS = ReadOptions()


TaggedFormat = Literal["columns", "conllu", "conll2012", "slash", "trees", "lists", "table", "spans"]


@dataclass(frozen=True)
class TagOptions(EncodingOptions):
    """How files of tagged sentences are read. Options left out are guessed and the guesses reported."""

    format: TaggedFormat | None = None
    """Format of the files; guessed from the name and the first lines by default."""

    tag_column: str | None = None
    """Column of the tags: its name, or its number from 1. Default: the last column, or the last with a
    usual name if there is a header; CoNLL-U: upos (or xpos, deprel, feats); CoNLL-2012: ner (or pos); JSON:
    the list of tags or spans."""

    token_column: str | None = None
    """Column of the tokens: its name, or its number from 1; the first by default. For spans, the field of
    the text."""

    head_column: str | None = None
    """Column of the dependency heads, if there is one."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with sentences that nobody has tagged: stop, or leave them out and report how many."""

    null_texts: Literal["empty", "skip", "error"] = "empty"
    """What to do with texts and lists of words that are null: read them as sentences without words, leave
    them out and report how many, or stop. An empty word is an error; skip leaves out its sentence, or its
    row."""


DEFAULT_TAG_OPTIONS = TagOptions()


@dataclass(frozen=True)
class StreamOptions(EncodingOptions):
    """How plain texts are read for language modelling; bytes need none of it."""


DEFAULT_STREAM_OPTIONS = StreamOptions()


@dataclass(frozen=True)
class PairOptions(TableOptions):
    """How files of text pairs are read. Options left out are guessed, and the guesses are reported."""

    format: Literal["csv", "tsv", "jsonl", "xlsx", "parquet"] | None = None
    """Format of the files; guessed from the name and the first lines by default."""

    first_column: str | None = None
    """Column of the first texts: its name, or its number from 1."""

    second_column: str | None = None
    """Column of the second texts: its name, or its number from 1."""

    label_column: str | None = None
    """Column of the labels or scores: its name, or its number from 1."""

    weight_column: str | None = None
    """Column of the training weights of the pairs; or none."""

    no_label: str = "-"
    """Label of pairs on which annotators did not agree (SNLI); such pairs are left out and counted."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with rows whose label is empty: stop, or leave them out and report how many."""

    null_texts: Literal["empty", "skip", "error"] = "empty"
    """What to do with texts that are null (JSON, Parquet): read them as empty ones and report how many,
    leave out their rows and report how many, or stop."""

    def reading(self) -> ReadOptions:
        """The options that the reader of tables needs."""
        shared = {item.name: getattr(self, item.name) for item in fields(TableOptions)}
        return WeightOptions(
            format=self.format,
            text_column=self.first_column or self.second_column,
            label_column=self.label_column,
            empty_labels=self.empty_labels,
            null_texts=self.null_texts,
            **shared,
        )


DEFAULT_PAIR_OPTIONS = PairOptions()


BagFormat = Literal["csv", "uci"]


@dataclass(frozen=True)
class BagOptions(TableOptions):
    """How files of bags are read. Options left out are guessed, and the guesses are reported."""

    format: BagFormat | None = None
    """The file's format; guessed from the first lines by default."""

    bag_column: str | None = None
    """Column of the bag of each instance: its name, or its number from 1."""

    label_column: str | None = None
    """The column of the bags' labels: its name, or its number from 1."""

    empty_labels: Literal["stop", "skip"] = "stop"
    """What to do with bags without a label: stop, or leave them out and report how many."""


DEFAULT_BAG_OPTIONS = BagOptions()


@dataclass(frozen=True)
class SplitConfig:
    """How a file is split where no dev or test file is given."""

    dev: float = 0.15
    """Fraction of the training file for dev, which chooses the best epoch and sets the temperature."""
    test: float = 0.15
    """Fraction of the training file for the test; 0 for no test."""
    seed: int = 0
    """Seed of the split; independent of the training seed."""

    def __post_init__(self) -> None:
        check_range(self, "dev", "test", low=0, high=1, open=True)
        if self.dev + self.test >= 1:
            raise ConfigError(f"dev {self.dev:g} and test {self.test:g} leave nothing to train on")
