"""Bases: what is known of words before there are labels."""

from headwise.features.bases.base import Base
from headwise.features.bases.config import BaseConfig
from headwise.features.bases.errors import BaseError
from headwise.features.bases.folder import find_base, load_base, save_base

__all__ = ["Base", "BaseConfig", "BaseError", "find_base", "load_base", "save_base"]
