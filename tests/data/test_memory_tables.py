"""Tables in memory in the place of files."""

import json
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest

from headwise import doctor_files, evaluate_file, train_files
from headwise.app.reporter import Reporter
from headwise.core.errors import ConfigError
from headwise.data.errors import DataError
from headwise.data.files.compression import open_raw
from headwise.data.files.memory_tables import tables_as_files

TEXTS = [f"{('stuck', 'dark')[n % 2]} {('door', 'lamp', 'roof')[n % 3]} {n}" for n in range(60)]
LABELS = [("repair", "light")[n % 2] for n in range(60)]
SETTINGS = [
    {"encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8}, "words": {"vector_size": 8}},
    {"base": {"name": "none"}, "train": {"epochs": 1}},
]


class HubDataset:
    """The parts of `datasets.Dataset` that are read: columns, features and an iteration of rows."""

    column_names = ("text", "label")

    def __init__(self):
        self.features = {"text": SimpleNamespace(), "label": SimpleNamespace(names=["light", "repair"])}

    def __iter__(self):
        for text, label in zip(TEXTS, LABELS, strict=True):
            yield {"text": text, "label": int(label == "repair")}


class PandasFrame:
    """The parts of a DataFrame of pandas that are read."""

    columns = ("text", "label")

    def to_dict(self, form):
        assert form == "records"
        missing = [{"text": float("nan"), "label": "light"}]
        return missing + [{"text": t, "label": label} for t, label in zip(TEXTS, LABELS, strict=True)]


class PolarsFrame:
    """The parts of a DataFrame of Polars that are read."""

    columns = ("text", "label")

    def iter_rows(self, *, named):
        assert named
        return ({"text": t, "label": label} for t, label in zip(TEXTS, LABELS, strict=True))


def rows_of(table) -> list[dict]:
    with tables_as_files(table) as (file,), open_raw(file) as lines:
        rows = [json.loads(line) for line in lines]
    assert not Path(file.file).exists()
    return rows


def test_rows_of_every_kind_of_table():
    expected = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    assert rows_of(HubDataset()) == rows_of(PolarsFrame()) == expected
    assert rows_of(PandasFrame()) == [{"text": None, "label": "light"}, *expected]
    arrow = pytest.importorskip("pyarrow")
    assert rows_of(arrow.table({"text": TEXTS, "label": LABELS})) == expected


def test_batches_of_arrow_and_frames_that_are_collected_first():
    arrow = pytest.importorskip("pyarrow")
    batch = arrow.record_batch({"text": arrow.array(TEXTS), "label": arrow.array(LABELS)})
    assert rows_of(batch) == rows_of(SimpleNamespace(collect=PolarsFrame)) == rows_of(PolarsFrame())


@pytest.mark.parametrize("listed", [lambda kind: [kind], lambda kind: SimpleNamespace(feature=kind)])
def test_numbers_of_tags_are_named(listed):
    rows = [{"tokens": ["a", "b"], "ner_tags": [0, 1]}, {"tokens": ["c"], "ner_tags": [-1]}]

    class Tagged:
        column_names = ("tokens", "ner_tags")

        def __init__(self):
            names = SimpleNamespace(names=["O", "B-PER"])
            self.features = {"tokens": listed("string"), "ner_tags": listed(names)}

        def __iter__(self):
            return iter(rows)

    assert [row["ner_tags"] for row in rows_of(Tagged())] == [["O", "B-PER"], [None]]


def test_decimals_and_sets():
    row = {"text": "a", "label": {"y", "x"}, "whole": Decimal("1.0"), "part": Decimal("0.5")}
    frame = SimpleNamespace(columns=list(row), to_dict=lambda form: [row])
    assert rows_of(frame) == [{"text": "a", "label": ["x", "y"], "whole": 1, "part": 0.5}]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (SimpleNamespace(column_names={"train": ["text"], "test": ["text"]}), r"give one of them.*'train'"),
        (SimpleNamespace(columns=["text", "label", "label"]), "several columns are named 'label'"),
        (SimpleNamespace(columns=[1, "1"]), "several columns are named '1'"),
        (
            SimpleNamespace(columns=["text", "image"], to_dict=lambda form: [{"text": "a", "image": b"x"}]),
            "the column 'image' holds a bytes",
        ),
    ],
)
def test_tables_that_cannot_be_read(table, message):
    with pytest.raises(ConfigError, match=message), tables_as_files(table):
        pass


def test_files_stay_files():
    with tables_as_files("a.csv", None, ["b.csv", Path("c.csv")]) as arguments:
        assert arguments == ["a.csv", None, ["b.csv", Path("c.csv")]]


def test_a_table_without_rows():
    with (
        pytest.raises(ConfigError, match="the table has no rows"),
        tables_as_files(SimpleNamespace(columns=["text"], to_dict=lambda form: [])),
    ):
        pass


def test_training_and_evaluation_of_a_table(tmp_path):
    report = train_files(HubDataset(), tmp_path / "m", test=PolarsFrame(), settings=SETTINGS)
    assert report.score("accuracy") == evaluate_file(tmp_path / "m", PolarsFrame()).score("accuracy")
    assert sorted(report.fitted.model.labels) == ["light", "repair"]


class MessageList(Reporter):
    """A reporter that keeps all messages."""

    def __init__(self):
        self.texts = []

    def note(self, text):
        self.texts.append(text)

    warn = note


class Rows:
    """A DataFrame of pandas with these rows."""

    def __init__(self, rows):
        self.rows, self.columns = rows, [*rows[0]]

    def to_dict(self, form):
        return self.rows


def test_the_doctor_looks_at_tables_and_names_their_rows():
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    report = doctor_files([Rows(rows), Rows([*rows[:3], {"text": "stuck", "label": "new"}])])
    assert [(file.role, file.path, file.texts) for file in report.files] == [
        ("train", "table-1.jsonl", 60),
        ("dev", "table-2.jsonl", 4),
    ]
    [finding] = [finding for finding in report.findings if finding.code == "HW161"]
    assert finding.where == ("table-2.jsonl:4",)
    assert doctor_files(Rows(rows)).files[0].texts == 60
    assert "headwise-tables" not in repr(report)


def test_errors_name_the_row_of_a_table(tmp_path):
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    rows[3]["label"] = None
    with pytest.raises(DataError) as caught:
        train_files(Rows(rows), tmp_path / "m", settings=SETTINGS)
    assert str(caught.value).startswith("[HW120] table-1.jsonl:4: an empty label")
    assert (caught.value.path, caught.value.line) == ("table-1.jsonl", 4)


def test_messages_name_tables_and_give_no_advice_for_files_that_are_gone(tmp_path):
    rows = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    rows[3]["label"] = f"{rows[3]['label']} "  # a label that differs in blanks only
    rows += [{"text": rows[0]["text"], "label": "repair"}, {"text": rows[0]["text"], "label": "light"}]
    messages = MessageList()
    train_files(Rows(rows), tmp_path / "m", settings=SETTINGS, reporter=messages)
    assert any("different labels" in text for text in messages.texts)
    assert not any("headwise-tables" in text or "headwise doctor" in text for text in messages.texts)
    saved = "".join(file.read_text("utf-8") for file in (tmp_path / "m").glob("*.json"))
    assert "headwise-tables" not in saved
