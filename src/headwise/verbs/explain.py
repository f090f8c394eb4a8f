"""Why a model says what it says of a file, of any size."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from headwise.data.chunks import in_chunks
from headwise.report.explanation import Explanation
from headwise.verbs.listener import NOBODY, Listener
from headwise.verbs.models import open_rows

_CHUNK = 256  # items at a time


def explain_file(
    folder: Path | str,
    file: Path | str,
    *,
    heads: Path | str | None = None,
    pipeline: str | None = None,
    device: str = "auto",
    reading: Mapping[str, Any] | None = None,
    listener: Listener = NOBODY,
) -> Iterator[tuple[int, Explanation]]:
    """The explanations of what a model says of every record of a file, in their order.

    Args:
        folder: The model's folder.
        file: The file; "-" is standard input.
        heads: The syntax of the texts: as many parses as the file has records.
        pipeline: See `headwise.verbs.models.open_model`.
        device: Likewise.
        reading: How the file is read, where that is not to be guessed.
        listener: Is told what happens.

    Yields:
        The line of each record, and one explanation; there may be several of a record, or none.

    Raises:
        HeadwiseError: The model or the file cannot be used, or what the model says is not explained.
    """
    model, task, rows = open_rows(folder, file, pipeline, device, reading, listener, heads)
    for chunk in in_chunks(rows, _CHUNK):
        for explanation in task.explain(model, [row.item for row in chunk]):
            yield chunk[explanation.item].line, explanation
