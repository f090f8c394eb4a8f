"""A server that shuts down within a grace period, whatever its clients do."""

import asyncio
import signal
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI


def run(
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
            connection.transport.abort()  # type: ignore[union-attr]
