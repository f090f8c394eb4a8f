"""Which tag scheme a data set is in, and which of its tags do not fit it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from headwise.scores.schemes import LETTERS, OUTSIDE, Scheme, Tag, fits, read_tag

_MARKS: dict[Scheme, str] = {"bioes": "ES", "bilou": "LU"}  # which the others do not have


@dataclass(frozen=True)
class TagProblem:
    """A tag that does not fit its scheme.

    Attributes:
        word: Number of the word, from 0.
        found: What is wrong: "I-PER after O under iob2", "0 for O".
    """

    word: int
    found: str


@dataclass(frozen=True)
class Detection:
    """A guess at the scheme of a data set.

    Attributes:
        scheme: The scheme.
        reason: What in the tags speaks for it, for a report.
    """

    scheme: Scheme
    reason: str


def check_tags(tags: Sequence[str], scheme: Scheme) -> list[TagProblem]:
    """What is wrong with the tags of a text, word by word; nothing under plain.

    A tag that is written wrongly counts as what it most likely means when its neighbours are judged.
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
    """What a tag means, and what is wrong with it, looked at alone."""
    tag = read_tag(text)
    if tag is not None and text[0] in LETTERS[scheme] + "O":
        return tag, ""
    meant = _meant(text)
    if meant is not None:
        return read_tag(meant) or OUTSIDE, f"{text} for {meant}"
    return tag or OUTSIDE, f"{text!r} is no {scheme} tag"


def _meant(text: str) -> str | None:
    """The tag that is likely meant by one that cannot be read."""
    if read_tag(text) is not None:
        return None
    letter, hyphen, kind = text.partition("-")
    guess = "O" if text in ("0", "o") else f"{letter.upper()}{hyphen}{kind}"
    return guess if read_tag(guess) is not None else None


def detect_scheme(texts: Iterable[Sequence[str]]) -> Detection:
    """The scheme of the tags of all texts of a data set.

    Plain where the tags of spans are not in the majority over tags of no scheme (`O` counts as neither, and
    beside such tags a letter alone is a name like others, as in A and B, not the beginning of a span). B
    and I alone are iob1 or iob2, whichever is violated less often; iob2 where both are violated alike. E
    and S say bioes, L and U say bilou, unless that is violated more often: then they are mistakes.
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
        own = [seen[mark] for mark in marks if mark in seen]
        if own and against[scheme] == min(against.values()):
            return Detection(scheme, " and ".join(own))
    reason = (
        f"{against['iob2']} spans begin with I-, which iob2 forbids; "
        f"{against['iob1']} begin with B- where no span of the same type ends, which iob1 forbids"
    )
    if seen:
        reason = f"{' and '.join(seen.values())}, fewer than what {' or '.join(_MARKS)} would forbid"
    return Detection("iob1" if against["iob1"] < against["iob2"] else "iob2", reason)


def _violations(pairs: Counter[tuple[str, str]], scheme: Scheme) -> int:
    """How often a tag is none of the scheme, or may not follow the one before."""
    total = 0
    for (before, text), count in pairs.items():
        first, tag = read_tag(before), read_tag(text)
        if tag is None:
            continue
        known = text[0] in LETTERS[scheme] + "O"
        if not known or (first is not None and not fits(first, tag, scheme)):
            total += count
    return total
