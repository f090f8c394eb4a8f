"""Annotations of brat: `a.ann` with the spans of the text in `a.txt`, or a folder of such files.

    T1<TAB>PER 0 3<TAB>Tom

Each line of a text becomes an object with its spans (lines that a span joins are one). Offsets are
characters of the whole text; the text of a span stands beside them. Relations, events, attributes and notes
are passed over. The lines of a text without annotations have no field of spans.

Codes: HW101 a text is missing; HW104 annotations from a pipe; HW246 a span that is none, is in several
pieces, or differs from its text.
"""

import json
import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.errors import DataError
from headwise.data.files.text_lines import Line, read_lines
from headwise.data.formats.span_offsets import CharacterSpan, mismatch, resolve_offsets

SUFFIX = ".ann"
_SPAN = lazy_pattern(r"T\S+\t(?P<type>\S+) (?P<places>\d+ \d+(?:;\d+ \d+)*)\t?(?P<text>.*)$")
_ONE_PIECE = "one piece", "annotate each piece, or the whole; tags mark words side by side"
"""What is expected of a span of several pieces with other words between them, and advice."""


def is_brat(path: str) -> bool:
    """Whether a path is a file of annotations beside a text, or a folder with such files."""
    if os.path.isdir(path):
        return any(map(os.path.isfile, map(_text_file, _annotation_files(path))))
    return path.endswith(SUFFIX) and os.path.isfile(path) and os.path.isfile(_text_file(path))


def brat_lines(path: str, encoding: str = "utf-8", errors: str = "strict") -> Iterator[Line]:
    """The texts of a file or a folder as JSON objects with their file, text and spans, and their numbers.

    Raises:
        DataError: HW101 to HW108, HW246.
        ConfigError: The encoding or `errors` is unknown.
    """
    number = 0
    for file in _annotation_files(path) if os.path.isdir(path) else [path]:
        text = "\n".join(line for _, line in _lines(_text_file(file), encoding, errors))
        spans = _spans(file, text, encoding, errors)
        for start, end in _parts(text, spans):
            number += 1
            inside = [
                {"start": span.start - start, "end": span.end - start, "label": span.type}
                for span in spans
                if start <= span.start < end
            ]
            part: dict[str, object] = {"file": os.path.basename(file), "text": text[start:end]}
            if spans:
                part["spans"] = inside
            yield number, json.dumps(part, ensure_ascii=False)


def _annotation_files(folder: str) -> list[str]:
    return sorted(str(file) for file in Path(folder).iterdir() if file.suffix == SUFFIX)


def _text_file(annotations: str) -> str:
    return annotations.removesuffix(SUFFIX) + ".txt"


def _lines(path: str, encoding: str, errors: str) -> Iterator[Line]:
    """The lines of a file, none of an empty one. A return before a line end stays, as offsets count it."""
    try:
        yield from read_lines(path, encoding, errors)
    except DataError as error:
        if error.code != "HW103":
            raise


def _spans(path: str, text: str, encoding: str, errors: str) -> list[CharacterSpan]:
    """The spans of a text in order of position."""
    spans, numbers, piece_counts = list[CharacterSpan](), list[int](), list[int]()
    for number, line in _lines(path, encoding, errors):
        if not line.startswith("T"):
            continue
        if not (match := _SPAN.match(line.removesuffix("\r"))):
            problem, expected = f"the span {line[:40]!r}", "T1<TAB>TYPE START END<TAB>TEXT"
            raise _error(path, number, problem, expected, "mend the line or take it out")
        pieces = [[int(offset) for offset in piece.split()] for piece in match["places"].split(";")]
        if not match["text"] and any(text[end:start].strip() for (_, end), (start, _) in pairwise(pieces)):
            raise _error(path, number, f"a span in {len(pieces)} pieces, ''", *_ONE_PIECE)
        piece_counts.append(len(pieces))
        numbers.append(number)
        spans.append(CharacterSpan(pieces[0][0], pieces[-1][1], match["type"], match["text"] or None))
    resolved, _ = resolve_offsets(spans, text)
    for number, span, pieces in zip(numbers, resolved, piece_counts, strict=True):
        outside = f"a span from {span.start} to {span.end} in {len(text):,} characters of text"
        problem = mismatch([span], text) if 0 <= span.start < span.end <= len(text) else outside
        if problem and pieces > 1:  # with other words between them
            problem = f"a span in {pieces} pieces, {(span.written or '')[:40]!r}"
            raise _error(path, number, problem, *_ONE_PIECE)
        if problem:
            advice = "export the text and its annotations together again"
            raise _error(path, number, problem, "offsets of the text", advice)
    ordered = sorted(zip(resolved, numbers, strict=True), key=lambda pair: pair[0][:2])
    for (first, _), (second, number) in pairwise(ordered):
        if second.start < first.end and first[:3] != second[:3]:
            shown = " and ".join(repr(text[span.start : span.end]) for span in (first, second))
            problem = f"spans that overlap, {shown}"
            raise _error(path, number, problem, "one type for each word", "remove one of them")
    return [span for span, _ in ordered]


def _error(path: str, line: int, problem: str, expected: str, advice: str) -> DataError:
    return DataError("HW246", problem, expected=expected, advice=advice, path=path, line=line)


def _parts(text: str, spans: list[CharacterSpan]) -> Iterator[tuple[int, int]]:
    """The start and end of each line of a text that is not blank; lines that a span joins are one."""
    start = 0
    for match in re.finditer(r"\n|$", text):
        if any(span.start < match.start() < span.end for span in spans):
            continue
        if text[start : match.start()].strip():
            yield start, match.start()
        start = match.end()
