"""`headwise suggest`: choose the texts to label next (active learning)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwise.app.cli.argument_types import (
    Integer,
    ModelFolder,
    OptionalOutput,
    OptionalParses,
    Switch,
    TextsArgument,
)
from headwise.app.cli.console import note
from headwise.app.cli.flags import OpeningArgument, file_arguments, flag_values, section_flags
from headwise.app.cli.path_checks import check_one_standard_input, is_standard
from headwise.app.cli.predict_command import check_file
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.config import JsonObject

if TYPE_CHECKING:
    from headwise.app.workflows.suggest_texts import Suggestion, Suggestions


def suggest(
    model: ModelFolder,
    file: TextsArgument,
    /,
    *,
    count: Annotated[Integer, Parameter(alias="-n")] = 100,
    output: OptionalOutput = None,
    overwrite: Switch = False,
    parses: OptionalParses = None,
    opening: OpeningArgument = None,
    read: section_flags("data", {"label_columns", "probability_columns"}) = None,
) -> int:
    """Choose the texts to label next (active learning).

    It selects texts that the model is uncertain about and that differ from each other. Each is written with
    an empty label to fill in and the model's prediction; add the labelled texts to the training data. For a
    tagger it selects sentences, with predicted tags to correct.

    Args:
        model: Folder of the model.
        file: Unlabelled texts, plain or compressed; for taggers also files of sentences without tags; "-"
            is standard input.
        count: Number of texts to choose.
        output: File for them, best first: .csv, .tsv, .jsonl or .xlsx (taggers: .conll). Default: standard
            output.
        overwrite: Replace an existing output.
        parses: Dependency parses of the texts, for a model that uses them; see headwise predict.
    """
    check_file(model, file, "suggest")
    check_one_standard_input({"FILE": file, "--parses": parses})
    output = None if is_standard(output) else output
    from headwise.app.output_checks import check_output_file
    from headwise.app.workflows.suggest_texts import suggest_file
    from headwise.app.workflows.table_output import check_form, write_rows
    from headwise.artifacts import read_info
    from headwise.data.readers.spreadsheet_dialect import SpreadsheetDialect
    from headwise.models.output_file import FORMATS, format_of, open_output
    from headwise.models.prediction_file import json_text
    from headwise.models.tasks import find_task

    task = find_task(read_info(model).task_name)
    tags = task.item_type.has_tags
    forms = {".conll": "conll"} if tags else {**FORMATS, ".xlsx": "xlsx"}
    form = format_of(output, forms, "conll" if tags else "csv")
    if output is not None:
        check_output_file(output, file, overwrite=overwrite)
    check_form(form)
    dialect = SpreadsheetDialect.of(str(file), flag_values(read))
    suggestions = suggest_file(
        model, file, count, **file_arguments(parses, opening, read), reporter=TerminalReporter()
    )
    if form in ("conll", "jsonl"):
        if tags:
            written = _tagged(suggestions)
        else:
            written = "".join(f"{json_text(record)}\n" for record in _records(suggestions)[1])
        with open_output(output, atomic=True) as target:
            target.write(written.encode("utf-8", "surrogatepass"))
    else:
        write_rows(output, form, _table(suggestions, form), dialect)
    if output is not None and not suggestions:
        note(f"there is nothing to label in {file}: {output} has no {'sentences' if tags else 'texts'}")
    elif output is not None and tags:
        note(
            f"{len(suggestions):,} sentences to tag are in {output}: their tags are guesses, to be "
            "corrected"
        )
    elif output is not None:
        columns = suggestions.columns
        where = f"column{'s' * (len(columns) > 1)} {', '.join(map(repr, columns))}"
        note(f"{len(suggestions):,} texts to label are in {output}: fill in the {where}")
    return 0


def _tagged(suggestions: Sequence["Suggestion"]) -> str:
    """The sentences in CoNLL format, with predicted tags."""
    from headwise.models.prediction_records import TagLayout

    layout = TagLayout("conll", (), (), lambda item: item, spans=False)
    return "".join(layout.record(suggestion.row, suggestion.guess) for suggestion in suggestions)


def _records(suggestions: "Suggestions") -> tuple[list[str], list[JsonObject]]:
    """The names of the columns, and the records with their original fields, empty label columns, and the
    predicted label."""
    from headwise.models.prediction_file import free_name

    fields, labels = suggestions.names, dict.fromkeys(suggestions.columns, "")
    guess = free_name("guess", {*fields, *labels})
    records = [{**suggestion.row.fields, **labels, guess: suggestion.guess} for suggestion in suggestions]
    return list(dict.fromkeys([*fields, *labels, guess])), records


def _table(suggestions: "Suggestions", form: str) -> list[list[str]]:
    """The records as rows, below the names of the columns."""
    from headwise.data.columns.cell_values import as_text
    from headwise.models.prediction_file import check_cells_of_tsv, place_of

    names, records = _records(suggestions)
    rows = [[as_text(record.get(name)) for name in names] for record in records]
    if form == "tsv":
        for suggestion, cells in zip(suggestions, rows, strict=True):
            check_cells_of_tsv(place_of(suggestion.row), names, cells, "name the output .csv or .jsonl")
    return [names, *rows]
