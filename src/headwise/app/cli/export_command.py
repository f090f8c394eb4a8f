"""`headwise export`: export a model to ONNX, to predict without torch."""

import shlex

from headwise.app.cli.console import Switch, note, visible
from headwise.app.cli.file_arguments import ModelFolder, OutputFile, check_output_is_folder


def export(model: ModelFolder, output: OutputFile, /, *, overwrite: Switch = False) -> int:
    """Export a model to ONNX, to predict without torch.

    The network becomes two ONNX files for onnxruntime. Vocabulary, linear model, calibration and thresholds
    stay the same. The exported files are compared with the model before they are put in place. headwise
    predict takes the folder like a model folder.

    Args:
        model: Folder of the model.
        output: Folder for the exported model; created if needed.
        overwrite: Replace a model that was exported there before.

    Raises:
        HeadwiseError: The model cannot be used or exported, or the folder has other files in it.
    """
    check_output_is_folder(output, "OUTPUT")
    from headwise.app.workflows.explain import export_model
    from headwise.models.prediction_file import reporting_write_errors  # with these comes torch

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
