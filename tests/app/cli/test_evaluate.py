import csv
import io
import json

import pytest

from headwise.data.items.examples import Example
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.readers.labelled_files import read_examples
from headwise.models.report_parts import ComparisonSystem


@pytest.fixture
def judged(save, table, tmp_path):
    """A model with a baseline on the test texts in `in.csv`."""
    table(tmp_path / "in.csv", 200)
    tested = ITEM_TYPES_BY_TASK["classify"].fingerprint(read_examples(tmp_path / "in.csv").items)
    rival = ComparisonSystem(
        "TF-IDF + linear SVM", {"accuracy": 0.75, "accuracy_interval": [0.7, 0.8], "macro_f1": 0.74}
    )
    return save(["bad", "good"], data={"test": tested}, metrics={"baseline": rival.to_json()})


def test_probe_and_report_read_standard_input_too(run, model, tmp_path):
    rows = b"text,label\nw1 w2 w3,good\nw4 w5 w6 w7,bad\n"
    (tmp_path / "texts.csv").write_bytes(rows)
    found = run("probe", model, "-", "--json", stdin=rows)
    assert found[0] == 0, found
    assert found[1] == run("probe", model, "texts.csv", "--json")[1]
    code, _, err = run("report", model, "--data", "-", stdin=rows)
    assert code == 0, err
    assert "2 texts of standard input" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(
    ("command", "file"),
    [
        ("evaluate", "-"),
        ("calibrate --output new", "-"),
        ("heads", "-"),
        ("probe", "-"),
        ("explain", "-"),
        ("predict", "-"),
        ("report", "--data -"),
    ],
)
def test_standard_input_is_read_once(run, model, command, file):
    name, *more = command.split()
    code, _, err = run(name, model, *file.split(), *more, "--parses", "-", stdin=b"w1 w2\n")
    assert code == 2
    assert "- (standard input) is given for" in err
    assert "--parses; it can be read once" in err


def test_tables(run, judged):
    code, out, err = run("evaluate", judged, "in.csv")
    assert code == 0
    for said in (
        "accuracy",
        "95 % interval",
        "TF-IDF + linear SVM",
        "75.0 %",
        "precision",
        "true \\ predicted",
    ):
        assert said in out
    assert "columns guessed" in err


def test_json(run, judged, tmp_path):
    code, out, _ = run("evaluate", judged, "in.csv", "--json", "--errors", "3")
    assert code == 0
    found = json.loads(out)
    with open(tmp_path / "in.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert found["texts"] == 200
    assert found["baseline"]["accuracy"] == 0.75
    counts = {label["label"]: label["texts"] for label in found["labels"]}
    assert counts == {name: sum(row["label"] == name for row in rows) for name in ("bad", "good")}
    predictions = run("predict", judged, "in.csv")[1]
    predicted = list(csv.DictReader(io.StringIO(predictions, newline="")))
    right = sum(row["prediction"] == row["label"] for row in predicted)
    assert found["accuracy"] == pytest.approx(right / 200)
    assert len(found["errors"]) == 3
    sure = [error["probability"] for error in found["errors"]]
    assert sure == sorted(sure, reverse=True)
    wrong = [float(row["probability"]) for row in predicted if row["prediction"] != row["label"]]
    assert sure[0] == pytest.approx(max(wrong), rel=1e-5)
    for error in found["errors"]:
        row = predicted[[row["text"] for row in predicted].index(error["text"])]
        assert error["predicted"] == row["prediction"] != error["label"]


def test_the_baseline_is_of_the_same_texts_only(run, judged, table, tmp_path):
    table(tmp_path / "other.csv", 200, seed=1)
    code, out, _ = run("evaluate", judged, "other.csv", "--json")
    assert code == 0
    assert json.loads(out)["baseline"] is None


def test_errors_with_their_places(run, model, tmp_path):
    (tmp_path / "in.csv").write_text('text,label\n"w1\nw2",bad\n"w1\nw2",good\nw3,bad\nw3,good\n')
    code, out, _ = run("evaluate", model, "in.csv", "--errors", "9")
    assert code == 0
    lines = out.splitlines()
    places = [line.split()[0] for line in lines if line.startswith("in.csv:")]
    assert len(places) == 2  # of each pair one is wrong
    assert set(places) <= {"in.csv:2", "in.csv:4", "in.csv:6", "in.csv:7"}
    assert any(line.strip() == "w1 w2" for line in lines)


def test_labels_that_the_model_does_not_know(run, model, tmp_path):
    """They stop it, or are left out and counted; where there are no others they stop it."""
    rows = [f"w{n},{('good', 'bad', 'odd')[n % 3]}\n" for n in range(30)]
    (tmp_path / "in.csv").write_text("text,label\n" + "".join(rows))
    code, _, err = run("evaluate", model, "in.csv")
    assert code == 2
    assert "--unknown-labels skip leaves out what has such labels" in " ".join(err.split())
    code, out, err = run("evaluate", model, "in.csv", "--unknown-labels", "skip", "--json")
    assert code == 0, err
    assert "10 texts left out, with labels that the model does not know: 'odd' (10)" in " ".join(
        err.split()
    )
    found = json.loads(out)
    (tmp_path / "known.csv").write_text("text,label\n" + "".join(row for row in rows if "odd" not in row))
    code, out, err = run("evaluate", model, "known.csv", "--unknown-labels", "skip", "--json")
    assert code == 0, err
    assert "left out" not in err
    assert json.loads(out) | {"file": "in.csv"} == found
    (tmp_path / "in.csv").write_text("text,label\nw1,odd\nw2,odd\n")
    code, _, err = run("evaluate", model, "in.csv", "--unknown-labels", "skip")
    assert (code, "[HW140]" in err) == (2, True)


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("text,label\nw1,good\nw2,goood\n", [], "[HW140] in.csv:3: the label 'goood' does not occur in"),
        ("text,label\nw1,good\nw2,goood\n", [], "did you mean 'good'?"),
        ("text,label\nw1,good\nw2,\n", [], "[HW120] in.csv:3"),
        ("text,n\nw1 w2 w3,2.5\nw1 w2 w3,3.5\n", [], "[HW1"),
        ("", [], "[HW103]"),
        ("w1\nw2\n", ["--format", "text"], "[HW163] in.csv: the format text has no labels"),
        ("text,label\nw1,good\n", ["--errors", "-1"], "--errors -1; expected 0 or more"),
    ],
)
def test_files_that_cannot_be_used(run, model, tmp_path, content, options, said):
    (tmp_path / "in.csv").write_text(content)
    code, out, err = run("evaluate", model, "in.csv", *options)
    assert code == 2
    assert not out
    assert said in err
    assert "Traceback" not in err


def test_a_metrics_file_of_another_kind(run, save, table, tmp_path):
    rows = table(tmp_path / "in.csv", 20)
    tested = ITEM_TYPES_BY_TASK["classify"].fingerprint(Example(row["text"], row["label"]) for row in rows)
    for metrics in ({}, {"baseline": None}, {"baseline": {"test": {"macro_f1": 0.5}}}):
        folder = save(["bad", "good"], data={"test": tested}, metrics=metrics)
        code, out, err = run("evaluate", folder, "in.csv", "--json")
        assert code == 0, err
        assert json.loads(out)["baseline"] is None


def test_unknown_words(run, model):
    code, out, err = run("evaluate", model, "-", stdin=b"text,label\nw1 zzz,good\nzzz,bad\n")
    assert code == 0
    assert "66.7 %" in out
    assert "warning the model does not know 66.7 % of the words" in err
