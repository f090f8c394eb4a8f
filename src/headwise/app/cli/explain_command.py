"""`headwise explain`: word attributions of the predictions for a file."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from headwise.app.cli.argument_types import (
    ModelFolder,
    OptionalOutput,
    OptionalParses,
    Switch,
    TextsArgument,
)
from headwise.app.cli.console import note, standard_output, visible
from headwise.app.cli.flags import LABEL_SETTINGS, OpeningArgument, file_arguments, section_flags
from headwise.app.cli.path_checks import check_one_standard_input, is_standard
from headwise.app.cli.predict_command import check_file
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.errors import ConfigError

if TYPE_CHECKING:
    from headwise.models.explanation import Explanation

_FORMS = {".jsonl": "jsonl", ".html": "html"}
_LEAST = 0.005  # smallest attribution listed: less is written as 0.00
_MARKS = ("", "", "underline", "bold underline")  # in addition to colours, for accessibility
_BACKGROUNDS = {
    1: ("", "on #10345f", "on #174f94", "on #1f6fd0"),
    -1: ("", "on #4a2708", "on #7a3f0c", "on #b35c12"),
}


def explain(
    model: ModelFolder,
    file: TextsArgument,
    /,
    *,
    output: OptionalOutput = None,
    json: Switch = False,
    parses: OptionalParses = None,
    opening: OpeningArgument = None,
    overwrite: Switch = False,
    # The files may have labels, but these are not used.
    read: section_flags("data", LABEL_SETTINGS) = None,
) -> int:
    """Show how much each word contributes to a prediction.

    Each word gets an attribution: its part of the label's margin (log-odds). Words for the label are blue,
    words against it orange. The margin is the sum of all words, of the surface features (length, capitals,
    digits, punctuation) and the columns beside the text, if the model reads them, and of a baseline: the
    margin before any word is read.

    Args:
        model: Folder of the model.
        file: A csv, tsv or jsonl file, or one text per line, plain or compressed; "-" is standard input.
        output: File for the explanations: a page (.html), or one JSON object per line (.jsonl) with the
            characters and the attribution of each word. Default: the terminal.
        json: Write one JSON object per line, to standard output or to OUTPUT (.jsonl).
        parses: Dependency parses of the texts, for a model that uses them; see headwise predict.
        overwrite: Replace an existing output.
    """
    check_file(model, file, "explain")
    check_one_standard_input({"FILE": file, "--parses": parses})
    output = None if is_standard(output) else output
    from headwise.app.output_checks import check_output_file
    from headwise.app.workflows.explain import explain_file
    from headwise.models.output_file import format_of, open_output  # with these comes torch

    form = "jsonl" if json and output is None else format_of(output, _FORMS, "terminal")
    if json and form != "jsonl":
        raise ConfigError(
            f"--json writes JSON lines and {output} is a page; leave out --json, or name it .jsonl"
        )
    if output is not None:
        check_output_file(output, file, overwrite=overwrite)
    explanations = explain_file(
        model, file, **file_arguments(parses, opening, read), reporter=TerminalReporter()
    )
    if form == "terminal":
        _show(explanations, "line " if is_standard(file) else f"{Path(file).name}:")
        return 0
    # An error on the first item leaves no output.
    explanations = chain([*islice(explanations, 1)], explanations)
    with open_output(output, atomic=True) as target:
        for piece in _output_pieces(explanations, form, model):
            target.write(piece.encode("utf-8", "surrogatepass"))
    if output is not None:
        note(f"the explanations are in {output}")
    return 0


def _output_pieces(
    explanations: Iterable[tuple[int, "Explanation"]], form: str, model: Path
) -> Iterator[str]:
    """The text of the output file, one explanation at a time."""
    from headwise.core.html import stream
    from headwise.models.prediction_file import json_text

    if form == "jsonl":
        for line, explanation in explanations:
            yield json_text({"line": line, **explanation.to_json()}) + "\n"
        return
    title = f"Explanation of predictions of {model.name}"
    shown = (explanation for _, explanation in explanations)
    yield from stream("explanations.html.jinja", title=title, explanations=shown)


def _show(explanations: Iterable[tuple[int, "Explanation"]], place: str) -> None:
    """Print explanations on a terminal: the highlighted text, and the words with the largest
    attributions. `place` is what stands before the line numbers, such as the name of the file."""
    out = standard_output()
    for line, explanation in explanations:
        out.print(Text(f"{visible(place)}{line}  {visible(explanation.head)}", style="bold"))
        for text in _highlighted(explanation):
            out.print(Padding(text, (0, 0, 0, 2)))
        if explanation.tail:
            out.print(Padding(Text(visible(explanation.tail)), (0, 0, 0, 2)))
        for title, words in (("for", explanation.first(5)), ("against", explanation.strongest_against(3))):
            if words := [(word, value) for word, value in words if abs(value) >= _LEAST]:
                attributions = "  ".join(f"{visible(word)} {value:+.2f}" for word, value in words)
                out.print(Padding(Text.assemble((f"{title}: ", "dim"), attributions), (0, 0, 0, 2)))
        if explanation.surface_features is not None:
            out.print(Padding(Text(explanation.surface_features.summary), (0, 0, 0, 2)))
        if explanation.columns:
            columns = "  ".join(visible(column.summary) for column in explanation.columns)
            out.print(Padding(Text.assemble(("columns: ", "dim"), columns), (0, 0, 0, 2)))
        out.print(Padding(Text("\n".join(margin_lines(explanation)), "dim"), (0, 0, 1, 2)))


def margin_lines(explanation: "Explanation") -> list[str]:
    """The margin as a sum, and a remark if most of it, and more than from all words for it, was there
    before any word was read."""
    surface = explanation.surface_features
    parts = {
        "words": sum(word.attribution for word in explanation.words),
        "surface features": None if surface is None else surface.attribution,
        "columns": sum(column.attribution for column in explanation.columns)
        if explanation.columns
        else None,
        "baseline": explanation.rest,
    }
    terms = ", ".join(f"{name} {value:+.2f}" for name, value in parts.items() if value is not None)
    lines = [f"margin {explanation.margin:+.2f}: {terms}"]
    sign = 1 if explanation.margin > 0 else -1
    support = sum(max(sign * word.attribution, 0.0) for word in explanation.words)
    if sign * explanation.rest > max(abs(explanation.margin) / 2, support):
        lines.append("mostly baseline: the model leans this way before it reads a word")
    return lines


def _highlighted(explanation: "Explanation") -> list[Text]:
    """The texts of an item, with words highlighted by their attributions."""
    marked_texts = []
    for rows in explanation.pieces():
        marked = Text()
        for text, word, strength in rows:
            marked.append(visible(text).replace("\n", " ") if word else visible(text))
            if word is not None:
                level = min(int(abs(strength) * 4), 3)
                style = f"{_MARKS[level]} {_BACKGROUNDS[1 if strength > 0 else -1][level]}".strip()
                marked.append(visible(word.word), style=style)
        marked_texts.append(marked)
    return marked_texts
