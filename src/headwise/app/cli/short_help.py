"""Help with fewer flags: `headwise train --help` omits rare flags and those of other tasks, which
`--help-all` shows; commands whose model is named omit those of other tasks."""

from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from inspect import cleandoc, signature
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any, get_args

from cyclopts import Parameter

from headwise.app.cli.flags import (
    LABEL_SETTINGS,
    SECTION_HEADINGS,
    Flag,
    all_section_flags,
    flags_of,
    section_flags,
)
from headwise.artifacts.model_folder import StoreError, parse_json, read_limited
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import CONFIG
from headwise.models.tasks import TASKS
from headwise.nn.encoders.encoder_configs import DEFAULT_ENCODER


def with_fewer_flags(
    name: str, words: Sequence[str], *, for_help: bool, only_named: bool
) -> Callable[..., Any] | None:
    """A copy of a command that has, or shows, only some of its flags; None if it needs all.

    Args:
        name: The command: train, or one of `HIDDEN_WITH_MODEL`.
        words: The arguments after it.
        for_help: Whether they ask for help.
        only_named: Whether train has only the flags that they name.
    """
    if for_help:
        return train_with_short_help(words) if name == "train" else command_with_short_help(name, words)
    return train_without(unnamed_flags(words)) if name == "train" and only_named else None


def train_without(omit: Mapping[str, Collection[str]]) -> Callable[..., Any]:
    """A copy of `train` without the flags of these settings, by section."""
    from headwise.app.cli.train_command import train

    return _copied(train, settings=all_section_flags(omit))


def _copied(command: Any, **annotations: Any) -> Any:
    """A copy of a command with other annotations of these parameters."""
    made = FunctionType(command.__code__, command.__globals__, command.__name__)
    made.__doc__, made.__kwdefaults__ = command.__doc__, command.__kwdefaults__
    made.__annotations__ = {**command.__annotations__, **annotations}
    return made


HIDDEN_WITH_MODEL = {"predict": LABEL_SETTINGS, "explain": LABEL_SETTINGS, "evaluate": frozenset[str]()}
"""Commands whose first argument is a model, with the reading flags that their help never has."""


def command_with_short_help(name: str, words: Sequence[str]) -> Callable[..., Any] | None:
    """A copy of a command whose help omits the reading flags of other tasks than the model's; None if no
    model is named.

    Args:
        name: The command, one of `HIDDEN_WITH_MODEL`.
        words: The arguments after it.
    """
    task = _task_of_model(words)
    if task is None:
        return None
    command = getattr(import_module(f"headwise.app.cli.{name}_command"), name)
    other_tasks = {flag.name for flag in flags_of("data") if flag.owners and task not in flag.owners}
    made = _copied(command, read=section_flags("data", HIDDEN_WITH_MODEL[name] | other_tasks))
    made.__doc__ = _with_explanation(
        command, f"Shown are the flags for {words[0]} (task {task}); headwise {name} --help lists all."
    )
    return made


def _task_of_model(words: Sequence[str]) -> str | None:
    """The task of the model folder that the arguments begin with, if they do."""
    if not words or not Path(words[0]).is_dir():
        return None
    try:
        task = parse_json(read_limited(Path(words[0], CONFIG)), CONFIG)["model"]["task"]
    except (StoreError, KeyError, TypeError):  # the help does not report errors in folders
        return None
    return task if isinstance(task, str) and task in TASKS else None


def _with_explanation(command: Callable[..., Any], explanation: str) -> str:
    """The docstring of a command with one more paragraph, after its summary."""
    summary, _, rest = cleandoc(command.__doc__ or "").partition("\n\n")  # None with python -OO
    return f"{summary}\n\n{explanation}\n\n{rest}"


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
    *("file", "more", "output", "task", "dev", "test", "resume", "overwrite", "recipe"),
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
    *("words", "vectors", "base", "pretrained", "syntax"),
    *("encoder", "windows", "classifier", "linear_model"),
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
    made.__doc__ = _with_explanation(
        train,
        f"Shown are the flags that matter most for the task {task}; --help-all lists {count} more, and "
        "--task NAME --help those of another task.",
    )
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
