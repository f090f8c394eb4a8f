"""When two texts count as the same, and which texts are kept together."""

from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import normalize

import numpy as np
import regex
from numpy.typing import NDArray

_MANY = 10  # different first texts for each part
_MANY_MARKS = regex.compile(r"\p{M}{100}")


def composed(text: str) -> str:
    """A text with accents composed (Unicode's NFC), as some programs write them apart. Not where a hundred
    marks follow each other, which no script has: putting these in order takes time with their square."""
    return text if text.isascii() or _MANY_MARKS.search(text) else normalize("NFC", text)


def normal_text(text: str) -> str:
    """A text for comparison: accents composed, case folded, every run of white space one blank, none at the
    ends."""
    return " ".join(composed(text).casefold().split())


def same_items(keys: Iterable[str]) -> dict[str, list[int]]:
    """The numbers of the items of every distinct key, as `normal_text` has it, in the order of first
    occurrence."""
    return places_of(map(normal_text, keys))


def places_of(keys: Iterable[str]) -> dict[str, list[int]]:
    """The numbers of the items of every distinct key, as it is."""
    groups: dict[str, list[int]] = {}
    for number, key in enumerate(keys):
        groups.setdefault(key, []).append(number)
    return groups


def many_firsts(firsts: Sequence[str], parts: int) -> bool:
    """Whether pairs with these first texts are kept together by them: where many are different. One premise
    often has several hypotheses; but a few questions may have all the answers."""
    return len(set(firsts)) >= _MANY * parts


def first_equal(texts: Sequence[Any], parts: int) -> NDArray[np.int64]:
    """For each text, or pair of texts, the number of the first one that it is held out with, `[texts]`: its
    own where there is no other. A model that has seen a text knows more about its double than about new
    texts.

    Args:
        texts: Texts, of which equal ones stay together; or pairs, which do so by `many_firsts` too.
        parts: How many of them are held out, one after the other.
    """
    keys: Sequence[str] = texts
    if len(texts) and not isinstance(texts[0], str):
        keys = [first for first, _ in texts]
        if not many_firsts(keys, parts):
            keys = [f"{first}\n{second}" for first, second in texts]
    found = np.empty(len(texts), dtype=np.int64)
    for numbers in same_items(keys).values():
        found[numbers] = numbers[0]
    return found
