"""Fallbacks for a word that a base does not list: other spellings, parts of a compound, n-grams."""

import re
import zlib
from collections.abc import Mapping

_LENGTHENED = re.compile(r"(.)\1{2,}")
_DOUBLED = re.compile(r"(.)\1+")
_PARTS = re.compile(r"[-/_.']")
_SHORTEST, _LONGEST = 3, 5
_MOST_LETTERS = 40
"""Characters of a word that are read: a megabyte without spaces is no word."""


def other_spelling(word: str, numbers: Mapping[str, int]) -> int | None:
    """The number of the listed word of which `word` is a spelling variant (`soooo`: so, `#happy`: happy,
    `U.S.`: U.S); None if there is none."""
    if len(word) > _MOST_LETTERS:
        return None
    for spelling in (
        _LENGTHENED.sub(r"\1\1", word),
        _DOUBLED.sub(r"\1", word),
        word.lstrip("#@"),
        word.rstrip("."),
        word.strip("'*_-.~"),
    ):
        if spelling and spelling in numbers:
            return numbers[spelling]
    return None


def parts(word: str, numbers: Mapping[str, int]) -> list[int]:
    """The numbers of the listed parts of a compound (`well-made`); empty if fewer than two are listed."""
    if len(word) > 4 * _MOST_LETTERS:
        return []
    listed = [numbers[part] for part in _PARTS.split(word) if part in numbers]
    return listed if len(listed) > 1 else []


def subwords(word: str, buckets: int) -> list[int]:
    """Hash buckets (CRC-32) of the character n-grams of a word, n from 3 to 5, with boundary marks."""
    marked = f"<{word[:_MOST_LETTERS]}>"
    runs = [
        marked[start : start + size]
        for size in range(_SHORTEST, _LONGEST + 1)
        for start in range(len(marked) - size + 1)
    ]
    return [zlib.crc32(run.encode("utf-8", "surrogatepass")) % buckets for run in runs or [marked]]
