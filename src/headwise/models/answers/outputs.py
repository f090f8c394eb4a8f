"""Validation of the output names of a saved model."""

from collections.abc import Mapping
from typing import Any

from headwise.errors import ConfigError


class OutputsError(ConfigError):
    """The description of the outputs of a saved model is invalid."""


def output_names(outputs: Mapping[str, Any], *, least: int = 2) -> list[str]:
    """The names of the outputs of a saved model, `labels`.

    Raises:
        OutputsError: They are not different texts, or fewer than `least`.
    """
    names = outputs.get("labels")
    if not isinstance(names, list):
        raise OutputsError("'labels' is missing or of the wrong type")
    if not all(isinstance(name, str) for name in names):
        raise OutputsError("every label must be a text")
    if len(names) < least or len(set(names)) < len(names):
        raise OutputsError(f"{least} or more labels are expected, all different")
    return names
