"""Bases: static word embeddings with subword vectors, trained before any labels are seen."""

from headwise.features.bases.base import Base
from headwise.features.bases.choice import AUTO, NONE, check_alone, choose_base
from headwise.features.bases.config import BaseConfig
from headwise.features.bases.errors import BaseError
from headwise.features.bases.folder import find_base, load_base, save_base

__all__ = [
    "AUTO",
    "NONE",
    "Base",
    "BaseConfig",
    "BaseError",
    "check_alone",
    "choose_base",
    "find_base",
    "load_base",
    "save_base",
]
