"""Files in formats of pages, chats and other programs, which are refused by name. They are recognised by
their first lines.

Code: HW104.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import fraction_true
from headwise.data.errors import DataError
from headwise.data.formats import rasa

_MOST = 0.9  # of the lines must look alike
_MESSAGES = 0.5  # of a chat's lines begin a message; the others continue one
_FEWEST = 3  # lines

_HTML = lazy_pattern(r"\s*<(?:!doctype html|html|head|body|table)\b", re.IGNORECASE)
_XML = lazy_pattern(r"\s*<(?:\?xml|!doctype)\b", re.IGNORECASE)
_ARFF = lazy_pattern(r"\s*@relation\b", re.IGNORECASE)
_SQL = lazy_pattern(
    r"\s*(?:insert into\s+\S+\s*(?:\([^()]*\)\s*)?(?:values|select)\b|create table\b.*\("
    r"|drop table if exists\b|-- .*\bdump\b|copy\s+\S+\s*\([^()]*\)\s+from stdin\b)",
    re.IGNORECASE,
)
_NUMBER = r"-?\d+(?:\.\d+)?"
_SVMLIGHT = lazy_pattern(
    rf"[-+]?{_NUMBER}(?:,\d+)*(?: qid:\d+)?(?:\s+\d+:{_NUMBER}(?:e[-+]?\d+)?)+\s*(?:#.*)?", re.IGNORECASE
)
_VOWPAL_WABBIT = lazy_pattern(
    rf"{_NUMBER}(?: {_NUMBER}){{0,2}} (?:(?P<tag>'[^\s|]+ ?|[^\s|]+)?\|(?P<namespace>[^\s|:]\S*)?)\s.*\S"
)
_ITEM = lazy_pattern(r"\s*-\s+[\w.-]+:(?:\s|$)")
_KEY = lazy_pattern(r"\s+[\w.-]+:(?:\s|$)")
_SNIPS = lazy_pattern(r"type:\s*(?:intent|entity)\s*")
_STRING = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
_TUPLE = lazy_pattern(rf"\s*\(\s*(?:{_STRING}\s*,.*|[^'\"]*,\s*{_STRING}\s*,?\s*)\)\s*,?\s*")
_DATE = r"\d{1,4}[./-]\d{1,2}[./-]\d{2,4}"
_TIME = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?\s?[Mm]\.?)?"
_MESSAGE = lazy_pattern(
    rf"\u200e?(?:\[{_DATE},? {_TIME}\] [^:]{{1,40}}:|{_DATE},? {_TIME} [-–] [^:]{{1,40}}:"
    rf"|\[?{_TIME}\]? <[^>\s]{{1,40}}>) "
)


def _first_line(pattern: re.Pattern[str]) -> Callable[[Sequence[str]], bool]:
    return lambda texts: bool(texts and pattern.match(texts[0]))


def _most_lines(pattern: re.Pattern[str]) -> Callable[[Sequence[str]], bool]:
    return lambda texts: (
        len(texts) >= _FEWEST and fraction_true(bool(pattern.fullmatch(text)) for text in texts) >= _MOST
    )


def _is_arff(texts: Sequence[str]) -> bool:
    return _first_line(_ARFF)([text for text in texts if not text.startswith("%")])


def _is_vowpal_wabbit(texts: Sequence[str]) -> bool:
    """Whether a number begins nearly all lines, and tags or one namespace before the words."""
    lines = [*filter(None, map(_VOWPAL_WABBIT.fullmatch, texts))]
    if len(texts) < _FEWEST or len(lines) < _MOST * len(texts):
        return False
    return all(line["tag"] for line in lines) or len({line["namespace"] for line in lines} - {None}) == 1


def _is_yaml(texts: Sequence[str]) -> bool:
    if rasa.recognise(texts):
        return False
    lines = [text for text in texts if text.strip() != "---"]
    items = [text for text in lines if _ITEM.match(text)]
    keys = [text for text in lines if _KEY.match(text)]
    return bool(lines and _ITEM.match(lines[0])) and len(items) > 1 and len(keys) >= len(items)


_OPENING_TAG = lazy_pattern(r"\s*<([A-Za-z][\w:.-]*)(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*\s*>\s*")
_CLOSING_TAG = lazy_pattern(r"\s*</([A-Za-z][\w:.-]*)>\s*")
_ELEMENT = lazy_pattern(r"\s*<([A-Za-z][\w:.-]*)\b[^<>]*>\s*<([A-Za-z][\w:.-]*)\b.*</\1>\s*", re.DOTALL)
_NAMESPACE = lazy_pattern(r"\s*<[A-Za-z][\w:.-]*\s[^<>]*\bxmlns(?::\w+)?\s*=")
_TIMES = lazy_pattern(r"(?:\d+:)?\d+:\d+[,.]\d+ --> (?:\d+:)?\d+:\d+[,.]\d+")
_MAIL_START = lazy_pattern(r"From \S+ .*\d{4}$|(?:Return-Path|Received|From|Date|Subject|Message-ID):\s")
_MAIL_FIELD = lazy_pattern(r"[A-Z][\w-]*: ?\S")
_ENTRY = lazy_pattern(r"\s*@\w+\{[^\s,]*,")


def _is_xml(texts: Sequence[str]) -> bool:
    """Whether lines begin with a declaration, or with tags."""
    if _first_line(_XML)(texts) or _first_line(_NAMESPACE)(texts):
        return True
    if len(texts) == 1:
        return _ELEMENT.fullmatch(texts[0]) is not None
    opening = _OPENING_TAG.fullmatch(texts[0]) if texts else None
    name = opening[1] if opening else None
    return name is not None and (
        texts[1].lstrip().startswith("<")
        or any((closing := _CLOSING_TAG.fullmatch(text)) and closing[1] == name for text in texts)
    )


def _is_subtitles(texts: Sequence[str]) -> bool:
    return any(map(_TIMES.match, texts[:3])) and (texts[0].isdecimal() or texts[0].startswith("WEBVTT"))


def _is_mail(texts: Sequence[str]) -> bool:
    fields = [text for text in texts[:8] if _MAIL_FIELD.match(text)]
    return bool(texts and _MAIL_START.match(texts[0])) and len(fields) >= _FEWEST


def _is_array_of_texts(texts: Sequence[str]) -> bool:
    """Whether lines are one JSON array of texts."""
    if not texts or not texts[0].lstrip().startswith("["):
        return False
    try:
        items = json.loads("\n".join(texts))
    except (ValueError, RecursionError):
        return False
    return isinstance(items, list) and len(items) > 1 and all(isinstance(item, str) for item in items)


def _is_chat(texts: Sequence[str]) -> bool:
    return len(texts) >= _FEWEST and fraction_true(map(bool, map(_MESSAGE.match, texts))) >= _MESSAGES


_NO_FILE = lazy_pattern(
    r"40[134]: .{,80}|entry not found|(?:not found|access denied|forbidden|unauthorized)\.?"
    r"|invalid username or password\.?|repository not found",
    re.IGNORECASE,
)
_TAGTOG = ('"annotatable"', '"anncomplete"', '"entities"')


class _Unsupported(NamedTuple):
    """A kind of file, how it is recognised, and what to do; `labelled` if only labels make it one."""

    kind: str
    recognise: Callable[[Sequence[str]], bool]
    advice: str
    labelled: bool = False


_OBJECTS = 'write an object per text as jsonl, {"text": ..., "label": ...}'
_UNSUPPORTED = (
    _Unsupported(
        "an HTML page",
        _first_line(_HTML),
        "export the table as csv; an address may have answered with a page",
    ),
    _Unsupported("an XML file", _is_xml, _OBJECTS),
    _Unsupported(
        "the answer of a server that has no such file",
        lambda texts: len(texts) == 1 and _NO_FILE.fullmatch(texts[0].strip()) is not None,
        "download it again: the address is wrong, or needs a login",
        labelled=True,
    ),
    _Unsupported(
        "a file of PubTator",
        _first_line(lazy_pattern(r"\s*\d+\|t\|")),
        "write an object for each abstract as jsonl, title and abstract with a blank between them: "
        '{"text": ..., "spans": [[0, 5, "Disease"]]}',
    ),
    _Unsupported(
        "annotations of tagtog (ann.json)",
        lambda texts: all(name in "".join(texts) for name in _TAGTOG),
        "its texts are in other files (plain.html): write an object per text as jsonl, "
        '{"text": ..., "spans": [[0, 5, "PER"]]} or {"text": ..., "label": ...}',
    ),
    _Unsupported(
        "a TextGrid of Praat",
        _first_line(lazy_pattern(r'\s*File type = "ooTextFile')),
        "export its intervals as a table with a row for each",
    ),
    _Unsupported("subtitles", _is_subtitles, "write a table with a row for each text"),
    _Unsupported("mail with its headers", _is_mail, "write a table with a row for each mail"),
    _Unsupported("a file of BibTeX", _first_line(_ENTRY), "export the entries as csv"),
    _Unsupported("a JSON array of texts", _is_array_of_texts, _OBJECTS),
    _Unsupported(
        "an ARFF file (Weka)", _is_arff, "save it as csv, with the names of the attributes as header"
    ),
    _Unsupported("statements of SQL", _first_line(_SQL), "export the table as csv"),
    _Unsupported(
        "tuples of Python",
        _most_lines(_TUPLE),
        "write them with csv.writer(FILE).writerows(TUPLES), which quotes the texts",
    ),
    _Unsupported(
        "a table as databases print it",
        _first_line(lazy_pattern(r"\s*\+(?:-+\+){2,}\s*$")),
        "write it as csv or tsv (mysql --batch, psql --csv, sqlite3 -csv)",
    ),
    _Unsupported(
        "numbered features (the format of SVMlight)",
        _most_lines(_SVMLIGHT),
        "give the texts that they were made from",
    ),
    _Unsupported(
        "a file of Vowpal Wabbit",
        _is_vowpal_wabbit,
        "write the label, a tab and the text in each line, without tags, namespaces and the mark |",
    ),
    _Unsupported(
        "YAML of Snips",
        lambda texts: any(map(_SNIPS.fullmatch, texts[:2])),
        "write its JSON: snips-nlu generate-dataset en FILE.yaml > FILE.json",
    ),
    _Unsupported("YAML other than Rasa's", _is_yaml, _OBJECTS),
    _Unsupported("a chat", _is_chat, "write a table with a row per message and its label", labelled=True),
)


def refuse_unsupported_text(path: str, texts: Sequence[str], *, labelled: bool) -> None:
    """Check by its first lines that are not blank that a file is of none of these kinds.

    Raises:
        DataError: HW104.
    """
    for form in _UNSUPPORTED:
        if (labelled or not form.labelled) and form.recognise(texts):
            advice = form.advice + ("" if labelled else "; or give --format text if each line is a text")
            expected = "texts with labels" if labelled else "texts"
            raise DataError("HW104", form.kind, expected=expected, advice=advice, path=path)
