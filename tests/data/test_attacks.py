"""Files and names that were made to break reading: an error with a code, in bounded time and memory."""

import bz2
import gzip
import io
import lzma
import random
import struct
import zipfile
import zlib
from contextlib import suppress

import pytest

from headwise.core.errors import ConfigError, HeadwiseError
from headwise.data.columns.item_options import StreamOptions
from headwise.data.columns.reading_options import MultiLabelOptions, ReadOptions
from headwise.data.files.unpacking import XZ_MEMORY
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.file_preview import read_preview
from headwise.data.readers.labelled_files import read_examples

TABLE = ("text,label\n" + "".join(f"text number {n},{'ab'[n % 2]}\n" for n in range(200))).encode()


def refused(path: str, *codes: str, **options) -> None:
    with pytest.raises(HeadwiseError) as error:
        read_examples(path, ReadOptions(**options))
    assert error.value.code in codes, error.value


def test_names_that_cannot_be(tmp_path):
    (tmp_path / "z.zip").write_bytes(zipped())
    for name in ("x" * 300, "a\0b.csv", "/proc/self/mem", f"{tmp_path}/z.zip!{'x' * 300}", "a\0.zip!b"):
        refused(name, "HW101")


@pytest.mark.parametrize(
    "encoding", ["zlib", "rot13", "hex", "bz2", "undefined", "a\0b", "é", "", "x" * 300]
)
def test_codecs_that_are_no_text_encodings(tmp_path, encoding):
    (tmp_path / "a.csv").write_bytes(TABLE)
    refused(str(tmp_path / "a.csv"), "HW001", encoding=encoding)
    with pytest.raises(HeadwiseError):
        read_preview(str(tmp_path / "a.csv"), encoding)


def test_an_encoding_that_does_not_say_where_it_fails(tmp_path):
    (tmp_path / "a.csv").write_bytes(TABLE)
    refused(str(tmp_path / "a.csv"), "HW105", encoding="punycode")


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data.csv", TABLE)
    return file.getvalue()


ARCHIVES = {
    "zip": zipped(),
    "gz": gzip.compress(TABLE),
    "bz2": bz2.compress(TABLE),
    "xz": lzma.compress(TABLE),
}


@pytest.mark.parametrize("kind", ARCHIVES)
def test_damaged_archives(tmp_path, kind):
    chance, path = random.Random(0), tmp_path / f"a.{kind}"
    for _ in range(150):
        data = bytearray(ARCHIVES[kind])
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
        for name in (str(path), f"{path}!data.csv"):
            with suppress(HeadwiseError):
                read_examples(name)


def test_offsets_of_a_zip_that_point_nowhere(tmp_path):
    data = bytearray(zipped())
    place = data.index(b"PK\x01\x02")
    data[place + 42 : place + 46] = struct.pack("<I", 0xFFFFFFF0)
    (tmp_path / "a.zip").write_bytes(data)
    refused(str(tmp_path / "a.zip"), "HW102", "HW104")
    refused(f"{tmp_path}/a.zip!data.csv", "HW104")


def test_a_member_without_a_name(tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a", TABLE)
    (tmp_path / "a.zip").write_bytes(archive.getvalue().replace(b"aPK", b"\0PK"))  # in the list of members
    refused(str(tmp_path / "a.zip"), "HW104")


DIGITS = "9" * 5000


def test_numbers_that_python_does_not_read(tmp_path):
    (tmp_path / "a.csv").write_bytes(TABLE)
    refused(str(tmp_path / "a.csv"), "HW111", text_column=DIGITS)
    (tmp_path / "a.conll").write_text(f"It PRP 2\nworks VBZ {DIGITS}\n\n" * 5)
    with suppress(HeadwiseError):
        ITEM_TYPES_BY_TASK["tag"].read(str(tmp_path / "a.conll"))
    (tmp_path / "a.csv").write_text("text,a,b\nx,1,0\ny,0,1\n")
    with pytest.raises(HeadwiseError):
        ITEM_TYPES_BY_TASK["multi-label"].read(
            str(tmp_path / "a.csv"), MultiLabelOptions(label_columns=f"1-{DIGITS}")
        )


@pytest.mark.parametrize(("name", "value"), [("delimiter", 5), ("delimiter", True), ("format", {})])
def test_a_recipe_that_says_how_to_read_with_what_is_no_text(tmp_path, name, value):
    (tmp_path / "a.csv").write_bytes(TABLE)
    with pytest.raises(ConfigError, match=f"data: {name}: expected a text"):
        infer_task(str(tmp_path / "a.csv"), {name: value})


def test_an_xz_of_several_streams_and_one_that_asks_for_much_memory(tmp_path):
    path = tmp_path / "a.csv.xz"
    half = len(TABLE) // 2
    path.write_bytes(lzma.compress(TABLE[:half]) + b"\0" * 8 + lzma.compress(TABLE[half:]))
    assert len(read_examples(str(path)).items) == 200
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 8 << 20}]
    greedy = bytearray(lzma.compress(TABLE, filters=filters))
    assert lzma.decompress(bytes(greedy)) == TABLE
    # The size of the dictionary in the header of the block, with the header's check after it.
    size = (greedy[12] + 1) * 4
    header = greedy[12 : 12 + size - 4]
    at = header.index(b"\x21\x01") + 2
    header[at] = 39  # 3 GiB
    greedy[12 : 12 + size] = header + struct.pack("<I", zlib.crc32(header))
    path.write_bytes(greedy)
    refused(str(path), "HW102")
    assert XZ_MEMORY < 1 << 30


def test_an_archive_that_unpacks_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("headwise.data.files.text_lines.BOMB_SIZE", 1 << 20)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"text,label\n" + b"a text,b\n" * 500_000))
    refused(str(tmp_path / "a.csv.gz"), "HW104")


def test_a_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr("headwise.data.files.text_lines.LONGEST_LINE", 1 << 20)
    (tmp_path / "a.csv").write_bytes(b"text,label\n" + b"a" * (3 << 20))
    refused(str(tmp_path / "a.csv"), "HW107")


BOMBS = {
    "quotation marks": b'"' * (1 << 20),
    "in threes": b'text,label\n"""\n' + b'"""\n' * (1 << 18),
    "quoted fields": b'"a",' * (1 << 18),
    "fields": b"," * (1 << 20),
    "columns": b",".join(b"c%d" % n for n in range(50_000)) + b"\n" + b"1," * 49_999 + b"1\n",
}


@pytest.mark.parametrize("name", BOMBS)
def test_time_grows_with_the_size(tmp_path, name, takes_under):
    """Each of these took minutes, or gigabytes, while time grew with the square."""
    (tmp_path / "a.csv").write_bytes(BOMBS[name])

    def read():
        for kind in ("classify", "bags"):
            with suppress(HeadwiseError):
                ITEM_TYPES_BY_TASK[kind].read(str(tmp_path / "a.csv"))

    assert takes_under(4, read)


def test_an_object_of_very_many_fields(tmp_path):
    row = ", ".join(f'"{n}": 1' for n in range(140_000))
    (tmp_path / "a.jsonl").write_text(f'{{"text": "a", "label": "b", {row}}}\n')
    refused(str(tmp_path / "a.jsonl"), "HW110")


def test_closed_standard_input(monkeypatch, tmp_path):
    with open(tmp_path / "a", "wb+") as file:
        pass
    monkeypatch.setattr("sys.stdin", type("Closed", (), {"buffer": file}))
    refused("-", "HW101")


def test_streams_are_read_by_the_same_means(tmp_path):
    """Found by `make fuzz`: a zip whose offsets point nowhere was read as a stream with a bare OSError."""
    path = tmp_path / "a"
    changed = ARCHIVES["zip"].replace(b"PK\x01\x02", b"PK\x01\x03")
    for data in (ARCHIVES["bz2"][:-5] + b"\0\0\0\0\0", changed):
        path.write_bytes(data)
        with suppress(HeadwiseError):
            ITEM_TYPES_BY_TASK["language-model"].read(str(path))
    path.write_bytes("a text\n".encode("utf-16-be"))
    data = ITEM_TYPES_BY_TASK["language-model"].read(str(path), StreamOptions(encoding="utf-16"))
    assert len(data.items) == 7
    with pytest.raises(ConfigError, match="unknown encoding"):
        ITEM_TYPES_BY_TASK["language-model"].read(str(path), StreamOptions(encoding="zlib"))
