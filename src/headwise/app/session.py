"""Opened models: of a model folder, which PyTorch computes or headwise itself, or exported. Torch is
imported only when a model needs it."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

from headwise.app.session_base import FileArguments, OpenArguments, Session, TaskSession
from headwise.artifacts.folder_config import read_info
from headwise.artifacts.model_folder import is_headwise_folder
from headwise.artifacts.onnx.onnx_errors import ExportError, NotInstalledError, installed
from headwise.artifacts.runtime_load import load_for_prediction, needs_torch
from headwise.core.allocator import resume_collection
from headwise.core.errors import ConfigError
from headwise.core.folder_layout import EXPORTED
from headwise.core.threads import limit_threads, usable_threads
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.text_items import TextSchema
from headwise.models.prediction_types import PREDICTION_TYPES
from headwise.models.predictor import Predictor

if TYPE_CHECKING:
    from headwise.data.items.examples import Example, TaggedSentence
    from headwise.models.explanation import Explanation


__all__ = ["FileArguments", "ModelSession", "OpenArguments", "Session", "open_session", "open_task_session"]

_GPU_DRIVERS = (
    *("/proc/driver/nvidia/version", "/dev/nvidiactl", "/dev/dxg", "/dev/kfd"),
    "C:/Windows/System32/nvcuda.dll",
)
"""Device files that exist if there may be a GPU."""


def open_session(folder: Path | str, *, device: str = "auto", pipeline: str | None = None) -> Session:
    """Open a model folder, or an exported one. Torch is imported where the model needs it.

    Args:
        folder: The folder.
        device: The device: cpu, cuda, or auto for a GPU if there is one.
        pipeline: A spaCy pipeline that parses texts for the model, in place of the one that it names.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: The device cannot be used, or the model reads no texts.
        NotInstalledError: HW957, the model needs torch, and it is not installed.
    """
    session: Session
    if isinstance(folder, str | PathLike) and is_headwise_folder(Path(folder), EXPORTED):
        session = ExportedSession(folder, device)
    # It reports a folder without a model even where torch is not installed.
    elif (reason := needs_torch(folder)) is None and pipeline is None and computes_on_processor(device):
        session = PredictionSession(folder)
    else:
        with installed(reason):
            session = ModelSession.open(folder, device=device, pipeline=pipeline)
    resume_collection()
    return session


def open_task_session(
    folder: Path | str, *, device: str = "auto", pipeline: str | None = None
) -> TaskSession:
    """Open a model folder, not an exported one, for its evaluation: PyTorch computes where it is installed,
    so that scores are those of the training run to the last digit.

    Raises:
        StoreError, ConfigError, NotInstalledError: As `open_session`.
    """
    reason = needs_torch(folder)
    try:
        with installed(reason):
            session: TaskSession = ModelSession.open(folder, device=device, pipeline=pipeline)
    except NotInstalledError:
        if reason is not None or pipeline is not None or device not in ("auto", "cpu"):
            raise
        session = PredictionSession(folder)
    resume_collection()
    return session


def computes_on_processor(device: str) -> bool:
    """Whether a model computes on the CPU with the compiled kernels of headwise; torch is not imported."""
    if device not in ("auto", "cpu") or os.environ.get("HEADWISE_KERNELS") == "off":
        return False
    if device == "cpu" or not any(Path(driver).exists() for driver in _GPU_DRIVERS):
        return True
    return find_spec("torch") is None


class ModelSession(TaskSession):
    """A model of a model folder, opened: PyTorch computes.

    Args:
        folder: The folder.
        model: The model.
        pipeline: A spaCy pipeline that parses texts for it, in place of the one that it names.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: The model reads no texts that could be parsed.
    """

    def __init__(self, folder: Path | str, model: Any, pipeline: str | None = None):
        self.folder, self.model, self._pipeline = folder, model, pipeline
        self.info = read_info(folder)
        self.task_name = model.config.task
        self.item_type = self.task.item_type_for(model.config)
        if pipeline is not None:
            if not self.item_type.sides:
                raise ConfigError("--pipeline parses texts, but this model reads none")
            from headwise.text.parsing import new_parser
            from headwise.text.text_configs import SyntaxConfig

            model.features.parser = new_parser(SyntaxConfig(pipeline))
        self.schema = self.task.schema(model)
        self.uses_trees = getattr(getattr(model, "features", None), "trees", "none") != "none"
        self.on_cpu = model.device.type == "cpu"

    @classmethod
    def open(cls, folder: Path | str, *, device: str = "auto", pipeline: str | None = None) -> Self:
        """Open a model folder, not an exported one; see `open_session`."""
        from headwise.artifacts import load_model

        return cls(folder, load_model(folder, device=device), pipeline)

    def to_html(self) -> str:
        from headwise.artifacts.model_card import model_html

        return model_html(self.model, self.info)

    def opener(self, workers: int) -> Callable[[], Session]:
        import torch

        threads = max(1, torch.get_num_threads() // workers)
        return partial(_open_with_torch, self.folder, self._pipeline, threads)


def _open_with_torch(folder: Path | str, pipeline: str | None, threads: int) -> ModelSession:
    """A model on the processor, opened in another process."""
    import torch

    torch.set_num_threads(threads)
    return ModelSession.open(folder, device="cpu", pipeline=pipeline)


class PredictionSession(TaskSession):
    """A model folder, opened for prediction on the processor, without torch.

    Args:
        folder: The folder of a model whose `headwise.artifacts.runtime_load.needs_torch` is None.

    Raises:
        StoreError: It is not a sound model folder.
    """

    _torch_session: Session | None = None

    def __init__(self, folder: Path | str):
        self.folder, self.model = folder, load_for_prediction(folder)
        self.info = read_info(folder)
        self.task_name = self.model.config.task
        self.item_type = ITEM_TYPES_BY_TASK[self.task_name].with_tokenizer(
            self.model.config.words.tokenizer
        )
        columns = self.model.config.linear_model.tabular_columns
        label_type = self.item_type.label_type
        labels = self.model.labels if label_type.multi_label else ()
        self.schema = TextSchema(labels, None, columns) if labels or columns else None
        self._prediction_type = PREDICTION_TYPES[type(label_type)]

    def predictor_type(self) -> type[Predictor]:
        return self._prediction_type.predictor_type()

    def explain(self, items: Sequence[object]) -> "list[Explanation]":
        model = self.model
        if not self.item_type.has_tags and model.encoder_weight:
            return self._with_torch("explanations of an encoder").explain(items)  # by its gradients
        explain = self._prediction_type.explanation_function()
        if self.item_type.has_tags:
            return explain(
                model, [model.sentence(cast("Example | TaggedSentence", item)) for item in items]
            )
        return explain(model, model.encoded(items))

    def to_html(self) -> str:
        try:
            return self._with_torch("the description of a model").to_html()
        except NotInstalledError:
            return "<p>The scores of the model are shown where PyTorch is installed.</p>"

    def opener(self, workers: int) -> Callable[[], Session]:
        return partial(_open_with_threads, self.folder, max(1, usable_threads() // workers))

    def _with_torch(self, reason: str) -> Session:
        """The session of the same folder with torch; `reason` is what needs it.

        Raises:
            NotInstalledError: HW957, torch is not installed.
        """
        if self._torch_session is None:
            with installed(reason):
                self._torch_session = ModelSession.open(self.folder, device="cpu")
        return self._torch_session


def _open_with_threads(folder: Path | str, threads: int) -> PredictionSession:
    limit_threads(threads)
    return PredictionSession(folder)


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
        from headwise.artifacts.onnx.onnx_load import exported_info, load_exported

        self.folder, self.model = folder, load_exported(folder, threads=threads)
        self.info = exported_info(folder)
        self.task_name = self.model.settings.task
        self.item_type = ITEM_TYPES_BY_TASK[self.task_name].with_tokenizer(self.model.settings.tokenizer)

    def predictor_type(self) -> type[Predictor]:
        return PREDICTION_TYPES[type(self.item_type.label_type)].predictor_type()

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
