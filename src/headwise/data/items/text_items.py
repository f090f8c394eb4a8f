"""The item type of texts with a label, a label set or a number."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, NamedTuple

from headwise.core.config import from_dict
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import Tokenizer, first_words
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import FLAG_NAMES, LABEL_NAMES, has_usual_name, normal_name
from headwise.data.columns.file_source import FileHead, look_ahead
from headwise.data.columns.multi_hot_columns import MultiHotColumns
from headwise.data.columns.multi_label_columns import (
    LIST_SEPARATOR,
    choose_multi_label_columns,
    lists_words_of_text,
    separator_of,
)
from headwise.data.columns.named_columns import columns_of
from headwise.data.columns.pair_columns import named_texts, parallel_texts
from headwise.data.columns.reading_options import (
    MultiLabelOptions,
    ReadOptions,
    SoftLabelOptions,
    WeightOptions,
)
from headwise.data.columns.tabular_columns import TabularColumn
from headwise.data.errors import DataError, OnError, raise_error
from headwise.data.formats import FORMATS
from headwise.data.items.dataset import Dataset, InputRows
from headwise.data.items.examples import (
    TEXTS,
    DisplayNames,
    Example,
    Parse,
    first_heads,
    parse_field,
    weight_field,
)
from headwise.data.items.item_type import ItemType
from headwise.data.items.label_types import SINGLE_LABEL_TYPE, LabelType
from headwise.data.items.numeric_labels import look_like_measurements, look_like_scores
from headwise.data.readers.labelled_files import open_records, read_examples, read_rows


class TextSchema(NamedTuple):
    """What files of texts must fit.

    Attributes:
        labels: The multi-hot label columns of the training data.
        separator: The separator of labels in a cell.
        tabular: The columns beside the text.
    """

    labels: Sequence[str] = ()
    separator: str | None = None
    tabular: tuple[TabularColumn, ...] = ()


class TextItems(ItemType[Example]):
    """Texts, with a label (`SINGLE_LABEL_TYPE`), a label set (`LABEL_SET_TYPE`) or a number
    (`NUMERIC_LABEL_TYPE`)."""

    nouns: ClassVar[DisplayNames] = TEXTS
    sides: ClassVar[int] = 1

    def __init__(self, label_type: LabelType = SINGLE_LABEL_TYPE):
        super().__init__(label_type)
        self.sets = label_type.multi_label
        one = SoftLabelOptions if label_type.one_label else WeightOptions
        self.options = MultiLabelOptions if self.sets else one

    def read(self, path: str, options=None, on_error: OnError = raise_error, *, schema=None) -> Dataset:
        options = options or self.options()
        schema = schema or TextSchema()
        if schema.separator and not (options.label_separator or options.label_columns):
            options = replace(options, label_separator=schema.separator)
        return read_examples(path, options, on_error, training_labels=schema.labels, tabular=schema.tabular)

    def rows(self, path: str, options=None, *, schema=None) -> InputRows[Example]:
        tabular = (schema or TextSchema()).tabular
        return read_rows(path, options or self.options(), tabular=tabular)

    def schema(self, data):
        columns = getattr(data, "columns", None)  # None for data from memory
        tabular = getattr(columns, "tabular", ())
        if not self.sets:
            return TextSchema(tabular=tabular) if tabular else None
        return TextSchema(getattr(columns, "flags", ()), getattr(columns, "separator", None), tabular)

    def part_options(self, options, part: str, cut: Sequence[str]):
        """The options of a part: phrases of sentiment trees are for training only, not for dev and test.

        Raises:
            ConfigError: Dev or test sentences would be split off the training file, which leaks their
                phrases.
        """
        if options is None or options.sst_unit == "sentences":
            return options
        if cut:
            raise ConfigError(
                f"--sst-unit phrases: {' and '.join(cut)} sentences split off the training file would have "
                f"their phrases in training; give {' and '.join(f'--{name}' for name in cut)}"
                + (", or --split.test 0" if "test" in cut else "")
            )
        return options if part == "train" else replace(options, sst_unit="sentences")

    def key(self, item: Example) -> str:
        return item.text

    def part_notes(self, parts) -> tuple[str, ...]:
        empty = sum(not item.text.strip() for part in parts.values() for item in part)
        notes = [f"empty texts, which are kept: {empty:,}"] if empty else []
        labels = Counter(str(getattr(item, "label", None)) for item in parts["train"])
        if self.label_type.one_label and look_like_scores(labels):
            notes.append(
                f"{len(labels)} numbers are the labels, each a class of its own (--task regress learns how "
                "much)"
            )
        return tuple(notes)

    def fields(self, item: Example) -> Iterable[str | None]:
        answer = json.dumps(sorted(item.labels)) if self.sets else item.label
        return item.text, answer, *parse_field(item.parse), *_further_fields(item)

    def words(self, item: Example, cut: Callable[[str], Sequence[str]]) -> tuple[Sequence[str], ...]:
        return (cut(item.text),)

    def first_words(self, item: Example, count: int, tokenizer: Tokenizer) -> Example:
        return replace(
            item, text=first_words(item.text, count, tokenizer), parse=first_heads(item.parse, count)
        )

    def with_parses(self, item: Example, heads: Sequence[Parse]) -> Example:
        return replace(item, parse=heads[0])

    def has_parses(self, item: Example) -> bool:
        return item.parse is not None

    def text(self, item: Example) -> str:
        return item.text

    def show(self, item: Example) -> str:
        return " ".join(item.text.split())

    def columns_of(self, data) -> tuple[str, str | None]:
        columns = data.columns
        return columns.text, columns.label or ", ".join(getattr(columns, "shares", ())) or None

    def implied_by(self, reading: Mapping[str, object]) -> str | None:
        if self.sets and "label_columns" in reading:
            return "columns of labels are named"
        if self.options is SoftLabelOptions and "probability_columns" in reading:
            return "columns of probabilities are named"
        return "a separator of labels is given" if self.sets and "label_separator" in reading else None

    def recognise(self, head: FileHead, reading: Mapping[str, object]) -> str | None:
        looks = (
            _multi_label_reason if self.sets else _numeric_label_reason if self.label_type.numeric else None
        )
        if looks is None or {"first_column", "second_column", "probability_columns"} & set(reading):
            return None
        field_names = self.options.__dataclass_fields__
        applicable = {name: value for name, value in reading.items() if name in field_names}
        try:
            return looks(head, from_dict(self.options, applicable))
        except (DataError, ConfigError):
            return None  # the reader of the file reports the problem


def _further_fields(item: Example) -> Iterable[str]:
    """The columns beside the text, the soft label and the weight for the fingerprint, if they differ from
    the defaults."""
    if item.tabular is not None:
        yield json.dumps([[column.name, column.type] for column in item.tabular.columns])
        yield json.dumps(item.tabular.values)
    if item.shares is not None:
        values = [f"{value:.6g}" for value in item.shares.values.tolist()]
        yield json.dumps([item.shares.labels, values])
    yield from weight_field(item.weight)


def _numeric_label_reason(head: FileHead, options: ReadOptions) -> str | None:
    """The reason why a file looks like texts with numbers, or None.

    The numbers must be in the requested label column, one with a usual name, or the only candidate."""
    form, columns, records = open_records(head.source(options), labelled=True)
    label = columns.label
    if label is None or not FORMATS[form].table:
        return None
    sample, _ = look_ahead(records)
    named = options.label_column or has_usual_name(label, LABEL_NAMES)
    columns_read = columns_of(sample)
    label_column = next(column for column in columns_read if column.name == label)
    pairs = named_texts(columns_read) or parallel_texts(columns_read)
    if pairs or not (named or label_column.is_decimal):
        return None
    labels = Counter(as_text(record.fields.get(label)).strip() for record in sample)
    labels.pop("", None)
    return f"the column {label!r} holds measured numbers" if look_like_measurements(labels) else None


def _multi_label_reason(head: FileHead, options: MultiLabelOptions) -> str | None:
    """The reason why a file looks like multi-label texts, or None."""
    form, columns, records = open_records(head.source(options), labelled=False)
    sample, _ = look_ahead(records)
    if form == "fasttext":
        lists = (record.fields.get("label") for record in sample)
        multi_label = any(isinstance(labels, list) and len(labels) > 1 for labels in lists)
        return "lines begin with several __label__" if multi_label else None
    label = columns.label
    named = (
        label is not None and has_usual_name(label, LABEL_NAMES) and normal_name(label) not in FLAG_NAMES
    )
    if (options.label_column or not named) and sample and FORMATS[form].table:
        chosen = choose_multi_label_columns(sample, head.source(options), labelled=True)
        if isinstance(chosen, MultiHotColumns):
            return f"the columns {', '.join(map(repr, chosen.flags))} say yes or no"
        label = chosen.label
    if label and lists_words_of_text(sample, label):
        return None
    values = [record.fields.get(label or "") for record in sample]
    separator = separator_of(values, options, label) if label else None
    if separator == LIST_SEPARATOR:
        return f"the field {label!r} holds lists"
    return f"the labels are separated by {separator!r} and recur" if separator else None
