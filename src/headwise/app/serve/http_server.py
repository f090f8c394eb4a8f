"""The HTTP server: serves a model at a port until the process is stopped."""

import socket
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.app.serve.answering import ModelService
from headwise.app.serve.serve_errors import ServeError
from headwise.core.deprecation import renamed_parameters
from headwise.core.errors import ConfigError, HeadwiseError

if TYPE_CHECKING:
    from headwise.app.serve.api_keys import ApiKeys

_LONGEST = 86_400  # seconds


@renamed_parameters(listener="reporter")
def serve(
    folder: Path | str | Sequence[Path | str],
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    most_items: int = 1_000,
    most_words: int = 250_000,
    most_bytes: int = 10_000_000,
    most_waiting: int = 64,
    most_seconds: float = 60,
    grace_seconds: float = 5,
    root_path: str = "",
    cors: Sequence[str] = (),
    examples: Sequence[str] = (),
    log: Path | str | None = None,
    api_keys: Path | str | None = None,
    reporter: Reporter = NULL_REPORTER,
    **answering: Any,
) -> None:
    """Serve models until the process gets a signal to stop; requests in progress are answered first.

    Args:
        folder: The model's folder, or an exported one; or several, of which the first answers requests
            that name none.
        host: The address to listen on.
        port: The port to listen on; 0 for a free one.
        most_items, most_words, most_bytes, most_waiting, most_seconds, root_path, cors, examples: See
            `headwise.app.serve.http_app.create_app`.
        grace_seconds: See `headwise.app.serve.middleware.run_server`.
        api_keys: A file with a key per line, of which each request must have one; it is read again with the
            models.
        log: A file to which a line is appended for each request; "-" is standard error.
        reporter: Receives the address as a message.
        answering: See `headwise.app.serve.answering.ModelService`.

    Raises:
        ServeError: HW901, HW902, HW909.
        ConfigError: A number cannot be used.
        HeadwiseError: The model cannot be loaded, or does not predict.
    """
    if not 0 <= port < 65_536:
        raise ConfigError(f"--port {port}; expected 0 (any that is free) to 65535")
    _check_counts(
        most_items=most_items,
        most_words=most_words,
        most_bytes=most_bytes,
        most_waiting=most_waiting,
        batch_tokens=answering.get("batch_tokens", 1),
    )
    _check_times(most_seconds=most_seconds, grace_seconds=grace_seconds)
    root_path = root_path.rstrip("/")
    if root_path and not root_path.startswith("/"):
        raise ConfigError(f"--root-path {root_path}; expected a path from the root, such as /{root_path}")
    from headwise.app.serve.http_app import create_app, is_local
    from headwise.app.serve.middleware import run_server

    keys = None
    if api_keys is not None:
        from headwise.app.serve.api_keys import ApiKeys

        keys = ApiKeys(api_keys)
    folders = [folder] if isinstance(folder, Path | str) else folder
    services = [ModelService(one, **answering) for one in folders]
    for service in services:
        service.warm_up()
    with _log_writer(log) as line, _listening_socket(host, port) as listening:
        app = create_app(
            services,
            host=host,
            most_items=most_items,
            most_words=most_words,
            most_bytes=most_bytes,
            most_waiting=most_waiting,
            most_seconds=most_seconds,
            root_path=root_path,
            cors=cors,
            examples=examples,
            log=line,
            keys=keys,
        )
        shown = f"[{host}]" if ":" in host else host
        reporter.note(_welcome(services, f"http://{shown}:{listening.getsockname()[1]}"))
        if not is_local(host):
            reporter.warn(
                "nothing is encrypted; where that matters, put a proxy before it"
                if keys
                else "anyone who reaches this address can send requests, and nothing is encrypted; where "
                "that matters, give --api-keys, and put a proxy before it"
            )
        reloaded = [*services, *([keys] if keys else [])]
        run_server(app, listening, grace_seconds, lambda: _reload(reloaded, reporter))


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ConfigError(f"--{name.replace('_', '-')} {count}; expected 1 or more")


def _check_times(**times: float) -> None:
    for name, seconds in times.items():
        if not 0 < seconds <= _LONGEST:
            flag = f"--{name.replace('_', '-')}"
            raise ConfigError(f"{flag} {seconds:g}; expected more than 0, and at most {_LONGEST}, a day")


def _welcome(services: Sequence[ModelService], address: str) -> str:
    """Where the models answer, and to which requests."""
    if len(services) == 1:
        return (
            f"{services[0].folder} answers at {address} (a page to try it; POST /predict, /explain; GET "
            "/model, /health, /metrics, /docs, /openapi.json); Ctrl-C stops it"
        )
    names = ", ".join(service.name for service in services)
    return (
        f"{len(services)} models answer at {address} (a page to try them; POST "
        "/models/NAME/predict, /models/NAME/explain; GET /models, /health, /metrics, "
        f"/docs, /openapi.json; NAME is {names}); Ctrl-C stops it"
    )


def _reload(parts: "Sequence[ModelService | ApiKeys]", reporter: Reporter) -> None:
    """Read the models and the keys again; where that fails, the previous ones stay."""
    for part in parts:
        is_model = isinstance(part, ModelService)
        try:
            part.reload()
        except HeadwiseError as error:
            what = "the model was not reloaded, the previous one keeps answering"
            reporter.warn(f"{what if is_model else 'the keys stay'}: {error}")
        else:
            reporter.note(f"{part.folder if is_model else part.path} was reloaded")


def _listening_socket(host: str, port: int) -> socket.socket:
    try:
        if ":" in host:
            # The address :: also accepts IPv4 connections, as 0.0.0.0 does.
            both = socket.has_dualstack_ipv6()
            listening = socket.create_server((host, port), family=socket.AF_INET6, dualstack_ipv6=both)
        else:
            listening = socket.create_server((host, port))
    except OSError as error:
        reason = error.strerror or error
        raise ServeError(
            f"port {port} of {host} cannot be listened on: {reason}; give another --port or --host",
            code="HW902",
        ) from None
    # Connections inherit this option, which asyncio does not set for such sockets. A response is written in
    # two pieces, and the second would wait 40 ms for the acknowledgement of the first.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


@contextmanager
def _log_writer(log: Path | str | None) -> Generator[Callable[[str], object] | None]:
    """A function that appends a line to the log, or None without a log; a full disk fails no request."""
    if log is None:
        yield None
    elif str(log) == "-":
        yield lambda line: print(line, file=sys.stderr, flush=True)
    else:
        try:
            file = open(log, "ab", buffering=0)  # noqa: SIM115 - closed below
        except OSError as error:
            message = f"--log {log}: cannot be written: {error.strerror or error}; give another file, or -"
            raise ServeError(message, code="HW909") from None
        with file:

            def write(line: str) -> None:
                with suppress(OSError):
                    file.write(f"{line}\n".encode())

            yield write
