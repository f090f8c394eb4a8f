"""Translation of patterns of the `regex` module to JavaScript, so that a page cuts texts as headwise does.

Every set of characters becomes the ranges of code points that the `regex` module finds in it. A page is
thereby independent of the Unicode version of its browser. What JavaScript lacks is expressed by what it
has: a possessive repetition `x*+` is a look-ahead whose match is then consumed, `(?=(?<p>x*))\\k<p>`.

Supported are the constructs of `headwise.core.tokenizer` and `headwise.core.text_normalization`; any other
is an error.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypedDict

import numpy as np
import regex

_FEW = 8
"""Ranges of a set that is written in place; larger sets are listed once."""
_QUANTIFIER = re.compile(r"([*+?]|\{\d*,?\d*\})([+?]?)")
_ESCAPE = re.compile(
    r"\\(?:[pP]\{[^}]+\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[swdSWD]|[^A-Za-z0-9])"
)
_OPENINGS: Mapping[str, tuple[str, str]] = {
    "(?:": ("(?:", ""),
    "(?i:": ("(?:", "i"),
    "(?s:": ("(?:", "s"),
    "(?=": ("(?=", ""),
    "(?!": ("(?!", ""),
    "(?<=": ("(?<=", ""),
    "(?<!": ("(?<!", ""),
}
"""Openings of groups, with their spelling in JavaScript and the flags that they add."""


class JavaScriptPattern(TypedDict):
    """A pattern for `new RegExp(source, "gu")`.

    Attributes:
        source: The pattern; `@3@` stands for the third of the sets, counted from 0.
        sets: The ranges of code points of each set, see `encode_ranges`.
    """

    source: str
    sets: Sequence[str]


def javascript_pattern(pattern: str) -> JavaScriptPattern:
    """Translate a pattern of the `regex` module (version 1).

    Raises:
        ValueError: It has a construct that is not supported.
    """
    translation = _Translation(pattern)
    source = translation.alternatives("")
    if translation.place != len(pattern):
        raise ValueError(f"an unmatched ) at {translation.place} in {pattern!r:.200}")
    return {"source": source, "sets": [*translation.sets]}


class _Translation:
    """Reads a pattern from left to right.

    Attributes:
        place: Offset of what is read next.
        sets: The large sets, with their numbers.
        captures: Number of groups that possessive repetitions have needed.
    """

    def __init__(self, pattern: str):
        self.pattern, self.place = pattern, 0
        self.sets: dict[str, int] = {}
        self.captures = 0

    def alternatives(self, flags: str) -> str:
        """The translation up to the end of a group."""
        parts, text = [""], self.pattern
        while self.place < len(text) and text[self.place] != ")":
            if text[self.place] == "|":
                self.place += 1
                parts.append("")
            else:
                parts[-1] += self._repeated(flags)
        return "|".join(parts)

    def _repeated(self, flags: str) -> str:
        atom = self._atom(flags)
        quantifier = _QUANTIFIER.match(self.pattern, self.place)
        if quantifier is None:
            return atom
        self.place = quantifier.end()
        if quantifier[2] != "+":
            return atom + quantifier[0]
        self.captures += 1
        name = f"p{self.captures}"
        return f"(?=(?<{name}>{atom}{quantifier[1]}))\\k<{name}>"

    def _atom(self, flags: str) -> str:
        text, place = self.pattern, self.place
        if text[place] == "(":
            return self._group(flags)
        if text[place] == "[":
            return self._set(self._set_end(), flags)
        if text[place] == "\\":
            escape = _ESCAPE.match(text, place)
            if escape is None:
                raise ValueError(f"the escape at {place} in {text!r:.200} is not supported")
            return self._set(escape.end(), flags)
        if text[place] in "*+?{^$":
            raise ValueError(f"{text[place]!r} at {place} in {text!r:.200} is not supported")
        return self._set(place + 1, flags)

    def _group(self, flags: str) -> str:
        opening = next((o for o in _OPENINGS if self.pattern.startswith(o, self.place)), None)
        if opening is None:
            raise ValueError(f"the group at {self.place} in {self.pattern!r:.200} is not supported")
        self.place += len(opening)
        written, more = _OPENINGS[opening]
        captures = self.captures
        inner = self.alternatives(flags + more)
        if "<" in opening and captures != self.captures:
            raise ValueError("a possessive repetition in a look-behind is not supported")
        if self.place == len(self.pattern):
            raise ValueError(f"an unmatched ( in {self.pattern!r:.200}")
        self.place += 1
        return f"{written}{inner})"

    def _set_end(self) -> int:
        """The offset after the set that begins here."""
        depth, place = 0, self.place
        while place < len(self.pattern):
            character = self.pattern[place]
            place += 1 + (character == "\\")
            depth += (character == "[") - (character == "]")
            if depth == 0:
                return place
        raise ValueError(f"an unmatched [ at {self.place} in {self.pattern!r:.200}")

    def _set(self, end: int, flags: str) -> str:
        """The translation of a pattern of one character, which ends at this offset."""
        source, self.place = self.pattern[self.place : end], end
        literal = source[1:] if source[0] == "\\" and not source[1:].isalnum() else source
        if len(literal) == 1 and source != "." and not ("i" in flags and literal.isalpha()):
            return literal if literal.isascii() and literal.isalnum() else f"\\u{{{ord(literal):x}}}"
        ranges = character_ranges(source, flags)
        if len(ranges) > _FEW:
            return f"@{self.sets.setdefault(encode_ranges(ranges), len(self.sets))}@"
        return "[" + "".join(itertools.starmap(_range, ranges)) + "]"


@cache
def character_ranges(pattern: str, flags: str = "") -> tuple[tuple[int, int], ...]:
    """The first and the last code point of each range of characters that a pattern matches.

    Args:
        pattern: A pattern of the `regex` module for one character.
        flags: Letters of its flags.
    """
    prefix = f"(?{''.join(sorted(set(flags)))})" if flags else ""
    characters, lasts = _characters()
    matches = regex.compile(rf"{prefix}(?:{pattern})++", regex.V1).finditer(characters)
    return tuple((ord(characters[match.start()]), lasts[match.end() - 1]) for match in matches)


@cache
def _characters() -> tuple[str, list[int]]:
    """The characters that are tried, and the last code point that each stands for: the planes without
    assigned characters are represented by their first code point."""
    codes, lasts = list[int](), list[int]()
    for first, last, end in (
        (0, 0x40000, 0xDFFFF),
        (0xE0000, 0xE1000, 0xEFFFF),
        (0xF0000, 0xF0000, 0x10FFFF),
    ):
        codes += range(first, last + 1)
        lasts += [*range(first, last), end]
    return "".join(map(chr, codes)), lasts


def _range(first: int, last: int) -> str:
    return f"\\u{{{first:x}}}" + (f"-\\u{{{last:x}}}" if last > first else "")


def encode_ranges(ranges: Sequence[tuple[int, int]]) -> str:
    """Ranges as numbers to the base 36, separated by spaces: the gap after the last range (or 0), and the
    size of the range."""
    numbers, last = list[int](), 0
    for first, end in ranges:
        numbers += [first - last, end - first + 1]
        last = end + 1
    return " ".join(np.base_repr(number, 36).lower() for number in numbers)
