"""Records with lists and objects in them, from JSON, or from tables whose cells hold them as text."""

from collections.abc import Iterator, Sequence
from itertools import islice

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.cell_values import parse_cell
from headwise.data.columns.file_source import DataSource, Record, look_ahead, most_true
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line
from headwise.data.formats import csv, entity_columns, entity_rows, inline_markup, jsonl, rasa
from headwise.data.formats.annotation_exports import flatten_tables
from headwise.data.formats.csv_records import DELIMITERS
from headwise.data.formats.table_rows import records_from_rows

_TAG = r"(?:O|[BIESLU]-[^\s,;\"]+)"
_TWO_TAGS = lazy_pattern(rf"(?<![\w-]){_TAG}[ ,]{_TAG}")  # from within a word, the time would be quadratic
_JSON = lazy_pattern(
    r"\s*(?:\{|\[\s*(?:[\[\]{\"\d-]|null\b|true\b|false\b|$))"
)  # no mark such as [PER Tom]

_LOOKED_AT = 50  # records
_LEAST_WORDS = 3  # of fields with as many words each
_LAYOUTS = (entity_rows.recognise, entity_columns.recognise, inline_markup.recognise)


def read_structured(lines: Iterator[Line], source: DataSource) -> Iterator[Record]:
    """The records of JSON, of Rasa's training data, or of a csv file whose cells hold lists and objects."""
    head, lines = look_ahead(lines, count=200)
    is_json = _is_json(head)
    if not is_json and rasa.recognise([text for _, text in head]):
        yield from rasa.read_records(lines, source)
        return
    texts = [text for _, text in head if text.strip()]
    if is_json:
        records = jsonl.read_records(lines, source)
    elif inline_markup.are_marked_lines(texts):
        records = inline_markup.records_of_lines(lines)
    else:
        table = records_from_rows(csv.read_cells(lines, source), source)
        records = flatten_tables(table, source, structured=True)
    first_records, records = look_ahead(records)
    if is_json and any(
        isinstance(cell, str) and parse_cell(cell) is not cell
        for record in first_records
        for cell in record.fields.values()
    ):
        records = flatten_tables(records, source, structured=True)
        first_records, records = look_ahead(records)
    rows = [record.fields for record in first_records]
    flatten = next(filter(None, (recognise(rows) for recognise in _LAYOUTS)), None)
    yield from flatten(records, source) if flatten else records


def sample_rows(head: Sequence[Line]) -> list[dict[str, object]]:
    """The fields of the first records of a file; none if it has no lists or objects, and no two texts of as
    many words."""
    texts = [text for _, text in head]
    if not (
        _is_json(head)
        or rasa.recognise(texts)
        or any(
            ("[" in text or _TWO_TAGS.search(text)) and any(mark in text for mark in DELIMITERS)
            for text in texts
        )
        or most_true(map(_has_equal_fields, texts[:_LOOKED_AT]))
        or any(entity_rows.is_header(names) or entity_columns.is_header(names) for names in headers(texts))
        or inline_markup.style_of(texts) is not None
    ):
        return []
    quiet = DataSource("", ReadOptions(encoding_errors="replace"), lambda error: None)
    try:
        return [record.fields for record in islice(read_structured(iter(head), quiet), _LOOKED_AT)]
    except DataError:  # the reader of the file reports it
        return []


def headers(texts: Sequence[str]) -> list[list[str]]:
    """The names in the first line, if it is a header, for each delimiter in it."""
    return [
        [name.strip().strip('"') for name in text.split(mark)]
        for text in texts[:1]
        for mark in DELIMITERS
        if mark in text
    ]


def _has_equal_fields(text: str) -> bool:
    """Whether two fields of a line have as many words."""
    for delimiter in DELIMITERS:
        counts = [n for field in text.split(delimiter) if (n := len(field.split())) >= _LEAST_WORDS]
        if len({*counts}) < len(counts):
            return True
    return False


def _is_json(head: Sequence[Line]) -> bool:
    return _JSON.match(next((text for _, text in head if text.strip()), "")) is not None
