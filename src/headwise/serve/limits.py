"""Middleware that rejects requests: wrong Host header, too large, too slow, or too many at once."""

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
    scope: Message, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """The JSON response for an error; its code is stored in the state of `scope` for monitoring."""
    scope.setdefault("state", {})["code"] = code
    return JSONResponse({"code": code, "error": message}, status, headers)


class HostLimit:
    """Middleware that rejects requests whose Host header is none of `allowed_hosts`."""

    def __init__(self, app: Any, allowed_hosts: Sequence[str]):
        self.app, self.allowed_hosts = app, allowed_hosts

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        named = "" if scope["type"] != "http" else Headers(scope=scope).get("host", "")
        host = _PORT.sub("", named).strip("[]").lower()
        if scope["type"] != "http" or host in self.allowed_hosts:
            await self.app(scope, receive, send)
            return
        message = (
            f"{REQUEST}: the host {named!r}; expected {' or '.join(self.allowed_hosts[:2])}: only this "
            "machine is answered. A server before this one has to ask for it by that name (or start "
            "headwise serve with --host and an address of this machine)"
        )
        await refusal(scope, 400, RequestError.code, message)(scope, receive, send)


class Arrivals:
    """The time limit for the arrival of requests."""

    def __init__(self, most_seconds: float):
        self.most_seconds, self._end = most_seconds, math.inf
        self._awaited = set[asyncio.Timeout]()

    def hasten(self, seconds: float) -> None:
        """Limit the wait for all current and future requests to `seconds` from now."""
        self._end = asyncio.get_running_loop().time() + seconds
        for timeout in self._awaited:
            timeout.reschedule(min(timeout.when() or self._end, self._end))

    async def piece(self, receive: Receive, latest: float) -> Message:
        """The next chunk of a request.

        Raises:
            TimeoutError: It has not arrived in time.
        """
        async with asyncio.timeout_at(min(latest, self._end)) as timeout:
            self._awaited.add(timeout)
            try:
                return await receive()
            finally:
                self._awaited.discard(timeout)


class ArrivalLimit:
    """Middleware that rejects a request as soon as the received bytes exceed the limit, whatever its header
    says, or if it arrives too slowly. A request that never completes would otherwise occupy a place in the
    queue and block the shutdown."""

    def __init__(self, app: Any, most_bytes: int, arrivals: Arrivals):
        self.app, self.most_bytes, self.arrivals = app, most_bytes, arrivals

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen, complete = 0, False
        latest = asyncio.get_running_loop().time() + self.arrivals.most_seconds

        async def counted() -> Message:
            nonlocal seen, complete
            try:  # after the complete body, the only further message is the disconnect
                message = await (receive() if complete else self.arrivals.piece(receive, latest))
            except TimeoutError:
                problem = f"{REQUEST}: not all of it came in time; send it again"
                raise HTTPException(408, problem, {"connection": "close"}) from None
            complete = not message.get("more_body", False)
            seen += len(message.get("body", b""))
            if seen > self.most_bytes:
                raise HTTPException(
                    413, f"{REQUEST}: expected at most {self.most_bytes:,} bytes; ask in parts"
                )
            return message

        await self.app(scope, counted, send)


class WaitingLimit:
    """Middleware that rejects requests to the model while the maximum number is in progress. Idle
    connections (of browsers or connection pools) and health checks do not count."""

    def __init__(self, app: Any, most_waiting: int):
        self.app, self.most_waiting, self._waiting = app, most_waiting, 0

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        # Other scope types, such as lifespan, and GET requests are passed on.
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        if self._waiting >= self.most_waiting:
            message = f"{self.most_waiting:,} requests are waiting for their answers; ask again later"
            await refusal(scope, 503, _TOO_MANY, message)(scope, receive, send)
            return
        self._waiting += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._waiting -= 1
