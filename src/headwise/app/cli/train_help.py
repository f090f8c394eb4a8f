"""`headwise train --help`: the most important flags for the task; `--help-all` shows all."""

from collections.abc import Callable, Collection, Mapping, Sequence
from inspect import cleandoc, signature
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any, get_args

from cyclopts import Parameter

from headwise.app.cli.flags import SECTION_HEADINGS, Flag, all_section_flags, flags_of
from headwise.core.errors import HeadwiseError
from headwise.models.tasks import TASKS
from headwise.nn.encoders.encoder_configs import DEFAULT_ENCODER


def train_without(omit: Mapping[str, Collection[str]]) -> Callable[..., Any]:
    """A copy of `train` without the flags of these settings, by section."""
    from headwise.app.cli.train_command import train

    made = FunctionType(train.__code__, train.__globals__, train.__name__)
    made.__doc__, made.__kwdefaults__ = train.__doc__, train.__kwdefaults__
    made.__annotations__ = {**train.__annotations__, "settings": all_section_flags(omit)}
    return made


def unnamed_flags(words: Sequence[str]) -> dict[str, set[str]]:
    """The settings, by section, whose flags a command line does not name.

    Args:
        words: The arguments after `headwise train`.
    """
    options = {word.partition("=")[0].replace("_", "-") for word in words if word.startswith("-")}
    named = options | {option.replace("--no-", "--").replace(".no-", ".") for option in options}
    unnamed = {}
    for section, (prefix, *_) in SECTION_HEADINGS.items():
        start = "--" if prefix == "*" else f"{prefix}."
        unnamed[section] = {
            flag.name for flag in flags_of(section) if start + flag.name.replace("_", "-") not in named
        }
    return unnamed


DEFAULT_TASK = "classify"
_ENCODER_FLAGS = {"base", "vectors", "encoder"}
_TEACHER_FLAGS = {"unlabelled", "teacher"}
_NOVELTY_FLAGS = {"unknown", "unknown_label"}
_ALWAYS_SHOWN = {
    "file",
    "more",
    "output",
    "task",
    "dev",
    "test",
    "resume",
    "overwrite",
    "recipe",
    *_ENCODER_FLAGS,
    *_TEACHER_FLAGS,
    *_NOVELTY_FLAGS,
}
_DATA = {"format", "text_column", "label_column"}
_COMMON = {
    "split": {"dev", "test"},
    "train": {"epochs", "batch_texts", "learning_rate", "patience", "seed", "device"},
    "words": {"vector_size", "dropout"},
    "encoder": {"width", "layers", "heads", "dropout"},
    "classifier": {"class_weights"},
    "linear_model": {"kind"},
    "windows": {"words"},
    "characters": {"network", "vector_size", "shape"},
}
"""The most common flags, by section."""
_SHARED = {
    "words",
    "vectors",
    "base",
    "pretrained",
    "syntax",
    "encoder",
    "windows",
    "classifier",
    "linear_model",
}
"""Sections shared by several tasks."""


def train_with_short_help(words: Sequence[str]) -> Callable[..., Any]:
    """A copy of `train` whose help omits rare flags and those of other tasks.

    Args:
        words: The arguments after `headwise train`, which may name the task, a file or an encoder.
    """
    from headwise.app.cli.train_command import train

    task = _value(words, "--task")
    if task is None or task not in TASKS:
        task = _task_of(words)
    encoder = _value(words, "--encoder") or DEFAULT_ENCODER
    sections = TASKS[task].sections
    hidden = {
        section: {
            flag.name for flag in flags_of(section) if not _is_shown(section, flag, task, encoder, sections)
        }
        for section in SECTION_HEADINGS
    }
    made = train_without(hidden)
    count = sum(map(len, hidden.values()))
    for name in signature(train).parameters:
        if name != "settings" and (
            name not in _ALWAYS_SHOWN
            or (name in _ENCODER_FLAGS and "encoder" not in sections)
            or (name in _TEACHER_FLAGS and task != DEFAULT_TASK)
            or (name in _NOVELTY_FLAGS and "unknown" not in sections)
        ):
            kind, *parameters = get_args(train.__annotations__[name])
            made.__annotations__[name] = Annotated[kind, *parameters, Parameter(show=False)]
            count += 1
    summary, _, rest = cleandoc(train.__doc__ or "").partition("\n\n")  # None with python -OO
    explanation = (
        f"Shown are the flags that matter most for the task {task}; --help-all lists {count} more, and "
        "--task NAME --help those of another task."
    )
    made.__doc__ = f"{summary}\n\n{explanation}\n\n{rest}"
    return made


def _is_shown(section: str, flag: Flag, task: str, encoder: str, sections: Sequence[str]) -> bool:
    if section == "data":
        applies = not flag.owners or task in flag.owners
        return applies and (flag.name in _DATA or flag.name.endswith(("_column", "_columns", "_separator")))
    if section not in sections and section not in ("split", "train"):
        return False
    if section not in _SHARED and section not in _COMMON:
        return True  # a section specific to the task
    return flag.name in _COMMON.get(section, ()) and (not flag.owners or encoder in flag.owners)


def _value(words: Sequence[str], flag: str) -> str | None:
    """The value of a flag on a command line; None if it is not given."""
    for place, word in enumerate(words):
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
        if word == flag and place + 1 < len(words):
            return words[place + 1]
    return None


def _task_of(words: Sequence[str]) -> str:
    """The task inferred from the first file on a command line."""
    if words and not words[0].startswith("-") and Path(words[0]).is_file():
        from headwise.data.items.item_types import infer_task  # with it comes numpy

        try:
            return infer_task(words[0], {})[0]
        except HeadwiseError:  # the help does not report errors in files
            return DEFAULT_TASK
    return DEFAULT_TASK
