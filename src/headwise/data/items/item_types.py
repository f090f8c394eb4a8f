"""The item type of each task, and the inference of the task from a file. Does not import torch."""

import importlib
from collections.abc import Mapping, MutableMapping
from functools import partial
from typing import Any, TypeVar

from headwise.core.config import from_dict
from headwise.core.errors import ConfigError
from headwise.core.lazy_table import LazyTable
from headwise.data.formats.brat import is_brat
from headwise.data.items.dataset import InputRows
from headwise.data.items.examples import Example, TaggedSentence
from headwise.data.items.item_type import ItemType
from headwise.data.items.label_types import LABEL_SET_TYPE, NUMERIC_LABEL_TYPE, SINGLE_LABEL_TYPE, LabelType
from headwise.data.items.text_items import TextItems
from headwise.data.readers.file_preview import read_preview

Item = TypeVar("Item")


def _make(module: str, name: str, *label_types: LabelType) -> ItemType:
    return getattr(importlib.import_module(f"headwise.data.items.{module}"), name)(*label_types)


ITEM_TYPES_BY_TASK: MutableMapping[str, ItemType] = LazyTable(
    {
        "classify": partial(TextItems, SINGLE_LABEL_TYPE),
        "multi-label": partial(TextItems, LABEL_SET_TYPE),
        "tag": partial(_make, "sentence_items", "TaggedSentenceItems"),
        "pair": partial(_make, "pair_items", "PairItems", SINGLE_LABEL_TYPE),
        "pair-score": partial(_make, "pair_items", "PairItems", NUMERIC_LABEL_TYPE),
        "regress": partial(TextItems, NUMERIC_LABEL_TYPE),
        "bags": partial(_make, "bag_items", "BagItems"),
        "language-model": partial(_make, "stream_items", "SymbolStreamItems"),
        "masked-words": partial(_make, "stream_items", "UnlabelledTextItems"),
    }
)
"""The item type of each task. To infer the task of a file, later entries are tried first. An item type
is made when it is looked up."""

DEFAULT_TASK = "classify"


def options_for(task: str, reading: Mapping[str, object], where: str = "") -> Any:
    """The reading options of a task, from the user's settings; see `headwise.core.config.from_dict`.

    Raises:
        ConfigError: A setting is invalid, or belongs to other tasks only.
    """
    check_options(task, reading, where)
    return from_dict(ITEM_TYPES_BY_TASK[task].options, reading, where)


def check_options(task: str, reading: Mapping[str, object], where: str = "", *option_types: type) -> None:
    """Check that no reading setting belongs to other tasks only.

    Args:
        where: The source of the settings, for messages.
        option_types: Further configuration classes whose fields are valid for the task.

    Raises:
        ConfigError: A setting belongs to other tasks. The message names these, and the columns of this
            task.
    """
    field_names = {
        name
        for option_type in (ITEM_TYPES_BY_TASK[task].options, *option_types)
        for name in option_type.__dataclass_fields__
    }
    for name in (key.replace("-", "_") for key in reading):
        tasks = [
            candidate
            for candidate, item_type in ITEM_TYPES_BY_TASK.items()
            if name in item_type.options.__dataclass_fields__
        ]
        if name in field_names or not tasks:  # `from_dict` rejects unknown settings
            continue
        flag = lambda name: f"--{name.replace('_', '-')}"  # noqa: E731
        columns = [flag(column) for column in sorted(field_names) if column.endswith("_column")]
        named = f", which has {', '.join(columns)}" if name.endswith("_column") and columns else ""
        at = f"{where}: " if where else ""
        raise ConfigError(
            f"{at}{flag(name)} is for the task{'s' * (len(tasks) > 1)} {', '.join(tasks)}; the task here "
            f"is {task}{named}"
        )


def rows_to_predict(
    item_type: ItemType[Item], task: str, path: str, reading: Mapping[str, object], *, schema: Any = None
) -> InputRows[Item] | InputRows[TaggedSentence] | InputRows[Example]:
    """The records of a file to predict.

    Raises:
        ConfigError: See `options_for`.
        DataError: The file cannot be read with these settings.
    """
    check_options(task, reading, "", *item_type.prediction_options)
    return item_type.rows_to_predict(path, reading, schema=schema)


def infer_task(path: str, reading: Mapping[str, object]) -> tuple[str, str]:
    """The task of a training file, and the reason for the guess ("" for the default task).

    Args:
        path: The file as the user named it; of standard input the beginning is read ahead.

    Raises:
        ConfigError: A setting has the wrong type, as `delimiter = 5` in a recipe.
    """
    for name, value in reading.items():
        if not isinstance(value, bool | None if name == "header" else str | None):
            expected = "true or false" if name == "header" else "a text"
            raise ConfigError(f"data: {name}: expected {expected}, got {value!r:.80}")
    item_types = [*ITEM_TYPES_BY_TASK.items()][::-1]
    # Where the options imply several tasks, the file decides.
    implied = {task: why for task, item_type in item_types if (why := item_type.implied_by(reading))}
    if not implied and is_brat(path):  # also where its annotations cannot be read
        return "tag", "annotations of brat"
    if len(implied) != 1:
        head = read_preview(path, str(reading.get("encoding", "utf-8")), wait=True)
        for task, item_type in item_types if head.lines else ():
            if (task in implied or not implied) and (why := item_type.recognise(head, reading)):
                return task, why
    return [*implied.items()][-1] if implied else (DEFAULT_TASK, "")


def require_one_label_task(path: str, reading: Mapping[str, object], advice: str = "") -> str:
    """The task of a training file that must hold texts with one label each.

    Args:
        path: See `infer_task`.
        reading: See `infer_task`.
        advice: Advice for files of other tasks, appended to the message.

    Raises:
        ConfigError: The file is for another task.
    """
    task, why = infer_task(path, reading)
    if ITEM_TYPES_BY_TASK[task] is not ITEM_TYPES_BY_TASK[DEFAULT_TASK]:
        because = f" ({why})" if why else ""
        more = f"; {advice}" if advice else ""
        raise ConfigError(
            f"{path}: a file for the task {task}{because}; expected texts with one label each{more}"
        )
    return task
