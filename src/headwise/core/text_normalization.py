"""One spelling for texts that look alike, applied before a model reads a text.

A model would otherwise learn each spelling of a word by itself, and answer differently where an editor has
changed nothing that a reader sees. `normalize_text` removes these differences:

| what | becomes |
|---|---|
| letters with accents written apart (NFD) | composed letters (NFC) |
| curly, low and reversed quotes, the modifier apostrophe | `'` and `"` |
| `…` and `—` | `...` and `--` |
| soft hyphens, zero-width signs, text direction marks, variation selectors | nothing |
| full-width and half-width forms, ligatures, Arabic letter forms | the plain letters |

A zero-width joiner stays between two pictographs, where it makes one emoji of them. Other compatibility
characters (superscripts, fractions, circled and mathematical letters) stay, as their form has a meaning.
"""

import re
from itertools import accumulate
from unicodedata import is_normalized, normalize

from headwise.core.lazy_pattern import lazy_pattern, lazy_regex

_QUOTES = dict.fromkeys("‘’‚‛ʼ", "'") | dict.fromkeys("“”„‟", '"')
_WORDED = {"…": "...", "—": "--"}
_INVISIBLE = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
_FORMS = ((0xFB00, 0xFB50), (0xFE70, 0xFEFF), (0xFF00, 0xFFF0))
"""Ranges of code points that are presentation forms of letters and signs."""
_JOINER = "\u200d"
MOST_MARKS = 1_000
"""Longest run of marks whose order is made canonical: the time grows with the square of the run."""


def _replacements() -> dict[str, str]:
    table = {**_QUOTES, **_WORDED, **dict.fromkeys(_INVISIBLE, "")}
    for first, last in _FORMS:
        for character in map(chr, range(first, last)):
            plain = normalize("NFKC", character)
            if plain != character and not any(map(str.isspace, plain)):
                table.setdefault(character, plain)
    # What a form becomes may be a sign that is replaced itself (U+FE0F has no form, a quote may have one).
    return {character: "".join(table.get(one, one) for one in plain) for character, plain in table.items()}


REPLACEMENTS = _replacements()
"""What `normalize_text` writes for characters, before it composes letters."""
_REPLACED = lazy_pattern("[" + "".join(map(re.escape, REPLACEMENTS)) + "]")
STRAY_JOINER = lazy_regex(
    r"(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}])\u200D|\u200D(?!\p{Extended_Pictographic})"
)
"""A zero-width joiner that does not join two pictographs."""
_LONG_RUN = lazy_regex(rf"\p{{M}}{{{MOST_MARKS},}}")
_CLUSTER = lazy_regex(r"(?s:.)(?:\P{ccc=0}|\p{NFC_QC=Maybe})*+", version1=True)
"""A character, and what may be composed with it."""


def normalize_text(text: str) -> str:
    """The text in the spelling that models read; see the module. The result is its own normal spelling.

    White space stays as it is, so the pieces between white space may be normalised one by one.
    """
    return text if text.isascii() else _compose(_replace(text))


def _replace(text: str) -> str:
    text = _REPLACED.sub(lambda match: REPLACEMENTS[match[0]], text)
    return STRAY_JOINER.sub("", text) if _JOINER in text else text


def _compose(text: str) -> str:
    if len(text) >= MOST_MARKS and _LONG_RUN.search(text):
        return text
    return text if is_normalized("NFC", text) else normalize("NFC", text)


def original_spans(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The offsets in a text of spans of its normal spelling.

    Args:
        text: The text as written.
        spans: Start and end offsets in `normalize_text(text)`, none of them empty.
    """
    if text.isascii() or not spans:
        return spans
    pieces = [REPLACEMENTS.get(character, character) for character in text]
    offsets = accumulate(map(len, pieces), initial=0)
    has_joiners = _JOINER in text
    stray = {match.start() for match in STRAY_JOINER.finditer("".join(pieces))} if has_joiners else ()
    starts = list[int]()  # where each character of `middle` comes from
    for place, (piece, offset) in enumerate(zip(pieces, offsets, strict=False)):
        starts += [place] * (0 if offset in stray else len(piece))
    middle = _replace(text)
    begins, ends = list[int](), list[int]()  # the part of the text that each character comes from
    for cluster in _clusters(middle):
        first, last = cluster
        composed = _compose(middle[first:last])
        if composed == middle[first:last]:
            begins += starts[first:last]
            ends += [place + 1 for place in starts[first:last]]
        else:
            # A sign before marks that only change their order may be a word of its own.
            if composed == middle[first] + _compose(middle[first + 1 : last]):
                begins.append(starts[first])
                ends.append(starts[first] + 1)
                composed, first = composed[1:], first + 1
            begins += [starts[first]] * len(composed)
            ends += [starts[last - 1] + 1] * len(composed)
    return [(begins[start], ends[end - 1]) for start, end in spans]


def _clusters(text: str) -> list[tuple[int, int]]:
    """Parts of a text that are composed independently of each other; all of it where that fails."""
    parts = [match.span() for match in _CLUSTER.finditer(text)]
    if "".join(_compose(text[first:last]) for first, last in parts) == _compose(text):
        return parts
    return [(0, len(text))] if text else []


_ANYWHERE = lazy_pattern("[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_JOINERS = "\u200c\u200d"  # within a word they belong to its spelling (Persian, emoji), at its ends never
_SPACES = lazy_pattern("[\u00a0\u2007\u202f]")


def without_invisible(name: str) -> str:
    """A name without invisible characters, and without white space at its ends; a no-break space within it
    is a space."""
    if name.isascii():
        return name.strip()
    name = _SPACES.sub(" ", _ANYWHERE.sub("", name))
    while name != (stripped := name.strip().strip(_JOINERS)):
        name = stripped
    return name
