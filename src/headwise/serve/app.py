"""The application: what is asked under which path, and how errors are told."""

from collections.abc import Callable, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import Route

from headwise import __version__
from headwise.errors import HeadwiseError
from headwise.memory import ran_out
from headwise.serve.answering import REQUEST, Answering, RequestError
from headwise.serve.form import form_page
from headwise.serve.limits import ArrivalLimit, Arrivals, HostLimit, Message, Receive, WaitingLimit, refusal
from headwise.serve.watching import MEDIA_TYPE, Tally, Watch

_TOO_LARGE = "HW904"
_TOO_SLOW = "HW906"
_NO_PLACE = "HW907"
_DEFECT = "HW908"
_NO_MEMORY = "HW410"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_UNREADABLE = "There was an error parsing the body"  # FastAPI's
_NO_TEXT = (
    f"{REQUEST}: cannot be read as JSON; expected UTF-8, uncompressed, no numbers of thousands of digits"
)


class Asked(BaseModel):
    """What is asked about: exactly one of these."""

    model_config = ConfigDict(extra="forbid")

    texts: list[str] | None = None
    pairs: list[tuple[str, str]] | None = Field(None, description="for models of pairs")
    records: list[dict[str, Any]] | None = Field(
        None, description="objects with the fields that a jsonl file for headwise predict would have"
    )


class _App(FastAPI):
    """An application that knows its path on the server before it, and whose requests are watched, also
    where it fails: what is added as middleware does not see how that is answered."""

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        # Without what uvicorn does besides: it adds the path to what may have it already.
        scope["root_path"] = self.state.root_path or scope.get("root_path", "")
        await super().__call__(scope, receive, send)

    def build_middleware_stack(self) -> Any:
        paths = {own.path for own in self.routes if isinstance(own, Route)}
        return Watch(super().build_middleware_stack(), self.state.tally, paths, self.state.log)


def create_app(
    answering: Answering,
    *,
    most_items: int = 1_000,
    most_bytes: int = 10_000_000,
    most_waiting: int = 64,
    most_seconds: float = 60,
    host: str = "",
    root_path: str = "",
    log: Callable[[str], object] | None = None,
) -> FastAPI:
    """The ASGI application of a model, for `headwise serve` or a server of your own.

    Args:
        answering: The model.
        most_items: Texts (pairs, records) of a request.
        most_bytes: Of a request.
        most_waiting: Questions to the model at once; further ones are answered with 503.
        most_seconds: Until the whole of a request is there.
        host: The address that is listened on. At one that only this machine reaches, requests must name the
            machine by a usual name, so that no stranger's page leads a browser here by a name of its own.
        root_path: The path, such as `/models/intents`, under which a server before this one is asked for
            it: `/openapi.json` names it, and paths are answered with and without it.
        log: Is given a line for each request that was answered.
    """
    app = _App(
        title=f"headwise: {answering.folder.name}",
        version=__version__,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
    )
    facts = answering.facts
    app.state.tally = Tally({"version": __version__, "model": facts["model"], "task": facts["task"]})
    app.state.log, app.state.root_path = log, root_path
    app.state.arrivals = arrivals = Arrivals(most_seconds)
    app.add_middleware(ArrivalLimit, most_bytes=most_bytes, arrivals=arrivals)
    app.add_middleware(WaitingLimit, most_waiting=most_waiting)
    if is_local(host):
        app.add_middleware(HostLimit, known=(*_LOCAL, host))

    def records_of(asked: Asked, request: Request) -> Sequence[dict[str, Any]]:
        if said := _called_otherwise(request):  # which older versions of FastAPI let pass
            raise RequestError(said)
        given = {name: own for name in Asked.model_fields if (own := getattr(asked, name)) is not None}
        if len(given) != 1:
            found = " and ".join(given) or "nothing"
            raise RequestError(f"{REQUEST}: {found}; expected one of {', '.join(Asked.model_fields)}")
        [(name, items)] = given.items()
        request.state.items = len(items)
        if len(items) > most_items:
            said = f"{REQUEST}: {len(items):,} {name}; expected at most {most_items:,}; ask in parts"
            raise RequestError(said, code=_TOO_LARGE)
        return items if name == "records" else answering.records(**{name: items})

    @app.exception_handler(HeadwiseError)
    def refused(request: Request, error: HeadwiseError) -> Response:
        status = {_TOO_LARGE: 413, _NO_PLACE: 507}.get(error.code, 422)
        return refusal(request.scope, status, error.code, answering.said(error))

    @app.exception_handler(RequestValidationError)
    def unfit(request: Request, error: RequestValidationError) -> Response:
        if said := _called_otherwise(request):
            return refusal(request.scope, 422, RequestError.code, said)
        first = error.errors()[0]
        place = ".".join(str(own) for own in first["loc"][1:])
        if first["type"] == "extra_forbidden":
            said = f"{REQUEST}: the field {place!r}; expected one of {', '.join(Asked.model_fields)}"
            return refusal(request.scope, 422, RequestError.code, said)
        why = first.get("ctx", {}).get("error", "")  # of what is no JSON
        said = f"{place}{': ' * bool(place)}{first['msg']}{': ' * bool(why)}{why}"
        return refusal(request.scope, 422, RequestError.code, f"{REQUEST}: {said}")

    @app.exception_handler(HTTPException)
    def refused_before(request: Request, error: HTTPException) -> Response:
        code = {408: _TOO_SLOW, 413: _TOO_LARGE}.get(error.status_code, RequestError.code)
        said = _NO_TEXT if error.detail == _UNREADABLE else error.detail
        return refusal(request.scope, error.status_code, code, said, error.headers)

    @app.exception_handler(Exception)
    def failed(request: Request, error: Exception) -> Response:
        # The server goes on to tell where it happened, on its standard error.
        if ran_out(error):
            said = f"{REQUEST}: the memory is not enough; ask in smaller parts"
            return refusal(request.scope, 507, _NO_MEMORY, said)
        said = f"{REQUEST}: headwise failed; what happened stands on the standard error of the server"
        return refusal(request.scope, 500, _DEFECT, said)

    # These need no thread: all may be taken by requests that wait for the model, and who asks whether
    # it is there would take it for dead.
    @app.head("/health", include_in_schema=False)
    @app.get("/health")
    async def health() -> dict[str, str]:
        """Whether the model is there."""
        return {"status": "ok"}

    @app.get("/model")
    async def model() -> dict[str, Any]:
        """What the model is: its name, its task, what it reads, its labels."""
        return {**answering.facts, "headwise": __version__}

    @app.get("/metrics", include_in_schema=False)
    async def metrics() -> Response:
        return Response(app.state.tally.text(), media_type=MEDIA_TYPE)

    @app.post("/predict")
    def predict(asked: Asked, request: Request) -> Response:
        """What the model says: an object for each text, as headwise predict writes it to jsonl."""
        lines = answering.predict(records_of(asked, request))
        return Response(f'{{"predictions": [{", ".join(lines)}]}}', media_type="application/json")

    @app.post("/explain")
    def explain(asked: Asked, request: Request) -> dict[str, Any]:
        """Which words made it say so: objects as headwise explain writes them, with the item's number."""
        found = answering.explain(records_of(asked, request))
        return {"explanations": [{"item": own.item, **own.to_json()} for own in found]}

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def form() -> str:
        return form_page(answering)

    @app.post("/", response_class=HTMLResponse, include_in_schema=False)
    async def filled_form(request: Request) -> str:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        texts = [own.replace("\r\n", "\n") for own in fields.get("text", [])]
        request.state.items = 1
        return await run_in_threadpool(form_page, answering, texts)

    return app


def _called_otherwise(request: Request) -> str:
    """What to say of a request that does not call itself JSON: so a stranger's page cannot send one without
    that the browser asks first. Empty for one that does."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return ""
    found = f"content-type: {kind}" if kind else "no content-type"
    return f"{REQUEST}: {found}; expected the header content-type: application/json"


def is_local(host: str) -> bool:
    """Whether other machines cannot reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
