"""`headwise explain`: which words made a model say what it says."""

# The flags' type is made at run time, from the configurations.
# pyright: reportInvalidTypeForm=false

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from headwise.cli.arguments import FileArgument, Output, Switch
from headwise.cli.console import note, visible
from headwise.cli.console import output as console
from headwise.cli.flags import given
from headwise.cli.predict import check_file
from headwise.cli.settings import ANSWERS, section_flags
from headwise.cli.terminal import Terminal
from headwise.errors import ConfigError
from headwise.memory import keep_freed_memory

if TYPE_CHECKING:
    from headwise.report.explanation import Explanation

_FORMS = {".jsonl": "jsonl", ".html": "html"}
_LEAST = 0.005  # of the shares that are listed: what is less is written as 0.00
_MARKS = ("", "", "underline", "bold underline")  # beside colours, which not everybody sees
_BACKGROUNDS = {
    1: ("", "on #10345f", "on #174f94", "on #1f6fd0"),
    -1: ("", "on #4a2708", "on #7a3f0c", "on #b35c12"),
}


def explain(
    model: Path,
    file: FileArgument,
    /,
    *,
    output: Output = None,
    json: Switch = False,
    heads: Path | None = None,
    pipeline: str | None = None,
    device: str = "auto",
    overwrite: Switch = False,
    # Files to explain may have labels, but they are not used.
    read: section_flags("data", ANSWERS) = None,
) -> int:
    """Show which words made a model say what it says.

    Every word has a share of the label's margin (its log-odds): what speaks for the label is blue, what
    speaks against it orange. The shares of all words, that of the text's form where the model reads it
    (length, capitals, digits, marks), and a rest that belongs to none add up to the margin.

    Args:
        model: Folder of the model.
        file: A csv, tsv or jsonl file, or one text a line, compressed or not; "-" is standard input.
        output: File for the explanations, a page (.html) or one JSON object a line (.jsonl), which have the
            characters and the share of every word. The terminal by default.
        json: Write one JSON object a line, to standard output or to OUTPUT (.jsonl).
        heads: Dependency syntax of the texts, for a model that goes by it, as headwise predict takes it.
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.
        overwrite: Replace an output that exists.

    Raises:
        HeadwiseError: The model, the file or the output cannot be used.
        ConfigError: JSON is asked for in a page.
    """
    from headwise.predictions.file import form_of, open_output  # with these comes torch
    from headwise.verbs.explain import explain_file
    from headwise.verbs.predict import check_output_file

    check_file(model, file, "explain")
    form = "jsonl" if json and output is None else form_of(output, _FORMS, "terminal")
    if json and form != "jsonl":
        raise ConfigError(
            f"--json writes JSON lines and {output} is a page; leave out --json, or name it .jsonl"
        )
    if output is not None:
        check_output_file(output, file, overwrite=overwrite)
    keep_freed_memory()
    found = explain_file(
        model, file, heads=heads, pipeline=pipeline, device=device, reading=given(read), listener=Terminal()
    )
    if form == "terminal":
        _show(found)
        return 0
    found = chain([*islice(found, 1)], found)  # what cannot be explained leaves no output
    with open_output(output, whole=True) as target:
        for piece in _pieces(found, form, model):
            target.write(piece.encode("utf-8", "surrogatepass"))
    if output is not None:
        note(f"the explanations are in {output}")
    return 0


def _pieces(found: Iterable[tuple[int, "Explanation"]], form: str, model: Path) -> Iterator[str]:
    """What is written, one explanation at a time."""
    from headwise.predictions.file import json_text
    from headwise.report.page import escaped, page

    if form == "jsonl":
        for line, own in found:
            yield json_text({"line": line, **own.to_json()}) + "\n"
        return
    title, gap = f"Why {model.name} says what it says", "<!-- explanations -->"
    note = "What speaks for the label is blue and underlined, what speaks against it orange and dotted."
    head, tail = page(title, f"<h1>{escaped(title)}</h1><p>{note}</p>{gap}").split(gap)
    yield head
    for _, own in found:
        yield own.to_html() + "\n"
    yield tail


def _show(found: Iterable[tuple[int, "Explanation"]]) -> None:
    """Explanations on a terminal: the text with its words marked, and the words that count most."""
    out = console()
    for line, own in found:
        out.print(Text(f"{line}  {visible(own.head)}", style="bold"))
        for text in _marked(own):
            out.print(Padding(text, (0, 0, 0, 2)))
        if own.tail:
            out.print(Padding(Text(visible(own.tail)), (0, 0, 0, 2)))
        for title, words in (("for", own.first(5)), ("against", own.against(3))):
            if words := [(word, share) for word, share in words if abs(share) >= _LEAST]:
                each = "  ".join(f"{visible(word)} {share:+.2f}" for word, share in words)
                out.print(Padding(Text.assemble((f"{title}: ", "dim"), each), (0, 0, 0, 2)))
        if own.form is not None:
            out.print(Padding(Text(own.form.told), (0, 0, 0, 2)))
        of = "no word" if own.form is None else "neither"
        out.print(
            Padding(Text(f"margin {own.margin:+.2f}, of it {own.rest:+.2f} of {of}", "dim"), (0, 0, 1, 2))
        )


def _marked(own: "Explanation") -> list[Text]:
    """The texts with their words marked."""
    found = []
    for rows in own.pieces():
        marked = Text()
        for text, word, strength in rows:
            marked.append(visible(text).replace("\n", " ") if word else visible(text))
            if word is not None:
                level = min(int(abs(strength) * 4), 3)
                style = f"{_MARKS[level]} {_BACKGROUNDS[1 if strength > 0 else -1][level]}".strip()
                marked.append(visible(word.word), style=style)
        found.append(marked)
    return found
