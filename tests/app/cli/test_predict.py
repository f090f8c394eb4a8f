import csv
import gzip
import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def read(text: str, delimiter: str = ",") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))


def test_csv_to_standard_output(run, model, table, tmp_path):
    rows = table(tmp_path / "in.csv", 300)
    code, out, err = run("predict", model, "in.csv")
    assert code == 0
    found = read(out)
    assert [{name: row[name] for name in ("id", "text", "label")} for row in found] == rows
    assert list(found[0])[3:] == ["prediction", "probability", "probability:bad", "probability:good"]
    for row in found:
        bad, good = float(row["probability:bad"]), float(row["probability:good"])
        assert bad + good == pytest.approx(1, abs=1e-5)
        assert row["prediction"] == ("bad" if bad > good else "good")
        assert row["probability"] == row[f"probability:{row['prediction']}"]
    assert "300 texts predicted in" in err
    assert "of their words are unknown" in err
    counts = [f"{label} {sum(row['prediction'] == label for row in found)}" for label in ("bad", "good")]
    assert all(count in err for count in counts if not count.endswith(" 0"))


def test_a_terminal_does_not_show_the_probabilities_of_many_labels(run, model, monkeypatch):
    whole = read(run("predict", model, "-", stdin=b"w1\nw2 w3\n")[1])
    monkeypatch.setattr("headwise.app.workflows.predict.MAX_SHOWN", 1)
    for terminal, options, brief in (
        (False, (), False),
        (True, (), True),
        (True, ("--format-out", "csv"), False),
    ):
        monkeypatch.setattr(sys.stdout, "isatty", lambda terminal=terminal: terminal)
        _, out, err = run("predict", model, "-", *options, stdin=b"w1\nw2 w3\n")
        shown = ["text", "prediction", "probability"] if brief else list(whole[0])
        assert read(out) == [{name: row[name] for name in shown} for row in whole]
        assert ("of all 2 labels are not shown on a terminal" in err.replace("\n  ", " ")) == brief


def test_predictions_are_the_models(run, model, table, tmp_path):
    from headwise.artifacts import load_model

    rows = table(tmp_path / "in.csv", 50)
    _, out, _ = run("predict", model, "in.csv", "--format-out", "jsonl")
    expected = load_model(model).predict([row["text"] for row in rows])
    for line, prediction in zip(out.splitlines(), expected, strict=True):
        record = json.loads(line)
        assert record["prediction"] == prediction.label
        assert tuple(record["probabilities"].values()) == pytest.approx(prediction.probabilities, rel=1e-4)


def test_the_same_every_time_and_in_every_format(run, model, table, tmp_path):
    table(tmp_path / "in.csv", 100)
    first, again = (run("predict", model, "in.csv")[1] for _ in range(2))
    assert first == again
    assert run("predict", model, "in.csv", "-o", "out.csv")[0] == 0
    assert (tmp_path / "out.csv").read_bytes().decode() == first
    assert run("predict", model, "in.csv", "-o", "out.csv.gz")[0] == 0
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode() == first
    jsonl = run("predict", model, "in.csv", "--format-out", "jsonl")[1]
    for row, line in zip(read(first), jsonl.splitlines(), strict=True):
        assert f'"probability": {row["probability"]}, ' in line


def test_plain_text_from_standard_input(run, model):
    code, out, err = run("predict", model, "-", stdin=b"w1 w2\n\nw3, w4\r\nzzz")
    assert code == 0
    assert [row["text"] for row in read(out)] == ["w1 w2", "", "w3, w4", "zzz"]
    assert "format text guessed" in err


def test_tsv(run, model, tmp_path):
    (tmp_path / "in.tsv").write_text('text\tn\n"quoted"\t1\nsay "hi"\t2\n')
    code, out, _ = run("predict", model, "in.tsv", "--format-out", "tsv")
    assert code == 0
    assert out.startswith("text\tn\tprediction\tprobability\tprobability:bad\tprobability:good\n")
    assert [line.split("\t")[:2] for line in out.splitlines()[1:]] == [["quoted", "1"], ['say "hi"', "2"]]


def test_its_own_output_as_input(run, model, table, tmp_path):
    table(tmp_path / "in.csv", 5)
    assert run("predict", model, "in.csv", "-o", "one.csv")[0] == 0
    code, out, _ = run("predict", model, "one.csv", "--text-column", "text")
    assert code == 0
    for row in read(out):
        assert row["prediction_2"] == row["prediction"]
        assert row["probability:good_2"] == row["probability:good"]


def test_reading_options(run, model, tmp_path):
    (tmp_path / "in.csv").write_bytes("a;b\nw1 é;w2\n".encode("latin-1"))
    code, out, _ = run(
        "predict", model, "in.csv", "--encoding", "latin-1", "--text-column", "b", "--delimiter", ";"
    )
    assert code == 0
    assert out.startswith("\ufeffa;b;prediction")
    assert "w1 é;w2;" in out


def test_many_unknown_words(run, model):
    _, _, err = run("predict", model, "-", stdin=b"w1 zzz zzz\n")
    assert "warning the model does not know 66.7 % of the words" in err
    _, _, err = run("predict", model, "-", stdin=b"w1 w1 w1 w1 w1\n")
    assert "warning" not in err


def test_as_many_unknown_words_as_in_the_test_are_no_news(run, save, tmp_path):
    """Of several languages, names and numbers there are always many, and the scores are with them."""
    (tmp_path / "in.csv").write_text("text,label\nw1 w2 w3 w1 zzz zzz,good\n")  # a third
    (tmp_path / "odd.csv").write_text("text,label\nw1 zzz zzz,good\n")
    folder = save(["bad", "good"], metrics={"test": {"unknown_words": 0.31}})
    for command in ("predict", "evaluate"):
        assert "does not know" not in run(command, folder, "in.csv")[2]
        assert "warning the model does not know 66.7 % of the words" in run(command, folder, "odd.csv")[2]


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (None, [], "[HW101] in.csv: no such file"),
        (b"", [], "[HW103] in.csv: the file is empty"),
        (b"text,n\nw1,2\n", ["--text-column", "txt"], "there is no column 'txt'"),
        (b"text,n\nw1,2\n", ["--text-column", "txt"], "did you mean --text-column 'text'?"),
        (b"text\n\xff\n", [], "[HW105] in.csv:2:1"),
        (b"text,n\nw1,2\n", ["--format", "jsonl"], "[HW115] in.csv:1:1"),
    ],
)
def test_files_that_cannot_be_used(run, model, tmp_path, content, options, said):
    if content is not None:
        (tmp_path / "in.csv").write_bytes(content)
    code, out, err = run("predict", model, "in.csv", "-o", "out.csv", *options)
    assert code == 2
    assert not out
    assert said in err
    assert "Traceback" not in err
    assert not (tmp_path / "out.csv").exists()


def test_a_bad_record_far_down(run, model, tmp_path):
    lines = ["text,n"] + [f"w{i % 50},{i}" for i in range(3000)]
    (tmp_path / "in.csv").write_text("\n".join([*lines, "w1", "w2,1", ""]))
    code, _, err = run("predict", model, "in.csv", "-o", "out.csv")
    assert code == 2
    assert "[HW110] in.csv:3002" in err
    assert "stopped after 2,048 texts; the same command with --resume (and without" in err
    (tmp_path / "in.csv").write_text("\n".join([*lines, "w1,0", "w2,1", ""]))
    assert run("predict", model, "in.csv", "-o", "out.csv", "--resume")[0] == 0
    assert run("predict", model, "in.csv", "-o", "whole.csv")[0] == 0
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "old.csv"], "[HW601] old.csv exists; add --resume"),
        (["-o", "old.csv", "--resume", "--overwrite"], "exclude each other"),
        (["-o", "in.csv", "--overwrite"], "[HW604] in.csv is the file to be read"),
        (["-o", "in.csv", "--resume"], "[HW604] in.csv is the file to be read"),
        (["-o", "out.xls"], "[HW605] out.xls"),
        (["-o", "no/out.csv"], "[HW604] no/out.csv: cannot be written: No such file"),
        (["--resume"], "need --output"),
        (["--batch-tokens", "0"], "--batch-tokens 0; expected 1 or more"),
    ],
)
def test_outputs_that_cannot_be_written(run, model, table, tmp_path, options, said):
    table(tmp_path / "in.csv", 3)
    (tmp_path / "old.csv").write_text("precious")
    before = (tmp_path / "in.csv").read_bytes()
    code, out, err = run("predict", model, "in.csv", *options)
    assert code == 2
    assert not out
    assert said in err
    assert (tmp_path / "old.csv").read_text() == "precious"
    assert (tmp_path / "in.csv").read_bytes() == before


@pytest.mark.parametrize("name", ["config.json", "predictions.csv", "."])
def test_a_model_is_not_written_over(run, save, table, tmp_path, name):
    table(tmp_path / "in.csv", 3)
    shutil.copytree(save(["bad", "good"]), tmp_path / "own")
    command = ("predict", "own", "in.csv", "--format-out", "csv", "-o", f"own/{name}")
    for more in ((), ("--overwrite",), ("--resume",)):
        code, out, err = run(*command, *more)
        assert (code, out) == (2, "")
        said = "own is a folder; give a file" if name == "." else f"own/{name} is in the folder of a model"
        assert f"[HW604] {said}" in err
    assert not (tmp_path / "own" / "predictions.csv").exists()
    assert run("predict", "own", "in.csv")[0] == 0


def test_overwrite(run, model, table, tmp_path):
    table(tmp_path / "in.csv", 3)
    (tmp_path / "out.csv").write_text("old" * 10_000)
    assert run("predict", model, "in.csv", "-o", "out.csv", "--overwrite")[0] == 0
    assert len(read((tmp_path / "out.csv").read_text())) == 3


def test_device(run, model, table, tmp_path):
    table(tmp_path / "in.csv", 5)
    assert run("predict", model, "in.csv", "--device", "cpu")[1] == run("predict", model, "in.csv")[1]
    for command in ("predict", "evaluate"):
        code, _, err = run(command, model, "in.csv", "--device", "cdua")
        assert code == 2
        assert "the device 'cdua' cannot be used" in err


def test_small_batches_predict_the_same(run, model, table, tmp_path):
    table(tmp_path / "in.csv", 40)
    many, few = (
        read(run("predict", model, "in.csv", "--batch-tokens", tokens)[1]) for tokens in (16_384, 1)
    )
    for one, other in zip(many, few, strict=True):
        assert float(one["probability:bad"]) == pytest.approx(float(other["probability:bad"]), abs=1e-5)


def test_a_process_of_its_own_with_a_pipe(spawn, model):
    process = spawn("predict", model, "-", stdin=subprocess.PIPE)
    out, err = process.communicate(b"w1\nw2 w3\n", timeout=60)
    assert process.returncode == 0, err
    assert [row["text"] for row in read(out.decode())] == ["w1", "w2 w3"]


MEMORY = """
import resource, sys
from headwise.app.cli import main
def peak(name):
    assert main(["predict", sys.argv[1], name, "-o", name + ".out.csv"]) == 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
first = peak("small.csv")
print(peak("large.csv") - first)
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(model, table, tmp_path):
    pytest.importorskip("resource")
    with open(tmp_path / "large.csv", "w") as file:
        file.write("text,more\n")
        file.writelines(f"w{i % 50} w{i % 7} w3,{'x' * 200}\n" for i in range(50_000))
    with open(tmp_path / "large.csv") as large, open(tmp_path / "small.csv", "w") as small:
        small.writelines(line for _, line in zip(range(8000), large, strict=False))
    command = [sys.executable, "-c", MEMORY, str(model)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 6_000, "KiB more for 42,000 rows, which are 10 MB"
    assert (tmp_path / "large.csv.out.csv").read_bytes().count(b"\n") == 50_001


@pytest.mark.parametrize("name", ["why.html", "why.jsonl"])
def test_explanations_that_come_to_no_end_leave_what_was_there(run, model, tmp_path, name):
    (tmp_path / "in.csv").write_text("text,id\n" + "w1 w2,1\n" * 1500 + "w1,2,3\n")
    (tmp_path / name).write_text("of before")
    code, _, err = run("explain", model, "in.csv", "--output", name, "--overwrite")
    assert (code, "[HW110]" in err) == (2, True)
    assert (tmp_path / name).read_text() == "of before"


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="pipes have no names here")
def test_a_pipe_is_read_as_a_file_is(run, save, table, tmp_path):
    """It is looked at for its columns, too, and no row of it is lost by that."""
    model = save(["bad", "good"], training={"columns": {"text_column": "text"}})
    table(tmp_path / "in.csv", 2000)
    expected = run("predict", model, "in.csv")[1]
    with subprocess.Popen(["cat", "in.csv"], stdout=subprocess.PIPE, cwd=tmp_path) as source:
        code, out, err = run("predict", model, f"/dev/fd/{source.stdout.fileno()}")
    assert (code, out == expected) == (0, True), err


def test_columns_are_those_of_the_training(run, save, tmp_path):
    """Not those that are called as texts and labels usually are; unless the user says so."""
    trained = {"columns": {"text_column": "message", "label_column": "team"}}
    model = save(["bad", "good"], training=trained)
    rows = ["w1 w2,w3 w4 w5,good,x", "w6 w7,w8 w9 w10,bad,y"]
    (tmp_path / "two.csv").write_text("\n".join(["text,message,team,label", *rows, ""]))
    (tmp_path / "one.csv").write_text("body\nw3 w4 w5\nw8 w9 w10\n")
    ahead = [row.split(",")[1:] for row in run("predict", model, "one.csv")[1].splitlines()]
    for read, stdin in (("two.csv", b""), ("-", (tmp_path / "two.csv").read_bytes())):
        code, out, err = run("predict", model, read, stdin=stdin)
        assert code == 0
        assert "columns as in training: text='message' - override with --text-column" in err
        assert [row.split(",")[4:] for row in out.splitlines()] == ahead
    _, out, err = run("predict", model, "two.csv", "--text-column", "text")
    assert [row.split(",")[4:] for row in out.splitlines()] != ahead
    assert "as in training" not in err
    _, out, err = run("evaluate", model, "two.csv", "--json", "--errors", "2")
    assert "columns as in training: text='message', label='team'" in err
    assert json.loads(out)["labels"][0]["texts"] == 1
    _, out, err = run("explain", model, "two.csv", "--json")
    assert [json.loads(line)["words"][0]["word"] for line in out.splitlines()] == ["w3", "w8"]
    _, out, err = run("suggest", model, "two.csv")
    assert "labels are in the column 'team', as in training" in err
    assert run("suggest", model, "one.csv")[1].startswith(
        "body,team,guess\n"
    )  # fits what it was trained on
    code, _, err = run("report", model, "--data", "two.csv")
    assert code == 0
    assert "columns as in training: text='message', label='team'" in err


@pytest.mark.parametrize("output", [("--output", "-"), ("--output=-",), ("-o", "-")])
def test_a_hyphen_as_output_is_standard_output(run, model, tmp_path, output):
    (tmp_path / "f.csv").write_text("text\nw1 w2\n")
    code, out, err = run("predict", model, "f.csv", *output)
    assert code == 0, err
    assert out == run("predict", model, "f.csv")[1]
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize("text", ["w1\nw2", "w1\tw2"])
def test_suggested_texts_that_tsv_cannot_hold(run, model, tmp_path, text):
    (tmp_path / "f.jsonl").write_text(json.dumps({"text": text}))
    code, _, err = run("suggest", model, "f.jsonl", "--output", "o.tsv")
    assert code == 2
    assert "line 1 of the input: a tab or line end in the column 'text'" in err
    assert "name the output .csv or .jsonl" in err
    assert not (tmp_path / "o.tsv").exists()
    assert run("suggest", model, "f.jsonl", "--output", "o.csv")[0] == 0


def test_a_carriage_return_in_a_suggested_text_is_quoted(run, model, tmp_path):
    (tmp_path / "f.jsonl").write_text(json.dumps({"text": "w1\rw2"}))
    assert run("suggest", model, "f.jsonl", "--output", "o.csv")[0] == 0
    assert b'"w1\rw2",' in (tmp_path / "o.csv").read_bytes()


def test_a_hyphen_is_standard_output_for_pages_and_lists(run, model, tmp_path):
    (tmp_path / "f.csv").write_text("text,label\nw1 w2,good\nw3,bad\n")
    assert run("report", model, "--output", "-")[1].startswith("<!doctype html>")
    code, out, _ = run("explain", model, "f.csv", "--json", "--output", "-")
    assert (code, len(out.splitlines())) == (0, 2)
    code, out, _ = run("suggest", model, "f.csv", "--output", "-")
    assert (code, out.splitlines()[0].split(",")[0]) == (0, "text")
    assert "<svg" in run("priors", "--draw", "-")[1]
    assert not (tmp_path / "-").exists()
