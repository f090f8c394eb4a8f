"""The registry of tasks that models can be trained for; `headwise.data.kinds.KINDS` has their item
types."""

from typing import Any

from headwise.config import unknown
from headwise.tasks.bags import Bags
from headwise.tasks.classify import Classify
from headwise.tasks.language_model import Language
from headwise.tasks.masked_words import MaskedWords
from headwise.tasks.multi_label import MultiLabel
from headwise.tasks.pair import PairLabels
from headwise.tasks.pair_score import PairScores
from headwise.tasks.regress import Regress
from headwise.tasks.tag import Tag
from headwise.tasks.task import Task

TASKS: dict[str, Task] = {
    "classify": Classify(),
    "multi-label": MultiLabel(),
    "tag": Tag(),
    "pair": PairLabels(),
    "pair-score": PairScores(),
    "regress": Regress(),
    "bags": Bags(),
    "language-model": Language(),
    "masked-words": MaskedWords(),
}


def find_task(name: Any) -> Task:
    """Look up a task by name.

    Raises:
        ConfigError: There is none; the message names the nearest.
    """
    if not isinstance(name, str) or name not in TASKS:
        raise unknown("task", str(name), list(TASKS))
    return TASKS[name]
