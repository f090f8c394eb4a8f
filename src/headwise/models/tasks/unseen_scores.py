"""The scores of a model on the items that it was not trained on."""

from collections.abc import Collection, Sequence
from typing import Any

from headwise.models.comparison_system import ComparisonSystem
from headwise.models.tasks.task import TaskEvaluation


def unseen_name(items: int) -> str:
    """Display name of a model evaluated on so many items that it was not trained on."""
    return f"model on {items:,} unseen"


def score_unseen(
    task: TaskEvaluation, model: Any, items: Sequence[object], seen: Collection[int]
) -> ComparisonSystem | None:
    """The evaluation of a model on the items that are not in `seen` (indices); None if that is all or
    none."""
    if not 0 < len(seen) < len(items):
        return None
    new = [item for number, item in enumerate(items) if number not in seen]
    return ComparisonSystem(unseen_name(len(new)), task.evaluate(model, new).to_json())
