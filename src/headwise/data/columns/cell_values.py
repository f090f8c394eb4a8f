"""Lists and objects that a cell of a table holds as text, as JSON or as Python writes them."""

import ast
import json
import re
import warnings

from headwise.core.lazy_pattern import lazy_pattern

CHOICES = "choices"
"""The only key of an object in which Label Studio writes several choices of a text."""

_BETWEEN_NUMBERS = lazy_pattern(r"(?<=[\w.])\s+(?=[-\w.])")  # of a NumPy array
_WRAPPED = lazy_pattern(r"(?:array|frozenset|list|tuple|set)\((.*?)(?:,\s*dtype=[\w<>.']+)?\)", re.DOTALL)
_SCALAR = lazy_pattern(r"\bnp\.\w+\(([^()]*)\)")  # `np.str_('a')`, as NumPy 2 writes items of lists
_BRACKETS = ("[]", "()", "{}")
_QUOTED = lazy_pattern(r"""(["'])(?:\\.|(?!\1).)*\1""", re.DOTALL)
_WORDS_IN_BRACKETS = lazy_pattern(r"""\[([^][(){}"'`]+)\]|\{([^][(){}'`:]+)\}""")
_PLACES = {"start", "end", "offset", "score"}  # of spans and predictions
_LISTED = lazy_pattern(r"""\s*\[\s*(["']).*\1\s*,""")  # `['a', nan]`
_NULLS = ("nan", "null", "none")
_LINK = lazy_pattern(r"(?:https?|ftp|s3|gs|az|abfss?|wasbs?|hdfs|file)://\S+|www\.\S+\.\S+")


def as_text(value: object) -> str:
    """A JSON value as a string: strings are unchanged, null is "", other values are their JSON text."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def parse_cell(cell: object) -> object:
    """The list or object that a cell holds as text; any other cell unchanged.

    Lists are written as in JSON or in Python (`["a", "b"]`, `['a', b'b']`, `('a', 'b')`, `{'b', 'a'}`,
    `array(['a', 'b'])`, `['a' 'b']`). The values are those of JSON: tuples and sets become lists (sets
    sorted), bytes their text as UTF-8. A cell with other values, such as `[nan]`, is unchanged.
    """
    text = cell.strip() if isinstance(cell, str) else ""
    text = _SCALAR.sub(r"\1", text) if "np." in text else text
    if wrapped := _WRAPPED.fullmatch(text):
        text = wrapped[1].strip() or "[]"
    if text[:1] + text[-1:] not in _BRACKETS:
        return cell
    for read in (json.loads, _literal):
        try:
            parsed = read(text)
        except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return parsed if isinstance(parsed, list | dict) else cell
    return cell


def parse_list_cell(cell: object) -> object:
    """The list that a cell holds as text; any other cell unchanged. It may be written as `parse_cell` reads
    it, in Label Studio's object of choices, as an object with true or false for each name, or as objects
    with names."""
    parsed = parse_cell(cell)
    if isinstance(parsed, dict) and [*parsed] == [CHOICES] and isinstance(parsed[CHOICES], list):
        return parsed[CHOICES]
    if isinstance(parsed, dict) and _says_yes_or_no(list(parsed.values())):
        return [name for name, value in parsed.items() if value]
    if isinstance(parsed, list) and parsed and all(map(_has_name, parsed)):
        return [item["name"] for item in parsed]
    return parsed if isinstance(parsed, list) else cell


def _says_yes_or_no(values: list[object]) -> bool:
    """Whether the values of an object are truth values, or several of 0 and 1."""
    if len(values) > 1 and all(type(value) is int and value in (0, 1) for value in values):
        return True
    return bool(values) and all(isinstance(value, bool) for value in values)


def _has_name(item: object) -> bool:
    """Whether an object names a label, as in the issues of GitHub."""
    return isinstance(item, dict) and isinstance(item.get("name"), str) and not _PLACES & {*item}


def parse_words_cell(cell: object) -> object:
    """The list of a cell as `parse_list_cell` finds it, or of words in brackets without quotation marks:
    `[a, b c]`, `[a|b]`, or an array of PostgreSQL, `{a,"b c"}`."""
    parsed = parse_list_cell(cell)
    if parsed == "{}":
        return []
    if not isinstance(parsed, str) or not (words := _WORDS_IN_BRACKETS.fullmatch(parsed.strip())):
        return parsed
    inside = words[1] or words[2]
    mark = next((mark for mark in ",|;" if mark in inside), ",")
    parts = [part.strip().strip('"') for part in inside.split(mark)]
    return parsed if {"", *_NULLS} & {*map(str.lower, parts)} else parts


def holds_choices(cell: object) -> bool:
    """Whether a cell holds Label Studio's object of several choices."""
    parsed = parse_cell(cell)
    return isinstance(parsed, dict) and [*parsed] == [CHOICES]


def looks_like_list(cell: object) -> bool:
    """Whether a cell is in square brackets, as lists are."""
    return isinstance(cell, str) and cell.strip()[:1] + cell.strip()[-1:] == "[]"


def is_structured(cell: object) -> bool:
    """Whether a cell is or holds a list or an object, which is no name of a label."""
    parsed = parse_cell(cell)
    if isinstance(parsed, str) and _LISTED.match(parsed) and looks_like_list(parsed):
        return True  # with what is no value of JSON
    if isinstance(cell, str) and isinstance(parsed, list) and cell.strip().startswith("("):
        return any(isinstance(item, str) for item in parsed)  # (1, 2) may be a name
    return isinstance(parsed, list | dict)


def is_link(cell: object) -> bool:
    """Whether a cell holds a web address and nothing else."""
    return isinstance(cell, str) and _LINK.fullmatch(cell.strip()) is not None


def _with_commas(text: str) -> str:
    """The text of a NumPy array with commas between its items; quoted items are unchanged."""
    pieces, at = list[str](), 0
    for quoted in _QUOTED.finditer(text):
        pieces += [text[at : quoted.start()], quoted[0]]
        at = quoted.end()
    pieces.append(text[at:])
    for place in range(0, len(pieces), 2):
        between = 0 < place < len(pieces) - 1 and pieces[place].isspace()
        pieces[place] = ", " if between else _BETWEEN_NUMBERS.sub(", ", pieces[place])
    return "".join(pieces)


def _literal(text: str) -> object:
    """The value of a Python literal, or of a NumPy array without commas, as JSON has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # of texts such as `[1or 2]`, which are no code
        return _json_value(ast.literal_eval(_with_commas(text)))


def _json_value(value: object) -> object:
    """A value of a Python literal as JSON has it."""
    if isinstance(value, bytes):
        return value.decode()  # UnicodeDecodeError is a ValueError
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, set):
        return sorted(map(_json_value, value), key=str)
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(_json_value(key)): _json_value(item) for key, item in value.items()}
    raise ValueError(f"no value of JSON: {value!r:.40}")
