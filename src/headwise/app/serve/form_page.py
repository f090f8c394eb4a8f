"""An HTML form to try a model in a browser: no scripts and no external resources."""

import json
from collections.abc import Mapping, Sequence

from markupsafe import Markup

from headwise.app.serve.answering import ModelService
from headwise.core.config import JsonObject
from headwise.core.errors import HeadwiseError
from headwise.core.html import Cell, Table, render

_SHOWN = 10  # the number of most probable labels that are shown
_TITLES = {1: ("Text",), 2: ("First text", "Second text")}


def form_page(
    answering: ModelService, texts: Sequence[str] = (), links: Mapping[str, str] | None = None
) -> str:
    """The page with the form, and with the prediction if `texts` is not empty.

    Args:
        answering: The loaded model.
        texts: The text, or both texts of a pair.
        links: The addresses of the pages of other models, by name.
    """
    titles = _TITLES.get(answering.item_type.sides, ())
    values = {"problem": "", "predictions": [], "explanations": []}
    if titles and len(texts) == len(titles):
        values |= _answer(answering, texts)
    page = render(
        "form.html.jinja",
        title=answering.name,
        fields=list(zip(titles, [*texts, *[""] * len(titles)], strict=False)),
        links=links or {},
        items=answering.item_type.nouns.many,
        model=Markup(answering.session.to_html()),  # noqa: S704 - a fragment of templates
        **values,
    )
    return str(page)


def _answer(answering: ModelService, texts: Sequence[str]) -> dict[str, object]:
    """The prediction and, if the model has explanations, its explanation, as values of the form."""
    try:
        records = answering.records(pairs=[texts]) if len(texts) == 2 else answering.records(texts)
        predictions = [_prediction(json.loads(line)) for line in answering.predict(records)]
    except HeadwiseError as error:
        return {"problem": answering.client_message(error)}
    try:
        return {"predictions": predictions, "explanations": list(answering.explain(records))}
    except HeadwiseError:  # models without explanations
        return {"predictions": predictions}


def _prediction(prediction: JsonObject) -> tuple[str, Table]:
    """The predicted label or number, and the table of the probabilities; of a tagger only the table."""
    if "tags" in prediction:
        words = zip(prediction["words"], prediction["tags"], prediction["probabilities"], strict=True)
        rows = [[word, tag, f"{100 * probability:.1f} %"] for word, tag, probability in words]
        return "", Table(["word", "tag", "probability"], rows)
    answer = prediction["prediction"]
    answer = ", ".join(answer) or "no label" if isinstance(answer, list) else str(answer)
    ranked = sorted(prediction.get("probabilities", {}).items(), key=lambda pair: -pair[1])[:_SHOWN]
    rows = [[label, f"{100 * probability:.1f} %", Cell(bar=probability)] for label, probability in ranked]
    return answer, Table(["label", "probability", ""], rows)
