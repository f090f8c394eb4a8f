"""What the doctor finds in plain texts."""

import pytest

from headwise.data.doctor.diagnose import diagnose
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK

LONG = "a line that is so long that it does not stand in two texts by mere chance"


@pytest.fixture
def files(tmp_path):
    train, test = tmp_path / "train.txt", tmp_path / "test.txt"
    train.write_text("some words here\n\nsome words here\n" + LONG + "\n", encoding="utf-8")
    test.write_text(LONG + "\nquite another one, q\x07\n", encoding="utf-8")
    return [str(train), str(test)]


def codes(diagnosis):
    return {finding.code for finding in diagnosis.findings}


def test_facts(files):
    report = diagnose(ITEM_TYPES_BY_TASK["language-model"], files).files[0]
    assert (report.role, report.texts, report.distinct, report.empty) == ("train", 4, 3, 1)
    assert report.classes[0][:2] == ("' '", 4 + LONG.count(" "))
    assert "different" in report.notes[0]


def test_findings(files):
    findings = {
        finding.code: finding for finding in diagnose(ITEM_TYPES_BY_TASK["language-model"], files).findings
    }
    assert set(findings) == {"HW151", "HW157", "HW160", "HW280"}
    assert "'\\x07'" in findings["HW157"].message
    assert "',' (1)" in findings["HW280"].message
    assert LONG[:40] in findings["HW160"].message


def test_a_text_without_faults(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("words and words\n" * 7000)
    assert not diagnose(ITEM_TYPES_BY_TASK["language-model"], [str(path)]).findings


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "train.txt").write_bytes("not in UTF-8".encode("utf-16-le"))
    diagnosis = diagnose(ITEM_TYPES_BY_TASK["language-model"], [str(tmp_path / "train.txt")])
    assert diagnosis.errors >= 1
    assert not diagnosis.files


def test_a_table_is_told(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("good\tthe cake was nice\nbad\tthe tea was cold\n" * 3000)
    (finding,) = diagnose(ITEM_TYPES_BY_TASK["language-model"], [str(path)]).findings
    assert (finding.code, finding.severity) == ("HW283", "warning")
    assert "looks like tsv" in finding.message
