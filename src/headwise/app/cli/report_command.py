"""`headwise report`: an HTML report of a model."""

# The type of the flags is created at run time from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headwise.app.cli.console import OptionalFile, Switch, note, write_atomically
from headwise.app.cli.flags import flag_values, section_flags
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.allocator import keep_freed_memory


def report(
    model: Path,
    /,
    *,
    data: OptionalFile = None,
    output: Annotated[Path, Parameter(alias="-o")] = Path("report.html"),
    overwrite: Switch = False,
    parses: Path | None = None,
    pipeline: str | None = None,
    device: str = "auto",
    read: section_flags("data") = None,
) -> int:
    """Write all there is to say of a model on one page for a browser.

    The page has the scores beside those of the baselines with their intervals, labels, confusions,
    calibration, what can be left to people, errors to filter and to read with the words that made them,
    words that count, heads and their priors, the training and how the model was made. It is one file that
    needs no network.

    Args:
        model: Folder of the model.
        data: Texts with the true answers. Without it the scores are those of the training, and there are
            no errors, probabilities and words. "-" is standard input.
        output: The page.
        overwrite: Replace a page that exists.
        parses: Dependency syntax of these texts, for a model that goes by it, as headwise predict takes it.
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.

    Raises:
        HeadwiseError: The model, the file or the page cannot be used.
    """
    from headwise.app.workflows.predict import check_output_file  # with these comes torch
    from headwise.app.workflows.report import report_file

    check_output_file(output, data or model, overwrite=overwrite)
    keep_freed_memory()
    how = {"parses": parses, "pipeline": pipeline, "device": device, "reading": flag_values(read)}
    page = report_file(model, data, **how, reporter=TerminalReporter())
    write_page(output, page)
    return 0


def write_page(output: Path, page: str) -> None:
    """Write a report.

    Raises:
        OutputError: HW604, it cannot be written.
    """
    write_atomically(output, page)
    note(f"the report is in {output}")
