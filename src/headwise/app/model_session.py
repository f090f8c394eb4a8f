"""ModelSession: a model of a model folder, opened; PyTorch computes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

from headwise.app.session_base import Session, TaskSession
from headwise.core.errors import ConfigError
from headwise.text.parsing import new_parser
from headwise.text.text_configs import SyntaxConfig


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
        from headwise.artifacts import read_info

        self.folder, self.model, self._pipeline = folder, model, pipeline
        self.info = read_info(folder)
        self.task_name = model.config.task
        self.item_type = self.task.item_type_for(model.config)
        if pipeline is not None:
            if not self.item_type.sides:
                raise ConfigError("--pipeline parses texts, but this model reads none")
            model.features.parser = new_parser(SyntaxConfig(pipeline))
        self.schema = self.task.schema(model)
        self.uses_trees = getattr(getattr(model, "features", None), "trees", "none") != "none"
        self.on_cpu = model.device.type == "cpu"

    @classmethod
    def open(cls, folder: Path | str, *, device: str = "auto", pipeline: str | None = None) -> Self:
        """Open a model folder, not an exported one; see `headwise.app.session.open_session`."""
        from headwise.artifacts import load_model

        return cls(folder, load_model(folder, device=device), pipeline)

    def to_html(self) -> str:
        from headwise.artifacts.model_card import model_html

        return model_html(self.model, self.info)

    def opener(self, workers: int) -> Callable[[], Session]:
        import torch

        threads = max(1, torch.get_num_threads() // workers)
        return partial(_open_with_threads, self.folder, self._pipeline, threads)


def _open_with_threads(folder: Path | str, pipeline: str | None, threads: int) -> ModelSession:
    """A model on the processor, opened in another process."""
    import torch

    torch.set_num_threads(threads)
    return ModelSession.open(folder, device="cpu", pipeline=pipeline)
