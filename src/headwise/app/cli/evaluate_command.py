"""`headwise evaluate`: score a model on a labelled file."""

from typing import TYPE_CHECKING, Literal

from rich.padding import Padding
from rich.text import Text

from headwise.app.cli.argument_types import FileArgument, Integer, ModelFolder, OptionalParses, Switch
from headwise.app.cli.console import excerpt, print_json, standard_output, visible, working
from headwise.app.cli.flags import OpeningArgument, file_arguments, section_flags
from headwise.app.cli.metric_tables import print_metrics
from headwise.app.cli.path_checks import check_one_standard_input
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.errors import ConfigError
from headwise.data.files.file_lists import list_files

if TYPE_CHECKING:
    from headwise.app.workflows.evaluate import EvaluationReport

_EXCERPT = 240  # characters shown of a text


def evaluate(
    model: ModelFolder,
    file: FileArgument,
    /,
    *more: FileArgument,
    json: Switch = False,
    errors: Integer = 0,
    unsure: str | None = None,
    unknown_labels: Literal["stop", "skip"] = "stop",
    unknown_label: str | None = None,
    against: ModelFolder | None = None,
    parses: OptionalParses = None,
    opening: OpeningArgument = None,
    read: section_flags("data") = None,
) -> int:
    """Score a model on a labelled file.

    For the file that the model was tested on in training, the scores of the baseline are shown too.

    Args:
        model: Folder of the model.
        file: Labelled texts, plain or compressed; "-" is standard input. A pattern ("part-*.csv") stands
            for several files with the same columns.
        more: More files with the same columns.
        json: Print JSON instead of tables.
        errors: Number of wrong predictions to show, the most confident first.
        unsure: Also score selective prediction: the model abstains below this probability (0.9), or below
            the probability that reaches a precision (precision=0.95); see headwise predict.
        unknown_labels: What to do with texts whose label the model does not know: stop, or leave them out
            and report how many.
        unknown_label: The label of texts that belong to none of the model's labels (out of scope), for a
            model with a novelty detector (headwise train --unknown): how many of them it catches.
        against: Folder of another model of the same task: also show its scores, and by how much the model
            is ahead of it, on the texts that neither was trained on and whose labels both have.
        parses: Dependency parses of the texts, for a model that uses them; see headwise train.
    """
    check_one_standard_input({"FILE": (file, *more), "--parses": parses})
    if errors < 0:
        raise ConfigError(f"--errors {errors}; expected 0 or more")
    texts = list_files([file, *more])
    from headwise.app.workflows.evaluate import evaluate_file  # with it comes torch

    terminal = TerminalReporter()
    with working("evaluating"):
        report = evaluate_file(
            model,
            texts,
            errors=errors,
            unsure=unsure,
            unknown_labels=unknown_labels,
            unknown_label=unknown_label,
            against=against,
            **file_arguments(parses, opening, read),
            reporter=terminal,
        )
    if json:
        print_json(report.to_json())
    else:
        _print(report)
    for message in report.messages:
        terminal.message(message)
    return 0


def _print(report: "EvaluationReport") -> None:
    out, scores = standard_output(), report.scores
    out.print()
    print_metrics(out, report.task.metric_table(scores), scores, report.systems)
    for mistake in report.mistakes:
        head = Text(visible(mistake["where"]), style="bold")
        head.append(f"  {visible(report.task.describe_error(mistake))}", style="")
        out.print(head)
        text = excerpt(mistake["text"], _EXCERPT)
        out.print(Padding(visible(text) or "(empty)", (0, 0, 1, 2)))
