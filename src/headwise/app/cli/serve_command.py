"""`headwise serve`: predictions over HTTP."""

# The type of the flags is created at run time from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path

from headwise.app.cli.console import Integer, OptionalFile
from headwise.app.cli.flags import LABEL_SETTINGS, flag_values, section_flags
from headwise.app.cli.terminal import TerminalReporter
from headwise.core.allocator import keep_freed_memory

_UNUSED = {
    *("format", "header", "delimiter", "encoding", "sst_unit", "sst_labels", "head_column"),
    *LABEL_SETTINGS,
}
"""Settings without a flag: requests are JSON, and labels in them are not used."""


def serve(
    model: Path,
    /,
    *,
    host: str = "127.0.0.1",
    port: Integer = 8000,
    most_items: Integer = 1_000,
    most_bytes: Integer = 10_000_000,
    most_waiting: Integer = 64,
    most_seconds: float = 60,
    grace_seconds: float = 5,
    root_path: str = "",
    log: OptionalFile = None,
    unsure: str | None = None,
    pipeline: str | None = None,
    batch_tokens: Integer = 16_384,
    device: str = "auto",
    read: section_flags("data", _UNUSED) = None,
) -> int:
    """Answer over HTTP what a model says of texts.

    POST /predict takes {"texts": [...]}, {"pairs": [[..., ...], ...]} or {"records": [{...}, ...]} and
    gives {"predictions": [...]}, the objects that headwise predict writes to jsonl; POST /explain takes the
    same and says which words made the model say so. A browser shows a page to try the model on. Needs the
    extra serve: pip install 'headwise[serve]'.

    Args:
        model: Folder of the model, or what headwise export made of it (which explains nothing).
        host: The address to listen on; 0.0.0.0 for all of this machine, :: for those of IPv6 too. By
            default only the machine itself can ask.
        port: Of the address; 0 for one that is free.
        most_items: Texts (pairs, records) of a request.
        most_bytes: Of a request.
        most_waiting: Requests that may wait for the model; further ones get status 503.
        most_seconds: Until the whole of a request has come.
        grace_seconds: What clients have when the server is to end: for the rest of a request, and to fetch
            an answer.
        root_path: The path under which a server before this one is asked for it, such as /models/intents.
        log: File to which a line is added for each request: when, path, status, milliseconds, how many
            texts, and nothing of the texts. - is standard error.
        unsure: As headwise predict takes it: add a field that is true where the prediction is less probable
            than this, or than it takes for the others to be right so often (precision=0.95).
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        batch_tokens: Words that the model reads at once: fewer need less memory.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.

    Raises:
        HeadwiseError: The model or the address cannot be used, or the extra is not installed.
    """
    from headwise.app.serve.http_server import serve as run  # with it come the libraries

    keep_freed_memory()
    run(
        model,
        host,
        port,
        most_items=most_items,
        most_bytes=most_bytes,
        most_waiting=most_waiting,
        most_seconds=most_seconds,
        grace_seconds=grace_seconds,
        root_path=root_path,
        log=log,
        unsure=unsure,
        pipeline=pipeline,
        batch_tokens=batch_tokens,
        device=device,
        reading=flag_values(read),
        listener=TerminalReporter(),
    )
    return 0
