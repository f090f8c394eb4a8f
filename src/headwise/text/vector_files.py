"""Files of word vectors: GloVe and word2vec text files, or an array with a word list."""

import bz2
import gzip
import lzma
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from itertools import chain, islice, takewhile
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from headwise.data.files.unpacking import XzFile
from headwise.text.vocabulary import VectorsError, WordVectors


def load_vectors(path: str | Path) -> WordVectors:
    """Read word vectors.

    Text files have one word and its numbers a line, separated by spaces (GloVe), with or without
    a first line `count size` (word2vec); words may hold spaces. They may be compressed with gzip,
    xz or bzip2, which is recognised by content. `x.npy` is read with the words in `x.words.txt` or
    `x.txt` beside it, one a line. Bytes that are not UTF-8 become U+FFFD in the words. Of a word
    that occurs twice, the first row counts.

    Raises:
        VectorsError: The file is missing, damaged, empty, or a row is not a word with as many
            finite numbers as the other rows. The message gives `path:line`.
    """
    path = Path(path)
    if path.suffix == ".npy":
        return _load_array(path)
    with _open(path) as file:
        stream = _read_lines(path, file)
        first = list(islice(stream, 33))
        size, header = _layout(path, first)
        if header is not None and size == 1 and header != _count_lines(path) - 1:
            header = None  # `7 1` is the word "7" with a one-dimensional vector
        lines = chain(first, stream) if header is None else chain(first[1:], stream)
        start = 1 if header is None else 2
        words, blocks, rows = _read_rows(path, enumerate(lines, start), size)
    if header is not None and rows != header:
        raise VectorsError(
            f"{path}:1: the first line promises {header} words, but {rows} follow. "
            "The file may have been cut off: fetch it again, or correct its first line.",
            code="HW205",
        )
    return WordVectors(words, np.concatenate(blocks))


_LONGEST = 1 << 24  # bytes of a line
_MAGIC: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"\xfd7zXZ\x00": lambda raw: BufferedReader(XzFile(raw)),
    b"BZh": bz2.open,
}


@contextmanager
def _open(path: Path) -> Generator[IO[bytes]]:
    """Open a file, decompressed, for reading bytes; errors become `VectorsError`."""
    try:
        with path.open("rb") as raw:
            start = raw.peek(6)[:6]
            opener = next((o for magic, o in _MAGIC.items() if start.startswith(magic)), None)
            if start.startswith(b"PK\x03\x04"):
                raise VectorsError(f"{path} is a zip archive: unpack it and give the file inside.")
            if opener is None:
                yield raw
            else:
                with opener(raw) as unpacked:
                    yield cast(IO[bytes], unpacked)
    except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
        raise VectorsError(f"{path} is damaged or incomplete ({error}). Fetch the file again.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or error
        raise VectorsError(f"{path} cannot be read: {reason}.") from error


def _count_lines(path: Path) -> int:
    with _open(path) as file:
        return sum(1 for line in _read_lines(path, file) if line.strip())


def _read_lines(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(iter(partial(file.readline, _LONGEST + 1), b""), start=1):
        if len(line) > _LONGEST:
            raise VectorsError(
                f"{path}:{number}: a line of more than {_LONGEST:,} bytes; a word and its numbers are "
                "expected on each line.",
                code="HW202",
            )
        yield line


def _layout(path: Path, first: list[bytes]) -> tuple[int, int | None]:
    """The size of the vectors, and the number of words that the first line promises, if any."""
    if first:
        first[0] = first[0].removeprefix(b"\xef\xbb\xbf")
    if not any(line.strip() for line in first):
        raise VectorsError(
            f"{path} is empty: a word and its numbers are expected on each line.", code="HW201"
        )
    head = first[0].split()
    if len(head) == 2 and all(field.isdigit() and len(field) < 19 for field in head):
        count, size = int(head[0]), int(head[1])
        if size > 1 and len(first) == 1:
            raise VectorsError(f"{path} holds no words after its first line.", code="HW201")
        # `7 300` before another pair is the word "7" with a one-dimensional vector.
        if size == 1 < len(first) or (size > 1 and len(first[1].split()) != 2):
            return size, count
    # A word may hold spaces and be a number: most rows agree on how many numbers follow it.
    sizes = Counter(_trailing_numbers(line) for line in first if line.strip())
    size = sizes.most_common(1)[0][0]
    if size == 0:
        raise VectorsError(
            f"{path}:1: no numbers in the row that starts with {_shown_bytes(first[0])}. A text file of "
            "word vectors has a word and its numbers, separated by spaces, on each line; binary "
            "files are not read.",
            code="HW203",
        )
    return size, None


def _trailing_numbers(line: bytes) -> int:
    return len([*takewhile(_is_float, reversed(line.split()[1:]))])


def _is_float(item: bytes) -> bool:
    try:
        float(item)
    except ValueError:
        return False
    return b"_" not in item


_BLOCK = 512


def _read_rows(
    path: Path, lines: Iterator[tuple[int, bytes]], size: int
) -> tuple[list[str], list[NDArray[np.float32]], int]:
    """The different words, their vectors in blocks, and the number of rows."""
    words: dict[str, None] = {}
    blocks = [np.empty((0, size), dtype=np.float32)]
    pending: list[tuple[int, bytes]] = []
    rows = 0
    for number, line in lines:
        row = line.rstrip()
        if not row:
            continue
        rows += 1
        word, numbers = _split_row(path, number, row, size)
        if word in words:
            continue
        words[word] = None
        pending.append((number, numbers))
        if len(pending) == _BLOCK:
            blocks.append(_parse(path, pending, size))
            pending = []
    if pending:
        blocks.append(_parse(path, pending, size))
    return list(words), blocks, rows


def _split_row(path: Path, number: int, row: bytes, size: int) -> tuple[str, bytes]:
    """The word of a line and the text of its numbers."""
    if row.count(b" ") == size:
        word, _, numbers = row.partition(b" ")
    else:  # a word with spaces, other separators, or a row of the wrong length
        fields = row.rsplit(None, size)
        word, numbers = fields[0].strip(), b" ".join(fields[1:])
        if len(fields) <= size or _trailing_numbers(word):
            raise VectorsError(
                f"{path}:{number}: {_trailing_numbers(row)} numbers, but the vectors of this file "
                f"have {size}. The row starts with {_shown_bytes(row)}: correct or remove it.",
                code="HW202",
            )
    return word.decode("utf-8", "replace"), numbers


def _parse(path: Path, pending: list[tuple[int, bytes]], size: int) -> NDArray[np.float32]:
    """The numbers of several rows, float32 `[rows, size]`."""
    try:
        texts = [numbers.decode("ascii") for _, numbers in pending]
        block = np.loadtxt(texts, dtype=np.float32, comments=None, ndmin=2)
    except ValueError:  # as well as for control characters, which part numbers for some readers only
        block = np.empty((len(pending), size), dtype=np.float32)
        for row, (number, numbers) in enumerate(pending):
            items = numbers.split()
            for item in items:
                if not _is_float(item):
                    raise VectorsError(
                        f"{path}:{number}: {_shown_bytes(item)} is not a number. A word and {size} "
                        "numbers, separated by spaces, are expected: correct or remove the row.",
                        code="HW203",
                    ) from None
            if len(items) != size:
                raise VectorsError(
                    f"{path}:{number}: {len(items)} numbers, but the vectors of this file have {size}: "
                    "correct or remove the row.",
                    code="HW202",
                ) from None
            with np.errstate(over="ignore"):  # infinite numbers are reported below
                block[row] = [float(item) for item in items]
    finite = np.isfinite(block).all(axis=1)
    if not finite.all():
        number, numbers = pending[int(finite.argmin())]
        raise VectorsError(
            f"{path}:{number}: the vector holds NaN, an infinite number or one too large for "
            f"float32 (it starts with {_shown_bytes(numbers)}). Correct or remove the row.",
            code="HW204",
        )
    return block


def _shown_bytes(text: bytes) -> str:
    return repr(text[:40].decode("utf-8", "replace"))


def _load_array(path: Path) -> WordVectors:
    """An array `x.npy` with one word per line in `x.words.txt` or `x.txt`."""
    places = [path.with_suffix(".words.txt"), path.with_suffix(".txt")]
    words_path = next((place for place in places if place.is_file()), None)
    if words_path is None:
        raise VectorsError(
            f"{path} needs its words, one a line, in {places[0].name} or {places[1].name} beside it."
        )
    try:
        with warnings.catch_warnings(action="ignore"):  # the header is read as Python is
            array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # a damaged header raises what Python's tokenizer does
        raise VectorsError(f"{path} cannot be read as a NumPy array: {error}.") from error
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiu":
        content = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else "an archive"
        raise VectorsError(f"{path} holds {content}: a matrix of numbers [words, size] is expected.")
    words = words_path.read_bytes().decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    words = [word.removesuffix("\r") for word in (words if words[-1] else words[:-1])]
    if len(words) != len(array):
        raise VectorsError(
            f"{words_path} has {len(words)} lines, but {path} has {len(array)} rows: "
            "one word per row is expected.",
            code="HW205",
        )
    if not words:
        raise VectorsError(f"{path} is empty: a row for each word is expected.", code="HW201")
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word, row)
    chosen = np.fromiter(rows.values(), dtype=np.intp, count=len(rows))
    with np.errstate(over="ignore"):
        matrix = np.asarray(array[chosen], dtype=np.float32)
    finite = np.isfinite(matrix).all(axis=1)
    if not finite.all():
        row = int(chosen[finite.argmin()])
        raise VectorsError(
            f"{path}: row {row} ({words_path.name}:{row + 1}, {words[row]!r}) holds NaN, an "
            "infinite number or one too large for float32. Correct or remove it.",
            code="HW204",
        )
    return WordVectors(list(rows), matrix)
