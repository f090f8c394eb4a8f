"""`headwise curve`: the learning curve of a file, and the forecast for more texts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from headwise.app.cli.argument_types import FileArgument, Integer, Integers, OptionalOutputFile, Switch
from headwise.app.cli.console import (
    check_page_output,
    columns,
    note,
    print_json,
    standard_output,
    write_text,
)
from headwise.app.cli.flags import flag_values, section_flags
from headwise.app.cli.path_checks import is_standard
from headwise.app.cli.terminal import TerminalReporter

if TYPE_CHECKING:
    from headwise.app.workflows.learning_curve import LearningCurve


def curve(
    file: FileArgument,
    /,
    *,
    task: str | None = None,
    more: Annotated[Integers, Parameter(negative=(), consume_multiple=True, show_default=False)] = (),
    seeds: Integer = 5,
    full_model: Switch = False,
    base: str = "auto",
    svg: OptionalOutputFile = None,
    work: Path | None = None,
    json: Switch = False,
    read: section_flags("data") = None,
) -> int:
    """Estimate the gain from more labelled texts (learning curve).

    Models are trained on an eighth of the texts and on larger parts, and scored on a held-out fifth. A
    power law through their errors predicts the gain of more texts, with an interval. It works for texts,
    pairs and tagged sentences.

    Args:
        file: Labelled texts, pairs or sentences, plain or compressed; "-" is standard input.
        task: Task of the file; guessed by default.
        more: Numbers of additional texts to estimate. [about a quarter, a half and all of the file's]
        seeds: Number of random orders of the texts, each with a held-out set of its own.
        full_model: Train the full model of headwise train, which takes long, instead of its linear model
            alone.
        base: Static embeddings that the linear model reads with the words (for tagged sentences, their word
            groups); none for words alone.
        svg: Draw the curve into this file; an existing picture is replaced.
        work: File that caches the measurements; an interrupted command continues from it.
        json: Print JSON for other programs.
    """
    check_page_output(svg, ".svg")
    from headwise.app.workflows.learning_curve import curve_file
    from headwise.core.errors import TrainingInterrupted
    from headwise.models.output_file import reporting_write_errors  # with these comes torch

    try:
        with reporting_write_errors(work or "standard output"):
            forecast_curve = curve_file(
                str(file),
                task=task,
                more=more,
                seeds=seeds,
                full_model=full_model,
                base=base,
                work=work,
                reading=flag_values(read),
                reporter=TerminalReporter(),
            )
    except TrainingInterrupted as stop:
        raise KeyboardInterrupt from stop
    if svg is not None:
        write_text(svg, forecast_curve.figure())
        if is_standard(svg):
            return 0
        note(f"the picture is in {svg}")
    if json:
        print_json(forecast_curve.to_json())
        return 0
    _print_curve(forecast_curve)
    return 0


def _print_curve(curve: "LearningCurve") -> None:
    """Print the scores at each size, the score with all items, and the forecasts."""
    from headwise.models.metric_table import format_number

    metrics, out = curve.metric_table, standard_output()
    line, of = metrics.primary_metric, metrics.of
    table = columns(of, line.title, "from", "to")
    for size, size_scores in zip(curve.sizes.tolist(), curve.scores.T, strict=True):
        row = (size_scores.mean(), size_scores.min(), size_scores.max())
        table.add_row(f"{size:,}", *(format_number(float(value), line.form) for value in row))
    out.print(table)
    now, low, high = (format_number(value, line.form) for value in curve.score(curve.items))
    out.print(f"\nWith all {curve.items:,} {of} it should be {now} ({low} to {high}).")
    if curve.outlier_score is not None:
        most, last = f"{curve.sizes[-1]:,} {of}", format_number(curve.outlier_score, line.form)
        out.print(f"(The models of {most} were better, {last}: by what those of fewer say, by chance.)")
    for forecast in curve.forecasts:
        values = forecast["gain"], *forecast["interval"]
        if metrics.lower:
            gain, low, high = (format_number(value, line.form) for value in values)
            worth = f"take {gain} off it"
        else:
            gain, low, high = (f"{100 * value:+.1f}" for value in values)
            worth = f"are worth {gain} points"
        then = format_number(forecast["score"], line.form)
        out.print(f"Another {forecast['more']:,} {of} {worth} ({low} to {high}), to {then}.")
