"""Guess a file's format from its name and its first lines."""

import re
from collections.abc import Iterable, Sequence

from headwise.data.compression import plain_name
from headwise.data.errors import DataError
from headwise.data.files import Line
from headwise.data.formats import FORMATS
from headwise.data.formats.csv import guess_delimiter, read_cells
from headwise.data.formats.fasttext import PREFIX
from headwise.data.formats.table import has_header
from headwise.data.source import Source

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}

_TREE = re.compile(r"\([0-4] ")


def guess_format(path: str, head: Sequence[Line], *, labelled: bool) -> tuple[str, str]:
    """The name of a format, and what spoke for it.

    Args:
        path: The file's name; a suffix such as .csv or .tsv.gz decides.
        head: The first lines.
        labelled: Whether labels are needed; if not, lines without structure are plain text.

    Raises:
        DataError: HW130, if nothing fits.
    """
    name = plain_name(path)
    for suffix, known in SUFFIXES.items():
        if name.endswith(suffix):
            return known, f"from the suffix {suffix}"
    texts = [text.rstrip("\r") for _, text in head if text.strip()]
    if guess := _by_content(texts, path) if texts else None:
        return guess, "from the first lines"
    if labelled:
        raise DataError(
            "HW130",
            "the format cannot be guessed: no labels were recognised in the first lines",
            expected="a csv, tsv or jsonl file, or lines such as 'label<TAB>text'",
            advice=f"give --format ({', '.join(FORMATS)}), or --task language-model for plain text",
            path=path,
        )
    return "text", "as no columns were recognised in the first lines"


def _by_content(texts: list[str], path: str) -> str | None:
    if _most(text.lstrip().startswith("{") for text in texts) or re.match(r"\[\s*(\{|$)", texts[0]):
        return "jsonl"
    if _most(text.startswith(PREFIX) for text in texts):
        return "fasttext"
    if _most(bool(_TREE.match(text.lstrip())) for text in texts):
        return "sst"
    if all("\t" in text for text in texts):
        return _with_tabs(texts, path)
    if all(re.match(r"-?\d+ ", text) for text in texts) and _few(t.split()[0] for t in texts):
        return "label-text"
    return "csv" if _looks_like_csv(texts, path) else None


def _most(answers: Iterable[bool]) -> bool:
    """More than half: a few damaged lines do not hide a format, and are told by its reader."""
    answers = list(answers)
    return sum(answers) * 2 > len(answers)


def _with_tabs(texts: list[str], path: str) -> str:
    """Tell `label<TAB>text` from a table: two columns, no header, few values in the first."""
    rows = [text.split("\t") for text in texts]
    first = [row[0] for row in rows]
    table = has_header(rows, Source(path)) or all(len(row) == len(rows[0]) > 2 for row in rows)
    words = [len(text.split()) for text in first]
    return "tsv" if table or max(words) > 3 or not _few(first) else "label-text"


def _few(values: Iterable[str]) -> bool:
    """Whether values recur enough to be labels; in a handful of lines they need not."""
    values = list(values)
    return len(set(values)) <= max(2, len(values) // 2)


def _looks_like_csv(texts: list[str], path: str) -> bool:
    """A header with a usual name, in a file whose first records have equally many fields."""
    lines: list[Line] = list(enumerate(texts, start=1))
    quiet = Source(path, report=lambda error: None)
    rows = [cells for _, cells in read_cells(iter(lines), quiet)]
    delimiter = guess_delimiter(lines)
    even = bool(rows) and all(len(row) == len(rows[0]) > 1 for row in rows)
    return even and delimiter in texts[0] and has_header(rows, Source(path))
