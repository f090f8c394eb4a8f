"""`headwise noise`: which labels of a file are likely to be wrong."""

# The flags' type is made at run time, from the configurations.
# pyright: reportInvalidTypeForm=false

import csv
import io
from dataclasses import asdict, astuple

from headwise.cli.arguments import FileArgument, Output, Switch, Whole
from headwise.cli.console import columns, excerpt, note, percent, print_json, visible
from headwise.cli.console import output as console
from headwise.cli.flags import given
from headwise.cli.pictures import write_whole
from headwise.cli.settings import section_flags
from headwise.cli.terminal import Terminal
from headwise.errors import ConfigError

_EXCERPT = 70  # characters shown of a text
_COLUMNS = (
    "line",
    "label",
    "suggested",
    "probability of label",
    "probability of suggested",
    "text",
    "twin",
)


def noise(
    file: FileArgument,
    /,
    *,
    output: Output = None,
    overwrite: Switch = False,
    show: Whole = 20,
    json: Switch = False,
    base: str = "auto",
    read: section_flags("data") = None,
) -> int:
    """Rank the labels of a file that are likely to be wrong.

    A linear model judges each text after it was trained on others (cross-validation); confident learning
    says which labels do not fit. Nothing is changed: look at the first ones, and correct the file.

    Args:
        file: Texts with one label or a set of labels each, or tagged sentences, compressed or not; "-" is
            standard input.
        output: A csv file for all suspects, with their lines in the file.
        overwrite: Replace an output that exists.
        show: How many to show.
        json: Print all suspects as JSON, one a line.
        base: A base whose vectors, of tagged sentences groups of words, the model reads beside the words;
            none for words alone.

    Raises:
        HeadwiseError: The file or the output cannot be used.
    """
    from headwise.verbs.noise import noise_file  # with these comes torch
    from headwise.verbs.predict import check_output_file
    from headwise.verbs.tag_noise import TagSuspect

    if show < 0:
        raise ConfigError(f"--show {show}; expected 0 or more")
    if output is not None:
        if output.suffix.lower() not in ("", ".csv"):
            raise ConfigError(f"--output {output}: the list is a table with commas; name it .csv")
        check_output_file(output, file, overwrite=overwrite)
    found = noise_file(str(file), base=base, reading=given(read), listener=Terminal())
    tagged = any(isinstance(own, TagSuspect) for own in found)
    if output is not None:
        text = io.StringIO()
        names = (*_COLUMNS, "words", "place") if tagged else _COLUMNS
        csv.writer(text, lineterminator="\n").writerows([names, *map(astuple, found)])
        write_whole(output, text.getvalue())
        note(f"{len(found):,} suspects are in {output}")
    if json:
        for own in found:
            print_json(asdict(own), indent=None)
        return 0
    titles = ("line", "label", "", "rather", "", "text")
    table = columns(*titles, texts=titles[1:])
    for own in found[: max(show, 0)]:
        twin = f" (like line {own.twin:,})" if own.twin else ""
        chances = percent(own.given_probability), percent(own.probability)
        names = [visible(name or "no label") for name in (own.label, own.suggested)]
        shown = excerpt(own.text, _EXCERPT)
        if isinstance(own, TagSuspect):
            shown = f"{excerpt(own.words, _EXCERPT)} in: {shown}"
        table.add_row(f"{own.line:,}", names[0], chances[0], names[1], chances[1], visible(shown) + twin)
    console().print(table)
    surer = sum(own.probability > own.given_probability for own in found)
    what = "tag" if tagged else "label"
    are = f"{what} is" if len(found) == 1 else f"{what}s are"
    of_these = (
        f"; in {surer:,} of these places another is the more probable one" if surer < len(found) else ""
    )
    console().print(f"{len(found):,} {are} likely to be wrong{of_these}.")
    return 0
