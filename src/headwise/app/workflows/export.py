"""Export a model folder: to a folder that predicts without PyTorch, or to a web page."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headwise.app.model_columns import columns_of_training

if TYPE_CHECKING:
    from headwise.artifacts.offline_page.page_export import OfflinePage
    from headwise.artifacts.onnx.onnx_export import ExportResult


def export_page(
    folder: Path | str,
    *,
    title: str | None = None,
    without_encoder: bool = False,
    examples: Sequence[str] = (),
) -> "OfflinePage":
    """Export a classifier to a web page that predicts offline, in a browser.

    Args:
        folder: The model's folder.
        title: The heading of the page; None for the name of the folder.
        without_encoder: Leave out the encoder of an ensemble. The predictions of the page then differ from
            those of the model, and the page says so.
        examples: Texts that the page offers to try.

    Returns:
        The source of the page, and what it leaves out of the model.

    Raises:
        ExportError: HW952, such a model cannot be exported to a page.
        StoreError: The folder cannot be loaded.
    """
    from headwise.app.session import ModelSession  # with these comes torch
    from headwise.artifacts.offline_page.page_export import offline_page

    session = ModelSession.open(folder, device="cpu")
    heading = title or Path(folder).resolve().name
    return offline_page(
        session.model, heading, session.to_html(), without_encoder=without_encoder, examples=examples
    )


def export_model(folder: Path | str, output: Path | str, *, overwrite: bool = False) -> "ExportResult":
    """Export a model to a folder, its network as ONNX files. The exported model is compared with the model
    before the folder is put in place.

    Args:
        folder: The model's folder.
        output: Folder of the exported model.
        overwrite: Replace an exported model in the output folder.

    Returns:
        The folder, its size, and the largest difference of the outputs.

    Raises:
        ExportError: HW951 a library is missing, HW952 such models cannot be exported, HW953 the exported
            model predicts something else than the model, HW954 the output holds other files.
        StoreError: The folder cannot be loaded.
    """
    from headwise.app.session import ModelSession  # with these comes torch
    from headwise.artifacts.onnx.onnx_export import check_export_folder, write_exported

    check_export_folder(Path(output), overwrite=overwrite)
    session = ModelSession.open(folder, device="cpu")
    return write_exported(
        session.model,
        output,
        title=session.task.title,
        predictions=session.task.predictions,
        columns=columns_of_training(session.info),
        metrics=session.info["metrics"],
        overwrite=overwrite,
    )
