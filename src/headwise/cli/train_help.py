"""`headwise train --help`: the flags that matter most for the task at hand; `--help-all` shows all."""

from collections.abc import Callable, Sequence
from inspect import cleandoc, signature
from pathlib import Path
from types import FunctionType
from typing import Annotated, Any, get_args

from cyclopts import Parameter

from headwise.cli.flags import Flag
from headwise.cli.settings import PLACES, flags_of, known, section_flags
from headwise.errors import HeadwiseError

DEFAULT_TASK = "classify"
_OF_TEXTS = {"base", "vectors", "encoder"}
_TAUGHT = {"unlabelled", "teacher"}
_OWN = {"file", "output", "task", "dev", "test", "resume", "overwrite", "recipe", *_OF_TEXTS, *_TAUGHT}
_DATA = {"format", "text_column", "label_column"}
_COMMON = {
    "split": {"dev", "test"},
    "train": {"epochs", "batch_texts", "learning_rate", "patience", "seed", "device"},
    "words": {"vector_size", "dropout"},
    "encoder": {"width", "layers", "heads", "dropout"},
    "classifier": {"class_weights"},
    "expert": {"kind"},
    "windows": {"words"},
    "characters": {"network", "vector_size", "shape"},
}
"""The flags that most trainings need, by section."""
_SHARED = {"words", "vectors", "base", "pretrained", "syntax", "encoder", "windows", "classifier", "expert"}
"""Sections that are of no task in particular."""


def shorter(words: Sequence[str]) -> Callable[..., Any]:
    """`train` with the help for a command line: of the rarer flags, and those of other tasks, it is silent.

    Args:
        words: What stands after `headwise train`: may name the task, a file or an encoder.
    """
    from headwise.cli.train import SECTIONS, train

    task = _value(words, "--task")
    if task is None or task not in known()["tasks"]:
        task = _task_of(words)
    encoder = _value(words, "--encoder") or known()["default_encoder"]
    sections = known()["tasks"].get(task, list(PLACES))
    made = FunctionType(train.__code__, train.__globals__, train.__name__)
    made.__kwdefaults__, made.__annotations__ = train.__kwdefaults__, dict(train.__annotations__)
    count = 0
    for name in signature(train).parameters:
        if section := SECTIONS.get(name):
            every = flags_of(section)
            hidden = {flag.name for flag in every if not _kept(section, flag, task, encoder, sections)}
            made.__annotations__[name] = section_flags(section, hidden)
            count += len(hidden)
        elif (
            name not in _OWN
            or (name in _OF_TEXTS and "encoder" not in sections)
            or (name in _TAUGHT and task != DEFAULT_TASK)
        ):
            kind, *parameters = get_args(train.__annotations__[name])
            made.__annotations__[name] = Annotated[kind, *parameters, Parameter(show=False)]
            count += 1
    summary, _, rest = cleandoc(train.__doc__ or "").partition("\n\n")  # none with python -OO
    told = (
        f"Shown are the flags that matter most for the task {task}; --help-all lists {count} more, and "
        "--task NAME --help those of another task."
    )
    made.__doc__ = f"{summary}\n\n{told}\n\n{rest}"
    return made


def _kept(section: str, flag: Flag, task: str, encoder: str, sections: Sequence[str]) -> bool:
    """Whether the help of a task shows a flag."""
    if section == "data":
        own = not flag.owners or task in flag.owners
        return own and (flag.name in _DATA or flag.name.endswith(("_column", "_columns", "_separator")))
    if section not in sections and section not in ("split", "train"):
        return False
    if section not in _SHARED and section not in _COMMON:
        return True  # there for this task
    return flag.name in _COMMON.get(section, ()) and (not flag.owners or encoder in flag.owners)


def _value(words: Sequence[str], flag: str) -> str | None:
    """What a command line says after a flag."""
    for place, word in enumerate(words):
        if word.startswith(f"{flag}="):
            return word.partition("=")[2]
        if word == flag and place + 1 < len(words):
            return words[place + 1]
    return None


def _task_of(words: Sequence[str]) -> str:
    """The task that the first file on a command line looks like."""
    if words and not words[0].startswith("-") and Path(words[0]).is_file():
        from headwise.data.kinds import infer_task  # with it comes numpy

        try:
            return infer_task(words[0], {})[0]
        except HeadwiseError:  # the help is no place to complain about a file
            return DEFAULT_TASK
    return DEFAULT_TASK
