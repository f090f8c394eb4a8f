"""`headwise curve`: what more texts are worth."""

# The flags' type is made at run time, from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headwise.cli.arguments import FileArgument, Switch
from headwise.cli.console import columns, note, output, percent, print_json
from headwise.cli.flags import given
from headwise.cli.settings import section_flags
from headwise.cli.terminal import Terminal


def curve(
    file: FileArgument,
    /,
    *,
    more: Annotated[
        tuple[int, ...], Parameter(negative=(), consume_multiple=True, show_default=False)
    ] = (),
    seeds: int = 5,
    whole: Switch = False,
    base: str = "auto",
    svg: Path | None = None,
    work: Path | None = None,
    json: Switch = False,
    read: section_flags("data") = None,
) -> int:
    """Say what more texts are worth.

    Models are trained on an eighth of the texts, and on more, up to all but a fifth that they are judged
    on; a power law through their errors says what others would add, and how sure that is.

    Args:
        file: Texts with one label each, compressed or not; "-" is standard input.
        more: Numbers of more texts to think of. [about a quarter, a half and all of the file's]
        seeds: Orders of the texts, each with other texts held out.
        whole: Train what headwise train does, which takes long, instead of its linear expert alone.
        base: A base whose vectors the linear expert reads beside the words; none for words alone.
        svg: Draw the curve into this file.
        work: A file that keeps what was measured; an interrupted command goes on with it.
        json: Print JSON for other programs.

    Raises:
        HeadwiseError: The file cannot be read, or its texts are too few.
    """
    from headwise.predictions.file import telling_failures  # with these comes torch
    from headwise.train.stop import TrainingInterrupted
    from headwise.verbs.curve import curve_file

    settings = {"more": more, "seeds": seeds, "whole": whole, "base": base, "work": work}
    try:
        with telling_failures(work or "standard output"):
            found = curve_file(str(file), **settings, reading=given(read), listener=Terminal())
    except TrainingInterrupted as stop:
        raise KeyboardInterrupt from stop
    if svg is not None:
        with telling_failures(svg):
            svg.write_text(found.figure(), encoding="utf-8")
        note(f"the picture is in {svg}")
    if json:
        print_json(found.to_json())
        return 0
    table = columns("texts", "accuracy", "from", "to")
    for size, own in zip(found.sizes.tolist(), found.accuracy.T, strict=True):
        table.add_row(f"{size:,}", *map(percent, (own.mean(), own.min(), own.max())))
    out = output()
    out.print(table)
    out.print(
        f"\nWith all {found.texts:,} texts it should be {percent(1 - found.law.error(found.texts)[0])}."
    )
    for own in found.forecasts:
        low, high = (f"{100 * bound:+.1f}" for bound in own["interval"])
        out.print(
            f"Another {own['more']:,} texts are worth {100 * own['gain']:+.1f} points ({low} to {high}), "
            f"to {percent(own['accuracy'])}."
        )
    return 0
