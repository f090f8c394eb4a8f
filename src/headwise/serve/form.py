"""A page on which a model can be tried in a browser: no scripts, and nothing from elsewhere."""

import json
from collections.abc import Sequence
from typing import Any

from headwise.errors import HeadwiseError
from headwise.report import plots
from headwise.report.page import escaped, page
from headwise.report.plots import bar, table
from headwise.serve.answering import Answering

_SHOWN = 10  # labels, the most probable first
_MARKED = "What speaks for it is blue and underlined, what speaks against it orange and dotted."
_TITLES = {1: ("Text",), 2: ("First text", "Second text")}
_STYLE = """\
.hw form { margin: 1rem 0; }
.hw label { display: block; margin: .5rem 0; }
.hw textarea { box-sizing: border-box; display: block; width: 100%; min-height: 6rem; font: inherit;
  color: inherit; background: var(--panel); border: 1px solid var(--line); border-radius: 6px;
  padding: .5rem; }
.hw button { font: inherit; padding: .4rem 1.2rem; }
"""


def form_page(answering: Answering, texts: Sequence[str] = ()) -> str:
    """The page, with what the model says where texts were given.

    Args:
        answering: The model.
        texts: The text, or both of a pair.
    """
    name, titles = answering.folder.name, _TITLES.get(answering.kind.sides, ())
    parts = [f"<h1>{escaped(name)}</h1>"]
    if titles:
        parts.append(_form(titles, texts))
    else:
        many = answering.kind.nouns.many
        parts.append(f"<p>This model reads {many}: POST them to /predict as records.</p>")
    if titles and len(texts) == len(titles):
        parts.append(_answer(answering, texts))
    parts.append(f"<h2>The model</h2>{answering.source.shown()}")
    return page(name, "\n".join(parts), style=plots.STYLE + _STYLE)


def _form(titles: Sequence[str], texts: Sequence[str]) -> str:
    given = [*texts, *[""] * len(titles)]
    areas = "".join(
        f'<label>{title}<textarea name="text" dir="auto" required>\n{escaped(own)}</textarea></label>'
        for title, own in zip(titles, given, strict=False)
    )
    # No action: the page may lie under another path, behind a server of somebody's own.
    return f'<form method="post">{areas}<button>Predict</button></form>'


def _answer(answering: Answering, texts: Sequence[str]) -> str:
    """What the model says, and why, as far as it can tell that."""
    try:
        records = answering.records(pairs=[texts]) if len(texts) == 2 else answering.records(texts)
        found = [_said(json.loads(line)) for line in answering.predict(records)]
    except HeadwiseError as error:
        return f'<p class="hw-note">{escaped(answering.said(error))}</p>'
    try:
        why = [own.to_html() for own in answering.explain(records)]
    except HeadwiseError:  # not of such models
        return "".join(found)
    return "".join([*found, *why, f'<p class="hw-note">{_MARKED}</p>'])


def _said(found: dict[str, Any]) -> str:
    if "tags" in found:
        pairs = zip(found["words"], found["tags"], found["probabilities"], strict=True)
        return table(
            ["word", "tag", "probability"],
            [[escaped(w), escaped(t), f"{100 * p:.1f} %"] for w, t, p in pairs],
        )
    said = found["prediction"]
    said = ", ".join(said) or "no label" if isinstance(said, list) else str(said)
    ranked = sorted(found.get("probabilities", {}).items(), key=lambda own: -own[1])[:_SHOWN]
    rows = [[escaped(label), f"{100 * own:.1f} %", bar(own)] for label, own in ranked]
    return f"<h2>{escaped(said)}</h2>" + (table(["label", "probability", ""], rows) if rows else "")
