"""What is refused before the application answers: requests by a name that this machine does not have, too
large ones, those that never come to their end, and too many at once."""

import asyncio
import math
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

from fastapi.responses import JSONResponse, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from headwise.serve.answering import REQUEST, RequestError

_TOO_MANY = "HW905"
_PORT = re.compile(r":\d*$")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


def refusal(
    scope: Message, status: int, code: str, said: str, headers: Mapping[str, str] | None = None
) -> Response:
    """How every error is told; who watches the request of this `scope` is told its code."""
    scope.setdefault("state", {})["code"] = code
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
        await refusal(scope, 400, RequestError.code, said)(scope, receive, send)


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
            await refusal(scope, 503, _TOO_MANY, said)(scope, receive, send)
            return
        self._waiting += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._waiting -= 1
