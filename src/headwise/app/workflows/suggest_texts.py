"""Active learning: select unlabelled texts whose predictions are uncertain, and which differ from each
other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from headwise.app.model_columns import columns_of_training, label_column
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.session import FileArguments, ModelSession
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.data.columns.cell_values import as_text
from headwise.data.columns.column_names import LABEL_NAMES, PAIR_LABEL_NAMES, most_usual_column
from headwise.data.columns.column_names import LABEL_SET_NAMES as SET_NAMES
from headwise.data.items.dataset import InputRow
from headwise.data.items.item_type import ItemType
from headwise.data.splits.contamination import in_fingerprint
from headwise.data.splits.text_signatures import normal_text
from headwise.linear.tfidf_features import BlockReader
from headwise.metrics.label_quality import select_items

_FEATURES = 50_000
_USUAL_LABEL_COLUMNS = {"multi-label": SET_NAMES, "pair": PAIR_LABEL_NAMES}  # names of the column of labels


@renamed_parameters(doubt="uncertainty")
@dataclass(frozen=True)
class Suggestion:
    """A text that is worth labelling.

    Attributes:
        row: Its record in the file.
        guess: The prediction; of a sentence a `TaggedText`.
        uncertainty: The uncertainty of the prediction, 0 to 1.
        column: The label column (the first, if each label has its own column); unused for sentences.
    """

    row: InputRow[Any]
    guess: Any
    uncertainty: float
    column: str = "label"


class Suggestions(list[Suggestion]):
    """Suggestions, the most valuable first, and the columns of the file.

    Args:
        suggestions: The suggestions.
        names: The columns of the file.
        columns: The label column, or one column for each label.
    """

    def __init__(self, suggestions: Iterable[Suggestion], names: Iterable[str], columns: Sequence[str]):
        super().__init__(suggestions)
        self.names = tuple(names)
        self.columns = tuple(columns)


@renamed_parameters(heads="parses", listener="reporter")
def suggest_file(
    folder: Path | str,
    file: Path | str,
    count: int = 100,
    *,
    device: str = "auto",
    pipeline: str | None = None,
    **file_arguments: Unpack[FileArguments],
) -> Suggestions:
    """The texts of a file that are most worth labelling, best first.

    Left out are texts that the model was trained on, labelled texts (tagged sentences), duplicates and
    empty texts.

    Args:
        folder: The model's folder.
        file: Unlabelled texts or pairs, for a tagger also untagged sentences; "-" is standard input.
        count: Number of suggestions.
        device: The device: cpu, cuda, or auto for a GPU if there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        file_arguments: How the file is read; see `headwise.app.session.FileArguments`. The option
            `label_column` of `reading` names the column in which labelled texts have their label. The
            default is the label column of the training run, else a column with a usual name, else a new
            column named as in the training run (`label`, if that column had no name).

    Raises:
        HeadwiseError: The model or the file cannot be used, or the task has neither labels nor tags.
    """
    if count < 1:
        raise ConfigError(f"--count {count}; expected 1 or more")
    session = ModelSession.open(folder, device=device, pipeline=pipeline)
    task, model, item_type = session.task, session.model, session.item_type
    rows = session.rows(file, **file_arguments)
    task.uncertainty(model, [])  # raises for unsupported models before the file is read
    all_rows = list(rows)
    if item_type.has_tags:
        all_rows = [replace(row, item=model.sentence(row.item)) for row in all_rows]
    names = list(all_rows[0].fields) if all_rows and not item_type.has_tags else []
    requested = (file_arguments.get("reading") or {}).get("label_column")
    reporter = file_arguments.get("reporter", NULL_REPORTER)
    columns = _label_columns(session, requested, names, reporter)
    candidates = _unlabelled_rows(session, all_rows, columns)
    if len(candidates) < len(all_rows):
        have = f"{len(all_rows) - len(candidates):,} of {len(all_rows):,} {item_type.nouns.many} have"
        answers = "tags" if item_type.has_tags else "a label"
        reporter.note(f"{have} {answers}, are duplicates, empty, or were trained on: left out")
    items = [row.item for row in candidates]
    guesses, uncertainty = task.uncertainty(model, items)
    selected = select_items(uncertainty, _vectors(model, item_type, items), count) if items else []
    return Suggestions(
        (Suggestion(candidates[n], guesses[n], float(uncertainty[n]), columns[0]) for n in selected),
        dict.fromkeys(name for row in all_rows for name in row.fields),
        columns,
    )


def _unlabelled_rows(
    session: ModelSession, rows: Sequence[InputRow[Any]], columns: Sequence[str]
) -> list[InputRow[Any]]:
    """The first row of each different text, without rows that have an answer, are empty, or were trained
    on."""
    item_type = session.item_type
    seen = in_fingerprint(item_type, session.info.data.training_fingerprint, [row.item for row in rows])
    unlabelled: dict[str, InputRow[Any]] = {}
    for row, was_seen in zip(rows, seen, strict=True):
        key = normal_text(item_type.key(row.item))
        has_answer = (
            bool(row.item.tags)
            if item_type.has_tags
            else any(as_text(row.fields.get(name)).strip() for name in columns)
        )
        if key and not (was_seen or has_answer):
            unlabelled.setdefault(key, row)
    return list(unlabelled.values())


def _label_columns(
    session: ModelSession, requested: str | None, names: Sequence[str], reporter: Reporter
) -> list[str]:
    """The label column, or one column for each label."""
    if requested is not None:
        number = int(requested) if requested.isdecimal() and requested not in names else 0
        return [names[number - 1] if 1 <= number <= len(names) else requested]
    flag = "override with --label-column"
    label_columns = [name for name in names if name in getattr(session.model, "labels", ())]
    if (trained := label_column(session.info, names)) is not None:
        reporter.note(f"labels are in the column {trained!r}, as in training - {flag}")
        return [trained]
    if len(label_columns) > 1:
        reporter.note(f"labels are in the columns {', '.join(map(repr, label_columns))} - {flag}")
        return label_columns
    if (
        usual := most_usual_column(names, _USUAL_LABEL_COLUMNS.get(session.task_name, LABEL_NAMES))
    ) is not None:
        reporter.note(f"labels are in the column {names[usual]!r} - {flag}")
        return [names[usual]]
    trained_name = columns_of_training(session.info).get("label_column", "")
    # A number names no new column, and a path such as `data.label` leads into objects.
    names_column = trained_name and not trained_name.isdecimal() and "." not in trained_name
    return [trained_name if names_column else "label"]


def _vectors(model: Any, item_type: ItemType, items: list[Any]) -> Any:
    """Vectors of the items, `[items, size]`: from the model's base, else TF-IDF vectors of their words."""
    single_texts = item_type.sides == 1 and not item_type.has_tags
    if single_texts and (vectors := model.base_vectors(model.encoded(items))) is not None:
        return vectors
    reader = BlockReader("words", model.config.words.tokenizer)
    return reader.fit([item_type.text(item) for item in items], max_features=_FEATURES)[1]
