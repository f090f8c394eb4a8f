"""The model folder: safetensors and JSON, never pickle; loading it executes no code from the folder.

The names below are imported lazily: reading a folder (`model_folder`, `runtime_load`) does not need torch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwise.artifacts.folder_config import read_info
    from headwise.artifacts.load import load_model
    from headwise.artifacts.model_folder import StoreError
    from headwise.artifacts.save import save_model

_HOMES = {
    "StoreError": "headwise.artifacts.model_folder",
    "load_model": "headwise.artifacts.load",
    "read_info": "headwise.artifacts.folder_config",
    "save_model": "headwise.artifacts.save",
}

__all__ = ["StoreError", "load_model", "read_info", "save_model"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
