"""`headwise priors`: list the priors, draw them, and search the best ones for a file."""

from collections.abc import Sequence
from dataclasses import MISSING, fields, is_dataclass
from inspect import getdoc
from pathlib import Path
from typing import Any

from rich.table import Table

from headwise.app.cli.argument_types import (
    OptionalFile,
    OptionalInteger,
    OptionalOutput,
    OptionalOutputFile,
    OptionalRecipe,
    Switch,
)
from headwise.app.cli.console import check_page_output, note, print_json, standard_output, write_text
from headwise.app.cli.flags import flag_values, section_flags
from headwise.app.cli.path_checks import check_one_standard_input, check_output_is_folder, is_standard
from headwise.app.cli.tune_command import print_candidates, run_search
from headwise.core.config import JsonMapping
from headwise.core.errors import ConfigError

_DRAWN = (
    *("everything", "window(5)", "window(1/4)", "forward", "later", "dilated(3)", "random-blocks(3)"),
    *("global-tokens(window(5))", "word-distance(0.5)", "gaussian(3)", "forward + word-distance(0.5)"),
)
"""The priors in the picture of `--draw`."""
_PAGE_START = (
    '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Priors of headwise</title>\n'
)


def priors(
    *,
    draw: OptionalOutputFile = None,
    search: OptionalFile = None,
    dev: OptionalFile = None,
    output: OptionalOutput = None,
    recipe: OptionalRecipe = None,
    minutes: float | None = None,
    seeds: OptionalInteger = None,
    json: Switch = False,
    read: section_flags("data") = None,
) -> None:
    """List the priors of attention heads, or search the best ones.

    A prior defines where a head may look and how strongly. Any prior fits any head of a self-attention
    layer, alone or in a sum with others.

    With --search, candidate priors are tried on a file: all on few texts and epochs, the better half on
    twice as much, and so on. The folder --output then has the winner as recipe.toml (headwise train FILE
    --recipe FOLDER/recipe.toml) and as a picture (winner.svg). An interrupted search continues.

    Args:
        draw: Draw the priors without learned parameters to this file, a page (.html) or a picture (.svg).
        search: A file of texts, pairs or tagged sentences; see headwise train.
        dev: Texts that candidates are scored on; split off by default.
        output: Folder of the search; by default FILE.priors.
        recipe: Settings of all candidates: a recipe's name, a TOML file, or a model folder.
        minutes: Time for training, over all sessions. [30]
        seeds: Training runs of each candidate in each round. [2]
        json: Print the result of the search as JSON.
    """
    search_flags = {"dev": dev, "output": output, "recipe": recipe, "minutes": minutes, "seeds": seeds}
    search_flags |= {"json": json or None, **flag_values(read)}
    if search is not None and draw is not None:
        raise ConfigError("--draw draws all priors and --search looks for some; give the one or the other")
    if search is None and (flags := [name for name, value in search_flags.items() if value is not None]):
        raise ConfigError(f"--{flags[0].replace('_', '-')} is for the search; give --search FILE, too")
    if search is not None:
        check_output_is_folder(output)
        check_one_standard_input({"--search": search, "--dev": dev, "--recipe": recipe})
        from headwise.app.cli.terminal import TerminalReporter
        from headwise.app.configuration import read_preset

        presets = [] if recipe is None else [read_preset(recipe, reporter=TerminalReporter())]
        layers = [*presets, {"data": flag_values(read)}]
        search_priors(
            search,
            dev,
            output or Path(f"{search}.priors"),
            layers,
            30.0 if minutes is None else minutes,
            2 if seeds is None else seeds,
            json,
        )
        return
    # With these comes torch.
    from headwise.nn.priors import PRIORS, alibi, parse_heads
    from headwise.nn.priors.drawing import draw as picture_of

    if draw is not None:
        check_page_output(draw, ".html", ".svg")
        picture = picture_of(parse_heads(_DRAWN, len(_DRAWN)))
        write_text(draw, _PAGE_START * (draw.suffix.lower() == ".html") + picture)
        if not is_standard(draw):
            note(f"the picture is in {draw}")
        return
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, prior in {**PRIORS, alibi.__name__: alibi}.items():
        table.add_row(name, f"{summary(prior)} {spelling(prior)}".rstrip())
    standard_output().print(table)
    print("\nOne for each head:")
    print('headwise train FILE --encoder.priors "window(3)" "forward + word-distance(0.5)"')


def search_priors(
    file: Path,
    dev: Path | None,
    folder: Path,
    layers: Sequence[JsonMapping],
    minutes: float,
    seeds: int,
    json: bool,
) -> None:
    """Run the search, save a picture of the winner, and print the candidates."""
    from headwise.app.training_request import resolve
    from headwise.app.workflows.search_spaces import priors_search_space
    from headwise.models.output_file import reporting_write_errors
    from headwise.nn.priors.drawing import draw

    if "base" in resolve(layers, str(file), warm_start=False).run_config.sections:
        layers = [{"base": {"encoder": "off"}}, *layers]  # that encoder was trained with its priors
    alone = {"linear_model": {"kind": "none"}}  # the linear model would mask the effect of the heads
    tuned = run_search(
        file,
        folder,
        "headwise priors --search",
        space=priors_search_space,
        meanwhile=alone,
        dev=None if dev is None else str(dev),
        minutes=minutes,
        seeds=seeds,
        settings=layers,
    )
    config: Any = tuned.run_config.model.encoder
    with reporting_write_errors(folder):
        picture = draw(config.layer_priors, title=tuned.best.name)
        (folder / "winner.svg").write_text(picture, encoding="utf-8")
    if json:
        print_json(tuned.to_json())
        return
    print_candidates(tuned, "priors")
    note(f"the winner is in {folder}: recipe.toml, winner.svg")


_SPELLINGS = {"window": "window(3), window(n/4)", "sum": "forward + window(3)"}
"""How priors are written whose arguments have no names."""


def spelling(prior: Any) -> str:
    """How a prior with arguments is written for `--encoder.priors`; "" for others."""
    if not is_dataclass(prior) or not fields(prior):
        return ""
    shown = {"None": "...", "True": "true", "False": "false"}
    defaults = {
        field.name: "" if field.default is MISSING else str(field.default) for field in fields(prior)
    }
    arguments = [f"{name}={shown.get(value, value)}" if value else name for name, value in defaults.items()]
    name = getattr(prior, "name", "")
    written = _SPELLINGS.get(name) or f"{name}({', '.join(arguments)})"
    return f"Written {written}."


def summary(documented: object) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((getdoc(documented) or "").split("\n\n")[0].split()).replace("`", "").rstrip(":")
