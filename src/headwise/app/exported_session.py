"""ExportedSession: an exported model, opened."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from headwise.app.session_base import Session
from headwise.artifacts.onnx.onnx_errors import ExportError
from headwise.artifacts.onnx.onnx_load import exported_info, load_exported
from headwise.core.errors import ConfigError
from headwise.core.threads import usable_threads
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.models.prediction_types import prediction_type
from headwise.models.predictor import Predictor

if TYPE_CHECKING:
    from headwise.models.explanation import Explanation


class ExportedSession(Session):
    """An opened exported model; it predicts without PyTorch.

    Args:
        folder: The folder.
        device: cpu or auto.
        threads: The number of threads, see `load_exported`.

    Raises:
        ConfigError: Another device is requested.
        StoreError, ExportError: As `load_exported`.
    """

    def __init__(self, folder: Path | str, device: str = "auto", threads: int | None = None):
        if device not in ("auto", "cpu"):
            raise ConfigError(f"--device {device}: exported models run on the CPU; expected cpu or auto")
        self.folder, self.model = folder, load_exported(folder, threads=threads)
        self.info = exported_info(folder)
        self.task_name = self.model.settings.task
        self.item_type = ITEM_TYPES_BY_TASK[self.task_name].with_tokenizer(self.model.settings.tokenizer)

    def predictor_type(self) -> type[Predictor]:
        return prediction_type(self.item_type.label_type).predictor_type()

    def explain(self, items: Sequence[object]) -> "list[Explanation]":
        raise ExportError(
            "an exported model has no explanations; give the model folder that it was exported from",
            code="HW958",
        )

    def to_html(self) -> str:
        return (
            "<p>An exported model, which predicts without PyTorch. Its scores and the explanations of its "
            "predictions are in the model folder that it was exported from.</p>"
        )

    def opener(self, workers: int) -> Callable[[], Session]:
        return partial(ExportedSession, self.folder, "cpu", max(1, usable_threads() // workers))
