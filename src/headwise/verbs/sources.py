"""Sources: models at work, whatever runs them. Nothing here imports torch before a model that needs it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from headwise.data.kind import Kind
from headwise.data.rows import Rows
from headwise.exported.errors import installed
from headwise.predictions.predictor import Predictor
from headwise.store.folder import Folder, is_ours
from headwise.store.layout import EXPORTED
from headwise.verbs.listener import Listener


class Source(Protocol):
    """A model in a folder, opened to predict.

    Attributes:
        model: The model.
        task: What it does.
        kind: What it reads.
        on_cpu: Whether the processor computes.
    """

    model: Any
    task: str
    kind: Kind[Any]
    on_cpu: bool

    def predictor(self, batch_tokens: int, reading: Mapping[str, Any], unsure: str | None) -> Predictor:
        """The model at work; see `headwise.verbs.predict.predict_file`.

        Raises:
            ConfigError: Such models give no predictions, or cannot be unsure as asked.
        """
        ...

    def rows(
        self, file: Path, reading: Mapping[str, Any], listener: Listener, heads: Path | str | None
    ) -> Rows[Any]:
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


def open_source(folder: Path | str, device: str, pipeline: str | None) -> Source:
    """Open a model folder, or an exported one.

    Args:
        folder: The folder.
        device: See `headwise.verbs.models.open_model`.
        pipeline: Likewise.

    Raises:
        StoreError: It is neither, or not sound.
        ConfigError: The device cannot be used, or the model reads no texts.
    """
    if isinstance(folder, str | PathLike) and is_ours(Path(folder), EXPORTED):
        from headwise.verbs.exported_source import ExportedSource

        return ExportedSource(folder, device)
    Folder(folder)  # what is no model folder is told where there is no torch, too
    with installed():
        from headwise.verbs.model_source import ModelSource  # with it comes torch

        return ModelSource(folder, device, pipeline)
