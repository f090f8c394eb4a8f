"""The doctor's checks of single items: their lengths, characters and duplicates."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.doctor.examined_file import CheckedFile
from headwise.data.findings import SHOWN, Finding, quoted_beginning, with_remainder
from headwise.data.items.numeric_labels import is_missing_value
from headwise.data.splits.duplicates import count_in_long_chains, similar_texts

LONG = 512  # words above which an item that stands out is very long
_UNBROKEN = 20  # characters of a text that has blanks
_SOLID = lazy_pattern(r"[!-~]+")  # scripts without blanks have letters beyond ASCII
_MANY_UNDECODED = 0.01  # share of texts with wrong characters from which on training warns
_MANY = 0.05  # share of near-duplicates from which on they are reported
_COMPARED = 20_000  # different items that are compared, at most
_ANNOTATED = 0.3  # share of repeated items from which on several people may have labelled each
_EXCEL_CELL = 32_767  # characters of a cell, at most
_SHORTEST_CUT, _LEAST_CUT, _MIN_CUT = 50, 5, 0.01  # characters; texts of one length, and their share
_BROKEN = 0.3  # share of those that end within a word
_CUT_MARKS = ("...", "\u2026")

_CONTROL = lazy_pattern(
    "[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufeff]|\r(?!\n)"
)  # \r\n ends a line of a field
_HTML = lazy_pattern(
    r"</?(?:br|p|div|span|a|b|i|u|em|strong|font|img|table|t[dr]|ul|li|hr|h[1-6])\b[^<>]*>"
    r"|&(?:[a-z]{2,8}|#\d{1,6}|#x[0-9a-f]{1,5});",
    re.IGNORECASE,
)
_LETTER = "[0-9A-Za-z\u00c0-\u024f\u0370-\u052f]"  # of scripts that have spaces between words
_INVISIBLE = lazy_pattern(f"(?<={_LETTER})[\u00ad\u200b\u2060-\u2064](?={_LETTER})")
_MOJIBAKE = lazy_pattern("\ufffd|\u00c3[\u0080-\u00bf]|\u00c2[\u0080-\u00bf]|\u00e2\u20ac|\u00e2\u0080")
_HIGH, _LATIN = "[\u00a1-\u00ff]", "[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u00ff]"
_SMALL = "[a-z\u00df-\u00f6\u00f8-\u00ff]"
_MISREAD = lazy_pattern(
    # Several letters or signs above ASCII in a row, not all alike: another alphabet.
    rf"({_LATIN})(?!\1)({_LATIN})(?!\1|\2){_LATIN}{{2}}|({_HIGH})(?!\3)({_HIGH})(?!\3|\4){_HIGH}{{3}}"
    # A sign or a capital within a word: another Latin encoding.
    rf"|(?<={_SMALL})[\u0080-\u009f\u0152\u0160\u0178\u017d\u00a7\u00ac\u00b3\u00b6\u00b8\u00b9\u00bc-\u00bf](?={_SMALL})"
    # Small letters of KOI8-R are capitals of cp1251.
    r"|\b[\u0430-\u044f][\u0410-\u042f]{4}"
)
"""What is left of a text that was read in a wrong encoding."""
_BEYOND_ASCII = (_MOJIBAKE, _MISREAD)
_ESCAPES = lazy_pattern(
    r"\\u[0-9a-fA-F]{4}|\\x[a-fA-F][0-9a-fA-F]|=C[23]=[89AB][0-9A-F]|=E2=80=[89AB][0-9A-F]|=20$"
    r"|\A(?!\w+://)[^\s%]*%20[^\s]*\Z",
    re.MULTILINE,
)
_LINE_ENDS = lazy_pattern(r"(?<=[\w.,;:!?)])(?<!\A\w)(?<![A-Z]:)(?:\\r)?\\n(?=[A-Z\\ ]|\Z)")
_QUOTED = r"""(?:'[^'\n]*'|"[^"\n]*")"""
_LIST = lazy_pattern(rf"\A\s*\[\s*{_QUOTED}(?:(?:\s*,\s*|\s+){_QUOTED})+\s*,?\s*\]\s*\Z")
_BYTES = lazy_pattern(r"""\Ab(["'])(?=.*\1\Z)""", re.DOTALL)
_BASE64, _LAST = "[A-Za-z0-9+/]", "[AEIMQUYcgkosw048]"  # of 16 bits, the last digit has four
_UTF_7 = lazy_pattern(  # each part begins with its mark, so that the search skips to it
    rf"\+(?!API)A[M-P]{_LAST}(?!{_BASE64})"  # a Latin letter with an accent
    # Several characters: digits and capitals are among the letters, and the last bits are 0.
    rf"|\+(?<!{_BASE64}\+)(?=[A-Za-z])(?={_BASE64}{{0,20}}\d)(?={_BASE64}{{0,20}}[A-Z])(?:{_BASE64}{{8}}){{0,40}}"
    rf"(?:{_BASE64}{{8}}|{_BASE64}{{5}}[AQgw]|{_BASE64}{{2}}{_LAST})(?!{_BASE64})"
    r"|~\{(?:[!-w][!-~]){1,200}~\}"  # HZ
)
_MAIL = lazy_pattern(
    r"\A\s{0,9}(?:From \S+ [^\n]*\d{4}\s*\n)?(?:(?:Return-Path|Received|From|To|Cc|Date|Subject"
    r"|Message-I[Dd]|Path|Xref|Newsgroups|Delivered-To|Organization|Lines|Sender|Reply-To|References|MIME-Version|X-[\w-]+)"
    r": ?[^\n]*\n(?:[ \t][^\n]*\n){0,20}){3}"
)
_CharacterCheck = tuple[str, re.Pattern[str], str, str]
"""A code, a pattern, what it finds, and what to do."""
# fmt: off
_CHARACTERS: Sequence[_CharacterCheck] = (
    ("HW157", _CONTROL, "control characters",
     "often remains of another encoding (cp1252); replace them if there are many"),
    ("HW158", _HTML, "remains of HTML",
     "strip tags and entities (html.unescape) from all files alike, also from the texts to predict"),
    ("HW158", _LINE_ENDS, "line ends written as \\n",
     "replace them by line ends or blanks in all files alike"),
    ("HW158", _LIST, "lists as Python writes them",
     "join their words in all files alike, also in the texts to predict: "
     "' '.join(ast.literal_eval(TEXT))"),
    ("HW159", _MOJIBAKE, "wrongly decoded characters",
     "export the file again as UTF-8, or give the right --encoding"),
    ("HW159", _MISREAD, "characters of a wrong encoding",
     "give the encoding in which the file was written as --encoding"),
    ("HW159", _ESCAPES, "escapes in place of characters",
     "decode them in all files alike, also in the texts to predict (codecs.decode(TEXT, "
     "'unicode_escape'), urllib.parse.unquote, quopri.decodestring)"),
    ("HW159", _UTF_7, "characters of UTF-7 or HZ as they stand in the file",
     "give the encoding in which the file was written: --encoding utf-7 or hz"),
    ("HW184", _MAIL, "the headers of mails",
     "names, dates and programs there may tell the label: remove them from all files alike, also from "
     "the texts to predict"),
    ("HW159", _BYTES, "Python's bytes", "decode them before the file is written: text.decode()"),
    ("HW176", _INVISIBLE, "invisible characters within words",
     "a model reads other words there; take them out of all files alike"),
)
# fmt: on
_IN_TRAINING = ("HW159", "HW184")
"""The codes of which training warns, too."""


def lengths(file: CheckedFile) -> Iterator[Finding]:
    """Items that are empty, of one word, or very long."""
    sizes = file.sizes
    if not sizes:
        return
    empty = [n for n, size in enumerate(sizes) if size == 0]
    if empty:
        fix = "headwise keeps and counts them; fill them or remove the rows"
        yield Finding("warning", "HW150", file.count(len(empty), "empty"), file.data.places(empty), fix)
    cells = {n: file.item_type.text(file.items[n]).strip() for n, size in enumerate(sizes) if size == 1}
    if none := [n for n, cell in cells.items() if is_missing_value(cell)]:
        message = f"{file.count(len(none))} such as {cells[none[0]]!r}, which may stand for none"
        fix = "they are read as words; write empty cells for missing texts, or remove the rows"
        yield Finding("warning", "HW150", message, file.data.places(none), fix)
    yield from unbroken_texts(file)
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


def unbroken_texts(file: CheckedFile) -> Iterator[Finding]:
    """Texts without white space, if most are so: encoded ones, joined words or names."""
    unbroken = [n for n, text in enumerate(file.texts) if len(text) >= _UNBROKEN and _SOLID.fullmatch(text)]
    if 2 * len(unbroken) > len(file.texts):
        first = quoted_beginning(file.texts[unbroken[0]])
        message = f"{file.count(len(unbroken))} without a blank, first {first}"
        fix = "decode them (base64, %20, +) or put blanks between words; is another column the text?"
        yield Finding("warning", "HW151", message, file.data.places(unbroken), fix)


def cut_texts(file: CheckedFile) -> Iterator[Finding]:
    """Texts that are as long as the longest one and end within a word: a program cut them there."""
    sizes = [*map(len, file.texts)]
    longest = max(sizes, default=0)
    full = [n for n, size in enumerate(sizes) if size == longest]
    if longest != _EXCEL_CELL:
        least = max(_LEAST_CUT, _MIN_CUT * len(sizes))
        if longest < _SHORTEST_CUT or len(full) < least or not _end_within_words(file.texts, full, least):
            return
    message = f"{file.count(len(full))} of exactly {longest:,} characters, which none exceeds"
    if longest == _EXCEL_CELL:
        message += ": a cell of Excel holds no more"
    fix = "they may be cut there: export them again without a limit, or cut the texts to predict alike"
    yield Finding("warning", "HW185", message, file.data.places(full), fix)


def _end_within_words(texts: Sequence[str], full: Sequence[int], least: float) -> bool:
    """Whether many of some texts end with a mark of omission, or with parts of words that no text has."""
    if sum(texts[n].endswith(_CUT_MARKS) for n in full) >= least:
        return True
    if 2 * len(full) > len(texts):
        return False
    last = {n: texts[n].rsplit(maxsplit=1)[-1] for n in full if texts[n][-1:].isalnum()}
    words = {
        word for n, text in enumerate(texts) for word in (text.split()[:-1] if n in last else text.split())
    }
    spaced = [word for word in last.values() if word.lower() != word.upper()]  # of scripts with blanks
    return sum(word not in words for word in spaced) >= _BROKEN * len(full)


def duplicate_items(file: CheckedFile) -> Iterator[Finding]:
    """Duplicate items."""
    extra = sorted(n for numbers in file.duplicate_groups for n in numbers[1:])
    if extra:
        message = f"{file.count(len(extra))} repeated an earlier one (case and white space aside)"
        many = file.item_type.nouns.many
        fix = f"a split by headwise keeps equal {many} on one side; remove them if they are accidents"
        yield Finding("info", "HW153", message, file.data.places(extra), fix)


def near_duplicate_items(file: CheckedFile) -> Iterator[Finding]:
    """Near-duplicates within a training file."""
    if not file.training:
        return
    different = [numbers[0] for key, numbers in file.same.items() if key][:_COMPARED]
    keys = [file.keys[n] for n in different]
    pairs = similar_texts(keys)
    near_duplicates = np.unique(pairs).tolist()
    if len(near_duplicates) < max(_MANY * len(different), 2):
        return
    among = (
        f"the first {_COMPARED:,} different ones" if len(different) == _COMPARED else "the different ones"
    )
    message = (
        f"{file.count(len(near_duplicates))} are nearly another one: they differ in marks or in a few "
        f"words ({len(near_duplicates) / len(different):.1%} of {among})"
    )
    places, many = (
        file.data.places([different[n] for n in near_duplicates]),
        file.item_type.nouns.many,
    )
    if torn := count_in_long_chains(
        pairs, file.item_type.label_type.strata([file.items[n] for n in different])
    ):
        fix = (
            f"{torn:,} of them are as if made of templates: a split by headwise parts these, so scores "
            "will look too good for any others; give dev and test files of other templates"
        )
        yield Finding("warning", "HW173", message, places, fix)
    else:
        fix = f"a split by headwise keeps {many} alike on one side; give dev and test files without them"
        yield Finding("info", "HW173", message, places, fix)


def conflicting_labels(file: CheckedFile) -> Iterator[Finding]:
    """Duplicate items with different labels."""
    items = file.items
    torn = [
        numbers
        for numbers in file.duplicate_groups
        if len({frozenset(items[n].labels) for n in numbers}) > 1
    ]
    if not torn:
        return
    shown = []
    for numbers in torn[:SHOWN]:
        unlike = {frozenset(items[n].labels): n for n in reversed(numbers)}  # first index of each label set
        first = numbers if len(numbers) <= SHOWN else sorted(unlike.values())[:SHOWN]
        labelled_lines = [f"{items[n].line} ({' + '.join(items[n].labels) or 'no label'})" for n in first]
        places = f"{file.data.path}:" + ", ".join(with_remainder(labelled_lines, len(numbers)))
        shown.append(f"{places}: {quoted_beginning(file.item_type.show(items[numbers[0]]))}")
    message = f"{file.count(len(torn))} {'occurs' if len(torn) == 1 else 'occur'} with different labels"
    fix = "keep one label for each (headwise train --split.repeated-texts last takes the last one)"
    if sum(map(len, file.duplicate_groups)) > _ANNOTATED * len(items):
        fix = "if several people labelled each text, learn the label that most of them gave (headwise "
        fix += "train --split.repeated-texts majority), or write one row per text with a probability for "
        fix += "each label"
    yield Finding("warning", "HW154", message, with_remainder(shown, len(torn)), fix)


def characters(file: CheckedFile) -> Iterator[Finding]:
    """Characters that seldom occur on purpose."""
    yield from _matching_texts(file, _CHARACTERS)


def undecoded_texts(file: CheckedFile) -> Iterator[Finding]:
    """Texts that were written or read in a wrong encoding, or are mails with their headers, where these are
    many."""
    rows = [row for row in _CHARACTERS if row[0] in _IN_TRAINING]
    yield from _matching_texts(file, rows, _MANY_UNDECODED * len(file.texts))


def _matching_texts(
    file: CheckedFile, rows: Sequence[_CharacterCheck], most: float = 0
) -> Iterator[Finding]:
    """A finding for each check that more than `most` texts match."""
    plain = [text.isascii() for text in file.texts]
    for code, pattern, what, fix in rows:
        matches = [
            (n, match)
            for n, text in enumerate(file.texts)
            if not (pattern in _BEYOND_ASCII and plain[n]) and (match := pattern.search(text))
        ]
        if len(matches) > most:
            message = f"{file.count(len(matches))} with {what}, first {matches[0][1][0]!a:.80}"
            severity = "warning" if code in _IN_TRAINING else "info"
            yield Finding(severity, code, message, file.data.places([n for n, _ in matches]), fix)


def shared_items(files: Mapping[str, CheckedFile]) -> Iterator[Finding]:
    """Items that two files have in common, exactly or nearly."""
    for first, second in combinations(files.values(), 2):
        nouns, same_part = first.item_type.nouns, first.part == second.part
        severity, fix = "info", "remove one of the two"
        if not same_part:
            fix = f"results on {second.role} will look too good: remove these rows from {first.role}"
            severity = "warning"
        same, near_places = (
            np.flatnonzero(shared).tolist() for shared in second.compared.shared_with(first.compared)
        )
        if same:
            distinct = second.same.keys() - {""}
            both = len({second.keys[n] for n in same})
            message = (
                f"{second.count(both, 'distinct')} of {second.role} also in {first.role} "
                f"({both / len(distinct):.1%} of its {nouns.many})"
            )
            yield Finding(severity, "HW160", message, second.data.places(same), fix)
        if near_places:
            message = (
                f"{second.count(len(near_places))} of {second.role} also in {first.role} but for a few "
                f"words ({len(near_places) / len(second.items):.1%} of its {nouns.many})"
            )
            yield Finding(severity, "HW160", message, second.data.places(near_places), fix)
