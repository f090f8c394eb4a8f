"""What who runs the server is told of requests: a line of each, numbers of all, nothing of their texts."""

import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from headwise.serve.limits import Message, Receive

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Of the format that Prometheus reads."""
_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
_LONGEST = 200  # characters of a path


class Tally:
    """Numbers of the requests that were answered.

    Args:
        facts: What the model is.

    Attributes:
        waiting: Requests that are being answered.
    """

    def __init__(self, facts: Mapping[str, str]):
        self.facts, self.waiting = dict(facts), 0
        self._requests, self._items = Counter[tuple[str, int]](), Counter[str]()
        self._seconds = defaultdict[str, float](float)
        self._within = defaultdict[str, list[int]](lambda: [0] * (len(_BOUNDS) + 1))

    def add(self, path: str, status: int, seconds: float, items: int) -> None:
        """Count a request; `items` of one that was refused count nothing."""
        self._requests[path, status] += 1
        self._items[path] += items if status == 200 else 0
        self._seconds[path] += seconds
        self._within[path][bisect_left(_BOUNDS, seconds)] += 1

    def text(self) -> str:
        """The numbers, as Prometheus reads them."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from _metric("headwise_info", "gauge", "What is served.")
        yield f"headwise_info{_labels(**self.facts)} 1"
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


class Watch:
    """Sees each request from its beginning to the end of its answer.

    Args:
        app: What answers.
        tally: Is told of each.
        paths: Those that the application has; all others count as one, as anybody may ask for any.
        log: Is given a line for each.
    """

    def __init__(
        self, app: Any, tally: Tally, paths: Collection[str], log: Callable[[str], object] | None = None
    ):
        self.app, self.tally, self.paths, self.log = app, tally, paths, log

    async def __call__(self, scope: Message, receive: Receive, send: Any) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 499  # which stands for a client that has left
        told = scope.setdefault("state", {})

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self.tally.waiting += 1
        try:
            await self.app(scope, receive, noted)
        finally:
            self.tally.waiting -= 1
            seconds = time.perf_counter() - began
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            known = path if path in self.paths else "other"
            self.tally.add(known, status, seconds, told.get("items", 0))
            if self.log is not None:
                self.log(_line(scope, status, seconds, told))


def _line(scope: Message, status: int, seconds: float, told: Mapping[str, Any]) -> str:
    """A line of the log; what follows a question mark in the address may be a text, and is left out."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    path = quote(scope["path"])[:_LONGEST]  # so that nobody writes lines of their own
    more = "".join(f" {name}={told[name]}" for name in ("items", "code") if name in told)
    return f"{now} {scope['method']} {path} status={status} ms={1000 * seconds:.1f}{more}"


def _metric(name: str, kind: str, says: str) -> tuple[str, str]:
    return f"# HELP {name} {says}", f"# TYPE {name} {kind}"


def _labels(**values: object) -> str:
    return "{" + ",".join(f'{name}="{_escaped(str(own))}"' for name, own in values.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
