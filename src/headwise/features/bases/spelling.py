"""What a base makes of a word that it does not list: other spellings, parts, runs of letters."""

import re
import zlib
from collections.abc import Mapping

_LENGTHENED = re.compile(r"(.)\1{2,}")
_DOUBLED = re.compile(r"(.)\1+")
_PARTS = re.compile(r"[-/_.']")
_SHORTEST, _LONGEST = 3, 5
_MOST_LETTERS = 40
"""Letters of a word that are looked at: a megabyte without spaces is no word."""


def other_spelling(word: str, known: Mapping[str, int]) -> int | None:
    """The number of a listed word that this one stands for: `soooo` so, `#happy` happy, `U.S.` U.S; None
    if there is none."""
    if len(word) > _MOST_LETTERS:
        return None
    for spelling in (
        _LENGTHENED.sub(r"\1\1", word),
        _DOUBLED.sub(r"\1", word),
        word.lstrip("#@"),
        word.rstrip("."),
        word.strip("'*_-.~"),
    ):
        if spelling and spelling in known:
            return known[spelling]
    return None


def parts(word: str, known: Mapping[str, int]) -> list[int]:
    """The numbers of the listed parts of a compound (`well-made`); none unless there are two or more."""
    if len(word) > 4 * _MOST_LETTERS:
        return []
    found = [known[part] for part in _PARTS.split(word) if part in known]
    return found if len(found) > 1 else []


def subwords(word: str, buckets: int) -> list[int]:
    """The buckets of the runs of 3 to 5 letters of a word, with marks at its ends, by CRC-32."""
    marked = f"<{word[:_MOST_LETTERS]}>"
    runs = [
        marked[start : start + size]
        for size in range(_SHORTEST, _LONGEST + 1)
        for start in range(len(marked) - size + 1)
    ]
    return [zlib.crc32(run.encode("utf-8", "surrogatepass")) % buckets for run in runs or [marked]]
