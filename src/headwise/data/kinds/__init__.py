"""The kinds of the tasks, and how a file's task is found out. Nothing here imports torch."""

from collections.abc import Mapping
from typing import Any

from headwise.config import from_dict
from headwise.data.answers import LABEL, LABEL_SET, NUMBER
from headwise.data.head import read_head
from headwise.data.kind import Kind
from headwise.data.kinds.bag import BagKind
from headwise.data.kinds.pair import PairKind
from headwise.data.kinds.plain_text import PlainTextKind
from headwise.data.kinds.sentence import SentenceKind
from headwise.data.kinds.stream import StreamKind
from headwise.data.kinds.text import TextKind
from headwise.data.options import ReadOptions
from headwise.data.rows import Rows
from headwise.errors import ConfigError

KINDS: dict[str, Kind[Any]] = {
    "classify": TextKind(LABEL),
    "multi-label": TextKind(LABEL_SET),
    "tag": SentenceKind(),
    "pair": PairKind(LABEL),
    "pair-score": PairKind(NUMBER),
    "regress": TextKind(NUMBER),
    "bags": BagKind(LABEL),
    "language-model": StreamKind(),
    "masked-words": PlainTextKind(),
}
"""What each task reads. The later rows are tried first where a file is to tell its task."""

DEFAULT_TASK = "classify"


def options_for(task: str, given: Mapping[str, Any], where: str = "") -> Any:
    """How files of a task are read, from what the user has said; see `headwise.config.from_dict`.

    Raises:
        ConfigError: It does not fit, as a column does that only files of other tasks have.
    """
    check_options(task, given, where)
    return from_dict(KINDS[task].options, given, where)


def check_options(task: str, given: Mapping[str, Any], where: str = "", *others: type[Any]) -> None:
    """Check that what the user has said of how to read files is no affair of other tasks alone.

    Args:
        task: The task.
        given: What was said.
        where: What to call the place in messages.
        others: What else says how its files are read, beside the options of its kind.

    Raises:
        ConfigError: It is; names the tasks that have it, and the columns of this one.
    """
    known = {name for own in (KINDS[task].options, *others) for name in own.__dataclass_fields__}
    for name in (key.replace("-", "_") for key in given):
        tasks = [other for other, kind in KINDS.items() if name in kind.options.__dataclass_fields__]
        if name in known or not tasks:  # what no task has, `from_dict` tells
            continue
        flag = lambda name: f"--{name.replace('_', '-')}"  # noqa: E731
        columns = [flag(own) for own in sorted(known) if own.endswith("_column")]
        named = f", which has {', '.join(columns)}" if name.endswith("_column") and columns else ""
        at = f"{where}: " if where else ""
        raise ConfigError(
            f"{at}{flag(name)} is for the task{'s' * (len(tasks) > 1)} {', '.join(tasks)}; the task here "
            f"is {task}{named}"
        )


def rows_to_predict(
    kind: Kind[Any], task: str, path: str, given: Mapping[str, Any], *, like: Any = None
) -> Rows[Any]:
    """The records of a file whose answers a model is to say.

    Args:
        kind: What the model reads.
        task: What it does.
        path: The file; "-" is standard input.
        given: What the user has said of how to read it.
        like: See `Kind.rows`.

    Raises:
        ConfigError: As `options_for`.
        DataError: The file cannot be read so.
    """
    if isinstance(kind, SentenceKind):  # which also takes texts, whose words are still to be cut
        check_options(task, given, "", ReadOptions)
        return kind.rows_or_texts(path, given)
    return kind.rows(path, options_for(task, given), like=like)


def infer_task(path: str, reading: Mapping[str, Any]) -> tuple[str, str]:
    """The task that a training file is for, and why it is taken for that ("" where nothing tells).

    Args:
        path: The file as the user named it; of standard input only `reading` tells.
        reading: What the user has said of how to read it.

    Raises:
        ConfigError: What was said is of the wrong type, as in a recipe that says `delimiter = 5`.
    """
    for name, value in reading.items():
        if not isinstance(value, bool | None if name == "header" else str | None):
            wanted = "true or false" if name == "header" else "a text"
            raise ConfigError(f"data: {name}: expected {wanted}, got {value!r:.80}")
    kinds = [*reversed(KINDS.items())]
    asked = {task: why for task, kind in kinds if (why := kind.asked(reading))}  # the file tells which
    if path != "-" and len(asked) != 1:
        head = read_head(path, str(reading.get("encoding", "utf-8")))
        for task, kind in kinds:
            if head.lines and (task in asked or not asked) and (why := kind.recognise(head, reading)):
                return task, why
    return [*asked.items()][-1] if asked else (DEFAULT_TASK, "")


def one_label_task(path: str, reading: Mapping[str, Any], advice: str = "") -> str:
    """The task that a training file is for, where only texts with one label each will do.

    Args:
        path: See `infer_task`.
        reading: Likewise.
        advice: What else there is to say where it is for another.

    Raises:
        ConfigError: It is for another task.
    """
    task, why = infer_task(path, reading)
    if KINDS[task] is not KINDS[DEFAULT_TASK]:
        because = f" ({why})" if why else ""
        more = f"; {advice}" if advice else ""
        raise ConfigError(
            f"{path}: a file for the task {task}{because}; expected texts with one label each{more}"
        )
    return task
