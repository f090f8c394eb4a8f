"""`headwise calibrate`: fit the probabilities and thresholds of a model again."""

import math
from typing import Annotated

from cyclopts import Parameter

from headwise.app.cli.argument_types import FileArgument, ModelFolder, OptionalParses, OutputFile, Switch
from headwise.app.cli.console import note, percent, print_json, standard_output, visible
from headwise.app.cli.flags import OpeningArgument, file_arguments, section_flags
from headwise.app.cli.path_checks import check_one_standard_input, check_output_is_folder
from headwise.app.cli.terminal import TerminalReporter

_SHOWN = 5  # labels listed


def calibrate(
    model: ModelFolder,
    file: FileArgument,
    /,
    *,
    output: Annotated[OutputFile, Parameter(alias="-o")],
    thresholds: str | None = None,
    overwrite: Switch = False,
    json: Switch = False,
    parses: OptionalParses = None,
    opening: OpeningArgument = None,
    read: section_flags("data") = None,
) -> int:
    """Refit probabilities and thresholds on labelled texts.

    Use it for a trained model that meets different texts, for example where labels have become more common
    or rarer. The weights stay. The probabilities are recalibrated, and --thresholds sets when a label is
    assigned. Texts that the model was trained on are left out.

    Args:
        model: Folder of the model; it must predict labels.
        file: Labelled texts that the model was not trained on, plain or compressed; "-" is standard input.
        output: Folder for the new model.
        thresholds: When a label is assigned; the same values as headwise train --classifier.thresholds: f1,
            spam:fpr=0.01, urgent:recall=0.95, spam:precision=0.98; none for the most probable label. [as in
            training]
        overwrite: Replace the model in the output folder.
        json: Print JSON for other programs.
        parses: Dependency parses of the texts, for a model that uses them; see headwise predict.
    """
    check_output_is_folder(output)
    check_one_standard_input({"FILE": file, "--parses": parses})
    from headwise.app.workflows.calibrate import calibrate_file
    from headwise.models.metric_table import FORMATS  # with these comes torch

    recalibrated = calibrate_file(
        model,
        file,
        output,
        thresholds=thresholds,
        **file_arguments(parses, opening, read),
        overwrite=overwrite,
        reporter=TerminalReporter(),
    )
    if json:
        print_json(recalibrated.to_json())
        return 0
    out, line = standard_output(), recalibrated.metric_table.primary_metric
    before, after = map(percent, recalibrated.errors)
    of = f"of {recalibrated.nouns.count(recalibrated.items)}"
    out.print(
        f"Calibration error {of}: {before} before, {after} now (cross-fitted; temperature "
        f"{recalibrated.temperature:.2f})."
    )
    scores = [FORMATS[line.form](score) for score in recalibrated.scores]
    out.print(f"{line.title.capitalize()} {of}: {scores[0]} before, {scores[1]} now (fitted to them).")
    moved = sorted(recalibrated.biases.items(), key=lambda label_bias: -abs(label_bias[1]))[:_SHOWN]
    odds = ", ".join(f"{visible(label)} x {math.exp(bias):.2f}" for label, bias in moved)
    largest = "The largest changes of odds" if len(recalibrated.biases) > _SHOWN else "Changes of odds"
    out.print(f"{largest}: {odds}.")
    for promise in recalibrated.promise_messages:
        out.print(promise)
    note(f"the model is in {output}")
    return 0
