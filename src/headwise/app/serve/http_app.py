"""The ASGI application: endpoints and error responses."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, quote

try:
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import HTMLResponse, Response
    from pydantic import BaseModel, ConfigDict, Field
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.middleware.cors import CORSMiddleware
    from starlette.routing import Route
except ImportError as error:
    from headwise.app.serve.serve_errors import serve_not_installed

    raise serve_not_installed(error) from None

from headwise.app.serve.answering import REQUEST, ModelService, RequestError
from headwise.app.serve.api_page import api_page
from headwise.app.serve.batching import PredictionQueue
from headwise.app.serve.form_page import form_page
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
from headwise.core.errors import ConfigError, HeadwiseError
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

    texts: list[str] | None = Field(None, description="a list of texts, for models of texts")
    pairs: list[tuple[str, str]] | None = Field(
        None, description="a list of lists of two texts, for models of pairs"
    )
    records: list[JsonObject] | None = Field(
        None,
        description="a list of objects with the fields that a jsonl file for headwise predict would have",
    )


class Predictions(BaseModel):
    """The predictions of a request, in the order of its items.

    Attributes:
        predictions: The objects that headwise predict writes to jsonl.
    """

    predictions: list[JsonObject]


class Explanations(BaseModel):
    """The explanations of a request.

    Attributes:
        explanations: The objects that headwise explain writes, each with the number of its item.
    """

    explanations: list[JsonObject]


class ModelFacts(BaseModel):
    """What a model is.

    Attributes:
        model: Its name.
        task: Its task.
        reads: The items that it reads.
        headwise: The version of headwise.
        labels: Its labels, if it has any.
    """

    model: str
    task: str
    reads: str
    headwise: str
    labels: list[str] | None = None


class ModelList(BaseModel):
    """The models of a server; the first answers requests that name none."""

    models: list[ModelFacts]


class RequestProblem(BaseModel):
    """Why a request is refused.

    Attributes:
        code: The code of the error.
        error: The message.
    """

    code: str
    error: str


class _App(FastAPI):
    """A FastAPI application with a fixed root path behind a proxy, and with monitoring of all requests.
    Added middleware would not see the responses to unhandled exceptions."""

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        # Set here and not by uvicorn, which would prepend the root path to paths that already have it.
        scope["root_path"] = self.state.root_path or scope.get("root_path", "")
        await super().__call__(scope, receive, send)

    def build_middleware_stack(self) -> Any:
        paths = {route.path for route in self.routes if isinstance(route, Route)} | self.state.model_paths
        return MonitoringMiddleware(
            super().build_middleware_stack(), self.state.request_metrics, paths, self.state.log
        )


def create_app(
    answering: ModelService | Sequence[ModelService],
    *,
    most_items: int = 1_000,
    most_bytes: int = 10_000_000,
    most_waiting: int = 64,
    most_seconds: float = 60,
    host: str = "",
    root_path: str = "",
    cors: Sequence[str] = (),
    examples: Sequence[str] = (),
    log: Callable[[str], object] | None = None,
) -> FastAPI:
    """The ASGI application of a model or several, for `headwise serve` or any ASGI server.

    Args:
        answering: The loaded model, or several; the first answers requests that name none.
        most_items: The most texts (pairs, records) per request.
        most_bytes: The largest request body, in bytes.
        most_waiting: The most concurrent requests to the model; further ones get the status 503.
        most_seconds: The longest time until a request has arrived completely, in seconds.
        host: The address that the server listens on. For a loopback address the Host header must be a usual
            name of this machine, which prevents DNS rebinding by foreign web pages.
        root_path: The path prefix at a reverse proxy, such as `/models/intents`: `/openapi.json` has it,
            and paths are accepted with and without it.
        cors: Origins of web pages whose scripts may ask (`https://example.org`), or `*` for all.
        examples: Texts that the pages of models of texts offer to try.
        log: Called with a line for each answered request.

    Raises:
        ConfigError: There is no model, or two have one name.
    """
    services = _by_name([answering] if isinstance(answering, ModelService) else answering)
    default, *_ = services.values()
    app = _App(
        title=f"headwise: {', '.join(services)}",
        version=__version__,
        docs_url=None,  # these pages load third-party scripts; `api_page` replaces them
        redoc_url=None,
        responses={422: {"model": RequestProblem}},
    )
    app.state.request_metrics = RequestMetrics(
        [
            {"version": __version__, "model": name, "task": service.session.task_name}
            for name, service in services.items()
        ]
    )
    app.state.model_paths = {
        f"/models/{name}{path}" for name in services for path in ("", "/", "/predict", "/explain")
    }
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

    def service_of(name: str, request: Request) -> ModelService:
        if name not in services:
            problem = f"{REQUEST}: the model {name!r:.200}; expected {' or '.join(map(repr, services))}"
            raise HTTPException(404, problem)
        request.state.service = services[name]
        return services[name]

    def records_of(query: RequestBody, request: Request, service: ModelService) -> Sequence[JsonObject]:
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
        return items if name == "records" else service.records(**{name: items})

    @app.exception_handler(HeadwiseError)
    def refused(request: Request, error: HeadwiseError) -> Response:
        status = {_TOO_LARGE: 413, _NO_PLACE: 507}.get(error.code, 422)
        service = getattr(request.state, "service", default)
        return error_response(request.scope, status, error.code, service.client_message(error))

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

    @app.get("/model", response_model_exclude_none=True)
    async def model() -> ModelFacts:
        """What the model is: its name, its task, what it reads, its labels."""
        return _facts(default)

    @app.get("/models", response_model_exclude_none=True)
    async def models() -> ModelList:
        """The models of this server."""
        return ModelList(models=[_facts(service) for service in services.values()])

    @app.get("/models/{name}", response_model_exclude_none=True)
    async def named_model(name: str, request: Request) -> ModelFacts:
        """What a model is, by name."""
        return _facts(service_of(name, request))

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(app.state.request_metrics.text(), media_type=MEDIA_TYPE)

    queues = {name: PredictionQueue(service) for name, service in services.items()}

    async def answer(query: RequestBody, request: Request, name: str) -> Response:
        lines = await queues[name].predict(records_of(query, request, services[name]))
        return Response(f'{{"predictions": [{", ".join(lines)}]}}', media_type="application/json")

    def explained(query: RequestBody, request: Request, service: ModelService) -> Explanations:
        explanations = service.explain(records_of(query, request, service))
        return Explanations(explanations=[{"item": one.item, **one.to_json()} for one in explanations])

    @app.post("/predict", responses={200: {"model": Predictions}})
    async def predict(query: RequestBody, request: Request) -> Response:
        """The predictions: one object per text, as headwise predict writes it to jsonl."""
        return await answer(query, request, next(iter(services)))

    @app.post("/models/{name}/predict", responses={200: {"model": Predictions}})
    async def named_predict(name: str, query: RequestBody, request: Request) -> Response:
        """The predictions of a model, by name."""
        service_of(name, request)
        return await answer(query, request, name)

    @app.post("/explain")
    def explain(query: RequestBody, request: Request) -> Explanations:
        """Which words decided: objects as headwise explain writes them, with the item's number."""
        return explained(query, request, default)

    @app.post("/models/{name}/explain")
    def named_explain(name: str, query: RequestBody, request: Request) -> Explanations:
        """Which words decided the predictions of a model, by name."""
        return explained(query, request, service_of(name, request))

    def page(service: ModelService, prefix: str, texts: Sequence[str] = ()) -> str:
        links = {name: f"{prefix}{quote(name, safe='')}/" for name in services if len(services) > 1}
        return form_page(service, texts, links, examples, root="../../" if prefix == "../" else "")

    async def texts_of(request: Request) -> list[str]:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        request.state.items = 1
        return [text.replace("\r\n", "\n") for text in fields.get("text", [])]

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def form() -> str:
        return page(default, "models/")

    @app.post("/", response_class=HTMLResponse, include_in_schema=False)
    async def filled_form(request: Request) -> str:
        return await run_in_threadpool(page, default, "models/", await texts_of(request))

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    def api(request: Request) -> str:
        return api_page(default, app.openapi(), str(request.base_url).rstrip("/"))

    @app.get("/models/{name}/", response_class=HTMLResponse, include_in_schema=False)
    def named_form(name: str, request: Request) -> str:
        return page(service_of(name, request), "../")

    @app.post("/models/{name}/", response_class=HTMLResponse, include_in_schema=False)
    async def filled_named_form(name: str, request: Request) -> str:
        service = service_of(name, request)
        return await run_in_threadpool(page, service, "../", await texts_of(request))

    return app


def _by_name(services: Sequence[ModelService]) -> Mapping[str, ModelService]:
    """Models by the names of their folders.

    Raises:
        ConfigError: There is no model, or two have one name.
    """
    counts = Counter(service.name for service in services)
    if not counts:
        raise ConfigError("no model; expected one or more")
    [(name, count)] = counts.most_common(1)
    if count > 1:
        folders = ", ".join(str(service.folder) for service in services if service.name == name)
        raise ConfigError(f"{count} models are called {name!r} ({folders}); rename the folders")
    return {service.name: service for service in services}


def _facts(service: ModelService) -> ModelFacts:
    return ModelFacts(**service.facts, headwise=__version__)


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
