"""Which columns of a file a model reads: those that it was trained on, where the file has them too.

A column is known by its name. Files without a header have none: there a number counts only if the user gave
it in training, as what was guessed of one file says nothing of the order in another.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from headwise.data.columns import find_column, names_in
from headwise.data.errors import DataError
from headwise.data.formats import FORMATS, conll, conll2012, conllu_tags
from headwise.data.formats.csv import read_cells
from headwise.data.formats.token_lists import sample_rows
from headwise.data.head import Head, read_head
from headwise.data.joint import JOINT, named_in
from headwise.data.kind import Kind
from headwise.data.kinds.sentence import SentenceKind, words_are_given
from headwise.data.names import normal_name
from headwise.data.options import ReadOptions
from headwise.data.read import find_format
from headwise.data.source import look_ahead
from headwise.data.tag_options import TagOptions
from headwise.data.tag_sniff import RECOGNISERS, guess_tagged_format
from headwise.errors import ConfigError

_TEXTS = {
    "text_column": "text",
    "label_column": "label",
    "first_column": "first",
    "second_column": "second",
    "bag_column": "bag",
}
_WORDS = {"token_column": "token", "tag_column": "tag"}
_OPTIONS: dict[str, dict[str, str]] = {
    **{name: _TEXTS for name, form in FORMATS.items() if form.table},
    "columns": {**_WORDS, "head_column": "head"},
    "table": _WORDS,
    "lists": _WORDS,
    "spans": {**_WORDS, "text_column": "token"},  # texts without spans are read as any texts are
    "conllu": {"tag_column": "tag"},
    "conll2012": {"tag_column": "tag"},
}
"""The options that name columns of a format, and what data call these columns."""

_ANSWERS = {"label_column", "tag_column"}
_INSTEAD = {"label_column": {"label_columns", "probability_columns"}}
"""What takes the place of an option."""


def columns_used(data: Any) -> dict[str, str]:
    """The columns that a file was read from, by the options that name them; for the model's folder.

    Args:
        data: What `Kind.read` has returned.
    """
    columns = getattr(data, "columns", None)
    columns_by_option = {
        option: getattr(columns, attribute, None)
        for option, attribute in _OPTIONS.get(getattr(data, "format", ""), {}).items()
    }
    return {option: name for option, name in columns_by_option.items() if isinstance(name, str)}


def as_trained(
    kind: Kind[Any],
    info: Mapping[str, Any],
    path: str,
    reading: Mapping[str, Any],
    *,
    answers: bool = True,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """How a file is read for a model: as the user says, else from the columns that it was trained on, if
    the file has columns of these names; and what there is to say of that.

    Args:
        kind: What the model reads.
        info: What its folder says of it; old ones name only the columns that the user gave.
        path: The file; "-" is standard input, of which nothing is taken away here.
        reading: Options of the user that say how to read it.
        answers: Whether the answers are read, or only what they are given to.
    """
    trained_columns = {
        option: name
        for option, name in columns_known(info).items()
        if reading.get(option) is None
        and (answers or option not in _ANSWERS)
        and not any(reading.get(substitute) for substitute in _INSTEAD.get(option, ()))
    }
    if not trained_columns:
        return dict(reading), ()
    try:
        options, names = _offered(kind, path, reading, trained_columns, answers)
    except (DataError, ConfigError):  # whoever reads the file says what is wrong with it
        return dict(reading), ()
    taken = {_found(reading[option], names) for option in options if reading.get(option)}
    matched = {}
    for option in options:
        column = _same(trained_columns.get(option), names)
        if column is not None and column not in taken:
            matched[option] = column
            taken.add(column)
    if not matched:
        return dict(reading), ()
    description = ", ".join(
        f"{option.removesuffix('_column')}={name!r}" for option, name in matched.items()
    )
    flags = "/".join(f"--{option.replace('_', '-')}" for option in matched)
    return {**reading, **matched}, (f"columns as in training: {description} - override with {flags}",)


def label_column(info: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The column of the labels that a model was trained on, if it is among these."""
    return _same(columns_known(info).get("label_column"), names)


def columns_known(info: Mapping[str, Any]) -> dict[str, str]:
    """The columns that a model was trained on, as far as a name or the user says which they are."""
    training = info.get("training") or {}
    recipe = training.get("recipe")
    named_by_user = recipe.get("data") if isinstance(recipe, Mapping) else None
    named_by_user, used = (
        section if isinstance(section, Mapping) else {}
        for section in (named_by_user, training.get("columns"))
    )
    trained_columns = {
        **named_by_user,
        **{option: name for option, name in used.items() if not _number(name) or option in named_by_user},
    }
    options = set().union(*_OPTIONS.values())
    return {
        option: name
        for option, name in trained_columns.items()
        if option in options and isinstance(name, str)
    }


def _offered(
    kind: Kind[Any],
    path: str,
    reading: Mapping[str, Any],
    trained_columns: Mapping[str, str],
    answers: bool,
) -> tuple[list[str], Sequence[str]]:
    """The options that name columns of a file, and the names of its columns.

    Raises:
        DataError, ConfigError: They cannot be told.
    """
    head = read_head(path, str(reading.get("encoding") or "utf-8"))
    if isinstance(kind, SentenceKind):
        form = reading.get("format")
        if form is None and (answers or words_are_given(path, reading, head)):
            form = guess_tagged_format(path, head.lines, labelled=answers)[0]
        if form in RECOGNISERS:
            return [option for option in _OPTIONS[form] if option != "text_column"], _names_of_words(
                form, head
            )
        return ["text_column"], _names_of_texts(kind, head, reading, trained_columns)
    options = [option for option in _TEXTS if option in kind.options.__dataclass_fields__]
    return options, _names_of_texts(
        kind,
        head,
        reading,
        {option: trained_columns[option] for option in options if option in trained_columns},
    )


def _names_of_texts(
    kind: Kind[Any], head: Head, reading: Mapping[str, Any], trained_columns: Mapping[str, str]
) -> Sequence[str]:
    """The names of the columns of a table; none of what is none."""
    how = {
        option: reading[option]
        for option in ("format", "header", "delimiter", "encoding")
        if option in reading
    }
    # A name that is asked for is what tells a header from a row.
    name = next((column for column in trained_columns.values() if not _number(column)), None)
    source = replace(
        head.source(ReadOptions(**how, text_column=name)), columns=tuple(trained_columns.values())
    )
    form, lines = find_format(source, labelled=False)
    if form == "label-text" and kind.sides == 2:
        form = "tsv"  # as pairs are read
    if not FORMATS[form].table:
        return []
    return names_in(look_ahead(FORMATS[form].records(lines, source))[0])


def _names_of_words(form: str, head: Head) -> Sequence[str]:
    """The names of the columns of tagged words; none of what has none."""
    source = head.source(ReadOptions())
    if form == "columns":
        return conll.choose_token_columns(head.lines, source, TagOptions(), labelled=False).names
    if form == "table":
        return [name for _, cells in islice(read_cells(iter(head.lines), source), 1) for name in cells]
    if form in ("lists", "spans"):
        return list(dict.fromkeys(name for row in sample_rows(head.lines) for name in row))
    return {"conllu": conllu_tags.COLUMNS, "conll2012": conll2012.COLUMNS}.get(form, ())


def _number(name: object) -> bool:
    return isinstance(name, str) and name.isdecimal()


def _same(name: str | None, names: Sequence[str]) -> str | None:
    """The column of this name, spelling of spaces and case aside; or those that it is made of, if all are
    there."""
    if name is None or name in names:
        return name
    if len(parts := named_in(name, names)) > 1:
        columns = [_same(part, names) for part in parts]
        return None if None in columns else JOINT.join(filter(None, columns))
    matches = [candidate for candidate in names if normal_name(candidate) == normal_name(name)]
    return matches[0] if len(matches) == 1 else None


def _found(name: str, names: Sequence[str]) -> str | None:
    """The column that a user names, also by its number."""
    try:
        return names[find_column(name, names, Head("", ()).source(ReadOptions()), "")]
    except DataError:
        return None
