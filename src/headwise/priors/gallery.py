"""gallery: pictures of all priors, with their formulas and sources, as a self-contained page."""

import math
import re
from html import escape

from headwise.priors.exhibits import LENGTH, SECTIONS, Exhibit

_PAGE = """\
:root { color-scheme: light dark; --paper: #fff; --card: #f8f9fb; --line: #dfe3e8; --ink: #1f2328;
  --soft: #59636e; --accent: #1f5fbf; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #0d1117; --card: #151b23; --line: #2f3742; --ink: #e6edf3; --soft: #9198a1;
    --accent: #79b8ff; }
}
body { margin: 0 auto; max-width: 76rem; padding: 2.5rem 1.5rem 4rem; background: var(--paper);
  color: var(--ink); font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.75rem; letter-spacing: -.01em; }
h2 { margin: 2.5rem 0 1rem; padding-bottom: .4rem; border-bottom: 1px solid var(--line);
  font-size: 1.15rem; }
h3 { margin: 0; font-size: 1rem; }
.lead { max-width: 46rem; margin: .5rem 0 0; color: var(--soft); }
.cards { display: flex; flex-wrap: wrap; gap: 1rem; }
article { flex: 1 1 auto; max-width: 100%; min-width: 15rem; box-sizing: border-box;
  padding: 1rem 1.15rem .6rem; border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); }
article p { width: 0; min-width: 100%; margin: .15rem 0; }
.code { color: var(--accent); font: 12.5px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.formula { font-size: .9rem; }
.source { color: var(--soft); font-size: .8rem; }
.picture { overflow-x: auto; margin-top: .7rem; }
.picture svg { display: block; }"""


def gallery_html() -> str:
    """The gallery as a page that opens without a network, light or dark after the reader's preference."""
    body = []
    for heading, exhibits in SECTIONS.items():
        cards = "\n".join(map(_card, exhibits))
        body.append(f'<h2>{escape(heading)}</h2>\n<div class="cards">\n{cards}\n</div>')
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Priors of headwise</title>\n<style>\n{_PAGE}\n</style>\n</head>\n<body>",
            f'<h1>Priors</h1>\n<p class="lead">{escape(_LEAD)}</p>',
            *body,
            "</body>\n</html>\n",
        ]
    )


_LEAD = (
    f"What a head may see, and how strongly, in a text of {LENGTH} nodes. Every row of a square is a "
    "query, every column a key. A cell is empty where the query does not see the key; its colour is the "
    "stronger the more the prior favours it. Priors add up on one head."
)


def _card(exhibit: Exhibit) -> str:
    lines = {"code": exhibit.code, "formula": exhibit.formula, "source": exhibit.source}
    return "\n".join(
        [
            f"<article>\n<h3>{escape(exhibit.title)}</h3>",
            *(f'<p class="{kind}">{escape(line)}</p>' for kind, line in lines.items()),
            f'<div class="picture">{exhibit.draw()}</div>\n</article>',
        ]
    )


_WIDE = 1080  # pixels of the gallery as one picture
_TOP = 24  # pixels of an exhibit's title


def gallery_svg() -> str:
    """The gallery as one picture, without the formulas."""
    x, y, row = 0, 0, 0
    placed = []
    for exhibit in (exhibit for exhibits in SECTIONS.values() for exhibit in exhibits):
        picture = exhibit.draw()
        width, height = (int(n) for n in re.findall(r'(?:width|height)="(\d+)"', picture)[:2])
        width = max(width, math.ceil(len(exhibit.title) * 8.5))
        if x and x + width > _WIDE:
            x, y, row = 0, y + row + 20, 0
        placed.append(f'<text class="hw-title" x="{x + 4}" y="{y + 14}">{escape(exhibit.title)}</text>')
        placed.append(picture.replace("<svg ", f'<svg x="{x}" y="{y + _TOP}" ', 1).rstrip())
        x, row = x + width + 24, max(row, height + _TOP)
    height = y + row
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="hw-draw" role="img" width="{_WIDE}" '
            f'height="{height}" viewBox="0 0 {_WIDE} {height}">',
            "<title>Priors of headwise</title>",
            *placed,
            "</svg>\n",
        ]
    )
