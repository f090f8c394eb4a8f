"""Tables in memory in the place of files."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from headwise import evaluate_file, train_files
from headwise.app.workflows.memory_tables import tables_as_files
from headwise.core.errors import ConfigError

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
        return missing + [{"text": t, "label": own} for t, own in zip(TEXTS, LABELS, strict=True)]


class PolarsFrame:
    """The parts of a DataFrame of Polars that are read."""

    columns = ("text", "label")

    def iter_rows(self, *, named):
        assert named
        return ({"text": t, "label": own} for t, own in zip(TEXTS, LABELS, strict=True))


def rows_of(table) -> list[dict]:
    with tables_as_files(table) as (file,):
        rows = [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]
    assert not Path(file).exists()
    return rows


def test_rows_of_every_kind_of_table():
    wanted = [{"text": text, "label": label} for text, label in zip(TEXTS, LABELS, strict=True)]
    assert rows_of(HubDataset()) == rows_of(PolarsFrame()) == wanted
    assert rows_of(PandasFrame()) == [{"text": None, "label": "light"}, *wanted]
    arrow = pytest.importorskip("pyarrow")
    assert rows_of(arrow.table({"text": TEXTS, "label": LABELS})) == wanted


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
