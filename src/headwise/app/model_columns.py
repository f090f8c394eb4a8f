"""The columns of a file that a model reads: those that it was trained on, if the file has them.

Columns are identified by name. In files without a header, a column number is used only if the user gave it
in training: a number that was inferred from one file may be wrong for another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from headwise.artifacts.model_info import ModelInfo
from headwise.core.config import JsonMapping, JsonObject, section_of
from headwise.core.errors import ConfigError
from headwise.data.columns.column_names import COLUMN_JOINER, joined_column_names, normal_name
from headwise.data.columns.file_source import FileHead, look_ahead
from headwise.data.columns.named_columns import find_column, names_in
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.formats import FORMATS
from headwise.data.items.item_type import ItemType
from headwise.data.readers.file_preview import read_preview
from headwise.data.readers.file_sets import training_columns_note
from headwise.data.readers.labelled_files import find_format

_TEXT_OPTIONS = {
    "text_column": "text",
    "label_column": "label",
    "first_column": "first",
    "second_column": "second",
    "bag_column": "bag",
}
_WORD_OPTIONS = {"token_column": "token", "tag_column": "tag"}
_OPTIONS: dict[str, dict[str, str]] = {
    **{name: _TEXT_OPTIONS for name, form in FORMATS.items() if form.table},
    "columns": {**_WORD_OPTIONS, "head_column": "head"},
    "table": _WORD_OPTIONS,
    "lists": _WORD_OPTIONS,
    "spans": {**_WORD_OPTIONS, "text_column": "token"},  # texts without spans are read as any texts are
    "conllu": {"tag_column": "tag"},
    "conll2012": {"tag_column": "tag"},
}
"""The options that name columns of a format, and what data call these columns."""

_LABEL_OPTIONS = {"label_column", "tag_column"}
_ALTERNATIVE_OPTIONS = {"label_column": {"label_columns", "probability_columns"}}
"""What takes the place of an option."""


def columns_used(data: Any) -> dict[str, str]:
    """The columns that a file was read from, by the options that name them; for the model's folder.

    Args:
        data: What `ItemType.read` has returned.
    """
    columns = getattr(data, "columns", None)
    return {
        option: name
        for option, attribute in _OPTIONS.get(getattr(data, "format", ""), {}).items()
        if isinstance(name := getattr(columns, attribute, None), str)
    }


def reading_options_as_trained(
    item_type: ItemType, info: ModelInfo, path: str, reading: JsonMapping, *, answers: bool = True
) -> tuple[JsonObject, tuple[str, ...]]:
    """The reading options of a file for a model, with notes: those of the user, and the columns that the
    model was trained on if the file has columns of these names.

    Args:
        item_type: The item type of the model.
        info: Metadata of the model folder; folders of older versions name only the columns that the user
            gave.
        path: The file; "-" is standard input, which is previewed without consuming it.
        reading: The user's reading options.
        answers: Whether label columns are read too.
    """
    trained_columns = {
        option: name
        for option, name in columns_of_training(info).items()
        if reading.get(option) is None
        and (answers or option not in _LABEL_OPTIONS)
        and not any(reading.get(substitute) for substitute in _ALTERNATIVE_OPTIONS.get(option, ()))
    }
    if not trained_columns:
        return dict(reading), ()
    try:
        options, names = _column_options_and_names(item_type, path, reading, trained_columns, answers)
    except (DataError, ConfigError):  # whoever reads the file says what is wrong with it
        return dict(reading), ()
    taken = {_resolve_column(reading[option], names) for option in options if reading.get(option)}
    matched = {}
    for option in options:
        column = _match_column(trained_columns.get(option), names)
        if column is not None and column not in taken:
            matched[option] = column
            taken.add(column)
    if not matched:
        return dict(reading), ()
    return {**reading, **matched}, (training_columns_note(matched),)


def label_column(info: ModelInfo, names: Sequence[str]) -> str | None:
    """The column of the labels that a model was trained on, if it is among these."""
    return _match_column(columns_of_training(info).get("label_column"), names)


def columns_of_training(info: ModelInfo) -> dict[str, str]:
    """The columns that a model was trained on, as far as a name or the user identifies them."""
    training = info.training
    named_by_user = section_of(training.recipe, "data")
    trained_columns = dict(named_by_user) | {
        option: name
        for option, name in training.columns.items()
        if not _is_number(name) or option in named_by_user
    }
    options = set().union(*_OPTIONS.values())
    return {
        option: name
        for option, name in trained_columns.items()
        if option in options and isinstance(name, str)
    }


def _column_options_and_names(
    item_type: ItemType, path: str, reading: JsonMapping, trained_columns: Mapping[str, str], answers: bool
) -> tuple[list[str], Sequence[str]]:
    """The options that name columns of a file, and the names of its columns.

    Raises:
        DataError, ConfigError: The columns cannot be determined.
    """
    head = read_preview(path, str(reading.get("encoding") or "utf-8"))
    if item_type.has_tags:
        from headwise.data.items.sentence_items import is_tokenized_file
        from headwise.data.readers.tag_format_guess import RECOGNISERS, guess_tagged_format

        form = reading.get("format")
        if form is None and (answers or is_tokenized_file(path, reading, head)):
            form = guess_tagged_format(path, head.lines, labelled=answers)[0]
        if form in RECOGNISERS:
            return [option for option in _OPTIONS[form] if option != "text_column"], _tagged_column_names(
                form, head
            )
        return ["text_column"], _table_column_names(item_type, head, reading, trained_columns)
    options = [option for option in _TEXT_OPTIONS if option in item_type.options.__dataclass_fields__]
    return options, _table_column_names(
        item_type,
        head,
        reading,
        {option: trained_columns[option] for option in options if option in trained_columns},
    )


def _table_column_names(
    item_type: ItemType, head: FileHead, reading: JsonMapping, trained_columns: Mapping[str, str]
) -> Sequence[str]:
    """The column names of a table; empty for other formats."""
    options = {
        option: reading[option]
        for option in ("format", "header", "delimiter", "quoting", "escape", "encoding")
        if option in reading
    }
    # A header is recognised by a name that is expected.
    name = next((column for column in trained_columns.values() if not _is_number(column)), None)
    source = replace(
        head.source(ReadOptions(**options, text_column=name)), columns=tuple(trained_columns.values())
    )
    form, lines = find_format(source, labelled=False)
    if form == "label-text" and item_type.sides == 2:
        form = "tsv"  # as pairs are read
    if not FORMATS[form].table:
        return []
    sample, _ = look_ahead(FORMATS[form].records(lines, source))
    return names_in(sample) or source.layout.empty_header


def _tagged_column_names(form: str, head: FileHead) -> Sequence[str]:
    """The column names of a table of tagged words; empty without a header."""
    from headwise.data.columns.item_options import TagOptions
    from headwise.data.formats import conll, conll2012, conllu_tags
    from headwise.data.formats.csv import read_cells
    from headwise.data.formats.token_lists import sample_rows

    source = head.source(ReadOptions())
    if form == "columns":
        return conll.choose_token_columns(head.lines, source, TagOptions(), labelled=False).names
    if form == "table":
        return [name for _, cells in islice(read_cells(iter(head.lines), source), 1) for name in cells]
    if form in ("lists", "spans"):
        return list(dict.fromkeys(name for row in sample_rows(head.lines) for name in row))
    return {"conllu": conllu_tags.COLUMNS, "conll2012": conll2012.COLUMNS}.get(form, ())


def _is_number(name: object) -> bool:
    return isinstance(name, str) and name.isdecimal()


def _match_column(name: str | None, names: Sequence[str]) -> str | None:
    """The column of this name, ignoring case and white space; or the columns that it joins, if the file has
    all of them."""
    if name is None or name in names:
        return name
    if len(parts := joined_column_names(name, names)) > 1:
        columns = [_match_column(part, names) for part in parts]
        return None if None in columns else COLUMN_JOINER.join(filter(None, columns))
    matches = [candidate for candidate in names if normal_name(candidate) == normal_name(name)]
    return matches[0] if len(matches) == 1 else None


def _resolve_column(name: str, names: Sequence[str]) -> str | None:
    """The column that a user names, also by its number."""
    try:
        return names[find_column(name, names, FileHead("", ()).source(ReadOptions()), "")]
    except DataError:
        return None
