"""The exports of annotation tools: each is recognised by its first objects, and flattened into objects with
a text, and with its label, labels or spans."""

from collections.abc import Iterator

from headwise.data.columns.cell_values import parse_cell
from headwise.data.columns.file_source import DataSource, Record, look_ahead
from headwise.data.formats import (
    annotation_tools,
    argilla,
    chat_records,
    cloud_exports,
    document_sentences,
    intent_examples,
    label_studio,
    listed_entities,
    prodigy,
    spacy_training,
    span_layouts,
    token_spans,
    word_tag_pairs,
)
from headwise.data.formats.record_fields import Recognise
from headwise.data.formats.unlabelled_records import UnlabelledRecord

EXPORTS: tuple[Recognise, ...] = (
    label_studio.recognise,
    label_studio.recognise_rows,
    prodigy.recognise,
    argilla.recognise,
    annotation_tools.recognise_dataturks,
    annotation_tools.recognise_doccano,
    annotation_tools.recognise_lighttag,
    cloud_exports.recognise_manifest,
    cloud_exports.recognise_vertex,
    chat_records.recognise,
    spacy_training.recognise_paragraphs,
    word_tag_pairs.recognise,
    token_spans.recognise,
    intent_examples.recognise,
    listed_entities.recognise,
)
"""The exports of tools: the first that is recognised counts."""

_LAYOUTS = (document_sentences.recognise, token_spans.recognise_questions, span_layouts.recognise)
"""Other layouts of sentences and spans, which become those that are read here or elsewhere."""

_INNER = (
    *("data.", "annotations.", "annotation.", "responses.", "fields."),
    *("messages.", "conversations.", "contents."),
    *("classificationAnnotation.", "classificationAnnotations.", "sentimentAnnotation."),
)
"""Beginnings of requested columns that lead into the objects of exports as they are."""


def flatten_exports(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records, flattened if they are the export of a tool."""
    first, records = look_ahead(records, count=1)
    if first and not any(name.startswith(_INNER) for name in source.requested_columns):
        head, records = look_ahead(records)
        rows = [record.fields for record in head]
        for recognise in _LAYOUTS:
            if flatten := recognise(rows):
                head, records = look_ahead(flatten(records, source))
                rows = [record.fields for record in head]
        if flatten := next(filter(None, (recognise(rows) for recognise in EXPORTS)), None):
            records = flatten(records, source)
    if not any(name.startswith("cats.") for name in source.requested_columns):
        records = spacy_training.flatten_cats(records, source)
    return records


def flatten_tables(
    records: Iterator[Record], source: DataSource, *, structured: bool = False
) -> Iterator[Record]:
    """The records of a table, flattened if it is an export of Prodigy, Argilla or Label Studio that was
    saved as one: its cells hold lists as text. If it is `structured`, so are those of other tables."""
    first, records = look_ahead(records, count=1)
    names = first[0].fields if first else {}
    if label_studio.is_row(names):
        rows = label_studio.flatten_rows(records, source)
        return map(_with_values, rows) if structured else rows
    if not structured and not prodigy.is_task(names) and not argilla.is_table_of_responses(names):
        return records
    return flatten_exports(map(_with_values, records), source)


def _with_values(record: Record) -> Record:
    if isinstance(record, UnlabelledRecord):
        return record
    return record._replace(fields={name: parse_cell(cell) for name, cell in record.fields.items()})
