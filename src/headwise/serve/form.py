"""An HTML form to try a model in a browser: no scripts and no external resources."""

import json
from collections.abc import Sequence
from typing import Any

from headwise.errors import HeadwiseError
from headwise.report import plots
from headwise.report.page import escaped, page
from headwise.report.plots import bar, table
from headwise.serve.answering import Answering

_SHOWN = 10  # the number of most probable labels that are shown
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
    """The page with the form, and with the prediction if `texts` is not empty.

    Args:
        answering: The loaded model.
        texts: The text, or both texts of a pair.
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
    contents = [*texts, *[""] * len(titles)]
    areas = "".join(
        f'<label>{title}<textarea name="text" dir="auto" required>\n{escaped(content)}</textarea></label>'
        for title, content in zip(titles, contents, strict=False)
    )
    # No action attribute: behind a proxy the page may have another path.
    return f'<form method="post">{areas}<button>Predict</button></form>'


def _answer(answering: Answering, texts: Sequence[str]) -> str:
    """The prediction and, if the model has explanations, its explanation."""
    try:
        records = answering.records(pairs=[texts]) if len(texts) == 2 else answering.records(texts)
        answers = [_said(json.loads(line)) for line in answering.predict(records)]
    except HeadwiseError as error:
        return f'<p class="hw-note">{escaped(answering.client_message(error))}</p>'
    try:
        why = [explanation.to_html() for explanation in answering.explain(records)]
    except HeadwiseError:  # models without explanations
        return "".join(answers)
    return "".join([*answers, *why, f'<p class="hw-note">{_MARKED}</p>'])


def _said(prediction: dict[str, Any]) -> str:
    if "tags" in prediction:
        pairs = zip(prediction["words"], prediction["tags"], prediction["probabilities"], strict=True)
        return table(
            ["word", "tag", "probability"],
            [[escaped(w), escaped(t), f"{100 * p:.1f} %"] for w, t, p in pairs],
        )
    answer = prediction["prediction"]
    answer = ", ".join(answer) or "no label" if isinstance(answer, list) else str(answer)
    ranked = sorted(prediction.get("probabilities", {}).items(), key=lambda pair: -pair[1])[:_SHOWN]
    rows = [
        [escaped(label), f"{100 * probability:.1f} %", bar(probability)] for label, probability in ranked
    ]
    return f"<h2>{escaped(answer)}</h2>" + (table(["label", "probability", ""], rows) if rows else "")
