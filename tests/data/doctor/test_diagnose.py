import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.error_codes import error_codes
from headwise.core.errors import ConfigError
from headwise.data import ReadOptions
from headwise.data.doctor.diagnose import diagnose, doctor_files, guess_roles, summarize_lengths
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK

CLASSIFY = ITEM_TYPES_BY_TASK["classify"]


def codes(diagnosis):
    return [(finding.severity, finding.code) for finding in diagnosis.findings]


@given(st.lists(st.integers(0, 300), min_size=1))
@settings(max_examples=100, deadline=None)
def test_lengths_against_numpy(words):
    summary = summarize_lengths(words)
    assert (summary.min, summary.max) == (min(words), max(words))
    assert summary.mean == pytest.approx(np.mean(words))
    assert summary.median == np.median(words)
    assert summary.p95 == np.percentile(words, 95, method="inverted_cdf")


def test_no_texts_have_no_lengths():
    assert summarize_lengths([]).max == 0


@pytest.mark.parametrize(
    ("paths", "roles"),
    [
        (["a", "b", "c", "d"], ["train", "dev", "test", "test 2"]),
        (["x.test.gz", "x.train.gz"], ["test", "train"]),
        (["train.csv", "b.csv"], ["train", "dev"]),
        (["valid-1.csv", "b.csv", "c.csv"], ["dev", "train", "test"]),
        (["train_pos.tsv", "train_neg.tsv", "eng.testa"], ["train", "train 2", "dev"]),
        (["data/test/reviews.csv", "trains.csv", "contest.csv"], ["train", "dev", "test"]),
    ],
)
def test_roles(paths, roles):
    assert guess_roles(paths) == roles


def test_facts_about_a_file(write):
    path = write("a.csv", "text,label\nbig big film,b\nBig  big film,b\n,a\n\n")
    (report,) = diagnose(CLASSIFY, [path]).files
    assert (report.texts, report.distinct, report.empty) == (3, 2, 1)
    assert report.classes == (("b", 2, 2 / 3), ("a", 1, 1 / 3))
    assert (report.text_column, report.label_column, report.format) == ("text", "label", "csv")
    assert "blank lines passed over: 1" in report.notes


def test_a_bad_file_does_not_hide_the_others(write):
    good = write("train.csv", "text,label\n" + "".join(f"film {i},{i % 2}\n" for i in range(20)))
    diagnosis = diagnose(CLASSIFY, [good, write("dev.csv", ""), "none.csv"])
    assert codes(diagnosis) == [("error", "HW103"), ("error", "HW101")]
    assert [report.role for report in diagnosis.files] == ["train"]
    assert diagnosis.errors == 2


def test_bad_records_are_told_one_by_one_in_the_file_s_order(write):
    rows = [f"film {i},{i % 2}" for i in range(20)]
    rows[4], rows[8], rows[12] = "x,", "a,b,c", '"a"b,1'
    path = write("a.csv", "\n".join(["text,label", *rows]))
    diagnosis = diagnose(CLASSIFY, [path])
    assert diagnosis.files[0].texts == 17
    errors = [(f.code, f.where) for f in diagnosis.findings if f.severity == "error"]
    assert errors == [
        ("HW120", (f"{path}:6",)),
        ("HW110", (f"{path}:10",)),
        ("HW114", (f"{path}:14:4",)),
    ]


def test_very_many_bad_records_are_summed_up(write):
    path = write("a.csv", "text,label\na,1\nb,0\n" + "x\n" * 100)
    field_count_findings = [f for f in diagnose(CLASSIFY, [path]).findings if f.code == "HW110"]
    assert [finding.message for finding in field_count_findings] == [
        "a row of 1 field; expected 2 as in line 1"
    ]
    assert field_count_findings[0].where == (*(f"{path}:{line}" for line in range(4, 9)), "and 95 more")
    odd = write("b.csv", "text,label\na,1\nb,0\n" + "x\n" + "x,y,z\n" * 2)
    (finding,) = [f for f in diagnose(CLASSIFY, [odd]).findings if f.code == "HW110"]
    assert finding.message == "a row of 1 field; expected 2 as in line 1 (and 2 records like it)"


def test_a_file_of_another_encoding_is_read_on(write):
    path = write("a.txt", "1 good film\n0 caf\xe9 closed\n".encode("latin-1"))
    diagnosis = diagnose(CLASSIFY, [path])
    assert diagnosis.files[0].texts == 2
    assert ("error", "HW105") in codes(diagnosis)
    assert ("warning", "HW159") not in codes(diagnosis)  # which would say the same again
    fine = diagnose(CLASSIFY, [path], ReadOptions(encoding="latin-1"))
    assert "HW105" not in dict(map(reversed, codes(fine)))


def test_findings_are_sorted_have_known_codes_and_are_json(write):
    train = write("train.csv", "text,label\na,x\na,X\nx,y,z\n")
    diagnosis = diagnose(CLASSIFY, [train, write("test.csv", "text,label\na,z\n")])
    order = [("error", "warning", "info").index(severity) for severity, _ in codes(diagnosis)]
    assert order == sorted(order)
    assert {code for _, code in codes(diagnosis)} >= {"HW110", "HW154", "HW156", "HW160", "HW161"}
    assert all(code in error_codes() for _, code in codes(diagnosis))
    assert json.loads(json.dumps(diagnosis.to_json()))["files"][0]["words"]["max"] == 1


def test_the_verb_finds_the_task_out(write):
    pairs = write(
        "train.csv", "premise,hypothesis,label\n" + "".join(f"a {n},b {n},{n % 2}\n" for n in range(20))
    )
    diagnosis = doctor_files([pairs])
    assert (diagnosis.task, "'premise' and 'hypothesis'" in diagnosis.why) == ("pair", True)
    assert diagnosis.files[0].names.items == "pairs"
    named = doctor_files([pairs], "classify", {"text_column": "premise", "label_column": "label"})
    assert (named.task, named.why, named.files[0].texts) == ("classify", "", 20)
    for paths, task in ([], None), ([pairs], "classfy"):
        with pytest.raises(ConfigError):
            doctor_files(paths, task)


@pytest.mark.parametrize("task", ITEM_TYPES_BY_TASK)
def test_every_kind_tells_of_a_file_that_is_not_there(task):
    diagnosis = diagnose(ITEM_TYPES_BY_TASK[task], ["none.csv"], ITEM_TYPES_BY_TASK[task].options())
    assert codes(diagnosis) == [("error", "HW101")]


def test_a_report_is_shown_line_by_line(tmp_path):
    (path := tmp_path / "a.csv").write_text("text,label\ngood one,a\nbad one,b\nbad one,a\n")
    lines = repr(doctor_files([path])).removesuffix(">").split("\n  ")
    assert lines[0] == "<DoctorReport for the task classify"
    assert lines[1] == f"train {path}: 3 texts, text from column 'text', labels from 'label'"
    assert any(line.startswith("warning HW154 1 text occurs with different labels") for line in lines[2:])


def test_a_file_whose_records_are_all_errors_is_not_also_without_records(tmp_path):
    frame, invalid, empty = tmp_path / "frame.json", tmp_path / "invalid.jsonl", tmp_path / "empty.jsonl"
    frame.write_text(
        json.dumps({name: {f"key {n}": f"{name} {n}" for n in range(2)} for name in ("one", "two")})
    )
    invalid.write_text('{"text": \n{"text": "a"\n')
    empty.write_text("\n\n")
    for path, expected in ((frame, {"HW116"}), (invalid, {"HW115"}), (empty, {"HW103"})):
        assert {code for _, code in codes(diagnose(CLASSIFY, [str(path)]))} == expected
