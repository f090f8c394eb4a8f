"""The doctor's checks of items one by one: their lengths, characters and repetitions."""

import re
from collections.abc import Iterator, Mapping

from headwise.data.alike import in_long_chains, near_alike
from headwise.data.diagnosis import SHOWN, Finding, beginning, some_of
from headwise.data.doctor.file import File, pairs_of
from headwise.data.numbers import stands_for_none

LONG = 512  # words from which an item can be called very long, if it stands out
_MANY = 0.05  # of the items, from which those that are nearly another one are told
_COMPARED = 20_000  # items that are compared

_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff]|\r(?!\n)")  # \r\n ends a line of a field
_HTML = re.compile(
    r"</?(?:br|p|div|span|a|b|i|u|em|strong|font|img|table|t[dr]|ul|li|hr|h[1-6])\b[^<>]*>"
    r"|&(?:[a-z]{2,8}|#\d{1,6}|#x[0-9a-f]{1,5});",
    re.IGNORECASE,
)
_LETTER = "[0-9A-Za-z\u00c0-\u024f\u0370-\u052f]"  # of scripts that have spaces between words
_INVISIBLE = re.compile(f"(?<={_LETTER})[\u00ad\u200b\u2060-\u2064](?={_LETTER})")
_MOJIBAKE = re.compile("\ufffd|\u00c3[\u0080-\u00bf]|\u00c2[\u0080-\u00bf]|\u00e2\u20ac|\u00e2\u0080")
_CHARACTERS = (
    (
        "HW157",
        _CONTROL,
        "control characters",
        "often remains of another encoding (cp1252); replace them if there are many",
    ),
    ("HW158", _HTML, "remains of HTML", "strip tags and entities from all files alike"),
    (
        "HW159",
        _MOJIBAKE,
        "wrongly decoded characters",
        "export the file again as UTF-8, or give the right --encoding",
    ),
    (
        "HW176",
        _INVISIBLE,
        "invisible characters within words",
        "a model reads other words there; take them out of all files alike",
    ),
)


def lengths(file: File) -> Iterator[Finding]:
    """Items that are empty, of one word, or very long."""
    sizes = file.sizes
    if not sizes:
        return
    empty = [n for n, size in enumerate(sizes) if size == 0]
    if empty:
        fix = "headwise keeps and counts them; fill them or remove the rows"
        yield Finding("warning", "HW150", file.count(len(empty), "empty"), file.data.places(empty), fix)
    cells = {n: file.kind.text(file.items[n]).strip() for n, size in enumerate(sizes) if size == 1}
    if none := [n for n, cell in cells.items() if stands_for_none(cell)]:
        message = f"{file.count(len(none))} such as {cells[none[0]]!r}, which may stand for none"
        fix = "they are read as words; write empty cells for missing texts, or remove the rows"
        yield Finding("warning", "HW150", message, file.data.places(none), fix)
    median = sorted(sizes)[len(sizes) // 2]
    short = [n for n, size in enumerate(sizes) if size == 1]
    if short and median >= 5:
        message = f"{file.count(len(short))} of a single word (half have {median} or more)"
        fix = "look whether they were cut off or belong to another column"
        yield Finding("info", "HW151", message, file.data.places(short), fix)
    limit = max(LONG, 10 * median)
    long = [n for n, size in enumerate(sizes) if size > limit]
    if long:
        message = f"{file.count(len(long))} of more than {limit:,} words"
        fix = "headwise reads them to their end, which takes longer; split them if they hold several texts"
        yield Finding("info", "HW152", message, file.data.places(long), fix)


def repeated(file: File) -> Iterator[Finding]:
    """Items that occur more than once."""
    extra = sorted(n for own in file.repeated for n in own[1:])
    if extra:
        message = f"{file.count(len(extra))} repeated an earlier one (case and white space aside)"
        fix = (
            f"a split by headwise keeps equal {file.kind.nouns.many} on one side; remove them if they are "
        )
        yield Finding("info", "HW153", message, file.data.places(extra), fix + "accidents")


def nearly_repeated(file: File) -> Iterator[Finding]:
    """Items of a file to train on that are nearly others."""
    if not file.training:
        return
    different = [own[0] for key, own in file.same.items() if key][:_COMPARED]
    keys = [file.keys[n] for n in different]
    near = near_alike(keys)
    if len(near) < max(_MANY * len(different), 2):
        return
    among = (
        f"the first {_COMPARED:,} different ones" if len(different) == _COMPARED else "the different ones"
    )
    message = (
        f"{file.count(len(near))} are nearly another one: they differ in marks or in a few words "
        f"({len(near) / len(different):.1%} of {among})"
    )
    places, many = file.data.places([different[n] for n in sorted(near)]), file.kind.nouns.many
    if torn := in_long_chains(near, file.kind.answer.strata([file.items[n] for n in different])):
        fix = (
            f"{torn:,} of them are as if made of templates: a split by headwise parts these, so scores "
            "will look too good for any others; give dev and test files of other templates"
        )
        yield Finding("warning", "HW173", message, places, fix)
    else:
        fix = f"a split by headwise keeps {many} alike on one side; give dev and test files without them"
        yield Finding("info", "HW173", message, places, fix)


def clashes(file: File) -> Iterator[Finding]:
    """Equal items with different answers."""
    items = file.items
    torn = [own for own in file.repeated if len({frozenset(items[n].labels) for n in own}) > 1]
    if not torn:
        return
    shown = []
    for own in torn[:SHOWN]:
        unlike = {frozenset(items[n].labels): n for n in reversed(own)}  # the first place of each answer
        first = own if len(own) <= SHOWN else sorted(unlike.values())[:SHOWN]
        said = [f"{items[n].line} ({' + '.join(items[n].labels) or 'no label'})" for n in first]
        places = f"{file.data.path}:" + ", ".join(some_of(said, len(own)))
        shown.append(f"{places}: {beginning(file.kind.show(items[own[0]]))}")
    message = f"{file.count(len(torn))} with different labels in different places"
    fix = "decide for one answer each; no model can learn both"
    yield Finding("warning", "HW154", message, some_of(shown, len(torn)), fix)


def characters(file: File) -> Iterator[Finding]:
    """Characters that a text seldom has on purpose."""
    for code, pattern, what, fix in _CHARACTERS:
        found = [(n, match) for n, text in enumerate(file.texts) if (match := pattern.search(text))]
        if found:
            message = f"{file.count(len(found))} with {what}, first {found[0][1][0]!a}"
            severity = "warning" if code == "HW159" else "info"
            yield Finding(severity, code, message, file.data.places([n for n, _ in found]), fix)


def shared(files: Mapping[str, File]) -> Iterator[Finding]:
    """Items that two files have, as they are or nearly."""
    for one, other in pairs_of(files):
        nouns, alike = one.kind.nouns, one.part == other.part
        severity = "info" if alike else "warning"
        fix = f"results on {other.role} will look too good: remove these rows from {one.role}"
        fix = "remove one of the two" if alike else fix
        same, near = one.seen.places(other.keys)
        if same:
            distinct = other.same.keys() - {""}
            both = len({other.keys[n] for n in same})
            message = (
                f"{other.count(both, 'distinct')} of {other.role} also in {one.role} "
                f"({both / len(distinct):.1%} of its {nouns.many})"
            )
            yield Finding(severity, "HW160", message, other.data.places(same), fix)
        if near:
            message = (
                f"{other.count(len(near))} of {other.role} also in {one.role} but for a few words "
                f"({len(near) / len(other.items):.1%} of its {nouns.many})"
            )
            yield Finding(severity, "HW160", message, other.data.places(near), fix)
