"""Bases: static word embeddings with subword vectors, trained before any labels are seen. The names are
imported when they are used."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwise.text.static_embeddings.base_choice import (
        AUTO,
        NONE,
        check_single_vector_source,
        choose_base,
        vectors_of_texts,
    )
    from headwise.text.static_embeddings.base_folder import load_base, save_base
    from headwise.text.static_embeddings.base_vectors import BaseError, StaticEmbeddings
    from headwise.text.static_embeddings.installed_bases import find_base, open_base
    from headwise.text.text_configs import BaseConfig

__all__ = [
    "AUTO",
    "NONE",
    "BaseConfig",
    "BaseError",
    "StaticEmbeddings",
    "check_single_vector_source",
    "choose_base",
    "find_base",
    "load_base",
    "open_base",
    "save_base",
    "vectors_of_texts",
]

_HERE = "headwise.text.static_embeddings"
_NAMES = {
    f"{_HERE}.base_choice": (
        "AUTO",
        "NONE",
        "check_single_vector_source",
        "choose_base",
        "vectors_of_texts",
    ),
    f"{_HERE}.base_folder": ("load_base", "save_base"),
    f"{_HERE}.base_vectors": ("BaseError", "StaticEmbeddings"),
    f"{_HERE}.installed_bases": ("find_base", "open_base"),
    "headwise.text.text_configs": ("BaseConfig",),
}
"""The names above, by module."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
