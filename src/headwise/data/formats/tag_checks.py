"""Checks of tags: the scheme, mistakes, and the number of entities.

Codes: HW252 a tag that the scheme does not have, such as the digit 0 for the letter O; HW253 (a finding,
never raised) an entity that goes on where none has begun; HW254 tags that look like words.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.findings import Finding
from headwise.data.items.examples import TaggedSentence
from headwise.metrics.tag_schemes import BMES

ENTITY_TAG = lazy_pattern(r"O|[BIESLU](-.+)?")
"""A tag of the schemes IOB1, IOB2, BIOES and BILOU; the type may be missing."""

_MIN_FITTING = 0.9  # of the tags must fit a scheme; the rest are mistakes

_LETTER, _MARK = "[BIESLUMW]", "[-_.:/|]"
_OTHERWISE = lazy_pattern(
    f"(?P<letter>{_LETTER}){_MARK}(?P<type>.+)|(?P<kind>.+){_MARK}(?P<last>{_LETTER})", re.IGNORECASE
)
_USUAL = str.maketrans(BMES)
_LOOK_ALIKES = ("o", "0", "\N{CYRILLIC CAPITAL LETTER O}", "\N{CYRILLIC SMALL LETTER O}")
"""Tags that stand for the letter O."""


class TokenPosition(NamedTuple):
    """The position of a token: the number of its sentence, and its number in the sentence, both from 0."""

    sentence: int
    token: int


def marks_entities(tags: Mapping[str, int]) -> bool:
    """Whether tags, with their counts, mark spans by prefixes (`B-PER`), not single tokens (`NNP`)."""
    fitting = sum(n for tag, n in tags.items() if ENTITY_TAG.fullmatch(tag))
    typed = any(ENTITY_TAG.fullmatch(tag) and len(tag) > 1 for tag in tags)
    untyped = "O" in tags and ("B" in tags or "I" in tags)
    return (typed or untyped) and fitting >= _MIN_FITTING * sum(tags.values())


def span_type(tag: str) -> str:
    """The span type of a tag; a plain tag is its own type."""
    return tag.partition("-")[2] or tag


def tag_corrections(tags: Mapping[str, int]) -> dict[str, str]:
    """The invalid tags, each with its correction ("" if that is not clear), by the count of each tag."""
    if marks_entities(tags):
        return {tag: "O" * (tag in _LOOK_ALIKES) for tag in tags if not ENTITY_TAG.fullmatch(tag)}
    if "O" in tags and 0 < tags.get("0", 0) < tags["O"] and "1" not in tags:
        return {"0": "O"}
    return {}


def bmes_as_bioes(tags: Iterable[str]) -> dict[str, str]:
    """The BIOES tag for each tag of the scheme BMES (BMEWO, common for Chinese) that differs: `I-PER` for
    `M-PER`, `S-PER` for `W-PER`. Empty if the tags are not BMES, or use `I`, `L` or `U`."""
    typed = [tag for tag in tags if tag[1:2] == "-"]
    letters = {tag[0] for tag in typed}
    if not {"B", "M", "E"} <= letters or letters & set("ILU"):
        return {}
    return {tag: tag[0].translate(_USUAL) + tag[1:] for tag in typed if tag[0] in BMES}


def nonstandard_span_tag(tags: Mapping[str, int]) -> tuple[str, str] | None:
    """The most frequent tag that marks the begin of a span in a non-standard spelling (`B_PER`, `PER-B`,
    `b-PER`), and its standard spelling; None if most tags other than O are not spelt so. If only the tag
    O is spelt otherwise (`o`, `_`, `OUT`), this tag and O."""
    respelled: dict[str, str] = {}
    letters: dict[str, set[str]] = {}
    for tag in tags:
        if parts := _OTHERWISE.fullmatch(tag):
            letter, kind = (parts["letter"] or parts["last"]).upper(), parts["type"] or parts["kind"]
            respelled[tag] = f"{letter.translate(_USUAL)}-{kind}"
            letters.setdefault(kind, set()).add(letter)
    strange = {tag: right for tag, right in respelled.items() if tag != right}
    outside = [tag for tag in tags if tag in _LOOK_ALIKES]
    if not outside and "O" not in tags:  # a single tag without a prefix, such as `_` or `OUT`
        plain = [tag for tag in tags if not ENTITY_TAG.fullmatch(tag)]
        outside = plain if len(plain) == 1 and any(tag.startswith("B-") for tag in tags) else []
    if (
        not strange
        and outside
        and marks_entities({tag: n for tag, n in tags.items() if tag not in outside})
    ):
        return outside[0], "O"
    begun = any("B" in marks and len(marks) > 1 for marks in letters.values())
    begun = begun or ("o" in tags and all(tag.startswith("b-") for tag in strange))
    fitting = sum(tags[tag] for tag in respelled)
    if (
        not strange
        or not begun
        or fitting < _MIN_FITTING * sum(count for tag, count in tags.items() if tag.upper() != "O")
    ):
        return None
    first = max(strange, key=lambda tag: (respelled[tag][0] == "B", tags[tag]))
    return first, respelled[first]


def tag_positions(sentences: Sequence[TaggedSentence], tags: Iterable[str]) -> Iterator[TokenPosition]:
    """The position of the first token with one of the tags in each sentence that has any."""
    tag_set = frozenset(tags)
    for index, sentence in enumerate(sentences):
        if not tag_set.isdisjoint(sentence.tags):
            yield TokenPosition(index, next(i for i, tag in enumerate(sentence.tags) if tag in tag_set))


def spans_without_begin(sentences: Sequence[TaggedSentence]) -> list[TokenPosition]:
    """The positions where an entity continues without a begin: `I-` after `O` or after another type.

    Empty unless most entities begin with `B-` (IOB2), as in IOB1 this is how an entity begins.
    """
    begun, places = 0, []
    for index, sentence in enumerate(sentences):
        before = "O"
        for token, tag in enumerate(sentence.tags):
            if tag[:1] == "I" and (before == "O" or before[1:] != tag[1:]):
                places.append(TokenPosition(index, token))
            begun += tag[:1] == "B" and (before == "O" or before[1:] != tag[1:])
            before = tag
    return places if begun > len(places) else []


def count_entity_types(sentences: Iterable[TaggedSentence]) -> dict[str, int]:
    """The number of entities of each type, the most frequent first, then by name.

    Entities are delimited as in conlleval, for all schemes; empty if the tags mark none.
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


def shown_tags(tags: Sequence[str]) -> str:
    """The four most frequent tags, for messages."""
    names = [tag for tag, _ in Counter(tags).most_common(4)]
    return ", ".join(names) + (", ..." if len(set(tags)) > len(names) else "")


def look_like_words(tags: Sequence[str], tokens: Sequence[str]) -> bool:
    """Whether tags are almost as varied as tokens, so that the column is unlikely to hold tags."""
    varied = len(tags) >= 30 and len(set(tags)) >= 0.8 * len(set(tokens))
    return varied and not marks_entities(Counter(tags))


def span_warnings(tags: Mapping[str, int], path: str) -> Iterator[Finding]:
    """A warning on tags that look as if they should mark spans, but do not."""
    if written := nonstandard_span_tag(tags):
        tag, right = written
        message = f"tags such as {tag!r} mark no spans: each is learnt as a class of single words"
        if right == "O":
            message = f"the tag {tag!r} stands where spans have 'O': each tag is learnt as a class of words"
        yield Finding("warning", "HW248", message, (path,), f"write {right!r} for {tag!r} to have spans")
        return
    outside, words = tags.get("O", 0), sum(tags.values())
    labels = [tag for tag in tags if tag != "O"]
    if labels and 2 * outside > words:
        message = (
            f"tags such as {labels[0]!r}, without B- or I-, mark no spans: each word is learnt for itself"
        )
        message += f", and accuracy counts the {outside / words:.0%} of the words that are tagged 'O'"
        fix = f"write 'I-{labels[0]}' for {labels[0]!r} to have spans (words side by side are one)"
        yield Finding("warning", "HW248", message, (path,), fix)
