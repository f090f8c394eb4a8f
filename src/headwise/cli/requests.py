"""What a command is asked to do, once its flags are read and its task is known."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headwise.recipe import Recipe
from headwise.train.run import Parses, Sections


@dataclass(frozen=True)
class TrainRequest:
    """A model to train.

    Attributes:
        file: The training data.
        output: Folder of the model; nothing is lost by writing there.
        dev: The development data, if it is given.
        test: The test data, likewise.
        parses: Files with the parses of each of them.
        layers: Settings, the later over the earlier, without the defaults by size.
        asked: The recipe of these layers; says the task and how to read the files.
        resume: Go on with the run in the output folder.
        baseline: Also fit a simple model to compare with.
    """

    file: str
    output: Path
    dev: str | None
    test: str | None
    parses: Parses
    layers: tuple[Sections, ...]
    asked: Recipe
    resume: bool
    baseline: bool


@dataclass(frozen=True)
class PredictRequest:
    """A file to predict.

    Attributes:
        model: The model of the task, ready to predict.
        file: The file; "-" is standard input.
        output: Where the predictions go; None is standard output. Nothing is lost by writing there.
        format_out: The format of the predictions, if it is not to be that of the output's suffix.
        resume: Go on with the output.
        heads: A file with the parses.
        batch_tokens: Words that the model reads at once.
        read: How to read the file, as the user has said.
    """

    model: Any
    file: Path
    output: Path | None
    format_out: str | None
    resume: bool
    heads: Path | None
    batch_tokens: int
    read: Mapping[str, Any]


@dataclass(frozen=True)
class EvaluateRequest:
    """A model to score.

    Attributes:
        model: The model of the task, ready to predict.
        folder: Where it is from.
        file: The file with the true answers; "-" is standard input.
        heads: A file with the parses.
        json: Print JSON instead of tables.
        errors: How many errors to show.
        read: How to read the file, as the user has said.
    """

    model: Any
    folder: Path
    file: Path
    heads: Path | None
    json: bool
    errors: int
    read: Mapping[str, Any]


@dataclass(frozen=True)
class TaskCommands:
    """What the commands do for one task."""

    train: Callable[[TrainRequest], int]
    predict: Callable[[PredictRequest], int]
    evaluate: Callable[[EvaluateRequest], int]
