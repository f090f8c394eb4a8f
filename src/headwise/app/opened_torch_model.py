"""A model folder as a source of predictions: PyTorch computes them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import torch

from headwise.app.opening import open_model, rows_for
from headwise.app.reporter import Reporter
from headwise.artifacts import read_info
from headwise.artifacts.model_card import model_html
from headwise.data.items.dataset import InputRows
from headwise.models.predictions.predictor import Predictor, unknown_in_tests
from headwise.models.tasks import find_task
from headwise.nn.attention.cpu import compiled


class OpenedTorchModel:
    """A model folder.

    Args:
        folder: The folder.
        device: See `headwise.app.opening.open_model`.
        pipeline: Likewise.

    Raises:
        HeadwiseError: As `open_model`.
    """

    def __init__(self, folder: Path | str, device: str, pipeline: str | None):
        self.folder, self.pipeline = folder, pipeline
        self.model, self.info = open_model(folder, device, pipeline), read_info(Path(folder))
        self._does = find_task(self.model.config.task)
        self.task, self.kind = self._does.name, self._does.item_type_for(self.model.config)
        self.on_cpu = self.model.device.type == "cpu"

    def predictor(self, batch_tokens: int, reading: Mapping[str, Any], unsure: str | None) -> Predictor:
        return predictor_for(self.model, self.info, batch_tokens, reading, unsure)

    def rows(
        self, file: Path, reading: Mapping[str, Any], listener: Reporter, heads: Path | str | None
    ) -> InputRows[Any]:
        return rows_for(self._does, self.model, self.info, file, reading, listener, heads)

    def explain(self, items: Sequence[Any]) -> list[Any]:
        return self._does.explain(self.model, items)

    def shown(self) -> str:
        return model_html(self.model, self.info)

    def computing(self) -> Callable[[], AbstractContextManager[Any]]:
        return compiled.wait_for_kernels

    def opening(
        self, batch_tokens: int, reading: Mapping[str, Any], unsure: str | None, workers: int
    ) -> Callable[[], Predictor]:
        threads = max(1, torch.get_num_threads() // workers)
        return partial(_open, self.folder, self.pipeline, threads, batch_tokens, reading, unsure)


def _open(
    folder: Path | str,
    pipeline: str | None,
    threads: int,
    batch_tokens: int,
    reading: Mapping[str, Any],
    unsure: str | None,
) -> Predictor:
    """A model at work on the processor, in a process of its own."""
    torch.set_num_threads(threads)
    return OpenedTorchModel(folder, "cpu", pipeline).predictor(batch_tokens, reading, unsure)


def predictor_for(
    model: Any, info: Mapping[str, Any], batch_tokens: int, reading: Mapping[str, Any], unsure: str | None
) -> Predictor:
    """A model at work; `info` is what its folder says of it, for the rest see `predict_file`.

    Raises:
        ConfigError: Such models give no predictions, or cannot be unsure as asked.
    """
    task = find_task(model.config.task)
    if task.predictor is None:
        raise task.no_prediction_error()
    predictor = task.predictor(model, task.item_type_for(model.config).nouns, batch_tokens, reading)
    predictor.usual = unknown_in_tests(info["metrics"])
    if unsure is not None:
        predictor.least = task.confidence_threshold(unsure, info["metrics"])
    return predictor
