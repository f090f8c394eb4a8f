"""Comparison of two models on the same items: `headwise evaluate MODEL FILE --against OTHER`."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.app.session import open_task_session
from headwise.app.session_base import TaskSession
from headwise.core.config import JsonObject, is_number, lookup
from headwise.core.errors import ConfigError
from headwise.data.files.file_lists import place
from headwise.metrics.resampling import compare_ratios
from headwise.models.metric_table import MetricTable
from headwise.models.report_parts import ComparisonSystem, ReportMessage

_EQUAL = 1e-6  # the largest difference of a score from the ratio of its parts; relative above 1


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


@dataclass(frozen=True)
class ModelComparison:
    """Another model on the items of a file.

    Attributes:
        system: Its scores, and by how much the first model is ahead of it.
        messages: Which items of the file are compared, if not all are.
        is_unseen: Whether only items are compared that neither model was trained on.
    """

    system: ComparisonSystem
    messages: list[ReportMessage]
    is_unseen: bool


def compare_models(
    session: TaskSession,
    data: Any,
    evaluation: Any,
    second: TaskSession,
    second_data: Any,
    learnt: tuple[Collection[int], Collection[int]] = ((), ()),
) -> ModelComparison:
    """The scores of another model, and by how much a model is ahead of it: the paired difference of the
    primary metric with its 95 % interval.

    Items with labels that only one model has are left out. So are training items of either, unless none
    would be left.

    Args:
        session: The model.
        data: The data set, as the model reads it.
        evaluation: The evaluation of the model on it.
        second: The other model.
        second_data: The data set, as the other model reads it.
        learnt: For each model the indices of its training items.

    Raises:
        ConfigError: The models read different items.
    """
    places, second_places = _common_places(session, data, second, second_data)
    messages = []
    many, total = session.item_type.nouns.many, len(data.items)
    if left_out := total - len(places):
        text = f"{left_out:,} of {total:,} {many} have labels that {second.folder} does not have"
        messages.append(ReportMessage(f"{text}: it is compared on the others", warning=True))
    new = ~(np.isin(places, list(learnt[0])) | np.isin(second_places, list(learnt[1])))
    is_unseen = 0 < new.sum() < len(new)
    if is_unseen:
        text = f"{second.folder} is compared on the {new.sum():,} {many} that neither model was trained on"
        messages.append(ReportMessage(text))
        places, second_places = places[new], second_places[new]
    counts = _metric_counts(session, data.items, evaluation)
    if counts is not None and len(places) < total:
        counts = counts[places]
    items = second_data.items
    if len(second_places) < len(items):
        items = [items[number] for number in second_places]
    second_evaluation = second.evaluate(items)
    second_counts = _metric_counts(second, items, second_evaluation)
    name = str(second.folder) + (f" ({len(places):,})" if len(places) < total else "")
    difference = None
    if counts is not None and second_counts is not None:
        difference = _difference(session.task.metric_table(evaluation.to_json()), counts, second_counts)
    system = ComparisonSystem(name, second_evaluation.to_json(), difference)
    return ModelComparison(system, messages, is_unseen)


def _common_places(
    session: TaskSession, data: Any, second: TaskSession, second_data: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The indices of the items that both models read, in each data set.

    Raises:
        ConfigError: The data sets differ in more than the items whose labels a model does not have.
    """
    items, second_items = data.items, second_data.items
    if len(items) == len(second_items):
        return np.arange(len(items)), np.arange(len(items))
    lines, second_lines = (
        {place(dataset.path, item.line): number for number, item in enumerate(dataset.items)}
        for dataset in (data, second_data)
    )
    common = [line for line in lines if line in second_lines]
    unknown = _have_unknown_labels(
        second, (items[lines[line]] for line in lines if line not in second_lines)
    )
    unknown &= _have_unknown_labels(
        session, (second_items[second_lines[line]] for line in second_lines if line not in lines)
    )
    if not common or not unknown or len(lines) < len(items) or len(second_lines) < len(second_items):
        raise ConfigError(
            f"--against {second.folder}: it reads {len(second_items):,} {session.item_type.nouns.many} of "
            f"{data.path}, {session.folder} {len(items):,}; name the columns for both, as by --text-column"
        )
    return np.array([lines[line] for line in common]), np.array([second_lines[line] for line in common])


def _have_unknown_labels(session: TaskSession, items: Iterable[Any]) -> bool:
    """Whether each item has a label that the model does not have."""
    labels = set(getattr(session.model, "labels", ()))
    return all(not labels.issuperset(getattr(item, "labels", ())) for item in items)


def _metric_counts(session: TaskSession, items: Any, evaluation: Any) -> np.ndarray | None:
    """The counts of each item that the primary metric is a ratio of, `[items, 2]`; None if it is none."""
    scores = evaluation.to_json()
    score = lookup(scores, session.task.metric_table(scores).primary_metric.key)
    counts = session.task.metric_parts(session.model, items, evaluation)[:, 1:]
    top, bottom = counts.sum(axis=0)
    if not is_number(score) or not isclose(top / max(bottom, 1e-12), score, rel_tol=_EQUAL, abs_tol=_EQUAL):
        return None
    return counts


def _difference(table: MetricTable, first: np.ndarray, second: np.ndarray) -> JsonObject:
    """The paired difference, signed so that a positive one is in favour of the first model."""
    value, interval = compare_ratios(first, second)
    if table.lower:
        value, interval = -value, (-interval[1], -interval[0])
    return {table.ahead.key: value, "interval": interval}
