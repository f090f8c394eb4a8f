"""`headwise serve`: predictions over HTTP."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from headwise.app.cli.argument_types import Integer, ModelFolder, OptionalOutputFile
from headwise.app.cli.flags import LABEL_SETTINGS, OpeningArgument, flag_values, section_flags
from headwise.app.cli.terminal import TerminalReporter

_UNUSED = {
    *("format", "header", "delimiter", "quoting", "escape", "encoding"),
    *("sst_unit", "sst_labels", "head_column"),
    *LABEL_SETTINGS,
}
"""Settings without a flag: requests are JSON, and labels in them are not used."""


def serve(
    model: ModelFolder,
    /,
    *more: ModelFolder,
    host: str = "127.0.0.1",
    port: Integer = 8000,
    most_items: Integer = 1_000,
    most_words: Integer = 250_000,
    most_bytes: Integer = 10_000_000,
    most_waiting: Integer = 64,
    most_seconds: float = 60,
    grace_seconds: float = 5,
    root_path: str = "",
    cors: Annotated[
        tuple[str, ...], Parameter(negative=(), consume_multiple=True, show_default=False)
    ] = (),
    example: Annotated[
        tuple[str, ...], Parameter(negative=(), consume_multiple=True, show_default=False)
    ] = (),
    log: OptionalOutputFile = None,
    api_keys: Path | None = None,
    unsure: str | None = None,
    opening: OpeningArgument = None,
    batch_tokens: Integer = 16_384,
    read: section_flags("data", _UNUSED) = None,
) -> int:
    """Serve a model over HTTP.

    POST /predict takes {"texts": [...]}, {"pairs": [[..., ...], ...]} or {"records": [{...}, ...]} and
    returns {"predictions": [...]}, the objects that headwise predict writes to jsonl. POST /explain takes
    the same and returns the attributions of words. GET / is a page to try the model in a browser; GET /docs
    describes the requests. Requests that wait are answered together. SIGHUP reads the folders again without
    losing a request. Needs the extra serve: pip install fastapi uvicorn.

    Several models answer at /models/NAME/predict, where NAME is the name of a folder. GET /models lists
    them. The first model answers at /predict, too.

    Args:
        model: Folder of the model, or an exported model (without explanations).
        more: Further models.
        host: Address to listen on; 0.0.0.0 for all IPv4 addresses of this machine, :: for IPv6 too. By
            default only this machine can connect.
        port: Port to listen on; 0 for a free one.
        most_items: Largest number of texts (pairs, records) in a request.
        most_words: Largest number of words in a request, which limits how long it occupies the model. An
            explanation counts as ten predictions of its text, or more for a tagger.
        most_bytes: Largest size of a request in bytes.
        most_waiting: Largest number of requests that wait for the model; further ones get status 503.
        most_seconds: Time limit for receiving a request.
        grace_seconds: Time for clients at shutdown to finish a request and to fetch the answer.
        root_path: Path prefix that a proxy removes, such as /models/intents.
        cors: Origins of web pages whose scripts may ask, such as https://example.org; * for all.
        example: Texts that the page offers to try.
        log: File for the access log, one line per request: time, path, status, milliseconds and number of
            texts, but no text. - is standard error.
        api_keys: File with a key per line, of which each request must have one: in the header
            authorization: Bearer KEY, or as the password that a browser asks for. Health checks need none.
        unsure: Add a field that is true where the model should abstain, by a probability (0.9) or a
            precision (precision=0.95); see headwise predict.
        batch_tokens: Words per batch: fewer need less memory.
    """
    from headwise.app.serve.http_server import serve as run  # with it come the libraries

    run(
        (model, *more),
        host,
        port,
        most_items=most_items,
        most_words=most_words,
        most_bytes=most_bytes,
        most_waiting=most_waiting,
        most_seconds=most_seconds,
        grace_seconds=grace_seconds,
        root_path=root_path,
        cors=cors,
        examples=example,
        log=log,
        api_keys=api_keys,
        unsure=unsure,
        **flag_values(opening),
        batch_tokens=batch_tokens,
        reading=flag_values(read),
        reporter=TerminalReporter(),
    )
    return 0
