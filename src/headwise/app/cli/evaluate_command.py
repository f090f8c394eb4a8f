"""`headwise evaluate`: score a model on a labelled file."""

# The type of the flags is created at run time from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.padding import Padding
from rich.text import Text

from headwise.app.cli.console import FileArgument, Integer, Switch, excerpt, output, print_json, visible
from headwise.app.cli.flags import flag_values, section_flags
from headwise.app.cli.metric_tables import print_metrics
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.allocator import keep_freed_memory
from headwise.core.errors import ConfigError

if TYPE_CHECKING:
    from headwise.app.workflows.evaluate import EvaluationReport

_EXCERPT = 240  # characters shown of a text


def evaluate(
    model: Path,
    file: FileArgument,
    /,
    *,
    json: Switch = False,
    errors: Integer = 0,
    unsure: str | None = None,
    unknown_labels: Literal["stop", "skip"] = "stop",
    parses: Path | None = None,
    pipeline: str | None = None,
    device: str = "auto",
    read: section_flags("data") = None,
) -> int:
    """Score a model on a file with the true answers.

    If the file is the one that the model was tested on when it was trained, the simple baseline of that
    time stands beside it.

    Args:
        model: Folder of the model.
        file: Texts with the true answers, compressed or not; "-" is standard input.
        json: Print JSON instead of tables.
        errors: How many of the texts to show that the model is surest of and wrong about.
        unsure: Also say how many texts are left, and how many of these are right, without those whose
            prediction is less probable than this (0.9), or than it takes to be right so often
            (precision=0.95); see headwise predict.
        unknown_labels: What to do with texts that have a label which the model does not know: stop, or
            leave them out and say how many.
        parses: Dependency syntax of the texts, for a model that goes by it, as `headwise train` takes it.
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.

    Raises:
        HeadwiseError: The model or the file cannot be used, or a label is not one of the model's.
    """
    if errors < 0:
        raise ConfigError(f"--errors {errors}; expected 0 or more")
    from headwise.app.workflows.evaluate import evaluate_file  # with it comes torch

    keep_freed_memory()
    terminal = TerminalReporter()
    judged = evaluate_file(
        model,
        file,
        parses=parses,
        errors=errors,
        unsure=unsure,
        unknown_labels=unknown_labels,
        pipeline=pipeline,
        device=device,
        reading=flag_values(read),
        reporter=terminal,
    )
    if json:
        print_json(judged.to_json())
    else:
        _print(judged)
    for remark in judged.remarks:
        terminal.remark(remark)
    return 0


def _print(judged: "EvaluationReport") -> None:
    out, scores = output(), judged.scores
    out.print()
    rivals = [rival for rival in (judged.unseen, judged.baseline) if rival]
    print_metrics(out, judged.task.sheet(scores), scores, rivals)
    for mistake in judged.mistakes:
        head = Text(visible(mistake["where"]), style="bold")
        head.append(f"  {visible(judged.task.describe_error(mistake))}", style="")
        out.print(head)
        text = excerpt(mistake["text"], _EXCERPT)
        out.print(Padding(visible(text) or "(empty)", (0, 0, 1, 2)))
