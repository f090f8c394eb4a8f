"""Rows of the papers' tables and figures: what one says, and rows that are alike."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row of a table, or a line of a figure. One of `bench`, `command`, `bring` and `missing` is said.

    Attributes:
        name: What it is called.
        bench: accuracy, pairs or tagging: the benchmark that runs `system` on `tasks`.
        tasks: Data sets.
        system: What is trained on them.
        command: Another command that makes it.
        kept: Where its result then is, below benchmarks/results.
        bring: What data you must bring, and the command that takes it.
        missing: Why there is no command.
    """

    name: str
    bench: str = ""
    tasks: tuple[str, ...] = ()
    system: str = ""
    command: str = ""
    kept: str = ""
    bring: str = ""
    missing: str = ""


@dataclass(frozen=True)
class Table:
    """A table or a figure.

    Attributes:
        title: What it shows, and how our data differ from the paper's.
        rows: Of it.
        rival: The system that the others are compared with, text by text.
    """

    title: str
    rows: tuple[Row, ...]
    rival: str = ""


def rows_of(bench: str, tasks: tuple[str, ...], *systems: str, what: str = "") -> tuple[Row, ...]:
    """Rows of the same data."""
    return tuple(Row(f"{what}{system}", bench, tasks, system) for system in systems)


def tagging(name: str, task: str, *systems: str) -> tuple[Row, ...]:
    return rows_of("tagging", (task,), *systems, what=f"{name}: ")


def all_of(data: str, files: str, *systems: str) -> tuple[Row, ...]:
    """Pairs that you must bring."""
    bring = f"{data} (jsonl); headwise train {files} --task pair --recipe nli-"
    return tuple(Row(f"{system}, all of {data}", bring=bring + system) for system in systems)


def set_task(task: str, *models: str, what: str = "") -> tuple[Row, ...]:
    """Rows of benchmarks/set_tasks.py."""
    return tuple(
        Row(
            f"{what}{model}",
            command=f"set_tasks.py {task} --model {model}",
            kept=f"set_tasks/{task}-{model}-*.json",
        )
        for model in models
    )
