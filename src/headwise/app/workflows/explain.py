"""Explain the predictions for a file of any size."""

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack

from headwise.app.session import FileArguments, open_session
from headwise.core.deprecation import renamed_parameters
from headwise.data.items.dataset import in_chunks
from headwise.models.explanation import Explanation

_CHUNK = 256  # items that are explained at once


@renamed_parameters(heads="parses", listener="reporter")
def explain_file(
    folder: Path | str,
    file: Path | str,
    *,
    device: str = "auto",
    pipeline: str | None = None,
    **file_arguments: Unpack[FileArguments],
) -> Iterator[tuple[int, Explanation]]:
    """Explain the predictions for the records of a file, in their order.

    Args:
        folder: The model's folder.
        file: The file; "-" is standard input.
        device: The device: cpu, cuda, or auto for a GPU if there is one.
        pipeline: A spaCy pipeline that parses texts, in place of the one that the model names.
        file_arguments: How the file is read; see `headwise.app.session.FileArguments`.

    Yields:
        The line of a record and an explanation; a record may have several explanations, or none.

    Raises:
        HeadwiseError: The model or the file cannot be used, or such predictions cannot be explained.
    """
    session = open_session(folder, device=device, pipeline=pipeline)
    for chunk in in_chunks(session.rows(file, **file_arguments), _CHUNK):
        for explanation in session.explain([row.item for row in chunk]):
            yield chunk[explanation.item].line, explanation
