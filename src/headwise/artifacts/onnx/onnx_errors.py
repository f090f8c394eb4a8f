"""ExportError: a model cannot be exported, or an exported model cannot be used."""

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from headwise.core.errors import HeadwiseError
from headwise.core.extras import install_line
from headwise.core.training_libraries import TRAINING_LIBRARIES, needs_message


class ExportError(HeadwiseError):
    """A model cannot be exported, or an exported one cannot be used as asked.

    Codes: HW951 a library is not installed, HW952 the model has what cannot be exported, HW953 the exported
    model does not say what the model says, HW954 the folder has files of something else, HW955 a text is
    longer than an exported model reads, HW956 the network's file cannot be run, HW957 what is asked for
    needs torch, and it is not installed, HW958 an exported model is asked for more than predictions.
    """

    code = "HW950"


class NotInstalledError(ExportError, ModuleNotFoundError):
    """HW957: the operation needs a library that prediction with exported models does not."""


@contextmanager
def installed(reason: str | None = None, advice: str = "") -> Generator[None]:
    """Convert an ImportError of a training library, which is missing on a machine for inference only, to a
    `NotInstalledError`.

    Args:
        reason: What needs the library, for the message.
        advice: What does without it, for the end of the message.

    Raises:
        NotInstalledError: HW957, a library is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if isinstance(error, NotInstalledError) or name not in TRAINING_LIBRARIES:
            raise
        raise NotInstalledError(needs_message(name, reason) + advice, code="HW957") from None


def library(name: str, what: str) -> Any:
    """Import a library of the extra `onnx`.

    Raises:
        ExportError: HW951, it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ExportError(
            f"{what} needs {name}, which is not installed: {install_line('onnx')} (a machine that only "
            "predicts with exported models: pip install onnxruntime)",
            code="HW951",
        ) from None
