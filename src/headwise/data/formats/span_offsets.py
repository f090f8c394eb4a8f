"""Check the offsets of character spans against the text that stands beside them, and convert those that
count otherwise: UTF-16 code units (JavaScript, Java), UTF-8 bytes, inclusive ends, a first character 1, or
a line end of Windows once (brat, browsers)."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from headwise.core.lazy_pattern import lazy_pattern


class CharacterSpan(NamedTuple):
    """A character span: start, end (exclusive), type, and its text as the file has it (None if it has not).

    `is_value` says that the text may be a normal form (`New York` for `NYC`), as Rasa writes values."""

    start: int
    end: int
    type: str
    written: str | None = None
    is_value: bool = False


class OffsetUnit(NamedTuple):
    """What offsets count.

    Attributes:
        name: The name for messages.
        encoding: Encoding whose code units are counted; None for characters.
        unit_size: Bytes of a code unit.
        first: The offset of the first character.
        past_end: Whether the end is the offset after the last character, not that of the last.
        joins_line_ends: Whether the line end \\r\\n counts as one unit.
    """

    name: str
    encoding: str | None = None
    unit_size: int = 1
    first: int = 0
    past_end: bool = True
    joins_line_ends: bool = False


CHARACTERS = OffsetUnit("characters")
UTF_16 = OffsetUnit("UTF-16 code units", "utf-16-le", 2)
UTF_8 = OffsetUnit("UTF-8 bytes", "utf-8")
LINE_ENDS_ONCE = OffsetUnit("characters, with the line end \\r\\n as one", joins_line_ends=True)
UTF_16_LINE_ENDS_ONCE = OffsetUnit(
    "UTF-16 code units, with the line end \\r\\n as one", "utf-16-le", 2, joins_line_ends=True
)
UNITS = (
    CHARACTERS,
    UTF_16,
    UTF_8,
    OffsetUnit("characters, with inclusive ends", past_end=False),
    OffsetUnit("UTF-16 code units, with inclusive ends", "utf-16-le", 2, past_end=False),
    OffsetUnit("characters from 1, with inclusive ends", first=1, past_end=False),
    OffsetUnit("characters from 1", first=1),
    LINE_ENDS_ONCE,
    UTF_16_LINE_ENDS_ONCE,
)
"""The units to try, the most usual first."""

_DIFFERENCES = (
    (UTF_16, lazy_pattern("[\U00010000-\U0010ffff]")),
    (UTF_8, lazy_pattern(r"[^\x00-\x7f]")),
    (LINE_ENDS_ONCE, lazy_pattern(r"\r\n")),
    (UTF_16_LINE_ENDS_ONCE, lazy_pattern(r"\r\n")),
)
"""The units that are tried without texts beside the spans, and what texts hold in which they differ from
characters."""

Words = Callable[[str], Sequence[tuple[int, int]]]
"""A tokenizer: returns the character span of each word of a text."""


def convert_spans(
    spans: Sequence[CharacterSpan], text: str, unit: OffsetUnit
) -> list[CharacterSpan] | None:
    """The spans with offsets in characters, given offsets in a unit; None if one is outside of the text or
    within a character."""
    place = _places(text, unit)
    converted = []
    for span in spans:
        start, end = place(span.start - unit.first), place(span.end - unit.first + (not unit.past_end))
        if start is None or end is None or start >= end:
            return None
        converted.append(span._replace(start=start, end=end))
    return converted


def _places(text: str, unit: OffsetUnit) -> Callable[[int], int | None]:
    """The function from an offset in code units to an offset in characters (None: there is none)."""
    joins = unit.joins_line_ends and "\r\n" in text
    if (unit.encoding is None or text.isascii()) and not joins:
        return lambda offset: offset if 0 <= offset <= len(text) else None
    places, at, before = {0: 0}, 0, ""
    for number, character in enumerate(text, start=1):
        if not (joins and before == "\r" and character == "\n"):
            at += _size(character, unit)
        places[at], before = number, character
    return places.get


def _size(character: str, unit: OffsetUnit) -> int:
    """The number of units of a character."""
    if unit.encoding is None:
        return 1
    return len(character.encode(unit.encoding, "surrogatepass")) // unit.unit_size


def has_text(span: CharacterSpan, text: str) -> bool:
    """Whether a span has the text that stands beside it (case and white space aside), if one does."""
    return span.written is None or _plain(text[span.start : span.end]) == _plain(span.written)


def _plain(text: str) -> str:
    return "".join(text.split()).casefold()


def mismatch(spans: Iterable[CharacterSpan], text: str) -> str | None:
    """What is wrong with the first span whose text differs from the one beside it; None if there is none.

    A value that occurs nowhere in the text, or is a part of the span, is another name of what is meant, and
    no mismatch."""
    for span in spans:
        written, actual = span.written or "", text[span.start : span.end]
        plain = _plain(written)
        is_other_name = span.is_value and (plain not in _plain(text) or plain in _plain(actual))
        if not has_text(span, text) and not is_other_name:
            return (
                f"the span {span.start} to {span.end} is {actual[:40]!r}, beside it stands {written[:40]!r}"
            )
    return None


def resolve_offsets(
    spans: Sequence[CharacterSpan], text: str, usual: OffsetUnit = CHARACTERS
) -> tuple[list[CharacterSpan], OffsetUnit]:
    """The spans with offsets in characters, and the unit of their offsets (characters if nothing changed).

    This is the `usual` unit of the file, or, if a span then differs from its text, the first of `UNITS` in
    which all spans have theirs. If there is none, the spans are unchanged: `mismatch` says why.
    """
    for unit in (usual, *UNITS) if any(span.written for span in spans) else (usual,):
        converted = convert_spans(spans, text, unit)
        if converted is not None and mismatch(converted, text) is None:
            return converted, CHARACTERS if converted == [*spans] else unit
    return [*spans], CHARACTERS


def usual_unit(texts: Sequence[tuple[str, Sequence[CharacterSpan]]], words: Words) -> OffsetUnit:
    """The unit of the offsets of a file, from its first texts with their spans: the one in which most texts
    have spans like the texts beside them.

    Without texts beside spans, offsets are UTF-16 code units or UTF-8 bytes, or count line ends once, if
    texts have characters of several units or such line ends, all their spans then begin and end with words,
    and in characters they do not.
    """
    counts = dict.fromkeys(UNITS, 0)
    for text, spans in texts:
        if any(span.written for span in spans):
            for unit in UNITS:
                converted = convert_spans(spans, text, unit)
                counts[unit] += converted is not None and mismatch(converted, text) is None
    if any(counts.values()):
        return max(UNITS, key=counts.__getitem__)
    for unit, sign in _DIFFERENCES:
        wide = [(text, spans) for text, spans in texts if spans and sign.search(text)]
        fits = [all(_at_words(spans, text, words, of) for text, spans in wide) for of in (unit, CHARACTERS)]
        if wide and fits == [True, False]:
            return unit
    return CHARACTERS


def _at_words(spans: Sequence[CharacterSpan], text: str, words: Words, unit: OffsetUnit) -> bool:
    """Whether all spans of a text begin and end with words."""
    converted, places = convert_spans(spans, text, unit), words(text)
    starts, ends = {start for start, _ in places}, {end for _, end in places}
    return converted is not None and all(span.start in starts and span.end in ends for span in converted)
