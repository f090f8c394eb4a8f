"""Tag schemes: how the tag of each word says where named spans begin and end.

A span is (start, end, type): words `start` up to, not including, `end`. A tag is `O` (outside) or a letter
and the type of the span, `B-PER`; a letter alone stands for a span without a type.

| scheme | tags of a span | first word |
|---|---|---|
| iob1 | `I I I` | `B` only right after a span of the same type (Ramshaw & Marcus 1995; CoNLL-2003) |
| iob2 | `B I I` | always `B` (also called BIO) |
| bioes | `B I E`, `S` for a single word | always `B` or `S` (also called IOBES) |
| bilou | `B I L`, `U` for a single word | bioes in other letters |
| plain | none: a tag stands for itself (parts of speech) | |
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.config import unknown
from headwise.errors import ConfigError, HeadwiseError

Scheme = Literal["iob1", "iob2", "bioes", "bilou", "plain"]

_ALIASES = {"bio": "iob2", "iobes": "bioes", "bieos": "bioes", "biluo": "bilou"}
LETTERS: dict[Scheme, str] = {"iob1": "BI", "iob2": "BI", "bioes": "BIES", "bilou": "BILU"}
_WRITTEN = {"iob1": "IIII", "iob2": "BIIB", "bioes": "BIES", "bilou": "BILU"}  # first, inner, last, only
_AS_BIOES = {"L": "E", "U": "S"}
BMES = {"M": "I", "W": "S"}
"""The letters of BMES and BMEWO, in which much Chinese is tagged, that are others in BIOES."""


class TagError(HeadwiseError):
    """Tags that make no spans, or spans that no tags can say.

    Codes: HW270 not a tag of any scheme, HW271 spans that overlap, are empty, or leave the text.
    """

    code = "HW270"


class Span(NamedTuple):
    """The words `start` up to, not including, `end` of a text, and what they are."""

    start: int
    end: int
    type: str


class Tag(NamedTuple):
    """A tag taken apart."""

    letter: str
    """`O`, or of B, I, E and S: bilou is read as bioes."""
    type: str
    """Of the span; empty for `O`, and for spans without a type."""


OUTSIDE = Tag("O", "")


def scheme_name(name: str) -> Scheme:
    """The scheme that is called so, in capitals or not, also by another name (BIO, IOBES).

    Raises:
        ConfigError: There is none; `IOB` alone is not one, for two schemes are called so.
    """
    lower = name.lower()
    known = [*LETTERS, "plain"]
    if lower == "iob":
        raise ConfigError("the tag scheme 'iob' has two meanings; say iob1 or iob2")
    found = _ALIASES.get(lower, lower)
    if found not in known:
        raise unknown("tag scheme", name, known)
    return found  # type: ignore[return-value]


def tag_set(types: Iterable[str], scheme: Scheme) -> list[str]:
    """All tags of a scheme other than plain, for spans of these types: `O` first."""
    return ["O", *(_spell(letter, kind) for kind in types for letter in LETTERS[scheme])]


def read_spans(tags: Sequence[str], strict: Scheme | None = None) -> list[Span]:
    """The spans of a text, in order. Any mixture of letters can be read.

    Tags that fit their scheme have one reading. Where they do not (a tagger without constraints can write
    `O I-PER`), a span begins at a tag that does not continue the one before, as conlleval and seqeval have
    it, so every tag other than `O` is part of a span.

    Args:
        tags: Of the words of a text.
        strict: Leave out spans that do not begin, or under bioes and bilou do not end, as this scheme
            demands: seqeval's strict mode.

    Raises:
        TagError: HW270, there is a tag of no scheme.
    """
    spans, start, before = [], None, OUTSIDE
    for place, text in enumerate([*tags, "O"]):
        tag = _parse(text)
        if start is None or not _continues(before, tag):
            if start is not None and _may_end(before, strict):
                spans.append(Span(start, place, before.type))
            start = place if _may_begin(before, tag, strict) else None
        before = tag
    return spans


def write_tags(spans: Iterable[Span], length: int, scheme: Scheme) -> list[str]:
    """The tags that say where these spans are, for a text of `length` words: the inverse of `read_spans`.

    Args:
        spans: In any order; they must not overlap.
        length: Words of the text.
        scheme: Not plain.

    Raises:
        TagError: HW271, spans overlap, are empty, or leave the text.
    """
    begin, inside, end, single = _WRITTEN[scheme]
    tags = ["O"] * length
    before = Span(0, 0, "")
    for span in sorted(spans):
        if not before.end <= span.start < span.end <= length:
            raise TagError(
                f"the span {tuple(span)} in a text of {length} words is empty, leaves the text, or "
                f"overlaps the span {tuple(before)} before it",
                code="HW271",
            )
        words = span.end - span.start
        letters = single if words == 1 else begin + inside * (words - 2) + end
        if scheme == "iob1" and span.start == before.end > 0 and span.type == before.type:
            letters = "B" + letters[1:]
        tags[span.start : span.end] = [_spell(letter, span.type) for letter in letters]
        before = span
    return tags


def convert(tags: Sequence[str], scheme: Scheme) -> list[str]:
    """The same spans in another scheme; see `read_spans` and `write_tags`."""
    return write_tags(read_spans(tags), len(tags), scheme)


def alike(tags: Sequence[str], scheme: Scheme) -> list[int]:
    """For each tag the number of the first one that a scheme with fewer letters writes as it does: under
    iob2 `S-PER` and `B-PER` are one. Under iob1 all tags of a type are, as the word before decides whether
    it writes `I` or `B`."""
    first: dict[Tag, int] = {}
    found = []
    for number, text in enumerate(tags):
        tag = _parse(text)
        if scheme == "iob1" and tag.letter != "O":
            tag = tag._replace(letter="I")
        elif scheme == "iob2":
            tag = tag._replace(letter={"S": "B", "E": "I"}.get(tag.letter, tag.letter))
        found.append(first.setdefault(tag, number))
    return found


@dataclass(frozen=True)
class Constraints:
    """Which tags fit a scheme.

    Attributes:
        start: Whether a text may begin with the tag, `[tags]`.
        follow: Whether the second may follow the first, `[from, to]`.
        end: Whether a text may end with it, `[tags]`.
    """

    start: NDArray[np.bool_]
    follow: NDArray[np.bool_]
    end: NDArray[np.bool_]

    def check(self) -> None:
        """Check that texts of any length have tags.

        Raises:
            ValueError: There are some without.
        """
        if not (self.start & self.follow.diagonal() & self.end).any():
            raise ValueError("no tag may fill a text of any length: there are texts without a path")


def constraints(tags: Sequence[str], scheme: Scheme) -> Constraints | None:
    """What the scheme allows of these tags, in their order; None for plain, which allows all.

    Raises:
        TagError: HW270, there is a tag of another scheme, or of none.
    """
    if scheme == "plain":
        return None
    parsed = [_parse(tag) for tag in tags]
    for text in tags:
        if text[0] not in LETTERS[scheme] + "O":
            raise TagError(f"{text} is no {scheme} tag")
    return Constraints(
        start=np.array([fits(OUTSIDE, tag, scheme) for tag in parsed]),
        follow=np.array([[fits(before, tag, scheme) for tag in parsed] for before in parsed]),
        end=np.array([fits(tag, OUTSIDE, scheme) for tag in parsed]),
    )


@lru_cache(maxsize=4096)
def read_tag(text: str) -> Tag | None:
    """A tag taken apart; None where it is of no scheme."""
    letter, hyphen, kind = text.partition("-")
    if text == "O":
        return OUTSIDE
    if letter not in {"B", "I", "E", "S", "L", "U"} or bool(hyphen) != bool(kind):
        return None
    return Tag(_AS_BIOES.get(letter, letter), kind)


def fits(before: Tag, tag: Tag, scheme: Scheme) -> bool:
    """Whether a scheme allows the one tag after the other; `OUTSIDE` stands before a text and behind it."""
    within = _continues(before, tag)
    if scheme == "iob1":
        return tag.letter != "B" or _same_type(before, tag)
    if scheme == "iob2":
        return tag.letter != "I" or within
    return within if before.letter in "BI" else tag.letter in "OBS"


def _parse(text: str) -> Tag:
    tag = read_tag(text)
    if tag is None:
        usual = BMES.get(text[0]) if text[1:2] == "-" else None
        raise TagError(
            f"{text!r} is neither O nor one of the letters B, I, E, S, L, U with the type of a span (B-PER)"
            + (f"; write {usual + text[1:]!r}" if usual else "")
        )
    return tag


def _spell(letter: str, kind: str) -> str:
    return f"{letter}-{kind}" if kind else letter


def _continues(before: Tag, tag: Tag) -> bool:
    """Whether two neighbouring tags can be of one span."""
    return before.letter in "BI" and tag.letter in "IE" and before.type == tag.type


def _same_type(before: Tag, tag: Tag) -> bool:
    return before.letter != "O" and before.type == tag.type


def _may_begin(before: Tag, tag: Tag, strict: Scheme | None) -> bool:
    """Whether a span may begin with this tag, which does not continue one."""
    if strict is None:
        return tag.letter != "O"
    if strict == "iob1":
        return tag.letter == "I" or (tag.letter == "B" and _same_type(before, tag))
    return tag.letter in "BS"


def _may_end(tag: Tag, strict: Scheme | None) -> bool:
    return strict in (None, "iob1", "iob2") or tag.letter in "ES"
