"""The application: what is asked under which path, and how errors are told."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from headwise import __version__
from headwise.errors import HeadwiseError
from headwise.memory import ran_out
from headwise.serve.answering import REQUEST, Answering, RequestError
from headwise.serve.form import form_page

_TOO_LARGE = "HW904"
_TOO_MANY = "HW905"
_TOO_SLOW = "HW906"
_NO_PLACE = "HW907"
_DEFECT = "HW908"
_NO_MEMORY = "HW410"
_LOCAL = ("localhost", "127.0.0.1", "::1")
_PORT = re.compile(r":\d*$")
_UNREADABLE = "There was an error parsing the body"  # FastAPI's
_NO_TEXT = (
    f"{REQUEST}: cannot be read as JSON; expected UTF-8, uncompressed, no numbers of thousands of digits"
)
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


class Asked(BaseModel):
    """What is asked about: exactly one of these."""

    model_config = ConfigDict(extra="forbid")

    texts: list[str] | None = None
    pairs: list[tuple[str, str]] | None = Field(None, description="for models of pairs")
    records: list[dict[str, Any]] | None = Field(
        None, description="objects with the fields that a jsonl file for headwise predict would have"
    )


def create_app(
    answering: Answering,
    *,
    most_items: int = 1_000,
    most_bytes: int = 10_000_000,
    most_waiting: int = 64,
    most_seconds: float = 60,
    host: str = "",
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
    """
    app = FastAPI(
        title=f"headwise: {answering.folder.name}",
        version=__version__,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
    )
    app.state.arrivals = arrivals = Arrivals(most_seconds)
    app.add_middleware(ArrivalLimit, most_bytes=most_bytes, arrivals=arrivals)
    app.add_middleware(WaitingLimit, most_waiting=most_waiting)
    if is_local(host):
        app.add_middleware(HostLimit, known=(*_LOCAL, host))

    def records_of(asked: Asked) -> Sequence[dict[str, Any]]:
        given = {name: own for name in Asked.model_fields if (own := getattr(asked, name)) is not None}
        if len(given) != 1:
            found = " and ".join(given) or "nothing"
            raise RequestError(f"{REQUEST}: {found}; expected one of {', '.join(Asked.model_fields)}")
        [(name, items)] = given.items()
        if len(items) > most_items:
            said = f"{REQUEST}: {len(items):,} {name}; expected at most {most_items:,}; ask in parts"
            raise RequestError(said, code=_TOO_LARGE)
        return items if name == "records" else answering.records(**{name: items})

    @app.exception_handler(HeadwiseError)
    def refused(_: Request, error: HeadwiseError) -> Response:
        said = str(error).removeprefix(f"[{error.code}] ")
        return _error({_TOO_LARGE: 413, _NO_PLACE: 507}.get(error.code, 422), error.code, said)

    @app.exception_handler(RequestValidationError)
    def unfit(request: Request, error: RequestValidationError) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not (kind == "application/json" or kind.endswith("+json")):
            found = f"content-type: {kind}" if kind else "no content-type"
            said = f"{REQUEST}: {found}; expected the header content-type: application/json"
            return _error(422, RequestError.code, said)
        first = error.errors()[0]
        place = ".".join(str(own) for own in first["loc"][1:])
        why = first.get("ctx", {}).get("error", "")  # of what is no JSON
        said = f"{place}{': ' * bool(place)}{first['msg']}{': ' * bool(why)}{why}"
        return _error(422, RequestError.code, f"{REQUEST}: {said}")

    @app.exception_handler(HTTPException)
    def refused_before(_: Request, error: HTTPException) -> Response:
        code = {408: _TOO_SLOW, 413: _TOO_LARGE}.get(error.status_code, RequestError.code)
        said = _NO_TEXT if error.detail == _UNREADABLE else error.detail
        return _error(error.status_code, code, said, error.headers)

    @app.exception_handler(Exception)
    def failed(_: Request, error: Exception) -> Response:
        # The server goes on to tell where it happened, on its standard error.
        if ran_out(error):
            return _error(507, _NO_MEMORY, f"{REQUEST}: the memory is not enough; ask in smaller parts")
        said = f"{REQUEST}: headwise failed; what happened stands on the standard error of the server"
        return _error(500, _DEFECT, said)

    # These two need no thread: all may be taken by requests that wait for the model, and who asks whether
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

    @app.post("/predict")
    def predict(asked: Asked) -> Response:
        """What the model says: an object for each text, as headwise predict writes it to jsonl."""
        lines = answering.predict(records_of(asked))
        return Response(f'{{"predictions": [{", ".join(lines)}]}}', media_type="application/json")

    @app.post("/explain")
    def explain(asked: Asked) -> dict[str, Any]:
        """Which words made it say so: objects as headwise explain writes them, with the item's number."""
        found = answering.explain(records_of(asked))
        return {"explanations": [{"item": own.item, **own.to_json()} for own in found]}

    @app.get("/", response_class=HTMLResponse, include_in_schema=False)
    def form() -> str:
        return form_page(answering)

    @app.post("/", response_class=HTMLResponse, include_in_schema=False)
    async def filled_form(request: Request) -> str:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
        texts = [own.replace("\r\n", "\n") for own in fields.get("text", [])]
        return await run_in_threadpool(form_page, answering, texts)

    return app


def is_local(host: str) -> bool:
    """Whether other machines cannot reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _error(status: int, code: str, said: str, headers: Mapping[str, str] | None = None) -> Response:
    return JSONResponse({"code": code, "error": said}, status, headers)


class HostLimit:
    """Refuses requests that call this machine by a name that it does not have for itself."""

    def __init__(self, app: Any, known: Sequence[str]):
        self.app, self.known = app, known

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        named = "" if scope["type"] != "http" else Headers(scope=scope).get("host", "")
        host = _PORT.sub("", named).strip("[]").lower()
        if scope["type"] != "http" or host in self.known:
            await self.app(scope, receive, send)
            return
        said = (
            f"{REQUEST}: the host {named!r}; expected {' or '.join(self.known[:2])}: only this machine is "
            "answered. A server before this one has to ask for it by that name (or start headwise serve "
            "with --host and an address of this machine)"
        )
        await _error(400, RequestError.code, said)(scope, receive, send)


class Arrivals:
    """How long requests may take to come, until all of one is there."""

    def __init__(self, most_seconds: float):
        self.most_seconds, self._end = most_seconds, math.inf
        self._awaited = set[asyncio.Timeout]()

    def hasten(self, seconds: float) -> None:
        """Wait no longer than so many seconds from now on, for whatever has begun or will."""
        self._end = asyncio.get_running_loop().time() + seconds
        for own in self._awaited:
            own.reschedule(min(own.when() or self._end, self._end))

    async def piece(self, receive: Receive, latest: float) -> Message:
        """The next piece of a request.

        Raises:
            TimeoutError: It has not come in time.
        """
        async with asyncio.timeout_at(min(latest, self._end)) as own:
            self._awaited.add(own)
            try:
                return await receive()
            finally:
                self._awaited.discard(own)


class ArrivalLimit:
    """Refuses a request as soon as it is too large, whatever it says of its size, or takes too long to
    come: one that never does would keep its place among those that wait, and the server from ending."""

    def __init__(self, app: Any, most_bytes: int, arrivals: Arrivals):
        self.app, self.most_bytes, self.arrivals = app, most_bytes, arrivals

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen, whole = 0, False
        latest = asyncio.get_running_loop().time() + self.arrivals.most_seconds

        async def counted() -> Message:
            nonlocal seen, whole
            try:  # after the whole of it only comes that the client has left
                message = await (receive() if whole else self.arrivals.piece(receive, latest))
            except TimeoutError:
                said = f"{REQUEST}: not all of it came in time; send it again"
                raise HTTPException(408, said, {"connection": "close"}) from None
            whole = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > self.most_bytes:
                raise HTTPException(
                    413, f"{REQUEST}: expected at most {self.most_bytes:,} bytes; ask in parts"
                )
            return message

        await self.app(scope, counted, send)


class WaitingLimit:
    """Refuses questions to the model while as many are being answered as may be. Connections that ask
    nothing (kept by a browser or a pool of a client) do not count, nor does who asks whether the server is
    well."""

    def __init__(self, app: Any, most_waiting: int):
        self.app, self.most_waiting, self._waiting = app, most_waiting, 0

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        # A server may also tell of its own beginning and end.
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        if self._waiting >= self.most_waiting:
            said = f"{self.most_waiting:,} requests are waiting for their answers; ask again later"
            await _error(503, _TOO_MANY, said)(scope, receive, send)
            return
        self._waiting += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._waiting -= 1
