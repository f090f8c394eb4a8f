"""The registry of tasks that models can be trained for;
`headwise.data.items.item_types.ITEM_TYPES_BY_TASK` has their item types.

The settings of the tasks do not need torch; a task itself is imported when it is looked up.
"""

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

from headwise.core.config import unknown_name_error
from headwise.models.tasks.task_settings import (
    BagSettings,
    ClassifySettings,
    LanguageModelSettings,
    MaskedWordsSettings,
    MultiLabelSettings,
    PairLabelSettings,
    PairScoreSettings,
    RegressSettings,
    TagSettings,
    TaskSettings,
)

if TYPE_CHECKING:
    from headwise.models.tasks.task import Task

TASKS: dict[str, TaskSettings] = {
    "classify": ClassifySettings("headwise.models.tasks.classify.ClassifyTask"),
    "multi-label": MultiLabelSettings("headwise.models.tasks.multi_label_task.MultiLabelTask"),
    "tag": TagSettings("headwise.models.tasks.tag.TagTask"),
    "pair": PairLabelSettings("headwise.models.tasks.pair.PairLabelTask"),
    "pair-score": PairScoreSettings("headwise.models.tasks.pair.PairScoreTask"),
    "regress": RegressSettings("headwise.models.tasks.regress.RegressTask"),
    "bags": BagSettings("headwise.models.tasks.bags_task.BagTask"),
    "language-model": LanguageModelSettings("headwise.models.tasks.language_model_task.LanguageModelTask"),
    "masked-words": MaskedWordsSettings("headwise.models.tasks.masked_words.MaskedWordsTask"),
}


def find_task_settings(name: Any) -> TaskSettings:
    """Look up the settings of a task by name.

    Raises:
        ConfigError: There is none; the message names the nearest.
    """
    if not isinstance(name, str) or name not in TASKS:
        raise unknown_name_error("task", str(name), list(TASKS))
    return TASKS[name]


def find_task(name: Any) -> "Task":
    """Look up a task by name.

    Raises:
        ConfigError: There is none; the message names the nearest.
    """
    return _load_task(find_task_settings(name).task)


@cache
def _load_task(path: str) -> "Task":
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)()
