"""Comparison of two models on the same items: `headwise evaluate MODEL FILE --against OTHER`."""

from pathlib import Path
from typing import Any

import numpy as np

from headwise.app.session import open_task_session
from headwise.app.session_base import TaskSession
from headwise.core.config import JsonObject, is_number, lookup
from headwise.core.errors import ConfigError
from headwise.metrics.resampling import compare_ratios
from headwise.models.report_parts import ComparisonSystem

_EQUAL = 1e-6  # the largest difference of a score from the ratio of its parts


def open_comparable(folder: Path | str, session: TaskSession, **arguments: Any) -> TaskSession:
    """Another model, to compare a model with.

    Args:
        folder: Its folder.
        session: The model.
        arguments: See `headwise.app.session.open_task_session`.

    Raises:
        ConfigError: The models have different tasks.
        StoreError: It is not a sound model folder.
    """
    second = open_task_session(folder, **arguments)
    if session.task_name != second.task_name:
        raise ConfigError(
            f"--against {folder}: a model of the task {second.task_name}; expected one of the task "
            f"{session.task_name}, as {session.folder}"
        )
    return second


def compare_models(
    session: TaskSession, data: Any, evaluation: Any, second: TaskSession, second_data: Any
) -> ComparisonSystem:
    """The scores of another model, and by how much a model is ahead of it: the paired difference of the
    primary metric with its 95 % interval.

    Args:
        session: The model.
        data: The data set, as the model reads it.
        evaluation: The evaluation of the model on it.
        second: The other model.
        second_data: The data set, as the other model reads it.

    Raises:
        ConfigError: The models read different items.
    """
    item_type = session.item_type
    many, counts = item_type.nouns.many, (len(data.items), len(second_data.items))
    if counts[0] != counts[1]:
        raise ConfigError(
            f"--against {second.folder}: it reads {counts[1]:,} {many} of {data.path}, {session.folder} "
            f"{counts[0]:,}; name the columns for both, as by --text-column"
        )
    second_evaluation = second.evaluate(second_data.items)
    scores = second_evaluation.to_json()
    parts = [
        one.task.metric_parts(one.model, items, evaluated)[:, 1:]
        for one, items, evaluated in (
            (session, data.items, evaluation),
            (second, second_data.items, second_evaluation),
        )
    ]
    difference = _difference(session, evaluation.to_json(), parts)
    return ComparisonSystem(str(second.folder), scores, difference)


def _difference(session: TaskSession, scores: JsonObject, parts: list[np.ndarray]) -> JsonObject | None:
    """The paired difference, signed so that a positive one is in favour of the first model; None where the
    primary metric is no ratio of sums over items."""
    table = session.task.metric_table(scores)
    score = lookup(scores, table.primary_metric.key)
    top, bottom = parts[0].sum(axis=0)
    if not is_number(score) or abs(top / max(bottom, 1e-12) - score) > _EQUAL:
        return None
    value, interval = compare_ratios(*parts)
    if table.lower:
        value, interval = -value, (-interval[1], -interval[0])
    return {table.ahead.key: value, "interval": interval}
