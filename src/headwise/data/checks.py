"""The doctor's checks of one file. Each yields findings; they share nothing but a `Dataset`."""

import re
from collections.abc import Iterable, Iterator, Sequence

from headwise.data.dataset import Dataset
from headwise.data.diagnosis import Finding
from headwise.data.duplicates import same_texts

SHOWN = 5  # places named in a finding
RARE = 5  # a class with fewer texts is hardly learnt
LONG = 512  # words from which a text can be called very long, if it stands out

_CONTROL = re.compile("[\x01-\x08\x0b-\x1f\x7f-\x9f\ufeff]")
_HTML = re.compile(
    r"</?(?:br|p|div|span|a|b|i|u|em|strong|font|img|table|t[dr]|ul|li|hr|h[1-6])\b[^<>]*>"
    r"|&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,6}|#x[0-9a-f]{1,5});",
    re.IGNORECASE,
)
_MOJIBAKE = re.compile("\ufffd|\u00c3[\u0080-\u00bf]|\u00c2[\u0080-\u00bf]|\u00e2\u20ac|\u00e2\u0080")


def check_file(role: str, data: Dataset, words: Sequence[int]) -> Iterator[Finding]:
    """All findings about one file.

    Args:
        role: "train", "dev" or "test" (perhaps with a number); only training data has to teach.
        data: The file.
        words: The number of words of each of its examples.
    """
    yield from _lengths(data, words)
    yield from _repeated(data)
    yield from _characters(data)
    yield from _classes(data, training=role.startswith("train"))


def places(data: Dataset, lines: Iterable[int]) -> tuple[str, ...]:
    """The first few of the places, and how many more there are."""
    lines = list(lines)
    shown = tuple(f"{data.path}:{line}" for line in lines[:SHOWN])
    return (*shown, f"and {len(lines) - SHOWN:,} more") if len(lines) > SHOWN else shown


def count(number: int, noun: str) -> str:
    """`1 text`, `2,000 texts`, `3 classes`."""
    plural = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{plural}"


def _lengths(data: Dataset, words: Sequence[int]) -> Iterator[Finding]:
    if not words:
        return
    lines = [example.line for example in data.examples]
    empty = [line for line, n in zip(lines, words, strict=True) if n == 0]
    if empty:
        fix = "headwise keeps and counts them; fill them or remove the rows"
        yield Finding("warning", "HW150", count(len(empty), "empty text"), places(data, empty), fix)
    median = sorted(words)[len(words) // 2]
    short = [line for line, n in zip(lines, words, strict=True) if n == 1]
    if short and median >= 5:
        message = f"{count(len(short), 'text')} of a single word (half have {median} or more)"
        fix = "look whether they were cut off or belong to another column"
        yield Finding("info", "HW151", message, places(data, short), fix)
    limit = max(LONG, 10 * median)
    long = [line for line, n in zip(lines, words, strict=True) if n > limit]
    if long:
        message = f"{count(len(long), 'text')} of more than {limit:,} words"
        fix = "headwise reads them to their end, which takes longer; split them if they hold several texts"
        yield Finding("info", "HW152", message, places(data, long), fix)


def _repeated(data: Dataset) -> Iterator[Finding]:
    examples = data.examples
    groups = [own for text, own in same_texts(examples).items() if len(own) > 1 and text]
    if groups:
        extra = [examples[i].line for own in groups for i in own[1:]]
        message = f"{count(len(extra), 'text')} repeated an earlier one (case and white space aside)"
        fix = "a split by headwise keeps equal texts on one side; remove them if they are accidents"
        yield Finding("info", "HW153", message, places(data, sorted(extra)), fix)
    clashes = [own for own in groups if len({examples[i].label for i in own}) > 1]
    if clashes:
        shown = [
            f"{data.path}:" + ", ".join(f"{examples[i].line} ({examples[i].label})" for i in own)
            for own in clashes[:SHOWN]
        ]
        if len(clashes) > SHOWN:
            shown.append(f"and {len(clashes) - SHOWN:,} more")
        message = f"{count(len(clashes), 'text')} with different labels in different places"
        fix = "decide for one label each; no model can learn both"
        yield Finding("warning", "HW154", message, tuple(shown), fix)


def _characters(data: Dataset) -> Iterator[Finding]:
    checks: tuple[tuple[str, re.Pattern[str], str, str], ...] = (
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
    )
    for code, pattern, what, fix in checks:
        lines = [(e.line, match) for e in data.examples if (match := pattern.search(e.text))]
        if lines:
            message = f"{count(len(lines), 'text')} with {what}, first {lines[0][1][0]!a}"
            severity = "warning" if code == "HW159" else "info"
            yield Finding(severity, code, message, places(data, (n for n, _ in lines)), fix)


def _classes(data: Dataset, *, training: bool) -> Iterator[Finding]:
    labels = data.labels
    if not data.examples:
        return
    if not labels:
        fix = "give --format and --label-column if the file has labels"
        yield Finding("warning", "HW163", "no labels", (data.path,), fix)
        return
    if training and len(labels) == 1:
        message = f"only one class, {next(iter(labels))!r}"
        fix = "classification needs two; is --label-column the right one?"
        yield Finding("error", "HW162", message, (data.path,), fix)
    rare = [f"{name!r} ({n})" for name, n in labels.items() if n < RARE]
    if training and rare:
        message = f"{count(len(rare), 'class')} with fewer than {RARE} texts: {some(rare)}"
        fix = "add texts, merge them into other classes, or leave them out"
        yield Finding("warning", "HW155", message, (data.path,), fix)
    spellings: dict[str, list[str]] = {}
    for name in labels:
        spellings.setdefault("".join(name.casefold().split()), []).append(name)
    for names in spellings.values():
        if len(names) > 1:
            shown = some([f"{name!r} ({labels[name]:,})" for name in names])
            message = f"labels that differ in case or spacing only: {shown}"
            wanted = set(names[1:])  # the rarer spellings
            lines = (e.line for e in data.examples if e.label in wanted)
            fix = f"headwise takes them for different classes; write {names[0]!r} throughout"
            yield Finding("warning", "HW156", message, places(data, lines), fix)


def some(items: Sequence[str]) -> str:
    """The first few of them, and how many more there are."""
    return ", ".join(items[:8]) + (f" and {len(items) - 8:,} more" if len(items) > 8 else "")
