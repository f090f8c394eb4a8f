"""`headwise serve`: a model that answers over HTTP."""

# The flags' type is made at run time, from the configurations.
# pyright: reportInvalidTypeForm=false

from pathlib import Path

from headwise.cli.arguments import Whole
from headwise.cli.flags import given
from headwise.cli.settings import ANSWERS, section_flags
from headwise.cli.terminal import Terminal
from headwise.memory import keep_freed_memory


def serve(
    model: Path,
    /,
    *,
    host: str = "127.0.0.1",
    port: Whole = 8000,
    most_items: Whole = 1_000,
    most_bytes: Whole = 10_000_000,
    unsure: str | None = None,
    pipeline: str | None = None,
    batch_tokens: Whole = 16_384,
    device: str = "auto",
    # Records may have labels, but they are not used.
    read: section_flags("data", ANSWERS) = None,
) -> int:
    """Answer over HTTP what a model says of texts.

    POST /predict takes {"texts": [...]}, {"pairs": [[..., ...], ...]} or {"records": [{...}, ...]} and
    gives {"predictions": [...]}, the objects that headwise predict writes to jsonl; POST /explain takes the
    same and says which words made the model say so. A browser shows a page to try the model on. Needs the
    extra serve: pip install 'headwise[serve]'.

    Args:
        model: Folder of the model, or what headwise export made of it (which explains nothing).
        host: The address to listen on; 0.0.0.0 for all of this machine. By default only the machine itself
            can ask.
        port: Of the address; 0 for one that is free.
        most_items: Texts (pairs, records) of a request.
        most_bytes: Of a request.
        unsure: As headwise predict takes it: add a field that is true where the prediction is less probable
            than this, or than it takes for the others to be right so often (precision=0.95).
        pipeline: A spaCy pipeline that parses the texts, in place of the one that the model names.
        batch_tokens: Words that the model reads at once: fewer need less memory.
        device: Where the model computes: cpu, cuda, or auto for a GPU where there is one.

    Raises:
        HeadwiseError: The model or the address cannot be used, or the extra is not installed.
    """
    from headwise.serve.server import serve as run  # with it come the libraries

    keep_freed_memory()
    run(
        model,
        host,
        port,
        most_items=most_items,
        most_bytes=most_bytes,
        unsure=unsure,
        pipeline=pipeline,
        batch_tokens=batch_tokens,
        device=device,
        reading=given(read),
        listener=Terminal(),
    )
    return 0
