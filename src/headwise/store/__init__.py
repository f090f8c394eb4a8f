"""The model folder: safetensors and JSON, never pickle; loading it runs nothing that it holds."""

from headwise.store.errors import StoreError
from headwise.store.load import load_model, read_info
from headwise.store.save import save_model

__all__ = ["StoreError", "load_model", "read_info", "save_model"]
