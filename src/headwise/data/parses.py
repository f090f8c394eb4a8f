"""Give texts their parses, which come in a file of their own."""

from collections.abc import Sequence
from dataclasses import replace

from headwise.data.errors import DataError
from headwise.data.example import Example, Parse


def with_parses(
    examples: Sequence[Example],
    parses: Sequence[Parse],
    path: str,
    texts: str,
    *,
    by_line: bool = False,
) -> list[Example]:
    """The examples with the heads of their words.

    A parse belongs to the text of the same number; or, with `by_line` and where texts of the file were left
    out, to the text of the same line.

    Args:
        examples: Of a file.
        parses: The heads of each text (`headwise.features.syntax`).
        path: Where the parses come from, for the message.
        texts: Where the texts come from, likewise.
        by_line: Whether each line of that file is a text.

    Raises:
        DataError: HW142, the parses are not as many as the texts or lines.
    """
    if len(parses) == len(examples):
        return [replace(example, heads=heads) for example, heads in zip(examples, parses, strict=True)]
    lines = [example.line for example in examples]
    if by_line and len(set(lines)) == len(lines) and all(0 < line <= len(parses) for line in lines):
        return [replace(example, heads=parses[example.line - 1]) for example in examples]
    raise DataError(
        "HW142",
        f"{len(parses):,} parses for the {len(examples):,} texts of {texts}",
        expected="one for each text, or one for each line of its file",
        advice="parse the very file that is read",
        path=path,
    )
