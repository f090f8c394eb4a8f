"""Document structure: the sentence and the paragraph of each word of a text.

The limits come from the text by rule, so that training, prediction and every export agree:

- A paragraph ends at a blank line: white space that holds two or more line breaks.
- A sentence ends with its paragraph, and behind one or more of the marks `. ! ? …` (and those of other
  scripts), with the closing quotes and brackets that follow. White space has to come next, except behind
  the marks of scripts without spaces.
- A lone full stop ends no sentence behind an initial (`J.`) or one of `ABBREVIATIONS`, nor before a word
  that begins with a small letter.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from headwise.core.lazy_pattern import lazy_pattern

MarkName = str
WordMarks = Mapping[MarkName, NDArray[np.int64]]
"""By the name of the mark, the number of the unit that each word belongs to, from 0, `[words]`."""

_ABBREVIATIONS = (
    "mr mrs ms dr prof st sr jr rev hon gen col capt lt sgt gov sen rep vs etc fig figs eq no",
    "nos vol pp ca cf al inc ltd co corp dept est approx e.g i.e u.s u.k a.m p.m jan feb mar",
    "apr jun jul aug sep sept oct nov dec bzw z.b d.h usw nr str ggf",
)
ABBREVIATIONS = frozenset(word for line in _ABBREVIATIONS for word in line.split())
"""Words, without their last full stop and in small letters, behind which a full stop ends no sentence."""

_LINE_BREAK = r"(?:\r\n|\r(?!\n)|[\n\v\f\x85\u2028])"
_BLANK_LINE = lazy_pattern(rf"{_LINE_BREAK}\s*?{_LINE_BREAK}\s*|\u2029\s*")
_SPACED, _UNSPACED = ".!?…‽؟۔।॥։።", "。！？｡"
_CLOSING = "\"'”’»›)\\]}」』）】"
# Marks are looked at from the first of a row on: from each of a million would take a million times as long.
_END = lazy_pattern(
    rf"(?<![{_SPACED}{_UNSPACED}])(?:(?P<marks>[{_SPACED}]+)[{_CLOSING}]*\s+"
    rf"|[{_SPACED}]*[{_UNSPACED}][{_SPACED}{_UNSPACED}]*[{_CLOSING}]*\s*)"
)
_LAST_WORD = lazy_pattern(r"[^\W_]+(?:\.[^\W_]+)*\Z")


def paragraph_starts(text: str) -> list[int]:
    """The offsets at which the paragraphs of a text begin; the first is 0."""
    ends = (match.end() for match in _BLANK_LINE.finditer(text))
    return [0, *(end for end in ends if end < len(text))]


def sentence_starts(text: str) -> list[int]:
    """The offsets at which the sentences of a text begin; the first is 0."""
    ends = (match.end() for match in _END.finditer(text) if not _is_abbreviation(text, match))
    return sorted({*paragraph_starts(text), *ends} - {len(text)} | {0})


def _is_abbreviation(text: str, match: re.Match[str]) -> bool:
    """Whether a full stop is no end of a sentence."""
    if match["marks"] != ".":
        return False
    if text[match.end() : match.end() + 1].islower():
        return True
    word = _LAST_WORD.search(text[max(0, match.start() - 40) : match.start()])
    return word is not None and (
        word[0].lower() in ABBREVIATIONS or (len(word[0]) == 1 and word[0].isupper())
    )


_STARTS: dict[MarkName, Callable[[str], list[int]]] = {
    "sentence": sentence_starts,
    "paragraph": paragraph_starts,
}
DOCUMENT_MARKS = frozenset(_STARTS)
"""The names of the marks that `word_marks` can make."""


def word_marks(names: frozenset[MarkName], text: str, spans: Sequence[tuple[int, int]]) -> WordMarks:
    """The sentence or the paragraph of each word of a text.

    Returns:
        By name, numbers from 0 that do not fall; units without a word have none.
    """
    places = np.array([start for start, _ in spans], dtype=np.int64)
    return {name: _numbered(places, _STARTS[name](text)) for name in sorted(names)}


def _numbered(places: NDArray[np.int64], starts: list[int]) -> NDArray[np.int64]:
    units = np.searchsorted(np.array(starts), places, side="right")
    return np.unique(units, return_inverse=True)[1].reshape(-1).astype(np.int64)


def joined_text(words: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """A text of words with a space between any two, and the offsets of the words, for texts of which only
    the words are known."""
    ends = accumulate(words, lambda end, word: end + len(word) + 1, initial=-1)
    return " ".join(words), [(end + 1, end + 1 + len(word)) for end, word in zip(ends, words, strict=False)]
