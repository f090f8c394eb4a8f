"""`headwise report`: an HTML report of a model."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headwise.app.cli.argument_types import ModelFolder, OptionalFile, OptionalParses, OutputFile, Switch
from headwise.app.cli.console import note, write_text
from headwise.app.cli.flags import OpeningArgument, file_arguments, section_flags
from headwise.app.cli.path_checks import check_one_standard_input, is_standard
from headwise.app.cli.terminal import TerminalReporter


def report(
    model: ModelFolder,
    /,
    data: OptionalFile = None,
    *,
    output: Annotated[OutputFile, Parameter(alias="-o")] = Path("report.html"),
    overwrite: Switch = False,
    unknown_label: str | None = None,
    parses: OptionalParses = None,
    opening: OpeningArgument = None,
    read: section_flags("data") = None,
) -> int:
    """Write a page about a model for a browser.

    The page has the scores of model and baselines with intervals, labels, confusions, calibration,
    selective prediction, errors with attributions of words, top words, heads and their priors, the training
    run and its settings. It is one file that needs no network.

    Args:
        model: Folder of the model.
        data: Labelled texts; "-" is standard input. Without them the page has the scores of the training
            run, but no errors, probabilities and words.
        output: File for the page.
        overwrite: Replace an existing page.
        unknown_label: The label of texts that belong to none of the labels; see headwise evaluate.
        parses: Dependency parses of these texts, for a model that uses them; see headwise predict.
    """
    from headwise.app.output_checks import check_output_file  # with these comes torch
    from headwise.app.workflows.report import report_file

    check_one_standard_input({"--data": data, "--parses": parses})
    if not is_standard(output):
        check_output_file(output, data or model, overwrite=overwrite)
    page = report_file(
        model,
        data,
        unknown_label=unknown_label,
        **file_arguments(parses, opening, read),
        reporter=TerminalReporter(),
    )
    write_page(output, page)
    return 0


def write_page(output: Path, page: str) -> None:
    """Write a report.

    Raises:
        OutputError: HW604, it cannot be written.
    """
    write_text(output, page)
    if not is_standard(output):
        note(f"the report is in {output}")
