"""The columns beside the text in the configuration of a model."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from headwise.data.columns.tabular_columns import TabularColumn
from headwise.linear.tabular_features import fit_encodings
from headwise.nn.networks.model_config import ModelConfig


def tabular_columns(config: ModelConfig) -> tuple[TabularColumn, ...]:
    """The columns beside the text that a model reads."""
    return tuple(encoding.column for encoding in config.linear_model.tabular or ())


def with_tabular_columns(config: ModelConfig, items: Sequence[Any]) -> ModelConfig:
    """The configuration with the encoding of the columns beside training items, measured on those with a
    positive weight; unchanged if items have no such columns."""
    rows = [item.tabular for item in items if getattr(item, "tabular", None) and item.weight > 0]
    if not rows:
        return config
    return replace(config, linear_model=replace(config.linear_model, tabular=fit_encodings(rows)))
