"""Recognise files that are no text by their first bytes, and folders of data by the files in them.

Code: HW104.
"""

import os
import zlib
from collections.abc import Sequence

from headwise.core.lazy_pattern import lazy_pattern
from headwise.data.errors import DataError

PARQUET = b"PAR1"
BEGINNING = 512
"""Number of bytes by which a file is recognised."""
ZSTANDARD, SEVEN_ZIP = "a Zstandard archive", "a 7-Zip archive"
WORKBOOK = "xl/workbook.xml"
"""The member of a zip that makes it an Excel workbook."""

_ARROW = "write it as Parquet: pyarrow.parquet.write_table(TABLE, 'train.parquet'), or save it as jsonl"
_PICKLE = "headwise opens no pickles, as they run code; write its texts and labels as jsonl, csv or Parquet"
_ARRAY = "write texts and labels as csv, jsonl or Parquet"
_DOCBIN = (
    "write its docs as jsonl, an object per text: {'text': doc.text, 'spans': [[e.start_char, e.end_char, "
    "e.label_] for e in doc.ents]}"
)
_DATABASE = "export the table as csv: sqlite3 -header -csv FILE 'SELECT ...'"
_UNPACK = "unpack it first, or compress it with gzip, xz or bzip2"
_TABLE = "save it as csv, tsv or jsonl (UTF-8) first, or as .xlsx without a password"
_NO_TEXT = "give a file of texts: csv, tsv, jsonl, .xlsx or Parquet"

_SIGNATURES = {
    PARQUET: ("a Parquet file", _TABLE),
    b"PARE": ("an encrypted Parquet file", _TABLE),
    b"ARROW1": ("an Arrow file (Feather)", _ARROW),
    b"\xff\xff\xff\xff": ("an Arrow stream", _ARROW),
    b"\x93NUMPY": ("a NumPy array (.npy)", _ARRAY),
    b"\x89HDF\r\n\x1a\n": ("an HDF5 file", _ARRAY),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Word file, or one with a password", _TABLE),
    b"{\\rtf": ("a Rich Text file (.rtf)", "save it as plain text (UTF-8)"),
    b"%PDF": ("a PDF file", _TABLE),
    b"\x28\xb5\x2f\xfd": (ZSTANDARD, _UNPACK),
    b"\x04\x22\x4d\x18": ("an LZ4 archive", _UNPACK),
    b"\x1f\x9d": ("an archive of compress (.Z)", _UNPACK),
    b"7z\xbc\xaf": (SEVEN_ZIP, _UNPACK),
    b"Rar!\x1a\x07": ("a RAR archive", _UNPACK),
    b"SQLite format 3\0": ("an SQLite database", _DATABASE),
    b"#FORMAT=WebAnno TSV": (
        "a file of INCEpTION or WebAnno (WebAnno TSV)",
        "export it as CoNLL 2002 or 2003",
    ),
    b"version https://git-lfs.github.com/spec/": (
        "a pointer of Git LFS in place of the file",
        "fetch the file itself: git lfs pull",
    ),
    b"/annex/objects/": (
        "a pointer of git-annex in place of the file",
        "fetch the file itself: git annex get",
    ),
    b"PK\x05\x06": ("a zip archive without files", _TABLE),
    b"Obj\x01": ("an Avro file", _TABLE),
    b"\x89PNG": ("a PNG picture", _NO_TEXT),
    b"\xff\xd8\xff": ("a JPEG picture", _NO_TEXT),
    b"\x7fELF": ("a program", _NO_TEXT),
}
_WITH_NUL = {
    b"FEA1": ("a Feather file of version 1", _ARROW),
    b"ORC": ("an ORC file", _TABLE),
    b"GGUF": ("a language model (GGUF)", _NO_TEXT),
    b"GIF8": ("a GIF picture", _NO_TEXT),
    b"ID3": ("a sound (.mp3)", _NO_TEXT),
    b"OggS": ("a sound (.ogg)", _NO_TEXT),
    b"fLaC": ("a sound (.flac)", _NO_TEXT),
    b"MATLAB": ("a MATLAB file (.mat)", _ARRAY),
    b"MZ": ("a program", _NO_TEXT),
    b"RIFF": ("a sound or a picture (RIFF)", _NO_TEXT),
    b"RDX": ("data of R (.rda)", _TABLE),
    b"X\n\0": ("data of R (.rds)", _TABLE),
    b"<stata_dta>": ("a Stata file", _TABLE),
    b"$FL": ("an SPSS file", _TABLE),
}
"""Signatures that a text may begin with; a NUL among the first bytes must confirm them."""

DOCUMENT_MEMBERS = {
    WORKBOOK: "an Excel workbook",
    "xl/workbook.bin": "a binary Excel workbook (.xlsb)",
    "[Content_Types].xml": "an Office file",
    "content.xml": "an OpenDocument file (.ods, .odt)",
    "Index/Document.iwa": "a file of Apple's iWork (.numbers, .pages)",
}
"""Members by which a zip is recognised as one document."""

TABLE_DOCUMENTS = ("an Excel workbook", "a Parquet file")
"""Foreign files that can be read as tables, but not from a pipe."""

_SAVED_DATASET = ("dataset_dict.json", "state.json")
_CONTROL = lazy_pattern(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def foreign_kind(first: bytes) -> tuple[str, str] | None:
    """What a file is that begins with these bytes and is no text, and what to do; None for other files."""
    for signature, kind in _SIGNATURES.items():
        if first.startswith(signature):
            return kind
    if b"\0" in first[:BEGINNING]:
        for signature, kind in _WITH_NUL.items():
            if first.startswith(signature):
                return kind
    if first[:1] == b"\x80" and first[1:2] in b"\2\3\4\5" and len(first) > 1:
        return "a Python pickle", _PICKLE
    if first[257:262] == b"ustar":
        return "a tar archive", "unpack it and give one of its files"
    if first[:2] in (b"x\x01", b"x\x9c", b"x\xda"):
        return _zlib_kind(first)
    return None


def _zlib_kind(first: bytes) -> tuple[str, str] | None:
    """What zlib compressed: spaCy's DocBin, or other data; None for bytes that zlib did not write."""
    try:
        unpacked = zlib.decompressobj().decompress(first, 1 << 10)
    except zlib.error:
        return None
    if b"attrs" in unpacked:
        return "spaCy's DocBin (.spacy)", _DOCBIN
    return ("data compressed by zlib", _UNPACK) if unpacked else None


def archive_kind(members: Sequence[str]) -> tuple[str, str] | None:
    """What a zip with these members is, if it is one document; None for other zips."""
    if part := next((part for part in DOCUMENT_MEMBERS if part in members), None):
        return DOCUMENT_MEMBERS[part], _TABLE
    if members and all(name.endswith(".npy") for name in members):
        return "NumPy arrays (.npz)", _ARRAY
    if any(name.endswith("/data.pkl") for name in members):
        return "a PyTorch file, which holds a pickle", _PICKLE
    return None


def is_binary(first: bytes) -> bool:
    """Whether bytes that are not valid in the encoding of a file belong to no text: control characters are
    among them, and they are not UTF-16 or UTF-32."""
    first = first[:BEGINNING]
    if not _CONTROL.search(first):
        return False
    for encoding, size in (("utf-16-le", 2), ("utf-16-be", 2), ("utf-32-le", 4), ("utf-32-be", 4)):
        try:
            text = first[: len(first) // size * size].decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError:
            continue
        if sum(char.isprintable() or char.isspace() for char in text) >= 0.95 * len(text):
            return False
    return len(_CONTROL.findall(first)) >= max(2, len(first) // 50)


def binary_file_error(path: str) -> DataError:
    """The error for a file that is no text and has no known signature."""
    problem = "a binary file: control characters are among its first bytes"
    return DataError("HW104", problem, expected="text", advice=_NO_TEXT, path=path)


def check_folder(path: str) -> None:
    """Check that a folder is none that a library has saved its data to.

    Raises:
        DataError: HW104.
    """
    if any(os.path.isfile(os.path.join(path, name)) for name in _SAVED_DATASET):
        problem = "a folder of Hugging Face's save_to_disk, which holds Arrow files"
        advice = "write each part as Parquet: load_from_disk(FOLDER)['train'].to_parquet('train.parquet')"
        raise DataError("HW104", problem, expected="a file or a folder of texts", advice=advice, path=path)
