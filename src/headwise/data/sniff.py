"""Guess a file's format from its name and its first lines."""

import re
from collections.abc import Sequence

from headwise.data.compression import plain_name
from headwise.data.errors import DataError
from headwise.data.files import Line
from headwise.data.formats import FORMATS

_BRAT = re.compile(r"T\d+\t\S+ \d+ \d+(;\d+ \d+)*\t")


def guess_format(path: str, head: Sequence[Line], *, labelled: bool) -> tuple[str, str]:
    """The name of the format, and the reason for the guess.

    Args:
        path: The file's name; a suffix such as .csv or .tsv.gz decides the format.
        head: The first lines.
        labelled: Whether labels are required; if not, lines without structure are plain text.

    Raises:
        DataError: HW130, no format matches; HW104, brat's annotations.
    """
    refuse_brat(path, head)
    plain = plain_name(path)
    for name, form in FORMATS.items():
        for suffix in form.suffixes:
            if plain.endswith(suffix):
                return name, f"from the suffix {suffix}"
    texts = [text.rstrip("\r") for _, text in head if text.strip()]
    for name, form in FORMATS.items():
        if texts and form.recognise(texts):
            return name, "from the first lines"
    if labelled:
        raise DataError(
            "HW130",
            "the format cannot be guessed: no labels were recognised in the first lines",
            expected="a csv, tsv or jsonl file, or lines such as 'label<TAB>text'",
            advice=f"give --format ({', '.join(FORMATS)}); plain text is for train --task language-model",
            path=path,
        )
    return "text", "as no columns were recognised in the first lines: one text a line"


def refuse_brat(path: str, head: Sequence[Line]) -> None:
    """Reject annotations of brat, which look like a table but have their text in another file.

    Raises:
        DataError: HW104.
    """
    first = next((text for _, text in head if text.strip()), "")
    if _BRAT.match(first):
        raise DataError(
            "HW104",
            "annotations of brat (.ann), whose text is in a file of its own (.txt)",
            expected="texts with their spans",
            advice='write an object a text, {"text": ..., "spans": [[0, 5, "PER"]]}: the first character, '
            "the one after the last, and the type",
            path=path,
        )


def looks_like_table(path: str, head: Sequence[Line]) -> str:
    """A warning if a plain text file looks like a table or labelled file; otherwise ""."""
    name, why = guess_format(path, head, labelled=False)
    note = f"looks like {name} ({why}), and is read as it stands, labels and all"
    return "" if name == "text" else note
