"""Why a model says what it says of a file, of any size.

A model folder as one that predicts without torch.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headwise.app.model_columns import columns_of_training
from headwise.app.opening import open_rows
from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.artifacts import load_model, read_info
from headwise.artifacts.onnx.onnx_export import ExportResult, check_export_folder, write_exported
from headwise.data.items.batching import in_chunks
from headwise.models.explanations.explanation import Explanation
from headwise.models.tasks import find_task

_CHUNK = 256  # items at a time


def explain_file(
    folder: Path | str,
    file: Path | str,
    *,
    heads: Path | str | None = None,
    pipeline: str | None = None,
    device: str = "auto",
    reading: Mapping[str, Any] | None = None,
    listener: Reporter = NULL_REPORTER,
) -> Iterator[tuple[int, Explanation]]:
    """The explanations of what a model says of every record of a file, in their order.

    Args:
        folder: The model's folder.
        file: The file; "-" is standard input.
        heads: The syntax of the texts: as many parses as the file has records.
        pipeline: See `headwise.app.opening.open_model`.
        device: Likewise.
        reading: How the file is read, where that is not to be guessed.
        listener: Is told what happens.

    Yields:
        The line of each record, and one explanation; there may be several of a record, or none.

    Raises:
        HeadwiseError: The model or the file cannot be used, or what the model says is not explained.
    """
    model, task, rows = open_rows(folder, file, pipeline, device, reading, listener, heads)
    for chunk in in_chunks(rows, _CHUNK):
        for explanation in task.explain(model, [row.item for row in chunk]):
            yield chunk[explanation.item].line, explanation


def export_model(
    folder: Path | str,
    output: Path | str,
    *,
    overwrite: bool = False,
) -> ExportResult:
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
        columns=columns_of_training(info),
        metrics=info["metrics"],
        overwrite=overwrite,
    )
