"""Hooks of the documentation site: links that lead out of `docs/` become their names, as the site has no
copy of those files; the page of commands is filled from the command line itself."""

import re
from typing import Any

_OUTSIDE = re.compile(r"(?<!!)\[([^\]]+)\]\((?:\.\./)+(?!reference/|tutorials/|how-to/|[\w-]+\.md)[^)]*\)")
_PICTURE = re.compile(r"!\[([^\]]*)\]\((?:\.\./)+(?:benchmarks|src)/[^)]*\)")
COMMANDS = "reference/commands.md"


def on_page_markdown(markdown: str, page: Any, **_: object) -> str:
    """The text of a page as the site shows it."""
    if page.file.src_uri == COMMANDS:
        markdown += "\n" + commands()
    return _OUTSIDE.sub(r"\1", _PICTURE.sub(r"*\1 (in the repository)*", markdown))


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
