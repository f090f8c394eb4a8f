"""The registry of tasks that models can be trained for; `headwise.data.items.item_types.ITEM_TYPES` has
their item types."""

from typing import Any

from headwise.core.config import unknown_name_error
from headwise.models.tasks.bags_task import BagTask
from headwise.models.tasks.classify import ClassifyTask
from headwise.models.tasks.language_model_task import LanguageModelTask
from headwise.models.tasks.masked_words import MaskedWordsTask
from headwise.models.tasks.multi_label_task import MultiLabelTask
from headwise.models.tasks.pair import PairLabelTask, PairScoreTask
from headwise.models.tasks.regress import RegressTask
from headwise.models.tasks.tag import TagTask
from headwise.models.tasks.task import Task

TASKS: dict[str, Task] = {
    "classify": ClassifyTask(),
    "multi-label": MultiLabelTask(),
    "tag": TagTask(),
    "pair": PairLabelTask(),
    "pair-score": PairScoreTask(),
    "regress": RegressTask(),
    "bags": BagTask(),
    "language-model": LanguageModelTask(),
    "masked-words": MaskedWordsTask(),
}


def find_task(name: Any) -> Task:
    """Look up a task by name.

    Raises:
        ConfigError: There is none; the message names the nearest.
    """
    if not isinstance(name, str) or name not in TASKS:
        raise unknown_name_error("task", str(name), list(TASKS))
    return TASKS[name]
