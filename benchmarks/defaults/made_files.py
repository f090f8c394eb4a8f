"""What made_sets.py reads, and what it makes."""

import gzip
import lzma

from benchmarks import DATA

Rows = list[tuple[object, object]]
Parts = tuple[Rows, Rows]
"""Training and test part: items (texts, pairs of texts, lists of words) with labels (of words: lists)."""


def lines_of(path: str) -> list[str]:
    """Lines of a compressed text file."""
    opened = lzma.open if path.endswith(".xz") else gzip.open
    with opened(DATA / path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
        return file.read().split("\n")
