"""What tags look like, what can be wrong with them, and how many entities they mark.

Codes: HW252 a tag that the scheme does not have, such as the digit 0 for the letter O; HW253 (a finding,
never raised) an entity that goes on where none has begun; HW254 tags that look like words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from headwise.data.sentence import Tagged
from headwise.scores.schemes import BMES

ENTITY_TAG = re.compile(r"O|[BIESLU](-.+)?")
"""A tag of the schemes IOB1, IOB2, BIOES and BILOU; the type may be missing."""

_MOST = 0.9  # of the tags; the others are mistakes

_LETTER, _MARK = "[BIESLUMW]", "[-_.:/|]"
_OTHERWISE = re.compile(
    f"(?P<letter>{_LETTER}){_MARK}(?P<type>.+)|(?P<kind>.+){_MARK}(?P<last>{_LETTER})", re.IGNORECASE
)
_USUAL = str.maketrans(BMES)


class Place(NamedTuple):
    """A token: the number of its sentence and its number in it, both from 0."""

    sentence: int
    token: int


def marks_entities(tags: Mapping[str, int]) -> bool:
    """Whether tags mark entities by prefixes (`B-PER`), rather than each token for itself (`NNP`).

    Args:
        tags: How often each tag occurs.
    """
    fitting = sum(n for tag, n in tags.items() if ENTITY_TAG.fullmatch(tag))
    typed = any(ENTITY_TAG.fullmatch(tag) and len(tag) > 1 for tag in tags)
    untyped = "O" in tags and ("B" in tags or "I" in tags)
    return (typed or untyped) and fitting >= _MOST * sum(tags.values())


def strange_tags(tags: Mapping[str, int]) -> dict[str, str]:
    """Tags that are mistakes, and what was meant where that is clear (else "").

    Args:
        tags: How often each tag occurs.
    """
    if marks_entities(tags):
        return {tag: _meant(tag) for tag in tags if not ENTITY_TAG.fullmatch(tag)}
    if "O" in tags and 0 < tags.get("0", 0) < tags["O"] and "1" not in tags:
        return {"0": "O"}
    return {}


def middles(tags: Iterable[str]) -> dict[str, str]:
    """Tags of BMES (BMEWO), in which much Chinese is tagged, that BIOES writes with other letters: `M-PER`
    is `I-PER`, `W-PER` is `S-PER`. None where `I`, `L` or `U` stand beside them."""
    typed = [tag for tag in tags if tag[1:2] == "-"]
    letters = {tag[0] for tag in typed}
    if not {"B", "M", "E"} <= letters or letters & set("ILU"):
        return {}
    return {tag: tag[0].translate(_USUAL) + tag[1:] for tag in typed if tag[0] in BMES}


def written_otherwise(tags: Mapping[str, int]) -> tuple[str, str] | None:
    """The most frequent of tags that say where spans begin, but not as schemes write it (`B_PER`, `PER-B`,
    `b-PER`), and how these do; None where most tags but O are others.

    Args:
        tags: How often each tag occurs.
    """
    found: dict[str, str] = {}
    letters: dict[str, set[str]] = {}
    for tag in tags:
        if parts := _OTHERWISE.fullmatch(tag):
            letter, kind = (parts["letter"] or parts["last"]).upper(), parts["type"] or parts["kind"]
            found[tag] = f"{letter.translate(_USUAL)}-{kind}"
            letters.setdefault(kind, set()).add(letter)
    begun = any("B" in own and len(own) > 1 for own in letters.values())
    fitting = sum(tags[tag] for tag in found)
    if not begun or fitting < _MOST * sum(count for tag, count in tags.items() if tag.upper() != "O"):
        return None
    first = max(found, key=lambda tag: (found[tag][0] == "B", tags[tag]))
    return first, found[first]


def _meant(tag: str) -> str:
    return "O" if tag in {"0", "o", "\N{CYRILLIC CAPITAL LETTER O}"} else ""


def places_of(sentences: Sequence[Tagged], tags: Iterable[str]) -> Iterator[Place]:
    """The first token of each sentence that has one of the tags."""
    wanted = frozenset(tags)
    for index, sentence in enumerate(sentences):
        if not wanted.isdisjoint(sentence.tags):
            yield Place(index, next(i for i, tag in enumerate(sentence.tags) if tag in wanted))


def unopened(sentences: Sequence[Tagged]) -> list[Place]:
    """Entities that go on where none has begun: `I-` after `O`, or after an entity of another type.

    Only where most entities begin with `B-`, as IOB2 demands; in IOB1 that is how an entity begins.
    """
    begun, found = 0, []
    for index, sentence in enumerate(sentences):
        before = "O"
        for token, tag in enumerate(sentence.tags):
            if tag[:1] == "I" and (before == "O" or before[1:] != tag[1:]):
                found.append(Place(index, token))
            begun += tag[:1] == "B" and (before == "O" or before[1:] != tag[1:])
            before = tag
    return found if begun > len(found) else []


def count_entities(sentences: Iterable[Tagged]) -> dict[str, int]:
    """How many entities of each type the tags mark, the most frequent first, then by name.

    An entity begins and ends as in conlleval, whatever the scheme; {} where tags mark none.
    """
    counts: Counter[str] = Counter()
    for sentence in sentences:
        before = "O"
        for tag in sentence.tags:
            begins = tag[0] in "BSU" or before[0] in "OESLU" or before[1:] != tag[1:]
            if tag != "O" and begins:
                counts[tag[2:]] += 1
            before = tag
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def some_tags(tags: Sequence[str]) -> str:
    """The most frequent of them, for the user."""
    names = [tag for tag, _ in Counter(tags).most_common(4)]
    return ", ".join(names) + (", ..." if len(set(tags)) > len(names) else "")


def look_like_words(tags: Sequence[str], tokens: Sequence[str]) -> bool:
    """Whether there are about as many different tags as tokens, so that they will be no tags."""
    return len(tags) >= 30 and len(set(tags)) >= 0.8 * len(set(tokens))
