"""The scores of a model on the items that it has not learnt from."""

from collections.abc import Collection, Sequence
from typing import Any

from headwise.models.metric_table import ComparisonSystem
from headwise.models.tasks.task import TaskEvaluation


def unseen_name(items: int) -> str:
    """What a model is called on so many items that it has not learnt from."""
    return f"it on {items:,} unseen"


def score_unseen(
    task: TaskEvaluation, model: Any, items: Sequence[object], seen: Collection[int]
) -> ComparisonSystem | None:
    """A model on those items that are not `seen` (numbers of items); None where that is all or none."""
    if not 0 < len(seen) < len(items):
        return None
    new = [item for number, item in enumerate(items) if number not in seen]
    return ComparisonSystem(unseen_name(len(new)), task.judge(model, new).to_json())
