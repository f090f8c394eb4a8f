"""Sources: models at work, whatever runs them. Nothing here imports torch before a model that needs it.

An exported folder as a source of predictions: onnxruntime computes them, without torch.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from headwise.app.reporter import Reporter
from headwise.app.row_reading import rows_as_trained
from headwise.artifacts.model_folder import VerifiedFolder, is_headwise_folder
from headwise.artifacts.onnx.onnx_errors import ExportError, installed
from headwise.artifacts.onnx.onnx_load import exported_info, load_exported
from headwise.artifacts.onnx.onnx_runner import requested_threads
from headwise.core.errors import ConfigError
from headwise.core.folder_layout import EXPORTED
from headwise.data.items.dataset import InputRows
from headwise.data.items.item_type import ItemType
from headwise.data.items.item_types import ITEM_TYPES, rows_to_predict
from headwise.data.items.label_types import SingleLabelType
from headwise.data.items.sentence_items import TaggedSentenceItems
from headwise.metrics.selective_prediction import SELECTIVE_PREDICTION, confidence_threshold
from headwise.models.predictions.predictor import Predictor, unknown_in_tests


class PredictionSource(Protocol):
    """A model in a folder, opened to predict.

    Attributes:
        model: The model.
        task: What it does.
        kind: What it reads.
        on_cpu: Whether the processor computes.
    """

    model: Any
    task: str
    kind: ItemType[Any]
    on_cpu: bool

    def predictor(self, batch_tokens: int, reading: Mapping[str, Any], unsure: str | None) -> Predictor:
        """The model at work; see `headwise.app.workflows.predict.predict_file`.

        Raises:
            ConfigError: Such models give no predictions, or cannot be unsure as asked.
        """
        ...

    def rows(
        self, file: Path, reading: Mapping[str, Any], listener: Reporter, heads: Path | str | None
    ) -> InputRows[Any]:
        """The records of a file as the model reads them."""
        ...

    def explain(self, items: Sequence[Any]) -> list[Any]:
        """Which words made the model say what it says of items, an `Explanation` each.

        Raises:
            HeadwiseError: That is not explained.
        """
        ...

    def shown(self) -> str:
        """What the model is and how good it is, as a piece of a page."""
        ...

    def computing(self) -> Callable[[], AbstractContextManager[Any]]:
        """What surrounds computations that have to come out the same every time; picklable."""
        ...

    def opening(
        self, batch_tokens: int, reading: Mapping[str, Any], unsure: str | None, workers: int
    ) -> Callable[[], Predictor]:
        """What opens the model in one of so many processes that share the processor; picklable."""
        ...


def open_model_folder(folder: Path | str, device: str, pipeline: str | None) -> PredictionSource:
    """Open a model folder, or an exported one.

    Args:
        folder: The folder.
        device: See `headwise.app.opening.open_model`.
        pipeline: Likewise.

    Raises:
        StoreError: It is neither, or not sound.
        ConfigError: The device cannot be used, or the model reads no texts.
    """
    if isinstance(folder, str | PathLike) and is_headwise_folder(Path(folder), EXPORTED):
        return OpenedOnnxModel(folder, device)
    VerifiedFolder(folder)  # what is no model folder is told where there is no torch, too
    with installed():
        from headwise.app.opened_torch_model import OpenedTorchModel  # with it comes torch

        return OpenedTorchModel(folder, device, pipeline)


class OpenedOnnxModel:
    """An exported folder.

    Args:
        folder: The folder.
        device: cpu or auto.
        threads: How many compute, see `load_exported`.

    Raises:
        ConfigError: Another device is asked for.
        StoreError, ExportError: As `load_exported`.
    """

    on_cpu = True

    def __init__(self, folder: Path | str, device: str = "auto", threads: int | None = None):
        if device not in ("auto", "cpu"):
            raise ConfigError(
                f"--device {device}: exported models compute on the processor; expected cpu or auto"
            )
        self.folder, self.model = folder, load_exported(folder, threads=threads)
        self.task = self.model.settings.task
        self.kind = ITEM_TYPES[self.task]
        if isinstance(self.kind, TaggedSentenceItems):
            self.kind = TaggedSentenceItems(tokenizer=self.model.settings.tokenizer)

    def predictor(self, batch_tokens: int, reading: Mapping[str, Any], unsure: str | None) -> Predictor:
        predictor = self.model.predictor(self.model, self.kind.nouns, batch_tokens, reading)
        metrics = exported_info(self.folder)["metrics"]
        predictor.usual = unknown_in_tests(metrics)
        if unsure is not None:
            if not isinstance(self.kind.answer, SingleLabelType):
                raise ConfigError("--unsure is for models that choose one of several labels")
            predictor.least = confidence_threshold(
                unsure, (metrics.get("dev") or {}).get(SELECTIVE_PREDICTION)
            )
        return predictor

    def rows(
        self, file: Path, reading: Mapping[str, Any], listener: Reporter, heads: Path | str | None
    ) -> InputRows[Any]:
        def read(path: str, options: Mapping[str, Any]) -> InputRows[Any]:
            return rows_to_predict(self.kind, self.task, path, options)

        info = exported_info(self.folder)
        return rows_as_trained(self.kind, info, file, reading, read, listener, heads)

    def explain(self, items: Sequence[Any]) -> list[Any]:
        raise ExportError(
            "this model was exported: it predicts, and explains nothing; ask the folder that it was "
            "exported from",
            code="HW958",
        )

    def shown(self) -> str:
        return (
            "<p>It was exported: it predicts without PyTorch. How good it is, and why it says what it "
            "says, is told by the model folder.</p>"
        )

    def computing(self) -> Callable[[], AbstractContextManager[Any]]:
        return nullcontext

    def opening(
        self, batch_tokens: int, reading: Mapping[str, Any], unsure: str | None, workers: int
    ) -> Callable[[], Predictor]:
        threads = max(1, (requested_threads() or os.cpu_count() or 1) // workers)
        return partial(_open, self.folder, threads, batch_tokens, reading, unsure)


def _open(
    folder: Path | str,
    threads: int,
    batch_tokens: int,
    reading: Mapping[str, Any],
    unsure: str | None,
) -> Predictor:
    """A model at work in a process of its own."""
    return OpenedOnnxModel(folder, "cpu", threads).predictor(batch_tokens, reading, unsure)
