"""`headwise doctor`: check data files before training."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from headwise.app.cli.argument_types import UncheckedFile
from headwise.app.cli.console import columns, note, print_json, standard_output, visible, working
from headwise.app.cli.flags import flag_values, section_flags
from headwise.data.doctor.doctor_report import DoctorReport, FileReport
from headwise.data.findings import Finding

MOST_CLASSES = 12  # classes listed
_STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}


def doctor(
    *files: UncheckedFile, task: str | None = None, json: bool = False, read: section_flags("data") = None
) -> int:
    """Check data files before training.

    Describes what the files hold and reports what is wrong: damaged records, duplicates, leaks between
    training and test data, labels that do not match. Each finding comes with advice.

    Args:
        files: Training data, optionally followed by development and test data ("train", "dev" or "test" in
            a file's name takes precedence over its position); "-" is standard input.
        task: Task of the files; guessed from the first file by default.
        json: Print JSON instead of a report.

    Returns:
        1 if there is an error among the findings, else 0.
    """
    from headwise.data.doctor.diagnose import doctor_files  # with it comes numpy

    with working("reading and checking"):
        diagnosis = doctor_files([str(file) for file in files], task, flag_values(read))
    if diagnosis.why:
        note(f"task {diagnosis.task} guessed from the file ({diagnosis.why}) - override with --task")
    console = standard_output()
    if json:
        print_json(diagnosis.to_json())
    else:
        for part in _report(diagnosis, files):
            console.print(part)
    return 1 if diagnosis.errors else 0


def _report(diagnosis: DoctorReport, files: tuple[Path, ...]) -> Iterator[object]:
    yield ""
    for file in diagnosis.files:
        yield _heading(file)
    if diagnosis.files:
        yield _counts_table(diagnosis.files)
        yield ""
        yield from _numbers_table(diagnosis.files)
        yield from _classes(diagnosis.files)
    for severity, findings in groupby(diagnosis.findings, key=lambda finding: finding.severity):
        same_severity = list(findings)
        title = severity if severity == "info" or len(same_severity) == 1 else severity + "s"
        yield Text(f"{len(same_severity)} {title}", style=_STYLES[severity])
        for finding in same_severity:
            yield _finding(finding)
        yield ""
    if not diagnosis.findings:
        yield f"No problems found in {len(files)} file{'s' * (len(files) != 1)}."


def _heading(file: FileReport) -> Text:
    columns = f", {file.names.columns} {visible(file.text_column)!r}" if file.names.columns else ""
    if file.label_column:
        columns += f", labels from column {visible(file.label_column)!r}"
    text = Text.assemble((file.role, "bold"), f"  {visible(file.path)}\n")
    text.append(f"format {file.format}{columns}", style="dim")
    for line in file.notes:
        text.append(f"\n- {visible(line)}", style="dim")
    return text.append("\n")


def _counts_table(files: tuple[FileReport, ...]) -> Table:
    names = files[0].names
    sizes = (f"{names.parts}: min", "median", "mean", "p95", "max")
    table = columns("", names.items, "distinct", "empty", *sizes)
    for file in files:
        words = file.words
        shown = (file.texts, file.distinct, file.empty, words.min, words.median, words.mean)
        cells = [f"{n:,}" if isinstance(n, int) else f"{n:,.1f}" for n in shown]
        table.add_row(file.role, *cells, f"{words.p95:,}", f"{words.max:,}")
    return table


def _numbers_table(files: tuple[FileReport, ...]) -> Iterator[Table | str]:
    if not any(file.numbers for file in files):
        return
    table = columns("", "numbers: min", "median", "mean", "max")
    for file in files:
        if (numbers := file.numbers) is not None:
            table.add_row(
                file.role, *(f"{n:,.6g}" for n in (numbers.min, numbers.median, numbers.mean, numbers.max))
            )
    yield table
    yield ""


def _classes(files: tuple[FileReport, ...]) -> Iterator[Table | str]:
    names = list(dict.fromkeys(label for file in files for label, _, _ in file.classes))
    if not names:
        return
    classes = files[0].names.classes
    table = columns(classes, *(file.role for file in files), texts=(classes,))
    shares = [{label: (n, share) for label, n, share in file.classes} for file in files]
    for name in names[:MOST_CLASSES]:
        class_counts = [file_shares.get(name) for file_shares in shares]
        cells = [
            f"{class_count[0]:,} ({class_count[1]:.1%})" if class_count else "-"
            for class_count in class_counts
        ]
        table.add_row(visible(name), *cells)
    if len(names) > MOST_CLASSES:
        table.add_row(f"and {len(names) - MOST_CLASSES:,} more")
    yield table
    yield ""


def _finding(finding: Finding) -> Group:
    head = Text.assemble((finding.code, "dim"), f" {visible(finding.message)}")
    parts = [Padding(head, (0, 0, 0, 2), expand=False)]
    if finding.where:
        places = Text("at " + visible("; ".join(_shorter(finding.where))), style="dim")
        parts.append(Padding(places, (0, 0, 0, 4), expand=False))
    if finding.fix:
        parts.append(Padding(Text(visible(finding.fix)), (0, 0, 0, 4), expand=False))
    return Group(*parts)


def _shorter(places: tuple[str, ...]) -> Iterator[str]:
    """Places `FILE:LINE`, without the file name if it is that of the place before."""
    last = ""
    for place in places:
        file, colon, rest = place.partition(":")
        yield rest if colon and file == last else place
        last = file if colon else last
