"""Bases: static word embeddings with subword vectors, trained before any labels are seen."""

from headwise.text.static_embeddings.base_choice import (
    AUTO,
    NONE,
    check_single_vector_source,
    choose_base,
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
]
