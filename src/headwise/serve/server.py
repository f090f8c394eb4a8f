"""The server: a port, and a model behind it until somebody stops it."""

import socket
from pathlib import Path
from typing import Any

from headwise.errors import ConfigError, HeadwiseError
from headwise.serve.answering import Answering
from headwise.verbs.listener import NOBODY, Listener


class ServeError(HeadwiseError):
    """A model cannot be served.

    Codes: HW901 the extra `serve` is not installed, HW902 the address cannot be used.
    """

    code = "HW900"


def serve(
    folder: Path | str,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    most_items: int = 1_000,
    most_bytes: int = 10_000_000,
    listener: Listener = NOBODY,
    **answering: Any,
) -> None:
    """Answer requests until the process gets a signal to stop; those that came before are answered first.

    Args:
        folder: The model's folder, or an exported one.
        host: The address to listen on.
        port: Of it; 0 for one that is free.
        most_items: See `headwise.serve.app.create_app`.
        most_bytes: Likewise.
        listener: Is told the address.
        answering: See `headwise.serve.answering.Answering`.

    Raises:
        ServeError: HW901, HW902.
        ConfigError: A number cannot be used.
        HeadwiseError: The model cannot be used, or gives no predictions.
    """
    if not 0 <= port < 65_536:
        raise ConfigError(f"--port {port}; expected 0 (any that is free) to 65535")
    limits = {"most_items": most_items, "most_bytes": most_bytes}
    for name, value in {**limits, "batch_tokens": answering.get("batch_tokens", 1)}.items():
        if value < 1:
            raise ConfigError(f"--{name.replace('_', '-')} {value}; expected 1 or more")
    try:
        from headwise.serve.app import create_app, is_local
        from headwise.serve.ending import run
    except ImportError as error:
        raise ServeError(
            f"{error.name} is not installed; headwise serve needs it: pip install 'headwise[serve]'",
            code="HW901",
        ) from None
    model = Answering(folder, **answering)
    app = create_app(model, host=host, **limits)
    with _listening(host, port) as own:
        shown = f"[{host}]" if ":" in host else host
        listener.note(
            f"{folder} answers at http://{shown}:{own.getsockname()[1]} (a page to try it; POST /predict, "
            "/explain; GET /model, /health, /openapi.json); Ctrl-C stops it"
        )
        if not is_local(host):
            listener.warn(
                "whoever reaches this address may ask, and nothing is encrypted: where that matters, put a "
                "server before it that asks who they are"
            )
        run(app, own)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except OSError as error:
        said = error.strerror or error
        raise ServeError(
            f"port {port} of {host} cannot be listened on: {said}; give another --port or --host",
            code="HW902",
        ) from None
