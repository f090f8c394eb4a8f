"""The page that describes the HTTP interface: no scripts and no external resources."""

import json
from collections.abc import Iterator

from headwise.app.serve.answering import ModelService
from headwise.core.config import JsonMapping
from headwise.core.html import Table, render

_BODIES = {1: {"texts": ["first text", "second text"]}, 2: {"pairs": [["first text", "second text"]]}}


def api_page(answering: ModelService, schema: JsonMapping, address: str) -> str:
    """The page with the endpoints, the fields of a request, and examples for a shell and for Python.

    Args:
        answering: The model of the examples.
        schema: The OpenAPI description of the application.
        address: The address of the application, without a slash at the end.
    """
    body = _BODIES.get(answering.item_type.sides, {"records": [{"FIELD": "VALUE"}]})
    fields = schema["components"]["schemas"]["RequestBody"]["properties"]
    page = render(
        "api.html.jinja",
        title=schema["info"]["title"],
        address=address,
        body=json.dumps(body),
        endpoints=Table(["request", "answer"], list(_endpoints(schema))),
        fields=Table(["field", "holds"], [[name, field["description"]] for name, field in fields.items()]),
    )
    return str(page)


def _endpoints(schema: JsonMapping) -> Iterator[tuple[str, str]]:
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation["description"]
