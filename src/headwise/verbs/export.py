"""A model folder as one that predicts without torch."""

from pathlib import Path

from headwise.exported.export import Exported, check_export_folder, write_exported
from headwise.store import load_model, read_info
from headwise.tasks import find_task
from headwise.verbs.columns import columns_known


def export_model(
    folder: Path | str,
    output: Path | str,
    *,
    overwrite: bool = False,
) -> Exported:
    """Export a model: its network as ONNX files, everything else as it is. What was written is compared
    with the model before it is put in place.

    Args:
        folder: The model's folder.
        output: Folder for what is exported.
        overwrite: Replace a model that was exported there before.

    Returns:
        Where it is, how large, and how well it agrees.

    Raises:
        ExportError: HW951 a library is missing, HW952 such models cannot be exported, HW953 what was
            written says something else than the model, HW954 the output has other files in it.
        StoreError: The folder is not a sound model folder.
    """
    check_export_folder(Path(output), overwrite=overwrite)
    model, info = load_model(folder), read_info(folder)
    task = find_task(model.config.task)
    return write_exported(
        model,
        output,
        title=task.title,
        predictions=task.predictions,
        columns=columns_known(info),
        metrics=info["metrics"],
        overwrite=overwrite,
    )
