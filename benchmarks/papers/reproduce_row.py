"""Rows of the papers' tables and figures, and functions for rows with common settings."""

from dataclasses import dataclass

from benchmarks import ROOT

DOMAINS = """apparel baby books camera_photo dvd electronics health_personal_care imdb kitchen_housewares
magazines MR music software sports_outdoors toys_games video"""
MTL16 = tuple(f"mtl16/{domain}" for domain in DOMAINS.split())
SNLI, SST = ("snli",), ("sst5",)
SPEED = "benchmarks.speed.speed --only encoders --threads 1"
TREES = ("tree-lstm", "tree-lstm-constituency", "tree-lstm-constituency + phrases")
SNLI_FILES = "snli_1.0_train.jsonl --dev snli_1.0_dev.jsonl --test snli_1.0_test.jsonl"
WSJ = "its .mrg files in a zip; headwise train wsj.zip!*.mrg"
ONTONOTES = (
    "LDC2013T19 and the CoNLL-2012 scripts; find train -path '*english*' -name '*gold_conll' "
    "-exec cat {} + > train.conll, the same for dev and test; "
    "headwise train train.conll --dev dev.conll --test test.conll"
)
PRESETS = "benchmarks/papers/presets"
GLOVE = "--vectors glove.6B.100d.txt --epochs 20"


@dataclass(frozen=True)
class Row:
    """A row of a table, or a line of a figure. One of `bench`, `command`, `bring` and `missing` is set.

    Attributes:
        name: What it is called.
        bench: accuracy, pairs or tagging: the benchmark that runs `system` on `tasks`.
        tasks: Data sets.
        system: What is trained on them.
        command: Another module, and its arguments, that makes it.
        results: Where its result, or that of `bring`, then is, below papers/results, or speed/results.
        pick: Which part of that file it is.
        seeded: Whether the command takes --seed.
        paper: The paper's figure, where neither the benchmark nor the stored result has it.
        bring: What data you must bring, and the command that takes it.
        missing: Why there is no command.
    """

    name: str
    bench: str = ""
    tasks: tuple[str, ...] = ()
    system: str = ""
    command: str = ""
    results: str = ""
    pick: tuple[str, ...] = ()
    seeded: bool = False
    paper: str = ""
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


def quoted(*figures: tuple[str, str]) -> tuple[Row, ...]:
    """Rows that a paper quotes of others, and their figures."""
    return tuple(Row(name, paper=paper, missing="the paper quotes it of others") for name, paper in figures)


def recipe_of(name: str) -> str:
    """What `--recipe` takes for the settings of a paper: a name that headwise knows, or a file."""
    return f"{PRESETS}/{name}.toml" if (ROOT / PRESETS / f"{name}.toml").exists() else name


def all_of(data: str, files: str, *systems: str) -> tuple[Row, ...]:
    """Pairs that you must bring."""
    bring = f"{data} (jsonl); headwise train {files} --task pair --recipe"
    return tuple(
        Row(f"{system}, all of {data}", bring=f"{bring} {recipe_of(f'nli-{system}')}") for system in systems
    )


def set_task(task: str, *models: str, flags: str = "", what: str = "") -> tuple[Row, ...]:
    """Rows of set_tasks.py."""
    return tuple(
        Row(
            f"{what}{model}",
            command=f"benchmarks.papers.set_tasks {task} --model {model}{f' {flags}' * bool(flags)}",
            results=f"set_tasks/{task}-{model}-*.json",
            seeded=True,
        )
        for model in models
    )


def mirrored(name: str, folder: str, command: str, models: tuple[str, ...], *terms: int) -> tuple[Row, ...]:
    """Rows of mirrored_summation.py: a model and a K each."""
    return tuple(
        Row(
            f"{name}, K {k}: {model}",
            command=f"benchmarks.papers.mirrored_summation {command} --terms {k} --models {model}",
            results=f"mirrored_summation/{folder}.csv",
            pick=(model, str(k)),
        )
        for k in terms
        for model in models
    )
