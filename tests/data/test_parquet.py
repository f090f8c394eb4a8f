"""Parquet files: their rows as objects, the names of labels, and what is wrong with them."""

import json
from datetime import date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from headwise.data import read_examples
from headwise.data.errors import DataError
from headwise.data.files.parquet import parquet_rows
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK, infer_task

TABLE = {"text": ["it came late", 'so "good"\nand new'], "label": ["bad", "good"]}


@pytest.fixture
def parquet(tmp_path):
    """Write a Parquet file of columns, perhaps with what Hugging Face says of them, and return its path."""

    def parquet(columns, features=None, **how) -> str:
        table = columns if isinstance(columns, pa.Table) else pa.table(columns)
        if features is not None:
            metadata = (
                features if isinstance(features, bytes) else json.dumps({"info": {"features": features}})
            )
            table = table.replace_schema_metadata({"huggingface": metadata})
        pq.write_table(table, tmp_path / "data.parquet", **how)
        return str(tmp_path / "data.parquet")

    return parquet


def rows(path: str, notes: list[str] | None = None) -> list[tuple[int, dict]]:
    return list(parquet_rows(path, None, [] if notes is None else notes))


def names(*labels: str) -> dict:
    return {"names": [*labels], "_type": "ClassLabel"}


def test_rows_become_objects(parquet):
    columns = {
        "n": [1, None],
        "x": [0.5, float("nan")],
        "yes": [True, False],
        "day": [date(2024, 3, 1), None],
        "at": pa.array([datetime(2024, 3, 1, 9, 30), datetime(2024, 3, 1)], pa.timestamp("ns")),
        "list": [["a", "b"], []],
        "inner": [{"a": [1]}, None],
        "kind": pa.array(["a", "a"]).dictionary_encode(),
    }
    numbered_rows = rows(parquet(columns))
    assert [number for number, _ in numbered_rows] == [1, 2]
    assert numbered_rows[0][1] == {
        "n": 1,
        "x": 0.5,
        "yes": True,
        "day": "2024-03-01",
        "at": "2024-03-01 09:30:00",
        "list": ["a", "b"],
        "inner": {"a": [1]},
        "kind": "a",
    }
    second = numbered_rows[1][1]
    assert (second["n"], second["at"], second["list"], second["inner"]) == (None, "2024-03-01", [], None)


def test_moments_that_python_has_not_are_cut(parquet):
    kinds = {"at": pa.timestamp("ns", "UTC"), "span": pa.duration("ns"), "time": pa.time64("ns")}
    row = rows(parquet({name: pa.array([1_000_001], kind) for name, kind in kinds.items()}))[0][1]
    assert row == {
        "at": "1970-01-01 00:00:00.001000+00:00",
        "span": "0:00:00.001000",
        "time": "00:00:00.001000",
    }


def test_a_table_is_read_as_its_objects_would_be(parquet):
    data = read_examples(parquet(TABLE))
    assert (data.format, data.columns.text, data.columns.label) == ("parquet", "text", "label")
    assert [(item.text, item.label, item.line) for item in data.items] == [
        ("it came late", "bad", 1),
        ('so "good"\nand new', "good", 2),
    ]


def test_what_is_no_text_is_left_out_and_told(parquet):
    columns = {**TABLE, "image": [{"bytes": b"x", "path": "p"}] * 2, "raw": [b"\xff", b"y"]}
    columns |= {"binary": [{"binary": "no bytes"}] * 2, "__index_level_0__": [3, 5]}
    notes: list[str] = []
    numbered_rows = rows(parquet(columns), notes)
    assert [*numbered_rows[0][1]] == ["text", "label", "binary"]
    assert notes == ["columns left out, as they hold bytes: 'image', 'raw'"]


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.binary())])
def test_bytes_that_are_texts_are_read_as_such(parquet, fails, kind):
    columns = {"text": [b"it came late", "h\u00f6r".encode(), None], "label": [b"bad", b"good", b"bad"]}
    path = parquet({name: pa.array(cells, pa.binary()).cast(kind) for name, cells in columns.items()})
    data = read_examples(path)
    assert [(item.text, item.label) for item in data.items][:2] == [
        ("it came late", "bad"),
        ("h\u00f6r", "good"),
    ]
    assert any("bytes that are read as texts in UTF-8: 'text', 'label'" in note for note in data.notes)
    damaged = {"text": [b"a b"] * 200 + [b"\xfe"], "label": ["x"] * 201}
    assert fails(read_examples, parquet(damaged)) == ("HW105", 201, None)


def test_numbers_of_labels_get_their_names(parquet):
    notes: list[str] = []
    columns = {"text": ["a", "b", "c", "d"], "label": [1, 0, -1, None], "other": [1, 2, 3, 4]}
    numbered_rows = rows(parquet(columns, {"label": names("neg", "pos"), "gone": names("x")}), notes)
    assert [row["label"] for _, row in numbered_rows] == ["pos", "neg", None, None]
    assert [row["other"] for _, row in numbered_rows] == [1, 2, 3, 4]
    assert notes == ["the numbers of 'label' stand for names, which the file gives: 0 is 'neg', 1 is 'pos'"]


@pytest.mark.parametrize("form", ["Sequence", "List"])
def test_tags_of_words_get_their_names(parquet, form):
    columns = {"tokens": [["Tom", "ran"], ["It", "rains"]] * 4, "ner_tags": [[1, 0], [0, 0]] * 4}
    path = parquet(columns, {"ner_tags": {"feature": names("O", "B-PER"), "_type": form}})
    assert infer_task(path, {})[0] == "tag"
    data = ITEM_TYPES_BY_TASK["tag"].read(path)
    assert data.items[0].tokens == ("Tom", "ran")
    assert data.labels == {"O": 12, "B-PER": 4}
    assert any("1 is 'B-PER'" in note for note in data.notes)


@pytest.mark.parametrize(
    "metadata",
    [b"", b"{", b"[]", b'{"info": 3}', b'{"info": {"features": [1]}}', b"[" * 5000]
    + [
        json.dumps({"info": {"features": {"label": feature}}}).encode()
        for feature in ("x", None, [], {"names": "ab"}, {"names": [1]})
    ],
)
def test_what_is_said_wrongly_of_labels_is_passed_over(parquet, metadata):
    path = parquet({"text": ["a"], "label": [0]}, metadata)
    assert rows(path) == [(1, {"text": "a", "label": 0})]


def test_label_sets_are_lists(parquet):
    path = parquet({"text": ["a b", "c d"], "labels": [["x", "y"], []]})
    assert infer_task(path, {})[0] == "multi-label"
    assert [item.labels for item in ITEM_TYPES_BY_TASK["multi-label"].read(path).items] == [("x", "y"), ()]


def test_nested_fields_have_points(parquet):
    path = parquet({"data": [{"text": "a b"}], "label": ["x"]})
    data = read_examples(path, ITEM_TYPES_BY_TASK["classify"].options(text_column="data.text"))
    assert data.items[0].text == "a b"


def test_rows_come_before_the_rest_is_read_and_damage_is_told(parquet, tmp_path):
    table = pa.table({"text": [f"text {n}" for n in range(4000)]})
    path = parquet(table, row_group_size=2000, use_dictionary=False, compression="gzip")
    place = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset
    content = bytearray((tmp_path / "data.parquet").read_bytes())
    content[place : place + 400] = b"\xff" * 400
    (tmp_path / "data.parquet").write_bytes(content)
    numbered_rows = parquet_rows(path, None, [])
    assert [next(numbered_rows)[0] for _ in range(1024)][-1] == 1024
    with pytest.raises(DataError, match="a Parquet file that cannot be read") as error:
        list(numbered_rows)
    assert error.value.code == "HW102"


@pytest.mark.parametrize("content", [b"PAR1", b"PAR1" + b"\0" * 100, b"PAR1" + b"\xff" * 50 + b"PAR1"])
def test_damaged_files(write, fails, content):
    assert fails(read_examples, write("a.parquet", content))[0] == "HW102"


def test_other_errors(parquet, fails):
    assert fails(read_examples, parquet({"text": [], "label": []}))[0] == "HW103"
    assert fails(read_examples, parquet({"image": [b"\xff"]}))[0] == "HW103"
    twice = pa.table([["a"], ["b"]], names=["text", "text"])
    assert fails(read_examples, parquet(twice))[0] == "HW112"
    assert fails(read_examples, parquet(TABLE) + "!sheet")[0] == "HW101"


def test_a_file_that_says_that_it_is_far_larger_is_refused(parquet, fails, monkeypatch):
    monkeypatch.setattr("headwise.data.files.parquet.BOMB_SIZE", 1000)
    columns = {"text": ["x" * 10_000_000], "label": ["a"]}
    assert fails(read_examples, parquet(columns, compression="zstd"))[0] == "HW104"


def test_a_long_value_that_recurs_takes_memory_once(parquet, fails):
    """Else a batch of these would take 800 MB, and one of 1,024 rows 20 GB."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 40, pa.int32()), pa.array(["x" * 20_000_000]))
    table = pa.table({"text": texts, "label": ["a"] * 40})
    path = parquet(table, compression="zstd", store_schema=False)
    assert fails(read_examples, path) == ("HW107", 1, None)
    assert pa.default_memory_pool().max_memory() < 400_000_000
