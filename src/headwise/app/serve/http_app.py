"""The ASGI application: its endpoints, pages and limits."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, quote

try:  # with uvicorn, which `middleware` imports
    from fastapi import FastAPI, Request
    from fastapi.responses import HTMLResponse, Response
    from starlette.exceptions import HTTPException
    from starlette.middleware.cors import CORSMiddleware
    from starlette.routing import Route

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
    )
except ImportError as error:
    from headwise.app.serve.serve_errors import serve_not_installed

    raise serve_not_installed(error) from None

from headwise.app.serve.answering import ModelService
from headwise.app.serve.api_keys import ApiKeys, KeyLimit
from headwise.app.serve.batching import PredictionQueue
from headwise.app.serve.disconnects import in_thread, while_connected
from headwise.app.serve.error_responses import add_error_handlers, content_type_problem
from headwise.app.serve.http_bodies import (
    Explanations,
    ModelFacts,
    ModelList,
    Predictions,
    RequestBody,
    RequestProblem,
)
from headwise.app.serve.serve_errors import REQUEST, TOO_LARGE, RequestError
from headwise.app.serve.server_pages import api_page, form_page
from headwise.app.serve.word_budget import WordBudget
from headwise.core.config import JsonObject
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError
from headwise.core.version import __version__
from headwise.models.prediction_file import json_text

_LOCAL = ("localhost", "127.0.0.1", "::1")


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


@renamed_parameters(answering="services")
def create_app(
    services: ModelService | Sequence[ModelService],
    *,
    most_items: int = 1_000,
    most_words: int = 250_000,
    most_bytes: int = 10_000_000,
    most_waiting: int = 64,
    most_seconds: float = 60,
    host: str = "",
    root_path: str = "",
    cors: Sequence[str] = (),
    examples: Sequence[str] = (),
    log: Callable[[str], object] | None = None,
    keys: ApiKeys | None = None,
) -> FastAPI:
    """The ASGI application of a model or several, for `headwise serve` or any ASGI server.

    Args:
        services: The loaded model, or several; the first answers requests that name none.
        most_items: The most texts (pairs, records) per request.
        most_words: The most words per request, which limit how long it occupies the model. Explanations
            count as what takes as long to predict, see `headwise.app.serve.word_budget`.
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
        keys: The keys of the clients, of which requests must have one; None for no keys.

    Raises:
        ConfigError: There is no model, or two have one name.
    """
    budget = WordBudget(most_words)
    served = _ServedModels.of(
        [services] if isinstance(services, ModelService) else services, most_items, budget
    )
    app = _App(
        title=f"headwise: {', '.join(served.services)}",
        version=__version__,
        docs_url=None,  # these pages load third-party scripts; `api_page` replaces them
        redoc_url=None,
        responses={422: {"model": RequestProblem}},
    )
    app.state.request_metrics = RequestMetrics(
        [
            {"version": __version__, "model": name, "task": service.session.task_name}
            for name, service in served.services.items()
        ]
    )
    app.state.model_paths = {
        f"/models/{name}{path}" for name in served.services for path in ("", "/", "/predict", "/explain")
    }
    app.state.log, app.state.root_path = log, root_path
    app.state.arrivals = arrivals = ArrivalDeadlines(most_seconds)
    app.add_middleware(ArrivalLimit, most_bytes=most_bytes, arrivals=arrivals)
    app.add_middleware(WaitingLimit, most_waiting=most_waiting)
    if keys is not None:
        app.add_middleware(KeyLimit, keys=keys)
    if cors:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(cors),
            allow_methods=["GET", "POST"],
            allow_headers=["content-type", "authorization"],
        )
    if is_local(host):
        app.add_middleware(HostLimit, allowed_hosts=(*_LOCAL, host))
    add_error_handlers(app, served.default)
    _add_model_facts(app, served)
    _add_predictions(app, served)
    _add_pages(app, served, examples, with_keys=keys is not None)
    return app


@dataclass(frozen=True)
class _ServedModels:
    """The models of a server.

    Attributes:
        services: The models by name; the first answers requests that name none.
        most_items: The most texts (pairs, records) per request.
        budget: The most words per request.
    """

    services: Mapping[str, ModelService]
    most_items: int
    budget: WordBudget

    @classmethod
    def of(cls, services: Sequence[ModelService], most_items: int, budget: WordBudget) -> "_ServedModels":
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
        return cls({service.name: service for service in services}, most_items, budget)

    @property
    def default(self) -> ModelService:
        """The first model."""
        return next(iter(self.services.values()))

    def service_of(self, name: str, request: Request) -> ModelService:
        """The model of a name, which messages about the request speak of.

        Raises:
            HTTPException: 404, there is no such model.
        """
        if name not in self.services:
            problem = (
                f"{REQUEST}: the model {name!r:.200}; expected {' or '.join(map(repr, self.services))}"
            )
            raise HTTPException(404, problem)
        request.state.service = self.services[name]
        return self.services[name]

    def records(self, body: RequestBody, request: Request, service: ModelService) -> Sequence[JsonObject]:
        """The items of a request as records of a model.

        Raises:
            RequestError: The body does not have one kind of items, or too many.
        """
        if problem := content_type_problem(request):  # older versions of FastAPI do not check it
            raise RequestError(problem)
        fields = RequestBody.model_fields
        inputs = {name: items for name in fields if (items := getattr(body, name)) is not None}
        if len(inputs) != 1:
            names = " and ".join(inputs) or "nothing"
            raise RequestError(f"{REQUEST}: {names}; expected one of {', '.join(fields)}")
        [(name, items)] = inputs.items()
        request.state.items = len(items)
        if len(items) > self.most_items:
            message = (
                f"{REQUEST}: {len(items):,} {name}; expected at most {self.most_items:,}; ask in parts"
            )
            raise RequestError(message, code=TOO_LARGE)
        return items if name == "records" else service.records(**{name: items})


def _add_model_facts(app: _App, served: _ServedModels) -> None:
    """The endpoints that say what the models are and how the server is."""

    # The endpoints without a worker thread (`async`) answer while all threads wait for the model: health
    # checks would time out.
    @app.head("/health", include_in_schema=False)
    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the model is there."""
        return {"status": "ok"}

    @app.get("/model", response_model_exclude_none=True)
    async def model() -> ModelFacts:
        """What the model is: its name, its task, what it reads, its labels."""
        return _facts(served.default)

    @app.get("/models", response_model_exclude_none=True)
    async def models() -> ModelList:
        """The models of this server."""
        return ModelList(models=[_facts(service) for service in served.services.values()])

    @app.get("/models/{name}", response_model_exclude_none=True)
    async def named_model(name: str, request: Request) -> ModelFacts:
        """What a model is, by name."""
        return _facts(served.service_of(name, request))

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(app.state.request_metrics.text(), media_type=MEDIA_TYPE)


def _add_predictions(app: _App, served: _ServedModels) -> None:
    """The endpoints that predict and explain."""
    queues = {
        name: PredictionQueue(service, budget=served.budget) for name, service in served.services.items()
    }

    async def predicted(body: RequestBody, request: Request, name: str) -> Response:
        records = served.records(body, request, served.services[name])
        lines = await while_connected(request, queues[name].predict(records))
        return Response(f'{{"predictions": [{", ".join(lines)}]}}', media_type="application/json")

    async def explained(body: RequestBody, request: Request, service: ModelService) -> Response:
        records = served.records(body, request, service)

        def answer(is_abandoned: Callable[[], bool]) -> Response:
            explanations = service.explain(records, served.budget, is_abandoned)
            lines = [json_text({"item": one.item, **one.to_json()}) for one in explanations]
            return Response(f'{{"explanations": [{", ".join(lines)}]}}', media_type="application/json")

        return await in_thread(request, answer)

    @app.post("/predict", responses={200: {"model": Predictions}})
    async def predict(query: RequestBody, request: Request) -> Response:
        """The predictions: one object per text, as headwise predict writes it to jsonl."""
        return await predicted(query, request, served.default.name)

    @app.post("/models/{name}/predict", responses={200: {"model": Predictions}})
    async def named_predict(name: str, query: RequestBody, request: Request) -> Response:
        """The predictions of a model, by name."""
        served.service_of(name, request)
        return await predicted(query, request, name)

    @app.post("/explain", responses={200: {"model": Explanations}})
    async def explain(query: RequestBody, request: Request) -> Response:
        """Which words decided: objects as headwise explain writes them, with the item's number."""
        return await explained(query, request, served.default)

    @app.post("/models/{name}/explain", responses={200: {"model": Explanations}})
    async def named_explain(name: str, query: RequestBody, request: Request) -> Response:
        """Which words decided the predictions of a model, by name."""
        return await explained(query, request, served.service_of(name, request))


def _add_pages(app: _App, served: _ServedModels, examples: Sequence[str], *, with_keys: bool) -> None:
    """The pages to try the models, and the one that describes the requests."""

    def page(
        service: ModelService,
        prefix: str,
        texts: Sequence[str] = (),
        is_abandoned: Callable[[], bool] = lambda: False,
    ) -> str:
        names = served.services if len(served.services) > 1 else ()
        links = {name: f"{prefix}{quote(name, safe='')}/" for name in names}
        root = "../../" if prefix == "../" else ""
        return form_page(service, texts, links, examples, root, served.budget, is_abandoned)

    async def filled(service: ModelService, prefix: str, request: Request) -> str:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        request.state.items = 1
        texts = [text.replace("\r\n", "\n") for text in fields.get("text", [])]
        return await in_thread(request, lambda is_abandoned: page(service, prefix, texts, is_abandoned))

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def form() -> str:
        return page(served.default, "models/")

    @app.post("/", response_class=HTMLResponse, include_in_schema=False)
    async def filled_form(request: Request) -> str:
        return await filled(served.default, "models/", request)

    @app.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    def api(request: Request) -> str:
        return api_page(served.default, app.openapi(), str(request.base_url).rstrip("/"), with_keys)

    @app.get("/models/{name}/", response_class=HTMLResponse, include_in_schema=False)
    def named_form(name: str, request: Request) -> str:
        return page(served.service_of(name, request), "../")

    @app.post("/models/{name}/", response_class=HTMLResponse, include_in_schema=False)
    async def filled_named_form(name: str, request: Request) -> str:
        return await filled(served.service_of(name, request), "../", request)


def _facts(service: ModelService) -> ModelFacts:
    return ModelFacts(**service.facts, headwise=__version__)


def is_local(host: str) -> bool:
    """Whether an address is a loopback address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
