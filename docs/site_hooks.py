"""Hooks of the documentation site: links that lead out of `docs/` become their names, as the site has no
copy of those files; the page of commands is filled from the command line itself; notebooks become pages."""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

_OUTSIDE = re.compile(r"(?<!!)\[([^\]]+)\]\((?:\.\./)+(?!reference/|tutorials/|how-to/|[\w-]+\.md)[^)]*\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\((?:\.\./)+(?:benchmarks|src)/[^)]*\)")
COMMANDS = "reference/commands.md"


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """The text of a page as the site shows it."""
    if page.file.src_uri == COMMANDS:
        markdown += "\n" + commands()
    return _OUTSIDE.sub(r"\1", _PICTURE.sub(r"*\1 (in the repository)*", markdown))


def on_files(files: Any, config: Any, **_: object) -> Any:
    """The files of the site with a page for each notebook."""
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
