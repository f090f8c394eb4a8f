"""The beginning of a file, from which its format is guessed."""

import codecs
import json
import os
from collections.abc import Sequence
from io import BytesIO

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.columns.file_source import DataSource, FileHead, look_ahead, values_recur
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.errors import DataError
from headwise.data.files.archives import open_file
from headwise.data.files.compression import open_beginning, peek_arrived, plain_name, read_once
from headwise.data.files.tables import row_line
from headwise.data.files.text_lines import Line, decoded_lines, read_piece
from headwise.data.formats import FORMATS
from headwise.data.formats.brat import brat_lines, is_brat
from headwise.data.formats.csv import looks_like_rows
from headwise.data.formats.csv_records import DELIMITERS
from headwise.data.formats.data_frames import lines_of_frame
from headwise.data.formats.table_header import names_text_and_label
from headwise.data.formats.unsupported_texts import refuse_unsupported_text

_LONGEST = 1 << 22  # characters of a line that are looked at


_MARKS = codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE


def has_byte_order_mark(path: str) -> bool:
    """Whether a file begins with a byte order mark, after decompression. The bytes of a pipe are not
    consumed. False if the file cannot be read, which is reported when it is read in full."""
    try:
        if read_once(path):
            return peek_arrived(path).startswith(_MARKS)
        if os.path.isdir(path):
            return False
        with open_file(path) as file:
            return read_piece(file, path).startswith(_MARKS)
    except DataError:
        return False


def read_preview(path: str, encoding: str = "utf-8", *, wait: bool = False) -> FileHead:
    """The first lines of a file, or of the members of a zip. Of standard input and pipes these are the
    lines that have arrived, or with `wait` as many as of a file; they are not consumed. A file that cannot
    be read has none; the error is raised when it is read in full."""
    try:
        if wait and read_once(path):
            with open_beginning(path) as file:
                lines = lines_of_frame(decoded_lines(file, path, encoding, "replace"), path, [])
                return FileHead(path, _shortened(look_ahead(lines)[0]))
        if read_once(path):
            return FileHead(
                path, tuple(decoded_lines(BytesIO(peek_arrived(path)), path, encoding, "replace"))
            )
        source = DataSource(path, ReadOptions(encoding=encoding, encoding_errors="replace"))
        rows = tuple(look_ahead(source.rows())[0])
        texts = brat_lines(path, encoding, "replace") if is_brat(path) else source.open()
        lines = map(row_line, rows) if rows else texts
        return FileHead(path, _shortened(look_ahead(lines_of_frame(lines, path, []))[0]), rows)
    except DataError:
        return FileHead(path, ())


def _shortened(lines: Sequence[Line]) -> tuple[Line, ...]:
    return tuple((number, text[:_LONGEST]) for number, text in lines)


_BRAT = lazy_pattern(r"T\d+\t\S+ \d+ \d+(;\d+ \d+)*\t")


def guess_format(path: str, head: Sequence[Line], *, labelled: bool) -> tuple[str, str]:
    """The name of the format, and the reason for the guess.

    Args:
        path: The file's name; a suffix such as .csv or .tsv.gz decides the format.
        head: The first lines.
        labelled: Whether labels are required; if not, lines without structure are plain text.

    Raises:
        DataError: HW130, no format matches; HW104, another kind of file.
    """
    refuse_brat(path, head)
    plain = plain_name(path)
    texts = [text.rstrip("\r") for _, text in head if text.strip()]
    refuse_unsupported_text(path, texts, labelled=labelled)
    for name, form in FORMATS.items():
        for suffix in form.suffixes:
            if plain.endswith(suffix):
                if name == "tsv" and _is_csv(texts):
                    return "csv", "as no line has a tab"
                if name in ("csv", "tsv") and texts and all(map(_is_json_object, texts)):
                    return "jsonl", "as each line is a JSON object"
                return name, f"from the suffix {suffix}"
    for name, form in FORMATS.items():
        if texts and form.recognise(texts):
            return name, "from the first lines"
    if labelled and looks_like_rows(texts):
        return "csv", "from the first lines, which have as many fields each"
    if labelled:
        raise DataError(
            "HW130",
            "the format cannot be guessed: no labels were recognised in the first lines",
            expected="a csv, tsv or jsonl file, or lines such as 'label<TAB>text'",
            advice=_separator_advice(texts)
            or f"give --format ({', '.join(FORMATS)}); plain text is for train --task language-model",
            path=path,
        )
    return "text", "as no columns were recognised in the first lines: one text per line"


_SEPARATORS = ("=>", "->", "::", "###", "--", " - ", " : ", ": ", "@")
_LEAST_LINES, _NEARLY_ALL = 3, 0.9  # that have a separator


def _separator_advice(texts: Sequence[str]) -> str:
    """What to do where another separator than a tab or a comma stands between labels and texts, or ""."""
    for mark in _SEPARATORS:
        rows = [row for text in texts if len(row := text.split(mark)) == 2 and all(map(str.strip, row))]
        if len(rows) < max(_LEAST_LINES, _NEARLY_ALL * len(texts)):
            continue
        names = {label.strip() for label, _ in rows}
        if values_recur(label.strip() for label, _ in rows) and not names_text_and_label([*names]):
            return f"{mark!r} stands behind the label: give --format label-text --delimiter {mark!r}"
        if values_recur(label.strip() for _, label in rows):
            return f"{mark!r} stands before the label: write a tab in its place, and .tsv behind the name"
    return ""


def _is_json_object(text: str) -> bool:
    try:
        return text.startswith("{") and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _is_csv(texts: Sequence[str]) -> bool:
    """Whether lines without tabs have a header of several columns, separated by another delimiter."""
    if not texts or any("\t" in text for text in texts):
        return False
    return any(mark in texts[0] for mark in DELIMITERS) and FORMATS["csv"].recognise(texts)


def refuse_brat(path: str, head: Sequence[Line]) -> None:
    """Reject annotations of brat, which look like a table but have their text in another file.

    Raises:
        DataError: HW104.
    """
    first = next((text for _, text in head if text.strip()), "")
    if _BRAT.match(first):
        raise DataError(
            "HW104",
            "annotations of brat (.ann), whose text is in a file of its own (.txt)",
            expected="texts with their spans",
            advice="put the text beside it under the same name and give --task tag, or write an object a "
            'text, {"text": ..., "spans": [[0, 5, "PER"]]}',
            path=path,
        )


def looks_like_table(path: str, head: Sequence[Line]) -> str:
    """A warning if a plain text file looks like a table or labelled file; otherwise ""."""
    name, why = guess_format(path, head, labelled=False)
    note = f"looks like {name} ({why}), and is read as it stands, labels and all"
    return "" if name == "text" else note
