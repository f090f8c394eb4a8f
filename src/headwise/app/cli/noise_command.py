"""`headwise noise`: find likely label errors in a file."""

from dataclasses import asdict, astuple

from rich.padding import Padding
from rich.text import Text

from headwise.app.cli.argument_types import FileArgument, Integer, OptionalOutput, Switch
from headwise.app.cli.console import (
    excerpt,
    note,
    percent,
    print_json,
    standard_output,
    visible,
)
from headwise.app.cli.flags import flag_values, section_flags
from headwise.app.cli.path_checks import is_standard
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.errors import ConfigError

_EXCERPT = 240  # characters shown of a text
_COLUMNS = (
    *("line", "label", "suggested", "probability of label", "probability of suggested"),
    *("text", "twin"),
)


def noise(
    file: FileArgument,
    /,
    *,
    output: OptionalOutput = None,
    overwrite: Switch = False,
    show: Integer = 20,
    json: Switch = False,
    base: str = "auto",
    read: section_flags("data") = None,
) -> int:
    """Rank the labels of a file that are likely to be wrong.

    A linear model predicts each text after training on other texts (cross-validation); confident learning
    then finds labels that do not fit. The file is not changed: check the first ones, and correct the file.

    Args:
        file: Texts with one label or a set of labels each, or tagged sentences, plain or compressed; "-" is
            standard input.
        output: A file (.csv or .xlsx) for all label issues, with their line numbers.
        overwrite: Replace an existing output.
        show: Number of label issues to show.
        json: Print all label issues as JSON, one per line.
        base: Static embeddings that the linear model reads with the words (for tagged sentences, their word
            groups); none for words alone.
    """
    if show < 0:
        raise ConfigError(f"--show {show}; expected 0 or more")
    from headwise.app.output_checks import check_output_file
    from headwise.app.workflows.label_errors import noise_file  # with it comes torch
    from headwise.app.workflows.table_output import check_form, write_rows
    from headwise.data.readers.spreadsheet_dialect import SpreadsheetDialect

    if output is not None and not is_standard(output):
        if output.suffix.lower() not in ("", ".csv", ".xlsx"):
            raise ConfigError(f"--output {output}: the list is a table; name it .csv or .xlsx")
        check_output_file(output, file, overwrite=overwrite)
    form = "xlsx" if output is not None and output.suffix.lower() == ".xlsx" else "csv"
    check_form(form)
    dialect = SpreadsheetDialect()
    if output is not None:
        dialect = SpreadsheetDialect.of(str(file), flag_values(read))
    reporter = TerminalReporter()
    with reporter.working("reading and checking"):
        issues = noise_file(str(file), base=base, reading=flag_values(read), reporter=reporter)
    tagged = any(issue.noun == "tag" for issue in issues)
    if output is not None:
        names = (*_COLUMNS, "words", "place", "start", "end") if tagged else _COLUMNS
        rows = [(*names, "file"), *((*astuple(issue), str(file)) for issue in issues)]
        write_rows(None if is_standard(output) else output, form, rows, dialect)
        if is_standard(output):
            return 0
        note(f"{len(issues):,} label issues are in {output}")
    if json:
        for issue in issues:
            print_json(asdict(issue), indent=None)
        return 0
    for issue in issues[:show]:
        label, suggested = (visible(name or "no label") for name in (issue.label, issue.suggested))
        head = Text(f"line {issue.line}", style="bold")
        head.append(f"  {label} {percent(issue.given_probability)}", style="")
        head.append(f", suggested {suggested} {percent(issue.probability)}", style="")
        head.append(f", like line {issue.twin}" if issue.twin else "", style="")
        standard_output().print(head)
        shown = " in: ".join(excerpt(text, _EXCERPT) for text in issue.passages)
        standard_output().print(Padding(visible(shown) or "(empty)", (0, 0, 1, 2)))
    twins = sum(issue.probability <= issue.given_probability for issue in issues)
    what = "tag" if tagged else "label"
    are = f"{what} is" if len(issues) == 1 else f"{what}s are"
    of_these = f"; {twins:,} only because a near-duplicate has another {what}" if twins else ""
    standard_output().print(f"{len(issues):,} {are} likely to be wrong{of_these}.")
    return 0
