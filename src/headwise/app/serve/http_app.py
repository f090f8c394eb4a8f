"""The ASGI application: endpoints and error responses.

An HTML form to try a model in a browser: no scripts and no external resources.
"""

import json
from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route

from headwise.app.serve.answering import REQUEST, ModelService, RequestError
from headwise.app.serve.batching import PredictionQueue
from headwise.app.serve.middleware import (
    MEDIA_TYPE,
    ArrivalDeadlines,
    ArrivalLimit,
    HostLimit,
    Message,
    MonitoringMiddleware,
    Receive,
    RequestMetrics,
    WaitingLimit,
    error_response,
)
from headwise.core.allocator import is_out_of_memory
from headwise.core.config import JsonObject
from headwise.core.errors import HeadwiseError
from headwise.core.html import Cell, Table, render
from headwise.core.version import __version__

_TOO_LARGE = "HW904"
_TOO_SLOW = "HW906"
_NO_PLACE = "HW907"
_DEFECT = "HW908"
_NO_MEMORY = "HW410"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_PARSE_ERROR = "There was an error parsing the body"  # FastAPI's
_NOT_JSON = (
    f"{REQUEST}: cannot be read as JSON; expected UTF-8, uncompressed, no numbers of thousands of digits"
)


class RequestBody(BaseModel):
    """The items of a request: exactly one of these fields."""

    model_config = ConfigDict(extra="forbid")

    texts: list[str] | None = None
    pairs: list[tuple[str, str]] | None = Field(None, description="for models of pairs")
    records: list[JsonObject] | None = Field(
        None, description="objects with the fields that a jsonl file for headwise predict would have"
    )


class _App(FastAPI):
    """A FastAPI application with a fixed root path behind a proxy, and with monitoring of all requests.
    Added middleware would not see the responses to unhandled exceptions."""

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        # Set here and not by uvicorn, which would prepend the root path to paths that already have it.
        scope["root_path"] = self.state.root_path or scope.get("root_path", "")
        await super().__call__(scope, receive, send)

    def build_middleware_stack(self) -> Any:
        paths = {route.path for route in self.routes if isinstance(route, Route)}
        return MonitoringMiddleware(
            super().build_middleware_stack(), self.state.tally, paths, self.state.log
        )


def create_app(
    answering: ModelService,
    *,
    most_items: int = 1_000,
    most_bytes: int = 10_000_000,
    most_waiting: int = 64,
    most_seconds: float = 60,
    host: str = "",
    root_path: str = "",
    cors: Sequence[str] = (),
    log: Callable[[str], object] | None = None,
) -> FastAPI:
    """The ASGI application of a model, for `headwise serve` or any ASGI server.

    Args:
        answering: The loaded model.
        most_items: The most texts (pairs, records) per request.
        most_bytes: The largest request body, in bytes.
        most_waiting: The most concurrent requests to the model; further ones get the status 503.
        most_seconds: The longest time until a request has arrived completely, in seconds.
        host: The address that the server listens on. For a loopback address the Host header must be a usual
            name of this machine, which prevents DNS rebinding by foreign web pages.
        root_path: The path prefix at a reverse proxy, such as `/models/intents`: `/openapi.json` has it,
            and paths are accepted with and without it.
        cors: Origins of web pages whose scripts may ask (`https://example.org`), or `*` for all.
        log: Called with a line for each answered request.
    """
    app = _App(
        title=f"headwise: {answering.folder.name}",
        version=__version__,
        docs_url=None,  # these pages load third-party scripts
        redoc_url=None,
    )
    facts = answering.facts
    app.state.tally = RequestMetrics(
        {"version": __version__, "model": facts["model"], "task": facts["task"]}
    )
    app.state.log, app.state.root_path = log, root_path
    app.state.arrivals = arrivals = ArrivalDeadlines(most_seconds)
    app.add_middleware(ArrivalLimit, most_bytes=most_bytes, arrivals=arrivals)
    app.add_middleware(WaitingLimit, most_waiting=most_waiting)
    if cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors),
            allow_methods=["GET", "POST"],
            allow_headers=["content-type"],
        )
    if is_local(host):
        app.add_middleware(HostLimit, allowed_hosts=(*_LOCAL, host))

    def records_of(query: RequestBody, request: Request) -> Sequence[JsonObject]:
        if problem := _content_type_problem(request):  # older versions of FastAPI do not check it
            raise RequestError(problem)
        inputs = {
            name: items for name in RequestBody.model_fields if (items := getattr(query, name)) is not None
        }
        if len(inputs) != 1:
            names = " and ".join(inputs) or "nothing"
            raise RequestError(f"{REQUEST}: {names}; expected one of {', '.join(RequestBody.model_fields)}")
        [(name, items)] = inputs.items()
        request.state.items = len(items)
        if len(items) > most_items:
            message = f"{REQUEST}: {len(items):,} {name}; expected at most {most_items:,}; ask in parts"
            raise RequestError(message, code=_TOO_LARGE)
        return items if name == "records" else answering.records(**{name: items})

    @app.exception_handler(HeadwiseError)
    def refused(request: Request, error: HeadwiseError) -> Response:
        status = {_TOO_LARGE: 413, _NO_PLACE: 507}.get(error.code, 422)
        return error_response(request.scope, status, error.code, answering.client_message(error))

    @app.exception_handler(RequestValidationError)
    def unfit(request: Request, error: RequestValidationError) -> Response:
        if message := _content_type_problem(request):
            return error_response(request.scope, 422, RequestError.code, message)
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        if first["type"] == "extra_forbidden":
            message = (
                f"{REQUEST}: the field {place!r}; expected one of {', '.join(RequestBody.model_fields)}"
            )
            return error_response(request.scope, 422, RequestError.code, message)
        why = first.get("ctx", {}).get("error", "")  # for a body that is not JSON
        message = f"{place}{': ' * bool(place)}{first['msg']}{': ' * bool(why)}{why}"
        return error_response(request.scope, 422, RequestError.code, f"{REQUEST}: {message}")

    @app.exception_handler(HTTPException)
    def refused_before(request: Request, error: HTTPException) -> Response:
        code = {408: _TOO_SLOW, 413: _TOO_LARGE}.get(error.status_code, RequestError.code)
        message = _NOT_JSON if error.detail == _PARSE_ERROR else error.detail
        return error_response(request.scope, error.status_code, code, message, error.headers)

    @app.exception_handler(Exception)
    def failed(request: Request, error: Exception) -> Response:
        # The server then writes the traceback to its standard error.
        if is_out_of_memory(error):
            message = f"{REQUEST}: the memory is not enough; ask in smaller parts"
            return error_response(request.scope, 507, _NO_MEMORY, message)
        message = f"{REQUEST}: headwise failed; what happened stands on the standard error of the server"
        return error_response(request.scope, 500, _DEFECT, message)

    # These endpoints run without a worker thread: all threads may wait for the model, and health checks
    # would time out.
    @app.head("/health", include_in_schema=False)
    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the model is there."""
        return {"status": "ok"}

    @app.get("/model")
    async def model() -> JsonObject:
        """What the model is: its name, its task, what it reads, its labels."""
        return {**answering.facts, "headwise": __version__}

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(app.state.tally.text(), media_type=MEDIA_TYPE)

    waiting = PredictionQueue(answering)

    @app.post("/predict")
    async def predict(query: RequestBody, request: Request) -> Response:
        """The predictions: one object per text, as headwise predict writes it to jsonl."""
        lines = await waiting.predict(records_of(query, request))
        return Response(f'{{"predictions": [{", ".join(lines)}]}}', media_type="application/json")

    @app.post("/explain")
    def explain(query: RequestBody, request: Request) -> JsonObject:
        """Which words made it say so: objects as headwise explain writes them, with the item's number."""
        explanations = answering.explain(records_of(query, request))
        return {
            "explanations": [
                {"item": explanation.item, **explanation.to_json()} for explanation in explanations
            ]
        }

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def form() -> str:
        return form_page(answering)

    @app.post("/", response_class=HTMLResponse, include_in_schema=False)
    async def filled_form(request: Request) -> str:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        texts = [text.replace("\r\n", "\n") for text in fields.get("text", [])]
        request.state.items = 1
        return await run_in_threadpool(form_page, answering, texts)

    return app


def _content_type_problem(request: Request) -> str:
    """The error message for a content type other than JSON; "" for JSON. Requiring JSON makes browsers send
    a CORS preflight for requests from foreign web pages."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return ""
    problem = f"content-type: {kind}" if kind else "no content-type"
    return f"{REQUEST}: {problem}; expected the header content-type: application/json"


def is_local(host: str) -> bool:
    """Whether an address is a loopback address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


_SHOWN = 10  # the number of most probable labels that are shown
_TITLES = {1: ("Text",), 2: ("First text", "Second text")}


def form_page(answering: ModelService, texts: Sequence[str] = ()) -> str:
    """The page with the form, and with the prediction if `texts` is not empty.

    Args:
        answering: The loaded model.
        texts: The text, or both texts of a pair.
    """
    titles = _TITLES.get(answering.kind.sides, ())
    values = {"problem": "", "predictions": [], "explanations": []}
    if titles and len(texts) == len(titles):
        values |= _answer(answering, texts)
    page = render(
        "form.html.jinja",
        title=answering.folder.name,
        fields=list(zip(titles, [*texts, *[""] * len(titles)], strict=False)),
        items=answering.kind.nouns.many,
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
