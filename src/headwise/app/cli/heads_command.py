"""`headwise heads`: the importance of each attention head of a model; pruning."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from headwise.app.cli.argument_types import (
    FileArgument,
    ModelFolder,
    OptionalOutputFile,
    OptionalParses,
    Switch,
)
from headwise.app.cli.console import (
    check_page_output,
    columns,
    note,
    print_json,
    standard_output,
    write_text,
)
from headwise.app.cli.flags import OpeningArgument, file_arguments, section_flags
from headwise.app.cli.path_checks import check_one_standard_input, is_standard
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.config import JsonObject

if TYPE_CHECKING:
    from headwise.app.workflows.head_scores import PruningReport


def heads(
    model: ModelFolder,
    file: FileArgument,
    /,
    *,
    prune: Path | None = None,
    overwrite: Switch = False,
    json: Switch = False,
    svg: OptionalOutputFile = None,
    parses: OptionalParses = None,
    opening: OpeningArgument = None,
    read: section_flags("data") = None,
) -> int:
    """Measure the importance of attention heads; prune heads.

    The model is scored on a file without each head in turn: the head's output is replaced by zeros. With
    --prune, heads that add nothing, alone and together, are removed with their weights.

    Args:
        model: Folder of the model.
        file: Labelled texts that the model was not trained on, plain or compressed; "-" is standard input.
        prune: Folder for the model without the useless heads.
        overwrite: Replace the model in that folder.
        json: Print JSON for other programs.
        svg: Draw the heads with what they have learned (slopes, spans, buckets) into this file; an existing
            picture is replaced.
        parses: Dependency parses of the texts, for a model that uses them; see headwise predict.
    """
    from headwise.app.workflows.head_scores import draw_learned_priors, heads_file, prune_file
    from headwise.models.metric_table import FORMATS  # with these comes torch

    check_page_output(svg, ".svg")
    if svg is not None:
        write_text(svg, draw_learned_priors(model))
        if is_standard(svg):
            return 0
        note(f"the picture is in {svg}")
    check_one_standard_input({"FILE": file, "--parses": parses})
    arguments: JsonObject = {**file_arguments(parses, opening, read), "reporter": TerminalReporter()}
    if prune is not None:
        pruned = prune_file(model, file, prune, **arguments, overwrite=overwrite)
        if json:
            print_json(pruned.to_json())
        else:
            show_pruned(pruned, prune)
        return 0
    metric_table, score, worths = heads_file(model, file, **arguments)
    line = metric_table.primary_metric
    if json:
        print_json({"score": line.key, "whole": score, "heads": [head.to_json() for head in worths]})
        return 0
    form = FORMATS[line.form]
    worth = "worth, points" if line.form == "percent" else "worth"
    texts = ("attention", "prior", f"{line.title} without", "95 % interval")
    last = ["log loss"] if any(head.loss is not None for head in worths) else []  # numbers have none
    table = columns("attention", "head", *texts[1:3], worth, texts[3], *last, texts=texts)
    scale, unit = (100, ".1f") if line.form == "percent" else (1, ".4g")
    signed = lambda value: format(scale * value, f"+{unit}")  # noqa: E731
    for head in sorted(worths, key=lambda head: (-head.worth, -(head.loss or 0.0))):
        bounds = (
            "" if head.interval is None else f"{signed(head.interval[0])} to {signed(head.interval[1])}"
        )
        loss = [] if head.loss is None else [f"{head.loss:+.4f}"]
        place = (_named(head.module), str(head.head), head.prior)
        table.add_row(*place, form(head.score), signed(head.worth), bounds, *loss)
    out = standard_output()
    out.print(table)
    dead = sum(head.is_redundant for head in worths)
    out.print(
        f"\n{line.title} with all heads: {form(score)}; {dead} of {len(worths)} heads add nothing to it."
    )
    return 0


def _named(module: str) -> str:
    short = module.removesuffix(".attention")
    return re.sub(r"\bblocks\.(\d+)", lambda match: f"layer {int(match[1]) + 1}", short)


def show_pruned(pruned: "PruningReport", folder: Path) -> None:
    """Print the removed heads, and score, size and speed before and after."""
    from headwise.models.metric_table import FORMATS

    line, out = pruned.metric_table.primary_metric, standard_output()
    names = [f"{_named(head.module)}, head {head.head}" for head in pruned.removed]
    removed = ", ".join(names) or "all add something"
    out.print(f"{len(names)} of {pruned.heads} heads are removed: {removed}.")
    table = columns("", "before", "after")
    table.add_row(f"{line.title} on this file", *map(FORMATS[line.form], pruned.scores))
    table.add_row("megabytes", *(f"{number / 1e6:.2f}" for number in pruned.bytes))
    table.add_row("CPU time, ms per item", *(f"{number:.3f}" for number in pruned.milliseconds))
    out.print(table)
    note(f"the model is in {folder}")
