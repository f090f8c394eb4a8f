"""The training data of cloud services.

SageMaker Ground Truth writes a manifest: the number of a label, and beside it an object with its name,

    {"source": "Tom ran", "topic": 3, "topic-metadata": {"class-name": "sport", "human-annotated": "yes"}}
    {"source": "Tom ran", "topics": [0, 2], "topics-metadata": {"class-map": {"0": "sport", "2": "news"}}}
    {"source": "Tom ran", "names": {"annotations": {"entities": [{"startOffset": 0, "endOffset": 3, ...}]}}}

Google's Vertex AI annotations in objects:

    {"textContent": "Tom ran", "classificationAnnotation": {"displayName": "sport"}}
    {"textContent": "Tom ran", "classificationAnnotations": [{"displayName": "sport"}]}

Their labels become values and lists of names, in fields of the same names.
"""

from collections.abc import Iterator

from headwise.core.config import JsonMapping
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.formats.record_fields import Flatten, Rows
from headwise.data.formats.unlabelled_records import UnlabelledRecord

NAME = "texts of the manifest without a label"
_METADATA = "-metadata"
_TEXT, _ONE, _SEVERAL, _SENTIMENT = (
    *("textContent", "classificationAnnotation", "classificationAnnotations", "sentimentAnnotation"),
)
_DISPLAY_NAME = "displayName"


def recognise_manifest(rows: Rows) -> Flatten | None:
    """The reader of a manifest with texts, of which any has a label."""
    labelled = all("source" in row for row in rows) and any(map(_manifest_labels, rows))
    return _manifest_texts if labelled else None


def _manifest_texts(records: Iterator[Record], source: DataSource) -> Iterator[Record]:
    """The records of a manifest, with names for the numbers of labels."""
    names = dict[str, None]()
    noted = False
    for record in records:
        labels = _manifest_labels(record.fields)
        names |= dict.fromkeys(labels)
        if not noted and names:
            noted = True
            shown = ", ".join(map(repr, names))
            source.notes.append(f"the manifest of SageMaker Ground Truth; what was annotated: {shown}")
        flat = Record(record.line, {**record.fields, **dict.fromkeys(names), **labels})
        yield flat if labels else UnlabelledRecord.of(flat, NAME, "not annotated")


def _manifest_labels(fields: JsonMapping) -> dict[str, object]:
    """What was annotated, by its name."""
    labels = dict[str, object]()
    for name, value in fields.items():
        metadata = fields.get(f"{name}{_METADATA}")
        if not isinstance(metadata, dict):
            continue
        label, label_names = metadata.get("class-name"), metadata.get("class-map")
        annotations = value.get("annotations") if isinstance(value, dict) else None
        if isinstance(label, str):
            labels[name] = label
        elif isinstance(label_names, dict) and isinstance(value, list):
            labels[name] = [label_names.get(str(number), number) for number in value]
        elif isinstance(annotations, dict) and isinstance(annotations.get("entities"), list):
            labels[name] = annotations["entities"]
    return labels


def recognise_vertex(rows: Rows) -> Flatten | None:
    """The reader of texts of Vertex AI with labels."""
    labelled = all(_TEXT in row for row in rows) and any(map(_vertex_labels, rows))
    return _vertex_texts if labelled else None


def _vertex_texts(records: Iterator[Record], _: DataSource) -> Iterator[Record]:
    """The records of Vertex AI, with the names of their labels."""
    for record in records:
        yield Record(record.line, {**record.fields, **_vertex_labels(record.fields)})


def _vertex_labels(fields: JsonMapping) -> dict[str, object]:
    labels = dict[str, object]()
    one, label_list, sentiment = (fields.get(name) for name in (_ONE, _SEVERAL, _SENTIMENT))
    if isinstance(one, dict) and _DISPLAY_NAME in one:
        labels[_ONE] = one[_DISPLAY_NAME]
    if isinstance(label_list, list) and all(
        isinstance(part, dict) and _DISPLAY_NAME in part for part in label_list
    ):
        labels[_SEVERAL] = [part[_DISPLAY_NAME] for part in label_list]
    if isinstance(sentiment, dict) and "sentiment" in sentiment:
        labels[_SENTIMENT] = sentiment["sentiment"]
    return labels
