"""Middleware around the server: it rejects requests that must not reach the model, and monitors all of
them.

Rejected are requests with a wrong Host header, and those that are too large, too slow, or too many at once.
Monitoring is a log line per request, and Prometheus metrics of all requests, without their texts.
"""

import asyncio
import math
import re
import signal
import socket
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, MutableMapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from headwise.app.serve.serve_errors import REQUEST, RequestError
from headwise.core.config import JsonMapping

_TOO_MANY = "HW905"
_PORT = re.compile(r":\d*$")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


def error_response(
    scope: Message, status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """The JSON response for an error; its code is stored in the state of `scope` for monitoring."""
    scope.setdefault("state", {})["code"] = code
    return JSONResponse({"code": code, "error": message}, status, headers)


class HostLimit:
    """Middleware that rejects requests whose Host header is none of `allowed_hosts`."""

    def __init__(self, app: Application, allowed_hosts: Sequence[str]):
        self.app, self.allowed_hosts = app, allowed_hosts

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
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
        await error_response(scope, 400, RequestError.code, message)(scope, receive, send)


class ArrivalDeadlines:
    """The time limit for the arrival of requests."""

    def __init__(self, most_seconds: float):
        self.most_seconds, self._end = most_seconds, math.inf
        self._awaited = set[asyncio.Timeout]()

    def limit_wait(self, seconds: float) -> None:
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

    def __init__(self, app: Application, most_bytes: int, arrivals: ArrivalDeadlines):
        self.app, self.most_bytes, self.arrivals = app, most_bytes, arrivals

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
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

    def __init__(self, app: Application, most_waiting: int):
        self.app, self.most_waiting, self._waiting = app, most_waiting, 0

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        # Other scope types, such as lifespan, and GET requests are passed on.
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        if self._waiting >= self.most_waiting:
            message = f"{self.most_waiting:,} requests are waiting; try again later"
            retry = {"retry-after": "1"}
            await error_response(scope, 503, _TOO_MANY, message, retry)(scope, receive, send)
            return
        self._waiting += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._waiting -= 1


MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""The media type of the Prometheus text format."""
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_LONGEST = 200  # characters of a path


class RequestMetrics:
    """Metrics of the answered requests.

    Args:
        facts: The labels of the metric `headwise_info` of each model.

    Attributes:
        waiting: The number of requests in progress.
    """

    def __init__(self, facts: Sequence[Mapping[str, str]]):
        self.facts, self.waiting = [*facts], 0
        self._requests, self._items = Counter[tuple[str, int]](), Counter[str]()
        self._seconds = defaultdict[str, float](float)
        self._within = defaultdict[str, list[int]](lambda: [0] * (len(_BOUNDS) + 1))

    def add(self, path: str, status: int, seconds: float, items: int) -> None:
        """Count a request; the items of a rejected request are not counted."""
        self._requests[path, status] += 1
        self._items[path] += items if status == 200 else 0
        self._seconds[path] += seconds
        self._within[path][bisect_left(_BOUNDS, seconds)] += 1

    def text(self) -> str:
        """The metrics in the Prometheus text format."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from _metric("headwise_info", "gauge", "What is served.")
        for facts in self.facts:
            yield f"headwise_info{_labels(**facts)} 1"
        yield from _metric("headwise_requests_in_progress", "gauge", "Requests that are being answered.")
        yield f"headwise_requests_in_progress {self.waiting}"
        yield from _metric("headwise_requests_total", "counter", "Requests that were answered.")
        for (path, status), count in sorted(self._requests.items()):
            yield f"headwise_requests_total{_labels(path=path, status=status)} {count}"
        yield from _metric("headwise_items_total", "counter", "Texts, pairs or records that were answered.")
        for path, count in sorted(self._items.items()):
            if count:
                yield f"headwise_items_total{_labels(path=path)} {count}"
        name = "headwise_request_seconds"
        yield from _metric(name, "histogram", "From the beginning of a request to the end of its answer.")
        for path, counts in sorted(self._within.items()):
            within = 0
            for bound, count in zip((*_BOUNDS, "+Inf"), counts, strict=True):
                within += count
                yield f"{name}_bucket{_labels(path=path, le=bound)} {within}"
            yield f"{name}_sum{_labels(path=path)} {self._seconds[path]:.6f}"
            yield f"{name}_count{_labels(path=path)} {within}"


class MonitoringMiddleware:
    """Middleware that measures each request from its start to the end of its response.

    Args:
        app: The wrapped application.
        request_metrics: Counts the requests.
        paths: The paths of the application; all other paths are counted together.
        log: Called with a line for each request.
    """

    def __init__(
        self,
        app: Application,
        request_metrics: RequestMetrics,
        paths: Collection[str],
        log: Callable[[str], object] | None = None,
    ):
        self.app, self.request_metrics, self.paths, self.log = app, request_metrics, paths, log

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 499  # client closed the connection
        state = scope.setdefault("state", {})

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self.request_metrics.waiting += 1
        try:
            await self.app(scope, receive, noted)
        finally:
            self.request_metrics.waiting -= 1
            seconds = time.perf_counter() - began
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            counted_path = path if path in self.paths else "other"
            self.request_metrics.add(counted_path, status, seconds, state.get("items", 0))
            if self.log is not None:
                self.log(_line(scope, status, seconds, state))


def _line(scope: Message, status: int, seconds: float, state: JsonMapping) -> str:
    """A line of the log, without the query string, which may contain a text."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    path = quote(scope["path"])[:_LONGEST]  # prevents the injection of log lines
    more = "".join(f" {name}={state[name]}" for name in ("items", "code") if name in state)
    return f"{now} {scope['method']} {path} status={status} ms={1000 * seconds:.1f}{more}"


def _metric(name: str, kind: str, says: str) -> tuple[str, str]:
    return f"# HELP {name} {says}", f"# TYPE {name} {kind}"


def _labels(**values: object) -> str:
    return "{" + ",".join(f'{name}="{_escaped(str(value))}"' for name, value in values.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def run_server(
    app: FastAPI, listener: socket.socket, grace_seconds: float, reload: Callable[[], None] | None = None
) -> None:
    """Serve requests until a signal stops the process, then answer those that have begun.

    Args:
        app: See `headwise.app.serve.http_app.create_app`.
        listener: The listening socket.
        grace_seconds: The time that clients have after the signal to complete a request, and again to read
            the response, in seconds.
        reload: Called in a thread when the process gets SIGHUP (where the system has it).
    """
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
    _Server(config, app, grace_seconds, reload).run(sockets=[listener])


class _Server(uvicorn.Server):
    """A uvicorn server with a grace period: uvicorn itself waits for stalled clients without limit."""

    def __init__(
        self, config: uvicorn.Config, app: FastAPI, grace_seconds: float, reload: Callable[[], None] | None
    ):
        super().__init__(config)
        self._app, self._grace, self._reload = app, grace_seconds, reload

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self._reload is not None and hasattr(signal, "SIGHUP"):
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGHUP, loop.run_in_executor, None, self._reload)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        leaving = asyncio.create_task(self._leave())
        await super().shutdown(sockets)
        leaving.cancel()

    async def _leave(self) -> None:
        self._app.state.arrivals.limit_wait(self._grace)
        while self.server_state.tasks:  # requests that are being answered
            await asyncio.sleep(0.1)
        await asyncio.sleep(self._grace)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
