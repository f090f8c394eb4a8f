"""The model that a verb works with: one in a folder, or one that is loaded."""

from pathlib import Path
from typing import Any

from headwise.errors import ConfigError
from headwise.features.parse import SyntaxConfig
from headwise.features.parse_cache import new_parser
from headwise.models.text_model import TextModel
from headwise.store import load_model
from headwise.train.fit import pick_device


def open_model(folder: Path | str, device: str = "auto", pipeline: str | None = None) -> Any:
    """Load a model folder.

    Args:
        folder: The folder.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.
        pipeline: A spaCy pipeline that parses texts for it, in place of the one that it names.

    Raises:
        StoreError: It is not a sound model folder.
        ConfigError: The device cannot be used, or the model reads no texts.
    """
    model = load_model(folder, device=pick_device(device))
    if pipeline is not None:
        if not isinstance(model, TextModel):
            raise ConfigError("--pipeline parses texts, but this model reads none")
        model.features.parser = new_parser(SyntaxConfig(pipeline))
    return model
