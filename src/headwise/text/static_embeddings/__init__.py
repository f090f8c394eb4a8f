"""Bases: static word embeddings with subword vectors, trained before any labels are seen."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name != "vectors_of_texts":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headwise.text.static_embeddings.base_choice import vectors_of_texts

    return vectors_of_texts
