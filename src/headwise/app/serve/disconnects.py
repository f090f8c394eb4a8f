"""Clients that close the connection before their answer: their work is stopped.

What has not begun is dropped. What a thread computes cannot be interrupted, so it asks between its
portions whether anybody still waits.
"""

import asyncio
from collections.abc import Awaitable, Callable
from threading import Event
from typing import TypeVar

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from headwise.app.serve.serve_errors import AbandonedError

T = TypeVar("T")


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """The result of `work`, which is cancelled if the client closes the connection.

    Raises:
        AbandonedError: The client has closed the connection.
    """
    task, watcher = asyncio.ensure_future(work), asyncio.create_task(_disconnection(request))
    try:
        await asyncio.wait((task, watcher), return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise AbandonedError
        return task.result()
    finally:
        task.cancel()
        watcher.cancel()


async def in_thread(request: Request, function: Callable[[Callable[[], bool]], T]) -> T:
    """The result of a function that is called in a thread.

    Args:
        request: The request; its body has arrived.
        function: Its argument is a function that returns whether the client has closed the connection.

    Raises:
        AbandonedError: The client has closed the connection.
    """
    abandoned = Event()
    try:
        return await while_connected(request, run_in_threadpool(function, abandoned.is_set))
    finally:
        abandoned.set()


async def _disconnection(request: Request) -> None:
    """Wait until the client closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
