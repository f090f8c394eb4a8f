"""Exceptions become responses with a status, a code and a message."""

import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from headwise.app.serve.answering import ModelService
from headwise.app.serve.http_bodies import RequestBody
from headwise.app.serve.middleware import error_response
from headwise.app.serve.serve_errors import REQUEST, TOO_LARGE, AbandonedError, RequestError
from headwise.core.allocator import is_out_of_memory
from headwise.core.errors import HeadwiseError

_CLIENT_CLOSED = 499  # nginx's status, for the log and the metrics: nobody reads the response
_TOO_SLOW = "HW906"
_NO_PLACE = "HW907"
_DEFECT = "HW908"
_NO_MEMORY = "HW410"
_PARSE_ERROR = "There was an error parsing the body"  # FastAPI's
_NOT_JSON = (
    f"{REQUEST}: cannot be read as JSON; expected UTF-8, uncompressed, no numbers of thousands of digits"
)


_EXAMPLE = 'expected an object such as {"texts": ["one text", "another one"]}'
_TWO_TEXTS = "a list of two texts"
_EXPECTED = {
    "list_type": "a list",
    "string_type": "a text",
    "dict_type": "an object",
    "tuple_type": _TWO_TEXTS,
    "missing": _TWO_TEXTS,
    "too_long": _TWO_TEXTS,
}
"""What is expected of a value in a body, by pydantic's type of the problem."""
_SHOWN = 40  # characters of a value


def add_error_handlers(app: FastAPI, default: ModelService) -> None:
    """Answer the exceptions of an application.

    Args:
        app: The application.
        default: The model whose names messages have, where a request names no model.
    """

    @app.exception_handler(HeadwiseError)
    def refused(request: Request, error: HeadwiseError) -> Response:
        status = {TOO_LARGE: 413, _NO_PLACE: 507}.get(error.code, 422)
        service = getattr(request.state, "service", default)
        return error_response(request.scope, status, error.code, service.client_message(error))

    @app.exception_handler(AbandonedError)
    async def abandoned(request: Request, error: AbandonedError) -> Response:
        return Response(status_code=_CLIENT_CLOSED)

    @app.exception_handler(RequestValidationError)
    def unfit(request: Request, error: RequestValidationError) -> Response:
        if message := content_type_problem(request):
            return error_response(request.scope, 422, RequestError.code, message)
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        if first["type"] == "extra_forbidden":
            message = (
                f"{REQUEST}: the field {place!r}; expected one of {', '.join(RequestBody.model_fields)}"
            )
            return error_response(request.scope, 422, RequestError.code, message)
        return error_response(
            request.scope, 422, RequestError.code, f"{REQUEST}: {_body_problem(first, place)}"
        )

    @app.exception_handler(HTTPException)
    def refused_before(request: Request, error: HTTPException) -> Response:
        code = {408: _TOO_SLOW, 413: TOO_LARGE}.get(error.status_code, RequestError.code)
        message = _NOT_JSON if error.detail == _PARSE_ERROR else error.detail
        return error_response(request.scope, error.status_code, code, message, error.headers)

    @app.exception_handler(Exception)
    def failed(request: Request, error: Exception) -> Response:
        # The server then writes the traceback to its standard error.
        if is_out_of_memory(error):
            message = f"{REQUEST}: out of memory; send smaller requests"
            return error_response(request.scope, 507, _NO_MEMORY, message)
        message = f"{REQUEST}: headwise failed; see the standard error of the server"
        return error_response(request.scope, 500, _DEFECT, message)


def _body_problem(problem: Mapping[str, Any], place: str) -> str:
    """What is wrong with a body that is no request, in words of JSON instead of Python."""
    if not place:
        return f"{'nothing' if problem['type'] == 'missing' else 'no object'}; {_EXAMPLE}"
    if problem["type"] in _EXPECTED:
        value = json.dumps(problem["input"], ensure_ascii=False)
        value = value if len(value) <= _SHOWN else f"{value[:_SHOWN]}…"
        return f"{place}: {value}; expected {_EXPECTED[problem['type']]}"
    why = problem.get("ctx", {}).get("error", "")  # for a body that is not JSON
    return f"{place}: {problem['msg']}{': ' * bool(why)}{why}; {_EXAMPLE}"


def content_type_problem(request: Request) -> str:
    """The error message for a content type other than JSON; "" for JSON. Requiring JSON makes browsers send
    a CORS preflight for requests from foreign web pages."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return ""
    problem = f"content-type: {kind}" if kind else "no content-type"
    return f"{REQUEST}: {problem}; expected the header content-type: application/json"
