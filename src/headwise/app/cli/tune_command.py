"""`headwise tune`: hyperparameter search for a file."""

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from headwise.app.cli.argument_types import (
    FileArgument,
    Integer,
    OptionalFile,
    OptionalOutput,
    OptionalRecipe,
    Switch,
)
from headwise.app.cli.console import columns, note, print_json, standard_output
from headwise.app.cli.flags import flag_values, section_flags
from headwise.app.cli.path_checks import check_one_standard_input, check_output_is_folder
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.errors import ConfigError
from headwise.data.files.compression import read_once
from headwise.data.findings import count
from headwise.models.tasks import TASKS

_NAME, _NUMBER = 17, 14  # columns for the name of a candidate, at least, and for a title above numbers
_RECIPE_PREFIX = "# headwise "  # first characters of a recipe that a search wrote

if TYPE_CHECKING:
    from headwise.app.workflows.tune import Gain, SearchResult


def tune(
    file: FileArgument,
    /,
    *,
    output: OptionalOutput = None,
    minutes: float = 10.0,
    seeds: Integer = 4,
    task: Annotated[str | None, Parameter(help=f"{', '.join(TASKS)}. \\[inferred from the file]")] = None,
    recipe: OptionalRecipe = None,
    dev: OptionalFile = None,
    json: Switch = False,
    read: section_flags("data") = None,
) -> int:
    """Search for the settings that suit a file.

    Changes to the settings of headwise train are scored one by one on folds of the file; the better half
    goes on to more folds, and gains are combined. The winner is compared with the defaults on folds that
    were not used to choose it (with --dev: with other seeds). Use the result with headwise train FILE
    --recipe FOLDER/recipe.toml. An interrupted search continues. Test texts are never read.

    Args:
        file: The training data; see headwise train.
        output: Folder of the search. [FILE.tuned]
        minutes: Time for training, over all sessions.
        seeds: Training runs per finalist to choose, and as many to confirm.
        task: Replaced by the list of tasks.
        recipe: Settings of all candidates: a recipe's name, a TOML file, or a model folder.
        dev: Texts that candidates are scored on. [folds of the file; for one long text, its end]
        json: Print the result of the search as JSON.
    """
    check_output_is_folder(output)
    check_one_standard_input({"FILE": file, "--dev": dev, "--recipe": recipe})
    from headwise.app.configuration import read_preset

    folder = output or Path(f"{file}.tuned")
    layers = [
        *([] if recipe is None else [read_preset(recipe, task=task, reporter=TerminalReporter())]),
        {"data": flag_values(read), "model": {"task": task} if task else {}},
    ]
    tuned = run_search(
        file,
        folder,
        "headwise tune",
        dev=None if dev is None else str(dev),
        minutes=minutes,
        seeds=seeds,
        settings=layers,
    )
    if json:
        print_json(tuned.to_json())
    else:
        print_candidates(tuned, "change")
    return 0


def run_search(file: Path, folder: Path, command: str, **settings: Any) -> "SearchResult":
    """Run a search, and write the best settings to recipe.toml in the folder.

    Raises:
        HeadwiseError: As `tune_file`; or the file is standard input or a pipe; HW601, the folder has a
            recipe that no search wrote.
    """
    if read_once(str(file)):
        raise ConfigError(
            "a resumed search reads its file again, which standard input and pipes do not allow; "
            "write it to a file, and name that"
        )
    from headwise.app.workflows.tune import recipe_text, tune_file
    from headwise.core.errors import TrainingInterrupted
    from headwise.models.output_file import OutputError, reporting_write_errors

    recipe = folder / "recipe.toml"
    try:
        with reporting_write_errors(folder):
            if recipe.is_file() and not recipe.read_text("utf-8", "replace").startswith(_RECIPE_PREFIX):
                raise OutputError(
                    f"{recipe} exists and is not of a search; move it, or give another --output",
                    code="HW601",
                )
            tuned = tune_file(str(file), folder, reporter=TerminalReporter(), **settings)
            comment = f"{command} {file.name}: {tuned.best.name}\n{confirmation(tuned)}"
            recipe.write_text(recipe_text(tuned.settings, comment), encoding="utf-8")
    except TrainingInterrupted as stop:
        note(f"finished runs are in {folder}; the same command continues")
        raise KeyboardInterrupt from stop
    if not tuned.finished:
        note(f"the time is over; the same command with more --minutes continues ({folder})")
    return tuned


def print_candidates(tuned: "SearchResult", what: str) -> None:
    """Print the candidates and the gain of the best one; `what` is the title of the first column."""
    from headwise.models.metric_table import FORMATS

    line = tuned.metric_table.primary_metric
    baseline = next(tried.name for tried in tuned.tried if tried.gain is None)
    loss = "error" if line.key == "mae" else "loss"
    # Narrow enough for 80 columns; wider tables would be cut off.
    titles = (fill(title, _NUMBER) for title in (line.title, f"gain over {baseline}", f"less {loss}"))
    table = columns(what, "step", *titles, texts=(what,))
    table.columns[0].min_width = _NAME
    for tried in tuned.tried:
        less = f"of {tried.loss:.4f}" if tried.gain is None else loss_gain(tried.gain)
        gains = (gain.replace(" (", "\n(") for gain in (score_gain(tuned, tried.gain), less))
        table.add_row(tried.name, f"{tried.step}/{tuned.steps}", FORMATS[line.form](tried.score), *gains)
    out = standard_output()
    out.print(table)
    gains = [candidate.gain for candidate in tuned.tried if candidate.gain is not None]
    if none := sum(not any((gain.loss, *gain.loss_interval)) for gain in gains):
        out.print(
            f"\n{count(none, 'candidate')} made no difference to any item: where the linear model decides "
            "alone, as it may with few items, the settings of the encoder tell nothing."
        )
    out.print(f"\n{confirmation(tuned)}")


def confirmation(tuned: "SearchResult") -> str:
    """The gain of the best candidate in trials that did not select it, as a sentence."""
    first, gain = tuned.tried[0], tuned.confirmed
    if len(tuned.tried) == 1:
        return f"Nothing but {first.name} was tried, as the time was over: give more --minutes."
    if first.gain is None:
        return f"Nothing is better than {first.name}."
    kept_text = "" if tuned.best is first else f" The recipe keeps {tuned.best.name}."
    if gain is None:
        return f"{first.name}: not confirmed, as the time was over.{kept_text}"
    line = tuned.metric_table.primary_metric
    where = "not used to choose it" if tuned.uses_new_items else "also used to choose it, with other seeds"
    return (
        f"{first.name}: {line.title} {score_gain(tuned, gain)}, less loss {loss_gain(gain)}, on "
        f"{gain.items:,} items {where}.{kept_text}"
    )


def score_gain(tuned: "SearchResult", gain: "Gain | None") -> str:
    """A gain of the primary metric with its interval, in its unit."""
    if gain is None:
        return ""
    scale, form = (100, "+.1f") if tuned.metric_table.primary_metric.form == "percent" else (1, "+.4g")
    value, low, high = (format(scale * number, form) for number in (gain.score, *gain.interval))
    return f"{value} ({low} to {high})"


def loss_gain(gain: "Gain") -> str:
    """A gain of the loss with its interval."""
    low, high = gain.loss_interval
    return f"{gain.loss:+.4f} ({low:+.4f} to {high:+.4f})"
