"""A self-contained HTML page: no network access, no third-party scripts, light, dark and print styles."""

import re
from html import escape

_STYLE = """\
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0; --paper: #fff;
  --panel: #f6f8fa; --for: 31 95 191; --against: 196 89 17; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --paper: #0d1117; --panel: #151b23; --for: 88 166 255; --against: 240 136 62; } }
.hw { color: var(--ink); font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; }
.hw h1, .hw h2, .hw h3 { line-height: 1.25; overflow-wrap: anywhere; }
.hw h1 { font-size: 1.6rem; margin: .5rem 0; }
.hw h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
.hw h3 { font-size: 1rem; margin: .75rem 0 .25rem; }
.hw-text { margin: .25rem 0; overflow-wrap: anywhere; white-space: pre-wrap; unicode-bidi: plaintext; }
.hw mark { color: inherit; border-radius: 3px; padding: 0 1px; }
.hw-for { background: rgb(var(--for) / calc(.1 + .5 * var(--s)));
  text-decoration: underline; text-decoration-thickness: calc(3px * var(--s)); text-underline-offset: 3px; }
.hw-against { background: rgb(var(--against) / calc(.1 + .5 * var(--s)));
  text-decoration: underline dotted; }
.hw-note { color: var(--soft); margin: .25rem 0; }
.hw-why { border-top: 1px solid var(--line); }
"""
_PAGE_STYLE = """\
body { background: var(--paper); margin: 0 auto; max-width: 70rem; padding: 1rem; }
@media print { body { max-width: none; padding: 0; } .hw mark { print-color-adjust: exact; } }
"""


class Page(str):
    """The source of a complete HTML page, which a notebook shows in an iframe."""

    def _repr_html_(self) -> str:
        style = "width:100%;height:40rem;border:1px solid"
        return f'<iframe sandbox="allow-scripts" style="{style}" srcdoc="{escape(self)}"></iframe>'


def page(title: str, body: str, *, style: str = "", script: str = "", full: bool = True) -> str:
    """An HTML page, or a fragment for a notebook if `full` is false.

    Args:
        title: The title, plain text.
        body: The HTML, in which all text from data is `escaped`.
        style: Additional CSS rules.
        script: JavaScript, placed at the end of the page.
        full: Whether to return a complete page.
    """
    if not full:
        return f'<div class="hw"><style>{_STYLE}{style}</style>{body}</div>'
    code = f"<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escaped(title)}</title>\n<style>{_STYLE}{_PAGE_STYLE}{style}</style>\n</head>\n"
        f'<body class="hw">\n{body}\n{code}</body>\n</html>\n'
    )


def escaped(text: str) -> str:
    """Text with HTML markup escaped and characters that HTML forbids removed."""
    return escape(
        re.sub(r"[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010fffd]", "", text)
    )


def apart(text: str) -> str:
    """Escaped text isolated from the writing direction of the text around it (`<bdi>`): otherwise a Hebrew
    word would move the colon and number after it to its other side. Text without visible characters, such
    as a zero-width space, is written as an escape sequence."""
    seen = not text or any(character.isprintable() for character in text)
    return f"<bdi>{escaped(text if seen else text.encode('unicode_escape').decode())}</bdi>"
