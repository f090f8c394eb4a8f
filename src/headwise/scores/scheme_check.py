"""Detection of the tag scheme of a data set, and of tags that violate it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from headwise.scores.schemes import LETTERS, OUTSIDE, Scheme, Tag, fits, read_tag

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
        tag, problem = _judge(text, scheme)
        if problem:
            problems.append(TagProblem(word, problem))
        elif not fits(before, tag, scheme):
            where = f"after {before_text}" if word else "at the start"
            problems.append(TagProblem(word, f"{text} {where} under {scheme}"))
        before, before_text = tag, text
    if not fits(before, OUTSIDE, scheme):
        problems.append(TagProblem(len(tags) - 1, f"{before_text} at the end under {scheme}"))
    return problems


def _judge(text: str, scheme: Scheme) -> tuple[Tag, str]:
    """The meaning of a tag by itself, and its problem; "" if it has none."""
    tag = read_tag(text)
    if tag is not None and text[0] in LETTERS[scheme] + "O":
        return tag, ""
    meant = _meant(text)
    if meant is not None:
        return read_tag(meant) or OUTSIDE, f"{text} for {meant}"
    return tag or OUTSIDE, f"{text!r} is no {scheme} tag"


def _meant(text: str) -> str | None:
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
        {tag: n for tag, n in counts.items() if read_tag(tag) is None and _meant(tag) is None}
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
    for scheme, marks in _MARKS.items():
        evidence = [seen[mark] for mark in marks if mark in seen]
        if evidence and against[scheme] == min(against.values()):
            return Detection(scheme, " and ".join(evidence))
    reason = (
        f"{against['iob2']} spans begin with I-, which iob2 forbids; "
        f"{against['iob1']} begin with B- where no span of the same type ends, which iob1 forbids"
    )
    if seen:
        reason = f"{' and '.join(seen.values())}, fewer than what {' or '.join(_MARKS)} would forbid"
    return Detection("iob1" if against["iob1"] < against["iob2"] else "iob2", reason)


def _violations(pairs: Counter[tuple[str, str]], scheme: Scheme) -> int:
    """The number of tags that are not in the scheme or may not follow the previous tag."""
    total = 0
    for (before, text), count in pairs.items():
        first, tag = read_tag(before), read_tag(text)
        if tag is None:
            continue
        of_scheme = text[0] in LETTERS[scheme] + "O"
        if not of_scheme or (first is not None and not fits(first, tag, scheme)):
            total += count
    return total
