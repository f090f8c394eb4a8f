"""A server that ends when it is told to, whatever those do who are connected to it."""

import asyncio
import socket

import uvicorn
from fastapi import FastAPI


def run(app: FastAPI, own: socket.socket, grace_seconds: float) -> None:
    """Answer what comes to a socket until a signal says to stop, and then what is there.

    Args:
        app: See `headwise.serve.app.create_app`.
        own: The socket, which listens.
        grace_seconds: What clients have then for the rest of a request, and to fetch an answer.
    """
    config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
    _Server(config, app, grace_seconds).run(sockets=[own])


class _Server(uvicorn.Server):
    """uvicorn waits for its clients for ever: one that stalls would keep the process until it is killed."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, grace_seconds: float):
        super().__init__(config)
        self._app, self._grace = app, grace_seconds

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        leaving = asyncio.create_task(self._leave())
        await super().shutdown(sockets)
        leaving.cancel()

    async def _leave(self) -> None:
        self._app.state.arrivals.hasten(self._grace)
        while self.server_state.tasks:  # requests that are being answered
            await asyncio.sleep(0.1)
        await asyncio.sleep(self._grace)
        for connection in list(self.server_state.connections):
            connection.transport.abort()  # type: ignore[union-attr]
