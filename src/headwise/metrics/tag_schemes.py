"""Tag schemes: how the tags of words encode typed spans.

A span is (start, end, type): words `start` up to, not including, `end`. A tag is `O` (outside) or a letter
and the type of the span, `B-PER`; a letter alone stands for a span without a type.

| scheme | tags of a span | first word |
|---|---|---|
| iob1 | `I I I` | `B` only right after a span of the same type (Ramshaw & Marcus 1995; CoNLL-2003) |
| iob2 | `B I I` | always `B` (also called BIO) |
| bioes | `B I E`, `S` for a single word | always `B` or `S` (also called IOBES) |
| bilou | `B I L`, `U` for a single word | bioes in other letters |
| plain | none: a tag stands for itself (parts of speech) | |

`detect_scheme` finds the scheme of a data set, and `check_tags` the tags that violate it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headwise.core.config import unknown_name_error
from headwise.core.errors import ConfigError, HeadwiseError

Scheme = Literal["iob1", "iob2", "bioes", "bilou", "plain"]

_ALIASES = {"bio": "iob2", "iobes": "bioes", "bieos": "bioes", "biluo": "bilou"}
LETTERS: dict[Scheme, str] = {"iob1": "BI", "iob2": "BI", "bioes": "BIES", "bilou": "BILU"}
_WRITTEN = {"iob1": "IIII", "iob2": "BIIB", "bioes": "BIES", "bilou": "BILU"}  # first, inner, last, only
_AS_BIOES = {"L": "E", "U": "S"}
BMES = {"M": "I", "W": "S"}
"""The letters of BMES and BMEWO, common for Chinese, and their counterparts in BIOES."""


class TagError(HeadwiseError):
    """Tags that are invalid, or spans that tags cannot encode.

    Codes: HW270 not a tag of any scheme, HW271 spans that overlap, are empty, or leave the text.
    """

    code = "HW270"


class TagSpan(NamedTuple):
    """A typed span: the words `start` up to, not including, `end` of a text."""

    start: int
    end: int
    type: str


class ParsedTag(NamedTuple):
    """A parsed tag."""

    letter: str
    """One of O, B, I, E and S: bilou is converted to bioes."""
    type: str
    """The type of the span; empty for `O`, and for spans without a type."""


OUTSIDE = ParsedTag("O", "")


def scheme_name(name: str) -> Scheme:
    """The scheme of a name, case-insensitive; aliases such as BIO and IOBES are accepted.

    Raises:
        ConfigError: The name is unknown, or ambiguous: `IOB` is the name of two schemes.
    """
    lower = name.lower()
    names = [*LETTERS, "plain"]
    if lower == "iob":
        raise ConfigError("the tag scheme 'iob' has two meanings; say iob1 or iob2")
    scheme = _ALIASES.get(lower, lower)
    if scheme not in names:
        raise unknown_name_error("tag scheme", name, names)
    return scheme  # type: ignore[return-value]


def tag_set(types: Iterable[str], scheme: Scheme) -> list[str]:
    """All tags of a scheme other than plain, for spans of these types: `O` first."""
    return ["O", *(_tag_text(letter, kind) for kind in types for letter in LETTERS[scheme])]


def read_spans(tags: Sequence[str]) -> list[TagSpan]:
    """The spans of a text, in order, from tags of any scheme or a mixture of schemes.

    Valid tag sequences have one reading. In an invalid sequence (a tagger without constraints can predict
    `O I-PER`), a span begins at each tag that does not continue the previous one, as in conlleval and
    seqeval, so every tag other than `O` is part of a span.

    Raises:
        TagError: HW270, there is a tag of no scheme.
    """
    spans, start, before = [], None, OUTSIDE
    for place, text in enumerate([*tags, "O"]):
        tag = _parse(text)
        if start is None or not _continues(before, tag):
            if start is not None:
                spans.append(TagSpan(start, place, before.type))
            start = place if tag.letter != "O" else None
        before = tag
    return spans


def write_tags(spans: Iterable[TagSpan], length: int, scheme: Scheme) -> list[str]:
    """The tags that encode spans in a text of `length` words: the inverse of `read_spans`.

    Args:
        spans: Spans in any order, without overlap.
        length: The number of words of the text.
        scheme: Any scheme but plain.

    Raises:
        TagError: HW271, spans overlap, are empty, or leave the text.
    """
    begin, inside, end, single = _WRITTEN[scheme]
    tags = ["O"] * length
    before = TagSpan(0, 0, "")
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
        tags[span.start : span.end] = [_tag_text(letter, span.type) for letter in letters]
        before = span
    return tags


def convert_tags(tags: Sequence[str], scheme: Scheme) -> list[str]:
    """The tags of the same spans in another scheme; see `read_spans` and `write_tags`."""
    return write_tags(read_spans(tags), len(tags), scheme)


def canonical_tags(tags: Sequence[str], scheme: Scheme) -> list[int]:
    """For each tag, the index of the first tag that `scheme` writes in the same way, `[tags]`: under iob2,
    `S-PER` and `B-PER` are both written `B-PER`. Under iob1 all tags of a type are equivalent, as the
    previous word decides between `I` and `B`."""
    first: dict[ParsedTag, int] = {}
    numbers = []
    for number, text in enumerate(tags):
        tag = _parse(text)
        if scheme == "iob1" and tag.letter != "O":
            tag = tag._replace(letter="I")
        elif scheme == "iob2":
            tag = tag._replace(letter={"S": "B", "E": "I"}.get(tag.letter, tag.letter))
        numbers.append(first.setdefault(tag, number))
    return numbers


@dataclass(frozen=True)
class Constraints:
    """The valid tag sequences of a scheme.

    Attributes:
        start: Whether a text may begin with each tag, `[tags]`.
        follow: Whether the second tag may follow the first, `[from, to]`.
        end: Whether a text may end with each tag, `[tags]`.
    """

    start: NDArray[np.bool_]
    follow: NDArray[np.bool_]
    end: NDArray[np.bool_]

    def check(self) -> None:
        """Check that texts of every length have a valid tag sequence.

        Raises:
            ValueError: Some lengths have none.
        """
        if not (self.start & self.follow.diagonal() & self.end).any():
            raise ValueError("no tag may fill a text of any length: there are texts without a path")


def scheme_constraints(tags: Sequence[str], scheme: Scheme) -> Constraints | None:
    """The constraints of a scheme on these tags, in their order; None for plain, which has none.

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
        start=np.array([may_follow(OUTSIDE, tag, scheme) for tag in parsed]),
        follow=np.array([[may_follow(before, tag, scheme) for tag in parsed] for before in parsed]),
        end=np.array([may_follow(tag, OUTSIDE, scheme) for tag in parsed]),
    )


@lru_cache(maxsize=4096)
def read_tag(text: str) -> ParsedTag | None:
    """Parse a tag; None if it is of no scheme."""
    letter, hyphen, kind = text.partition("-")
    if text == "O":
        return OUTSIDE
    if letter not in {"B", "I", "E", "S", "L", "U"} or bool(hyphen) != bool(kind):
        return None
    return ParsedTag(_AS_BIOES.get(letter, letter), kind)


def may_follow(before: ParsedTag, tag: ParsedTag, scheme: Scheme) -> bool:
    """Whether a scheme allows `tag` after `before`; `OUTSIDE` stands for the start and end of a text."""
    within = _continues(before, tag)
    if scheme == "iob1":
        return tag.letter != "B" or (before.letter != "O" and before.type == tag.type)
    if scheme == "iob2":
        return tag.letter != "I" or within
    return within if before.letter in "BI" else tag.letter in "OBS"


def _parse(text: str) -> ParsedTag:
    tag = read_tag(text)
    if tag is None:
        usual = BMES.get(text[0]) if text[1:2] == "-" else None
        raise TagError(
            f"{text!r} is neither O nor one of the letters B, I, E, S, L, U with the type of a span (B-PER)"
            + (f"; write {usual + text[1:]!r}" if usual else "")
        )
    return tag


def _tag_text(letter: str, kind: str) -> str:
    return f"{letter}-{kind}" if kind else letter


def _continues(before: ParsedTag, tag: ParsedTag) -> bool:
    """Whether two adjacent tags can belong to one span."""
    return before.letter in "BI" and tag.letter in "IE" and before.type == tag.type


_MARKS: dict[Scheme, str] = {"bioes": "ES", "bilou": "LU"}  # letters that the other schemes do not have


@dataclass(frozen=True)
class TagProblem:
    """A tag that violates its scheme.

    Attributes:
        word: The index of the word, from 0.
        description: What is wrong: "I-PER after O under iob2", "0 for O".
    """

    word: int
    description: str


@dataclass(frozen=True)
class Detection:
    """The detected scheme of a data set.

    Attributes:
        scheme: The scheme.
        reason: The evidence for it in the tags, for a report.
    """

    scheme: Scheme
    reason: str


def check_tags(tags: Sequence[str], scheme: Scheme) -> list[TagProblem]:
    """The problems of the tags of a text, in word order; none under the plain scheme.

    A misspelt tag is replaced by its likely meaning when its neighbours are checked.
    """
    if scheme == "plain":
        return []
    problems = []
    before, before_text = OUTSIDE, ""
    for word, text in enumerate(tags):
        tag, problem = _check_tag(text, scheme)
        if problem:
            problems.append(TagProblem(word, problem))
        elif not may_follow(before, tag, scheme):
            where = f"after {before_text}" if word else "at the start"
            problems.append(TagProblem(word, f"{text} {where} under {scheme}"))
        before, before_text = tag, text
    if not may_follow(before, OUTSIDE, scheme):
        problems.append(TagProblem(len(tags) - 1, f"{before_text} at the end under {scheme}"))
    return problems


def _check_tag(text: str, scheme: Scheme) -> tuple[ParsedTag, str]:
    """The meaning of a tag by itself, and its problem; "" if it has none."""
    tag = read_tag(text)
    if tag is not None and text[0] in LETTERS[scheme] + "O":
        return tag, ""
    meant = _corrected(text)
    if meant is not None:
        return read_tag(meant) or OUTSIDE, f"{text} for {meant}"
    return tag or OUTSIDE, f"{text!r} is no {scheme} tag"


def _corrected(text: str) -> str | None:
    """The likely meaning of a misspelt tag; None if the tag is valid or cannot be corrected."""
    if read_tag(text) is not None:
        return None
    letter, hyphen, kind = text.partition("-")
    guess = "O" if text in ("0", "o") else f"{letter.upper()}{hyphen}{kind}"
    return guess if read_tag(guess) is not None else None


def detect_scheme(texts: Iterable[Sequence[str]]) -> Detection:
    """Detect the tag scheme of all texts of a data set.

    The scheme is plain unless span tags outnumber tags of no scheme. `O` counts as neither; where there are
    tags of no scheme, a single letter such as A or B counts as a plain tag, not as the beginning of a span.
    Tags with only B and I are iob1 or iob2, whichever is violated less often; iob2 if both are violated
    equally often. E and S indicate bioes, L and U indicate bilou, unless these schemes are violated more
    often: then the letters are mistakes.
    """
    pairs: Counter[tuple[str, str]] = Counter()
    for tags in texts:
        pairs.update(pairwise(["O", *tags, "O"]))
    counts: Counter[str] = Counter()
    for (_, tag), count in pairs.items():
        counts[tag] += count
    strange = Counter(
        {tag: n for tag, n in counts.items() if read_tag(tag) is None and _corrected(tag) is None}
    )
    letters: Counter[str] = Counter()
    for tag, count in counts.items():
        if tag != "O" and read_tag(tag) is not None:
            letters[tag[0]] += count
    typed = sum(count for tag, count in counts.items() if "-" in tag and read_tag(tag) is not None)
    if strange.total() >= (typed if strange else letters.total()):
        most = strange.most_common(1)
        what = f"such as {most[0][0]!r} have {strange.total()} words" if most else "are only O"
        return Detection("plain", f"tags of spans have {letters.total()} words; others {what}")
    seen = {mark: f"{letters[mark]} words have {mark}-" for mark in "ESLU" if letters[mark]}
    against = {scheme: _violations(pairs, scheme) for scheme in LETTERS}
    for marked, marks in _MARKS.items():
        evidence = [seen[mark] for mark in marks if mark in seen]
        if evidence and against[marked] == min(against.values()):
            return Detection(marked, " and ".join(evidence))
    scheme: Scheme = "iob1" if against["iob1"] < against["iob2"] else "iob2"
    if seen:
        reason = f"{' and '.join(seen.values())}, fewer than what {' or '.join(_MARKS)} would forbid"
    elif not against[scheme]:
        reason = _WITHOUT_EXCEPTION[scheme]
    else:
        reason = f"{against['iob2']} spans begin with I- as in iob1, {against['iob1']} with B- as in iob2"
    return Detection(scheme, reason)


_WITHOUT_EXCEPTION: dict[Scheme, str] = {
    "iob1": "spans begin with I-, and with B- only after another span of their type",
    "iob2": "every span begins with B-",
}


def _violations(pairs: Counter[tuple[str, str]], scheme: Scheme) -> int:
    """The number of tags that are not in the scheme or may not follow the previous tag."""
    total = 0
    for (before, text), count in pairs.items():
        first, tag = read_tag(before), read_tag(text)
        if tag is None:
            continue
        of_scheme = text[0] in LETTERS[scheme] + "O"
        if not of_scheme or (first is not None and not may_follow(first, tag, scheme)):
            total += count
    return total
