"""An exported folder as a source of predictions: onnxruntime computes them, without torch."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from headwise.data.answers import Label
from headwise.data.kinds import KINDS, rows_to_predict
from headwise.data.kinds.sentence import SentenceKind
from headwise.data.rows import Rows
from headwise.errors import ConfigError
from headwise.exported.errors import ExportError
from headwise.exported.load import exported_info, load_exported
from headwise.exported.session import asked_threads
from headwise.predictions.predictor import Predictor, unknown_in_tests
from headwise.scores.sureness import SURENESS, least_sure
from headwise.verbs.listener import Listener
from headwise.verbs.rows import rows_as_trained


class ExportedSource:
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
        self.kind = KINDS[self.task]
        if isinstance(self.kind, SentenceKind):
            self.kind = SentenceKind(tokenizer=self.model.settings.tokenizer)

    def predictor(self, batch_tokens: int, reading: Mapping[str, Any], unsure: str | None) -> Predictor:
        predictor = self.model.predictor(self.model, self.kind.nouns, batch_tokens, reading)
        metrics = exported_info(self.folder)["metrics"]
        predictor.usual = unknown_in_tests(metrics)
        if unsure is not None:
            if not isinstance(self.kind.answer, Label):
                raise ConfigError("--unsure is for models that choose one of several labels")
            predictor.least = least_sure(unsure, (metrics.get("dev") or {}).get(SURENESS))
        return predictor

    def rows(
        self, file: Path, reading: Mapping[str, Any], listener: Listener, heads: Path | str | None
    ) -> Rows[Any]:
        def read(path: str, options: Mapping[str, Any]) -> Rows[Any]:
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
        threads = max(1, (asked_threads() or os.cpu_count() or 1) // workers)
        return partial(_open, self.folder, threads, batch_tokens, reading, unsure)


def _open(
    folder: Path | str,
    threads: int,
    batch_tokens: int,
    reading: Mapping[str, Any],
    unsure: str | None,
) -> Predictor:
    """A model at work in a process of its own."""
    return ExportedSource(folder, "cpu", threads).predictor(batch_tokens, reading, unsure)
