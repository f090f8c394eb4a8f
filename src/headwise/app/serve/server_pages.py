"""The pages of the server, without scripts and external resources: a form to try a model in a browser, and
a description of the HTTP interface."""

import json
from collections.abc import Callable, Mapping, Sequence

from markupsafe import Markup

from headwise.app.serve.answering import ModelService
from headwise.app.serve.word_budget import NO_LIMIT, WordBudget
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import HeadwiseError
from headwise.core.html import Cell, Table, render
from headwise.runtime.entity_spans import cut_at_spans

_SHOWN = 10  # the number of most probable labels that are shown
_LEAST_SHOWN = 3  # so many are shown even if they are improbable
_VISIBLE = 0.0005  # probabilities below would be shown as 0.0 %
_TITLES = {1: ("Text",), 2: ("First text", "Second text")}


def form_page(
    answering: ModelService,
    texts: Sequence[str] = (),
    links: Mapping[str, str] | None = None,
    examples: Sequence[str] = (),
    root: str = "",
    budget: WordBudget = NO_LIMIT,
    is_abandoned: Callable[[], bool] = lambda: False,
) -> str:
    """The page with the form, and with the prediction if `texts` is not empty.

    Args:
        answering: The loaded model.
        texts: The text, or both texts of a pair.
        links: The addresses of the pages of other models, by name.
        examples: Texts to try; a model of pairs or bags offers none.
        root: The relative address of the application, empty or with a slash at the end.
        budget: The most words of the texts.
        is_abandoned: See `ModelService.explain`.
    """
    titles = _TITLES.get(answering.item_type.sides, ())
    values = {"problem": "", "predictions": [], "explanations": []}
    if titles and len(texts) == len(titles):
        values |= _answer(answering, texts, budget, is_abandoned)
    page = render(
        "form.html.jinja",
        title=answering.name,
        fields=list(zip(titles, [*texts, *[""] * len(titles)], strict=False)),
        links=links or {},
        root=root,
        examples=examples if len(titles) == 1 else (),
        items=answering.item_type.nouns.many,
        model=Markup(answering.session.to_html()),  # noqa: S704 - a fragment of templates
        **values,
    )
    return str(page)


def _answer(
    answering: ModelService, texts: Sequence[str], budget: WordBudget, is_abandoned: Callable[[], bool]
) -> dict[str, object]:
    """The prediction and, if the model has explanations, its explanation, as values of the form."""
    try:
        records = answering.records(pairs=[texts]) if len(texts) == 2 else answering.records(texts)
        predictions = [_prediction(json.loads(line)) for line in answering.predict(records, budget)]
    except HeadwiseError as error:
        return {"problem": answering.client_message(error)}
    try:
        explanations = answering.explain(records, budget, is_abandoned)
        return {"predictions": predictions, "explanations": explanations}
    except HeadwiseError:  # models without explanations, and texts that are too long for one
        return {"predictions": predictions}


def _prediction(prediction: JsonObject) -> tuple[str, list[tuple[str, str]], Table]:
    """The predicted label or number; the pieces of the text, each with the type of its span; and the table
    of the probabilities. What a prediction does not have is empty."""
    if "spans" in prediction:
        spans = prediction["spans"]
        rows = [[span["text"], span["type"], f"{100 * span['probability']:.1f} %"] for span in spans]
        heading = "" if spans else "no span"
        return (
            heading,
            cut_at_spans(
                prediction["text"], ((span["start"], span["end"], span["type"]) for span in spans)
            ),
            Table(["span", "type", "probability"], rows),
        )
    if "tags" in prediction:
        words = zip(prediction["words"], prediction["tags"], prediction["probabilities"], strict=True)
        rows = [[word, tag, f"{100 * probability:.1f} %"] for word, tag, probability in words]
        return "", [], Table(["word", "tag", "probability"], rows)
    answer = prediction["prediction"]
    answer = ", ".join(answer) or "no label" if isinstance(answer, list) else str(answer)
    ranked = sorted(prediction.get("probabilities", {}).items(), key=lambda pair: -pair[1])
    shown = [pair for n, pair in enumerate(ranked[:_SHOWN]) if n < _LEAST_SHOWN or pair[1] >= _VISIBLE]
    rows = [[label, f"{100 * probability:.1f} %", Cell(bar=probability)] for label, probability in shown]
    rest = f"The {len(shown)} most probable of {len(ranked)} labels." if len(shown) < len(ranked) else ""
    return answer, [], Table(["label", "probability", ""], rows, rest)


_BODIES = {1: {"texts": ["first text", "second text"]}, 2: {"pairs": [["first text", "second text"]]}}


def api_page(answering: ModelService, schema: JsonMapping, address: str, with_keys: bool = False) -> str:
    """The page with the endpoints, the fields of a request, and examples for a shell and for Python.

    Args:
        answering: The model of the examples.
        schema: The OpenAPI description of the application.
        address: The address of the application, without a slash at the end.
        with_keys: Whether requests need an API key.
    """
    body = _BODIES.get(answering.item_type.sides, {"records": [{"FIELD": "VALUE"}]})
    fields = schema["components"]["schemas"]["RequestBody"]["properties"]
    page = render(
        "api.html.jinja",
        title=schema["info"]["title"],
        address=address,
        with_keys=with_keys,
        body=json.dumps(body),
        endpoints=Table(
            ["request", "answer"],
            [
                (f"{method.upper()} {path}", operation["description"])
                for path, methods in schema["paths"].items()
                for method, operation in methods.items()
            ],
        ),
        fields=Table(["field", "holds"], [[name, field["description"]] for name, field in fields.items()]),
    )
    return str(page)
