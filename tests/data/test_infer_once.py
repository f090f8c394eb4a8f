"""A file is opened once to find out what it is."""

import gzip
import io
import json
import os
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from headwise.core.errors import ConfigError
from headwise.data.columns.file_source import DataSource, Record
from headwise.data.columns.reading_options import ReadOptions
from headwise.data.doctor.diagnose import doctor_files
from headwise.data.errors import DataError
from headwise.data.files import archives
from headwise.data.formats import FORMATS
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task
from headwise.data.readers.file_preview import read_preview


@pytest.mark.parametrize(
    "text", ["text,label\na,b\nc,d\n", "premise,hypothesis,label\na,b,c\nd,e,f\n", "a\tO\nb\tB-x\n\nc\tO\n"]
)
def test_one_opening(write, monkeypatch, text):
    path = write("train.txt", text)
    opened = []
    plain = archives.read_lines
    monkeypatch.setattr(
        archives, "read_lines", lambda *arguments: opened.append(arguments[0]) or plain(*arguments)
    )
    infer_task(path, {})
    assert opened == [path]


@pytest.mark.parametrize(
    "text",
    [
        "text,label\na b,x\nc d,y\n" * 20,
        "premise,hypothesis,label\na,b,c\nd,e,f\n",
        "id,text,labels\n" + "".join(f"{n},text {n},a|b\n" for n in range(20)),
        "text,price\n" + "".join(f"text {n},{n}.5\n" for n in range(20)),
        "text,text,label\na,b,x\nc,d,y\n",
        "text,label\n",
        'text,label\n"a,x\n',
    ],
)
def test_a_table_is_read_once_and_recognised_as_if_read_each_time(write, monkeypatch, text):
    path = write("train.csv", text)
    csv, readings = FORMATS["csv"], []
    counted = replace(csv, records=lambda *source: readings.append(1) or csv.records(*source))
    monkeypatch.setitem(FORMATS, "csv", counted)
    shared = infer_task(path, {})
    assert readings == [1]
    monkeypatch.setattr(DataSource, "table_records", lambda source, form, read: read())
    assert infer_task(path, {}) == shared
    assert len(readings) >= 2


def test_an_error_ends_the_shared_records(write):
    def reading():
        yield Record(1, {"text": "a"})
        raise DataError("HW114", "a problem")

    head = read_preview(write("train.csv", "text\na\n"))
    for _ in range(2):
        records = head.source(ReadOptions()).table_records("csv", reading)
        assert next(records).fields == {"text": "a"}
        with pytest.raises(DataError):
            next(records)


def test_sources_with_other_options_read_records_of_their_own(write):
    head = read_preview(write("train.csv", "text,label\na,b\n"))
    rows = iter([[Record(1, {"1": "text"})], [Record(2, {"text": "a"})]])
    without_header = ReadOptions(header=False)
    for options, line in ((without_header, 1), (ReadOptions(), 2), (without_header, 1)):
        records = head.source(options).table_records("csv", lambda: iter(next(rows)))
        assert [record.line for record in records] == [line]


def test_a_member_of_a_zip(tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("b.csv", "premise,hypothesis,label\na,b,c\nd,e,f\n")
        file.writestr("c.csv", "text,label\na,b\n")
    assert infer_task(f"{tmp_path}/a.zip!b.csv", {})[0] == "pair"
    assert infer_task(f"{tmp_path}/a.zip!c.csv", {})[0] == "classify"


def test_what_cannot_be_read_is_left_to_the_reader(tmp_path, write):
    assert infer_task(str(tmp_path / "none.csv"), {}) == ("classify", "")
    assert infer_task(write("a.csv", "a\0b\n"), {}) == ("classify", "")
    assert infer_task("-", {"first_column": "a"})[0] == "pair"
    assert infer_task("-", {}) == ("classify", "")


@pytest.mark.parametrize(
    ("reading", "task"),
    [
        ({"tag_column": "2"}, "tag"),
        ({"format": "conllu"}, "tag"),
        ({"bag_column": "id"}, "bags"),
        ({"format": "uci"}, "bags"),
        ({"label_columns": "2-3"}, "multi-label"),
        ({"label_separator": ";"}, "multi-label"),
    ],
)
def test_what_the_user_says_of_the_file(write, reading, task):
    inferred_task, why = infer_task(write("a.csv", "text,label\na,b\nc,d\n"), reading)
    assert inferred_task == task
    assert why


@pytest.fixture
def pipe():
    """A pipe that a text comes through, once."""
    if not Path("/dev/fd").is_dir():
        pytest.skip("pipes have no names here")
    ends, writers = [], []

    def pipe(text: str) -> str:
        read, write = os.pipe()
        ends.append(os.fdopen(read))
        writers.append(Thread(target=_fill, args=(write, text)))
        writers[-1].start()
        return f"/dev/fd/{read}"

    yield pipe
    for end in ends:
        end.close()
    for writer in writers:
        writer.join()


def _fill(pipe: int, text: str) -> None:
    with suppress(BrokenPipeError), os.fdopen(pipe, "w") as file:
        file.write(text)


def test_what_is_looked_at_of_a_pipe_stays_to_be_read(pipe):
    tagged = "".join(f"word{n}\tO\nAnn\tB-PER\n\n" for n in range(4000))
    path = pipe(tagged)
    assert infer_task(path, {})[0] == "tag"
    read = ITEM_TYPES_BY_TASK["tag"].read(path)
    assert len(read.items) == 4000
    assert read.items[0].tokens[0] == "word0"
    diagnosis = doctor_files([pipe("".join(f"label{n % 2}\ttext {n}\n" for n in range(4000)))])
    assert (diagnosis.task, diagnosis.files[0].texts) == ("classify", 4000)
    assert diagnosis.files[0].classes == (("label0", 2000, 0.5), ("label1", 2000, 0.5))


def test_a_text_that_is_read_twice_is_no_pipe(pipe, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"a text"))))
    for path in (pipe("a text"), "-"):
        with pytest.raises(ConfigError, match="the text is read twice"):
            ITEM_TYPES_BY_TASK["language-model"].read(path)


PAIRS = "premise,hypothesis,label\n" + "".join(
    f"dogs run {n},a dog {n},{'yn'[n % 2]}\n" for n in range(300)
)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("text", "task"),
    [
        (PAIRS, "pair"),
        ("".join(f"O\ta\nO\tc{n % 60}\nB-PER\tk{n}\n\n" for n in range(90)), "tag"),
        (
            "".join(json.dumps({"text": f"a {n}", "labels": ["x", "yz"[n % 2]]}) + "\n" for n in range(9)),
            "multi-label",
        ),
        ("".join(f"{'ab'[n % 2]}\ttext {n}\n" for n in range(40)), "classify"),
    ],
)
def test_a_pipe_is_for_the_task_that_the_file_is_for(write, monkeypatch, text, task, compress):
    data = compress(text.encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Slow(data))))
    assert infer_task(write("a.txt", text), {})[0] == task
    assert infer_task("-", {})[0] == task
    item_type = ITEM_TYPES_BY_TASK[task]
    assert [item_type.show(item) for item in item_type.read("-").items] == [
        item_type.show(item) for item in item_type.read(write("a.txt", text)).items
    ]


class Slow(io.RawIOBase):
    """A pipe through which a few bytes come at a time."""

    def __init__(self, data: bytes):
        super().__init__()
        self.data = io.BytesIO(data)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        piece = self.data.read(min(len(buffer), 100))
        buffer[: len(piece)] = piece
        return len(piece)


def test_words_in_a_table_from_a_pipe_are_no_texts(monkeypatch, fails):
    text = "sentence,token,label\n0,the,O\n0,king,B-PER\n1,he,B-PER\n1,ran,O\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(text.encode()))))
    assert fails(ITEM_TYPES_BY_TASK["tag"].rows_to_predict, "-", {})[0] == "HW259"
