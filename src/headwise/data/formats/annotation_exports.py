"""The exports of annotation tools: each is recognised by its first objects, and flattened into objects with
a text, and with its label, labels or spans."""

from collections.abc import Callable, Iterator, Mapping, Sequence

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
    question_entities,
    spacy_training,
    span_layouts,
    token_spans,
    word_tag_pairs,
)
from headwise.data.formats.unlabelled_records import UnlabelledRecord

Recognise = Callable[[Sequence[Mapping[str, object]]], bool]
"""Whether the first objects of a file are an export of a tool."""

Flatten = Callable[[Iterator[Record], DataSource], Iterator[Record]]
"""Flattens the records of an export."""

EXPORTS: tuple[tuple[Recognise, Flatten], ...] = (
    (label_studio.recognise, label_studio.flatten_tasks),
    (label_studio.recognise_rows, label_studio.flatten_rows),
    (prodigy.recognise, prodigy.decided_tasks),
    (argilla.recognise, argilla.flatten_records),
    (annotation_tools.recognise_dataturks, annotation_tools.dataturks_texts),
    (annotation_tools.recognise_doccano, annotation_tools.labelled_texts),
    (annotation_tools.recognise_lighttag, annotation_tools.lighttag_texts),
    (cloud_exports.recognise_manifest, cloud_exports.manifest_texts),
    (cloud_exports.recognise_vertex, cloud_exports.vertex_texts),
    (chat_records.recognise, chat_records.texts),
    (spacy_training.recognise_paragraphs, spacy_training.sentences),
    (word_tag_pairs.recognise, word_tag_pairs.parallel_lists),
    (token_spans.recognise, token_spans.tagged_tokens),
    (intent_examples.recognise, intent_examples.examples),
    (listed_entities.recognise, listed_entities.located_entities),
)

_LAYOUTS: tuple[tuple[Recognise, Flatten], ...] = (
    (document_sentences.recognise, document_sentences.sentences),
    (question_entities.recognise, question_entities.sentences),
    (span_layouts.recognise, span_layouts.listed_spans),
)
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
        for recognise, reshape in _LAYOUTS:
            if recognise(rows):
                head, records = look_ahead(reshape(records, source))
                rows = [record.fields for record in head]
        for recognise, flatten in EXPORTS:
            if recognise(rows):
                records = flatten(records, source)
                break
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
