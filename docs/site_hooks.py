"""Hooks of the documentation site: links that lead out of `docs/` become their names, as the site has no
copy of those files; pictures from there are copied; pages that use samples say where these are; the pages
of commands and of settings are filled from the code; notebooks become pages."""

import json
import re
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from mkdocs.structure.files import File

_UPWARDS = re.compile(r"(?<!!)\[([^\]]+)\]\(((?:\.\./)+)[^)]*\)")
_PICTURE = re.compile(r"(!\[[^\]]*\]\()((?:\.\./)+(?:benchmarks|src)/[^)]*)\)")
_SAMPLE = re.compile(r"\b(?:helpdesk\.tsv|helpdesk_new\.txt|travel\.conll|claims\.tsv)")
COMMANDS, SETTINGS = "reference/commands.md", "reference/settings.md"


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """The text of a page as the site shows it."""
    if page.file.src_uri == COMMANDS:
        markdown += "\n" + commands()
    if page.file.src_uri == SETTINGS:
        markdown += "\n" + settings()
    depth = page.file.src_uri.count("/")
    if page.file.src_uri != "README.md" and (samples := sorted(set(_SAMPLE.findall(markdown)))):
        names, come = ", ".join(f"`{name}`" for name in samples), "comes" if len(samples) == 1 else "come"
        note = f"{names} {come} with headwise: [copy the samples]({'../' * depth}README.md#samples)."
        title, _, text = markdown.partition("\n")
        markdown = f"{title}\n\n*{note}*\n{text}"
    images = "../" * depth + "images"
    markdown = _PICTURE.sub(lambda match: f"{match[1]}{images}/{Path(match[2]).name})", markdown)
    return _UPWARDS.sub(lambda match: match[1] if match[2].count("../") > depth else match[0], markdown)


def on_files(files: Any, config: Any, **_: object) -> Any:
    """The files of the site with the pictures from outside of `docs/` and a page for each notebook."""
    for page in [Path(file.abs_src_path) for file in files.documentation_pages()]:
        for _, picture in _PICTURE.findall(page.read_text(encoding="utf-8")):
            source = (page.parent / picture).resolve()
            files.append(File.generated(config, f"images/{source.name}", abs_src_path=str(source)))
    for path in sorted(Path(config["docs_dir"], "notebooks").glob("*.ipynb")):
        page = notebook_page(json.loads(path.read_text(encoding="utf-8")), path.name)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=page))
    return files


def notebook_page(notebook: dict[str, Any], name: str) -> str:
    """A notebook as Markdown: its texts, and its code in blocks."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
    title, *rest = parts
    download = f"[Download the notebook]({name})"
    return "\n\n".join([title, download, *rest]) + "\n"


def commands() -> str:
    """The help of every command, with all options, in Markdown."""
    from headwise.app.cli import COMMANDS as NAMES
    from headwise.app.cli import build_app

    sections = []
    for name in NAMES:
        # The named command is imported with its full help; the others have only summaries.
        text = build_app(name)[name].generate_docs(heading_level=2, usage_name=f"headwise {name}")
        sections.append(text)
    return "\n".join(sections)


def settings() -> str:
    """A table of the settings of each section: flag, type, default and meaning, in Markdown."""
    from headwise.app.cli.flags import SECTION_HEADINGS, flags_of

    sections = []
    for section, (prefix, heading, _) in SECTION_HEADINGS.items():
        lines = [
            f"## {heading}: `{section}`",
            "",
            "| flag | type | default | meaning |",
            "|---|---|---|---|",
        ]
        for flag in flags_of(section):
            name = flag.name.replace("_", "-")
            option = f"--{name}" if prefix == "*" else f"{prefix}.{name}"
            text, bracket, default = flag.help.rpartition(" \\[")
            meaning, default = (text, f"`{default[:-1]}`") if bracket else (flag.help, "")
            cells = (f"`{option}`", type_name(flag.kind), default, meaning)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        sections.append("\n".join(lines))
    return "\n\n".join(sections) + "\n"


def type_name(kind: Any) -> str:
    """The name of a type as people read it: choices, `number`, `a list of ...`."""
    options = get_args(kind)
    if get_origin(kind) is Literal:
        return ", ".join(f"`{option}`" for option in options)
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(type_name(option) for option in options if option is not NoneType)
    if get_origin(kind) is tuple:
        return f"list of {type_name(options[0])}"
    names = {str: "text", int: "whole number", float: "number", bool: "on or off", Path: "path"}
    return names.get(kind, getattr(kind, "__name__", str(kind)))
