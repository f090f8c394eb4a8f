"""The application: what is asked under which path, and how errors are told."""

from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from headwise import __version__
from headwise.errors import HeadwiseError
from headwise.serve.answering import REQUEST, Answering, RequestError
from headwise.serve.form import form_page

_TOO_LARGE = "HW904"
_TOO_MANY = "HW905"
_LOCAL = ("localhost", "127.0.0.1", "[::1]", "::1", "[")  # the last three: by the version of starlette
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
    host: str = "",
) -> FastAPI:
    """The ASGI application of a model, for `headwise serve` or a server of your own.

    Args:
        answering: The model.
        most_items: Texts (pairs, records) of a request.
        most_bytes: Of a request.
        most_waiting: Requests at once; further ones are answered with 503.
        host: The address that is listened on. At one that only this machine reaches, requests must name the
            machine by a usual name, so that no stranger's page leads a browser here by a name of its own.
    """
    app = FastAPI(
        title=f"headwise: {answering.folder.name}",
        version=__version__,
        docs_url=None,  # these pages load scripts from elsewhere
        redoc_url=None,
    )
    app.add_middleware(SizeLimit, most_bytes=most_bytes)
    app.add_middleware(WaitingLimit, most_waiting=most_waiting)
    if is_local(host):
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*_LOCAL, host])

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
        return _error(413 if error.code == _TOO_LARGE else 422, error.code, said)

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
        code = _TOO_LARGE if error.status_code == 413 else RequestError.code
        return _error(error.status_code, code, error.detail)

    @app.get("/health")
    def health() -> dict[str, str]:
        """Whether the model is there."""
        return {"status": "ok"}

    @app.get("/model")
    def model() -> dict[str, Any]:
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


def _error(status: int, code: str, said: str) -> Response:
    return JSONResponse({"code": code, "error": said}, status)


class SizeLimit:
    """Refuses a request as soon as it is too large, whatever it says of its size."""

    def __init__(self, app: Any, most_bytes: int):
        self.app, self.most_bytes = app, most_bytes

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self.most_bytes:
                raise HTTPException(
                    413, f"{REQUEST}: expected at most {self.most_bytes:,} bytes; ask in parts"
                )
            return message

        await self.app(scope, counted, send)


class WaitingLimit:
    """Refuses requests while as many are being answered as may be; connections that ask nothing (kept by a
    browser or a pool of a client) do not count."""

    def __init__(self, app: Any, most_waiting: int):
        self.app, self.most_waiting, self._waiting = app, most_waiting, 0

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        if scope["type"] != "http":  # a server may also tell of its own beginning and end
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
