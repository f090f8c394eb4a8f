import bz2
import contextlib
import gzip
import lzma
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.tokenizer import get_tokenizer
from headwise.text.vector_files import load_vectors
from headwise.text.vocabulary import VectorsError, WordVectors, coverage

GLOVE = "the 0.1 -2 3e-1\n. . . 1 2 3\ncafé 4 5 6\n\u00a0 7 8 9\n\x85 1 1 1\n"
GLOVE_WORDS = ["the", ". . .", "café", "\u00a0", "\x85"]
GLOVE_MATRIX = np.array([[0.1, -2, 0.3], [1, 2, 3], [4, 5, 6], [7, 8, 9], [1, 1, 1]], dtype=np.float32)


@pytest.fixture
def write(tmp_path: Path):
    def write(content: str | bytes, name: str = "vectors.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def _same(vectors: WordVectors, words: list[str], matrix) -> None:
    assert vectors.words == words
    assert vectors.matrix.dtype == np.float32
    np.testing.assert_array_equal(vectors.matrix, np.asarray(matrix, dtype=np.float32))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress])
@pytest.mark.parametrize("head", ["", "5 3\n", "\ufeff", "\ufeff5 3 \r\n"])
def test_text_files_plain_and_packed(write, pack, head: str):
    path = write(pack((head + GLOVE).encode()), "name-says-nothing")
    _same(load_vectors(path), GLOVE_WORDS, GLOVE_MATRIX)


def test_line_ends_spaces_tabs_and_blank_lines(write):
    path = write(" a 1 2 3 \r\nb\t4\t5\t6\n\n  c  7  8 9")
    _same(load_vectors(path), ["a", "b", "c"], [[1, 2, 3], [4, 5, 6], [7, 8, 9]])


@pytest.mark.parametrize(
    ("text", "words", "matrix"),
    [
        ("10 5\n11 6\n", ["10", "11"], [[5], [6]]),  # no header: one dimension
        ("2 1\n11 6\n12 7\n", ["11", "12"], [[6], [7]]),  # header: it counts right
        ("2 1\n11 6\n", ["2", "11"], [[1], [6]]),  # not a header: it counts wrong
        ("7 1", ["7"], [[1]]),
        ("2 3\n2 1 2 3\n3 4 5 6\n", ["2", "3"], [[1, 2, 3], [4, 5, 6]]),
        ("1 2 3\n4 5 6\n", ["1", "4"], [[2, 3], [5, 6]]),
        ("a b 1 2\nc 3 4\nd 5 6\n", ["a b", "c", "d"], [[1, 2], [3, 4], [5, 6]]),
    ],
)
def test_first_line_is_told_from_a_vector(write, text: str, words: list[str], matrix):
    _same(load_vectors(write(text)), words, matrix)


def test_more_rows_than_a_block(write):
    matrix = np.random.default_rng(0).standard_normal((1500, 4)).astype(np.float32)
    rows = [f"w{i} " + " ".join(map(repr, map(float, row))) for i, row in enumerate(matrix)]
    path = write("\n".join(rows))
    _same(load_vectors(path), [f"w{i}" for i in range(1500)], matrix)


def test_the_first_of_duplicates_wins(write):
    _same(load_vectors(write("3 1\na 1\na 2\nb 3\n")), ["a", "b"], [[1], [3]])
    assert load_vectors(write("0 2\n\n")).matrix.shape == (0, 2)


@pytest.mark.parametrize(
    ("text", "code", "match"),
    [
        ("", "HW201", "is empty"),
        ("\n \n", "HW201", "is empty"),
        ("5 300\n", "HW201", "no words"),
        ("a 1 2\nb 1 2\nc 1\n", "HW202", r"vectors.txt:3: 1 numbers, .* have 2"),
        ("a 1 2\nb 1 2\nc 1 2 3\n", "HW202", r"vectors.txt:3: 3 numbers, .* have 2"),
        ("3 2\na 1 2\n\nb 1 2\nc\n", "HW202", r"vectors.txt:5: 0 numbers"),
        ("a 1 2\nb 1 2\nc 1 x\n", "HW203", r"vectors.txt:3: 'x' is not a number"),
        ("a 1 2\nb 1 2\nc 1 1_0\n", "HW203", r"vectors.txt:3: '1_0' is not"),
        ("a 1 2\nb 1 2\nc 1 0x1\n", "HW203", r"vectors.txt:3: '0x1' is not"),
        ("a 1 2\nb 1 2\nc 1 é\n", "HW203", r"vectors.txt:3: 'é' is not"),
        ("a 1 2\nb 1 2\nc 1 1#2\n", "HW203", r"vectors.txt:3: '1#2' is not"),
        ("just some prose\nof two lines\n", "HW203", r"vectors.txt:1: no numbers"),
        ("a 1 2\nb nan 2\n", "HW204", r"vectors.txt:2: .*NaN"),
        ("a 1 2\nb 1 -inf\n", "HW204", r"vectors.txt:2: "),
        ("a 1 2\nb 1 1e40\n", "HW204", r"vectors.txt:2: .*too large"),
        ("3 2\na 1 2\nb 1 2\n", "HW205", r"vectors.txt:1: .*promises 3 words, but 2 follow"),
        ("1 2\na 1 2\nb 1 2\n", "HW205", "promises 1 words, but 2 follow"),
    ],
)
def test_faults_are_located(write, text: str, code: str, match: str):
    with pytest.raises(VectorsError, match=match) as caught:
        load_vectors(write(text))
    assert caught.value.code == code


def test_faults_of_the_file_itself(write, tmp_path: Path):
    with pytest.raises(VectorsError, match="No such file"):
        load_vectors(tmp_path / "nowhere.txt")
    with pytest.raises(VectorsError, match="cannot be read"):
        load_vectors(tmp_path)
    body = np.random.default_rng(0).standard_normal((500, 3))
    text = "".join(f"w{i} {a} {b} {c}\n" for i, (a, b, c) in enumerate(body)).encode()
    for pack in (gzip.compress, lzma.compress, bz2.compress):
        with pytest.raises(VectorsError, match="Fetch the file again"):
            load_vectors(write(pack(text)[:-200]))
    broken = bytearray(gzip.compress(text))
    broken[len(broken) // 2] ^= 0xFF
    with pytest.raises(VectorsError, match="HW20"):
        load_vectors(write(bytes(broken)))
    with pytest.raises(VectorsError, match="zip archive"):
        load_vectors(write(b"PK\x03\x04rest"))


_WORDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\n\r\x0b\x0c"), min_size=1, max_size=5
)


@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(_WORDS, min_size=1, max_size=6, unique=True),
    size=st.integers(2, 4),
    head=st.booleans(),
)
def test_any_word_without_spaces_survives(tmp_path_factory, words: list[str], size: int, head: bool):
    matrix = np.arange(len(words) * size, dtype=np.float32).reshape(-1, size) / 4
    rows = [word + " " + " ".join(map(str, row)) for word, row in zip(words, matrix, strict=True)]
    path = tmp_path_factory.mktemp("words") / "v"
    first = [f"{len(words)} {size}"] if head else []
    path.write_bytes("\n".join(first + rows).encode())
    if words[0].startswith("\ufeff") and not head:
        words = [words[0].removeprefix("\ufeff"), *words[1:]]
    _same(load_vectors(path), words, matrix)


@pytest.mark.parametrize("name", ["x.words.txt", "x.txt"])
def test_arrays_with_a_word_list(write, tmp_path: Path, name: str):
    matrix = np.arange(8, dtype=np.float64).reshape(4, 2)
    np.save(tmp_path / "x.npy", matrix)
    write("a\nnew york\r\na\n\x85\n", name)
    _same(load_vectors(tmp_path / "x.npy"), ["a", "new york", "\x85"], matrix[[0, 1, 3]])


def test_faults_of_arrays(write, tmp_path: Path):
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((2, 2)))
    with pytest.raises(VectorsError, match=r"x.words.txt or x.txt"):
        load_vectors(path)
    write("a\n", "x.txt")
    with pytest.raises(VectorsError, match=r"1 lines, but .* 2 rows"):
        load_vectors(path)
    write("a\nb\n", "x.txt")
    for bad in (np.zeros(2), np.array([["a"], ["b"]])):
        np.save(path, bad)
        with pytest.raises(VectorsError, match="matrix of numbers"):
            load_vectors(path)
    np.save(path, np.array([[1.0], [np.nan]]))
    with pytest.raises(VectorsError, match=r"x.txt:2, 'b'") as caught:
        load_vectors(path)
    assert caught.value.code == "HW204"
    np.save(path, np.array([[{}], [{}]], dtype=object), allow_pickle=True)
    with pytest.raises(VectorsError, match="cannot be read as a NumPy array"):
        load_vectors(path)


@pytest.mark.realdata
def test_review_vectors_cover_the_reviews(real_data):
    path, folder = real_data / "vectors" / "reviews_300d.txt.gz", real_data / "mtl16"
    vectors = load_vectors(path)
    assert vectors.matrix.shape == (48_000, 300)
    assert vectors.words[:4] == ["the", ".", ",", "and"]
    assert vectors.matrix.std() == pytest.approx(1, abs=0.01)
    penn, raw = Counter[str](), Counter[str]()
    for name in ("books", "MR", "software"):
        for line in gzip.decompress((folder / f"{name}.task.test.gz").read_bytes()).split(b"\n"):
            text = line.decode("utf-8", "replace").partition("\t")[2]
            penn.update(get_tokenizer("penn").words(text))
            raw.update(text.split())
    covered = coverage(vectors, penn)
    assert covered.token_percent > max(97.5, coverage(vectors, raw).token_percent)


@pytest.mark.parametrize(
    "content",
    [
        b"9" * 5000 + b" 3\na 1 2 3\n",
        b"3 " + b"9" * 5000 + b"\na 1 2 3\n",
        b"9999999999999999999999 300\na 1 2\nb 1 2\n",
        b"a 1 2 3\nb 1\x1c2 3\n",
        b"a 1 2 3\nb 1\x0b2 3\nc 1\r2 3\n",
        b"3 3\na 1 2 3\rb 1 2 3\rc 4 5 6\r",
    ],
)
def test_headers_and_rows_that_were_made_to_break_reading(tmp_path, content):
    (tmp_path / "v.txt").write_bytes(content)
    with contextlib.suppress(VectorsError):
        load_vectors(tmp_path / "v.txt")


def test_names_and_arrays_that_were_made_to_break_reading(tmp_path):
    for name in ("a\0b", "a\0b.npy", "x" * 300, "/proc/self/mem", "/"):
        with pytest.raises(VectorsError):
            load_vectors(name)
    (tmp_path / "v.txt").write_text("a\n")
    (tmp_path / "v.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'descr': ('<f4'\n")
    with pytest.raises(VectorsError):
        load_vectors(tmp_path / "v.npy")
