"""`headwise export`: export a model to ONNX, to predict without torch, or to a page that works offline."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from headwise.app.cli.argument_types import ModelFolder, OutputFile, Switch
from headwise.app.cli.console import note, visible, write_text
from headwise.app.cli.path_checks import check_output_is_folder, is_standard
from headwise.core.errors import ConfigError


def export(
    model: ModelFolder,
    /,
    output: Annotated[OutputFile, Parameter(alias="-o")],
    *,
    format: Literal["onnx", "html"] = "onnx",
    without_encoder: Switch = False,
    example: Annotated[
        tuple[str, ...], Parameter(negative=(), consume_multiple=True, show_default=False)
    ] = (),
    overwrite: Switch = False,
) -> int:
    """Export a model to ONNX, or to an offline web page.

    With --format onnx, the network becomes two ONNX files for onnxruntime. Vocabulary, linear model,
    calibration and thresholds stay the same. The exported files are compared with the model before they are
    put in place. headwise predict takes the folder like a model folder.

    With --format html, the model becomes one HTML file. A browser opens it without a network, and it
    classifies what one types: probabilities as bars, and the words that decided. The page computes the
    linear model, static embeddings and the encoder ms-transformer. A model with another encoder needs
    --without-encoder, and the page says that its answers differ.

    Args:
        model: Folder of the model.
        output: Folder for the exported model, created if needed; with --format html the file of the page.
        format: onnx, or html.
        without_encoder: With --format html, leave out the encoder of an ensemble: a smaller page.
        example: With --format html, texts that the page offers to try.
        overwrite: Replace a model or a page that was exported there before.
    """
    if format == "html":
        return _export_page(
            model, output, without_encoder=without_encoder, examples=example, overwrite=overwrite
        )
    if example:
        raise ConfigError("--example is for --format html; an ONNX export has no page")
    if without_encoder:
        raise ConfigError("--without-encoder is for --format html; an ONNX export has the encoder")
    check_output_is_folder(output, "OUTPUT")
    from headwise.app.workflows.export import export_model
    from headwise.models.output_file import reporting_write_errors  # with these comes torch

    with reporting_write_errors(output):
        done = export_model(model, output, overwrite=overwrite)
    comparison = done.compared
    note(
        f"compared on {comparison.texts} texts of 0 to {comparison.longest:,} words: the outputs differ by "
        f"{comparison.difference:.1g} at most"
    )
    size = sum(done.sizes.values()) / 1e6
    shown, needs = (visible(shlex.quote(str(path))) for path in (output, output / "requirements.txt"))
    print(
        f"Exported: {visible(str(output))} ({size:.1f} MB). On a machine without torch:\n"
        f"  pip install -r {needs}; pip install --no-deps HEADWISE  (its source folder or wheel)\n"
        f"  headwise predict {shown} NEW_TEXTS --output {done.predictions}"
    )
    return 0


def _export_page(
    model: Path, output: Path, *, without_encoder: bool, examples: Sequence[str], overwrite: bool
) -> int:
    from headwise.app.output_checks import check_output_file  # with these comes torch
    from headwise.app.workflows.export import export_page

    if not is_standard(output):
        check_output_file(output, model, overwrite=overwrite)
    page = export_page(model, without_encoder=without_encoder, examples=examples)
    write_text(output, page.html)
    if page.left_out:
        note(page.left_out)
    if not is_standard(output):
        note(f"the page is in {output} ({len(page.html) / 1e6:.1f} MB); open it in a browser")
    return 0
