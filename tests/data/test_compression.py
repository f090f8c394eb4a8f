import bz2
import gzip
import io
import lzma
import pickle
import sys
import zipfile
import zlib

import numpy as np
import pytest

from headwise.data.errors import DataError
from headwise.data.files.text_lines import read_lines
from headwise.data.readers.labelled_files import read_examples
from headwise.data.readers.tagged_files import read_tagged

TEXT = "one\ntwo\n" * 50
PACKED = {
    "gz": gzip.compress(TEXT.encode()),
    "xz": lzma.compress(TEXT.encode()),
    "bz2": bz2.compress(TEXT.encode()),
}


def zipped(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "/"), text)
    return buffer.getvalue()


def stdin_of(data: bytes) -> io.TextIOWrapper:
    class Pipe(io.RawIOBase):
        def __init__(self):
            self.data = io.BytesIO(data)

        def readable(self):
            return True

        def readinto(self, buffer):
            piece = self.data.read(min(len(buffer), 7))
            buffer[: len(piece)] = piece
            return len(piece)

    return io.TextIOWrapper(io.BufferedReader(Pipe()))


@pytest.mark.parametrize("kind", [*PACKED, "zip"])
@pytest.mark.parametrize("suffix", ["", ".gz", ".txt"])
def test_contents_decide_whatever_the_name(write, kind, suffix):
    path = write("file" + suffix, PACKED.get(kind) or zipped(a=TEXT))
    assert [text for _, text in read_lines(path)] == TEXT.split()


def test_plain_text_named_gz_is_read(write):
    assert list(read_lines(write("a.gz", "plain\n"))) == [(1, "plain")]


def test_concatenated_gzip_members_are_all_read(write):
    path = write("a.gz", gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    assert [text for _, text in read_lines(path)] == ["a", "b"]


@pytest.mark.parametrize("kind", [*PACKED, "zip", "plain"])
def test_standard_input_need_not_be_seekable_and_stays_open(monkeypatch, kind):
    data = {"zip": zipped(a=TEXT), "plain": TEXT.encode(), **PACKED}[kind]
    monkeypatch.setattr(sys, "stdin", stdin_of(data))
    assert [text for _, text in read_lines("-")] == TEXT.split()
    assert not sys.stdin.buffer.closed


@pytest.mark.parametrize("kind", PACKED)
def test_a_cut_archive_is_located(write, fails, kind):
    path = write("a." + kind, PACKED[kind][:-6])
    code, line, _ = fails(read_lines, path)
    assert code == "HW102"
    assert line is not None


@pytest.mark.parametrize("kind", PACKED)
def test_a_damaged_archive_is_an_error(write, fails, kind):
    data = bytearray(PACKED[kind])
    middle = len(data) // 2
    data[middle : middle + 4] = b"\xff\x00\xff\x00"
    assert fails(read_lines, write("a." + kind, bytes(data)))[0] == "HW102"


def test_damage_late_in_a_file_is_found_after_the_good_lines(write):
    lines = [f"line {i} {hash(str(i))}" for i in range(60_000)]
    path = write("a.gz", gzip.compress("\n".join(lines).encode())[:-50_000])
    seen = []
    with pytest.raises(DataError) as caught:
        seen.extend(text for _, text in read_lines(path))
    assert len(seen) > 1000
    assert seen == lines[: len(seen)]
    assert caught.value.line == len(seen) + 1


def test_a_name_that_promises_an_archive(write, fails):
    assert fails(read_lines, write("a.gz", b"\0\0\0\1garbage"))[0] == "HW102"


def test_a_zip_of_several_files_names_them(write):
    path = write("a.zip", zipped(**{"train.csv": "a", "test.csv": "b"}))
    with pytest.raises(DataError, match=r"HW104.*2 files \(train.csv, test.csv\)"):
        list(read_lines(path))


def test_the_clutter_of_a_mac_does_not_count(write):
    path = write("a.zip", zipped(**{"a.csv": "x\n", "__MACOSX__._a.csv": "?", ".DS_Store": "?"}))
    with zipfile.ZipFile(path) as archive:
        assert len(archive.namelist()) == 3
    data = zipped(**{"a.csv": "x\n", ".DS_Store": "?"})
    assert list(read_lines(write("b.zip", data))) == [(1, "x")]


@pytest.mark.parametrize(
    "data",
    [
        zipped(),
        zipped(**{"[Content_Types].xml": "", "xl__sheet.xml": ""}),
        b"PAR1....",
        b"%PDF-1.4",
        b"\x28\xb5\x2f\xfd....",
    ],
)
def test_files_that_are_no_text(write, fails, data):
    assert fails(read_lines, write("a", data))[0] == "HW104"


def numpy_file(save):
    buffer = io.BytesIO()
    save(buffer, np.array(["a", "b"]))
    return buffer.getvalue()


BINARY = {
    "Arrow file": b"ARROW1\0\0" + b"\xff" * 4,
    "Arrow stream": b"\xff\xff\xff\xff\x10\1\0\0",
    "Feather file": b"FEA1\0\0\0\0",
    r"NumPy array \(.npy\)": numpy_file(np.save),
    r"NumPy arrays \(.npz\)": numpy_file(np.savez),
    "pickle, as they run code|a Python pickle": pickle.dumps({"text": ["a"]}),
    "PyTorch file": zipped(**{"model/data.pkl": "x", "model/data/0": "y"}),
    "DocBin": zlib.compress(b"\x87\xa7version\xa5attrs\x93\0\1\2" * 9),
    "compressed by zlib": zlib.compress(b"text,label\n" * 9),
    "SQLite": b"SQLite format 3\0" + b"\x10\0\1\1" * 20,
    "INCEpTION": b"#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|value\n\n#Text=Tom\n1-1\t0-3\tTom\tPER\t\n",
    "a pointer of Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    "a pointer of git-annex": b"/annex/objects/MD5E-s25632--abc.csv\n",
    "HDF5": b"\x89HDF\r\n\x1a\n\0\0",
    "a PNG picture": b"\x89PNG\r\n\x1a\n\0",
    "tar archive": b"a.csv".ljust(257, b"\0") + b"ustar\x0000",
    "ORC": b"ORC\x8a\0\1",
    "a sound": b"ID3\3\0\0\0\0",
    "a MATLAB file": b"MATLAB 5.0 MAT-file \0\1IM",
    "Rich Text": b"{\\rtf1 text}",
    "a binary file": bytes(range(256)),
}


@pytest.mark.parametrize("what", BINARY)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_binary_files_are_called_what_they_are(write, what, pack):
    path = write("data.csv", pack(BINARY[what]))
    if pack is gzip.compress and BINARY[what].startswith(b"PK"):
        what = "inside of an archive"
    with pytest.raises(DataError, match=f"HW104.*({what})") as error:
        list(read_lines(path))
    assert error.value.advice
    assert "encoding" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "ORC is a format",
        "x^2 + y",
        "GIF89a is old",
        "RIFF\nX",
        "FEA1 b",
        "x\x01y",
        "PKZIP",
        "MZ is code",
        "ID3 tags",
    ],
)
def test_texts_that_begin_like_binary_files(write, text):
    assert [line for _, line in read_lines(write("a.txt", text))] == text.split("\n")


def test_text_of_another_encoding_is_no_binary_file(write, fails):
    assert fails(read_lines, write("a.txt", "naïve café".encode("cp1252")))[0] == "HW105"
    assert fails(read_lines, write("b.txt", "a text\n".encode("utf-16-le")))[0] == "HW106"


def test_folders_of_saved_data_sets(tmp_path):
    for name, inner in (("all", "dataset_dict.json"), ("train", "state.json")):
        (tmp_path / name / "train").mkdir(parents=True)
        (tmp_path / name / inner).write_text("{}")
        for read in (read_examples, read_tagged):
            with pytest.raises(DataError, match=r"HW104.*save_to_disk.*to_parquet"):
                read(tmp_path / name)


def test_a_damaged_zip(write, fails):
    assert fails(read_lines, write("a.zip", zipped(a=TEXT)[:-30]))[0] == "HW102"


def test_missing_files_and_directories(write, tmp_path, fails):
    write("reviews.tsv", "a")
    with pytest.raises(DataError, match=r"HW101.*did you mean .*reviews.tsv\?"):
        list(read_lines(str(tmp_path / "review.tsv")))
    assert fails(read_lines, str(tmp_path))[0] == "HW101"
    assert fails(read_lines, str(tmp_path / "no" / "file"))[0] == "HW101"
    assert fails(read_lines, "a\0b")[0] == "HW101"


def test_a_gzip_bomb_is_streamed(write):
    path = write("bomb.gz", gzip.compress(b"0 good film\n" * 3_000_000, compresslevel=1))
    lines = read_lines(path)
    assert next(lines) == (1, "0 good film")
    lines.close()


@pytest.mark.parametrize("start", [b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf"])
def test_archives_that_are_not_read_are_to_be_unpacked(tmp_path, start):
    (tmp_path / "texts.csv.zst").write_bytes(start + b"\0" * 60)
    with pytest.raises(DataError, match="unpack it first, or compress it with gzip, xz or bzip2"):
        list(read_lines(str(tmp_path / "texts.csv.zst")))
