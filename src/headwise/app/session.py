"""Opening a model: by the runtime that it needs. Torch is imported only when a model needs it."""

import os
from importlib.util import find_spec
from os import PathLike
from pathlib import Path

from headwise.app.session_base import FileArguments, OpenArguments, Session
from headwise.app.task_session import TaskSession
from headwise.artifacts.model_folder import is_headwise_folder
from headwise.artifacts.onnx.onnx_errors import NotInstalledError, installed
from headwise.artifacts.runtime_load import needs_torch
from headwise.core.folder_layout import EXPORTED

__all__ = ["FileArguments", "OpenArguments", "Session", "open_session", "open_task_session"]

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
    if isinstance(folder, str | PathLike) and is_headwise_folder(Path(folder), EXPORTED):
        from headwise.app.exported_session import ExportedSession

        return ExportedSession(folder, device)
    reason = needs_torch(folder)  # reports a folder without a model even where torch is not installed
    if reason is None and pipeline is None and computes_on_processor(device):
        from headwise.app.prediction_session import PredictionSession

        return PredictionSession(folder)
    with installed(reason):
        from headwise.app.model_session import ModelSession

        return ModelSession.open(folder, device=device, pipeline=pipeline)


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
            from headwise.app.model_session import ModelSession

            return ModelSession.open(folder, device=device, pipeline=pipeline)
    except NotInstalledError:
        if reason is not None or pipeline is not None or device not in ("auto", "cpu"):
            raise
    from headwise.app.prediction_session import PredictionSession

    return PredictionSession(folder)


def computes_on_processor(device: str) -> bool:
    """Whether a model computes on the CPU with the compiled kernels of headwise; torch is not imported."""
    if device not in ("auto", "cpu") or os.environ.get("HEADWISE_KERNELS") == "off":
        return False
    if device == "cpu" or not any(Path(driver).exists() for driver in _GPU_DRIVERS):
        return True
    return find_spec("torch") is None
