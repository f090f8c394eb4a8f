"""Files of predictions that were interrupted, wherever that was."""

import codecs
import json
import random
import signal
import time

import numpy as np
import pytest

from headwise.app.workflows import predict as predict_workflow
from headwise.core.file_lock import locked_file
from headwise.data.items.dataset import InputRow
from headwise.models import prediction_resume as resume
from headwise.models.prediction_resume import cut_chunks


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(resume, "CHUNK_ROWS", 8)


@pytest.fixture
def whole(run, model, table, tmp_path, small_chunks):
    """Predict 60 rows; returns a function that gives the output of a form as bytes."""
    table(tmp_path / "in.csv", 60)

    def whole(form: str) -> bytes:
        code, _, err = run("predict", model, "in.csv", "-o", f"whole.{form}")
        assert code == 0, err
        return (tmp_path / f"whole.{form}").read_bytes()

    return whole


def test_chunks_are_bounded_by_rows_and_characters(monkeypatch):
    monkeypatch.setattr(resume, "CHUNK_ROWS", 4)
    monkeypatch.setattr(resume, "CHUNK_CHARACTERS", 100)
    lengths = [1] * 9 + [60, 60, 60, 1]
    rows = [InputRow(n, {"text": "a" * length}, "a" * length) for n, length in enumerate(lengths)]
    chunks = list(cut_chunks(iter(rows)))
    assert [len(chunk) for chunk in chunks] == [4, 4, 3, 2]
    assert [row for chunk in chunks for row in chunk] == rows


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_cut_off_anywhere(run, model, whole, tmp_path, form):
    content = whole(form)
    chance = random.Random(1)
    # The beginning byte by byte (the header), the odd places, and some anywhere.
    cuts = {0, 1, 5, content.index(b"\n"), content.index(b"\n") + 1, len(content) - 1, len(content)}
    cuts |= {at + chance.randint(0, 2) for at in range(len(content)) if content[at : at + 1] == b'"'}
    cuts = chance.sample(sorted(cuts), min(len(cuts), 12))
    cuts += [chance.randrange(len(content)) for _ in range(8)]
    for cut in cuts:
        (tmp_path / f"out.{form}").write_bytes(content[:cut])
        code, _, err = run("predict", model, "in.csv", "-o", f"out.{form}", "--resume")
        assert code == 0, (cut, err)
        assert (tmp_path / f"out.{form}").read_bytes() == content, cut


def test_keeps_whole_chunks(run, model, whole, tmp_path):
    content = whole("jsonl")
    cut = sum(map(len, content.splitlines(keepends=True)[:23])) + 4
    (tmp_path / "out.jsonl").write_bytes(content[:cut])
    code, _, err = run("predict", model, "in.csv", "-o", "out.jsonl", "--resume")
    assert code == 0
    assert "out.jsonl: the first 16 records are kept" in err
    assert "44 texts predicted" in err


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_table_has_a_byte_order_mark_if_its_input_has_one(
    run, model, table, tmp_path, small_chunks, form, encoding
):
    """Without it Excel shows umlauts wrongly, and with it in the middle anybody does."""
    rows = [f'{n},"w{n % 7} ähre"' for n in range(20)]
    text = "\n".join(["id,text", *rows, ""])
    options = ("--encoding", encoding)
    plain = ("predict", model, "given.csv", "-o", f"plain.{form}")
    (tmp_path / "given.csv").write_text(text, encoding="utf-8")
    (tmp_path / "in.csv").write_text(text, encoding=encoding)
    assert run(*plain)[0] == 0
    assert run("predict", model, "in.csv", "-o", f"out.{form}", *options)[0] == 0
    content, mark = (tmp_path / f"out.{form}").read_bytes(), b"" if form == "jsonl" else codecs.BOM_UTF8
    assert content == mark + (tmp_path / f"plain.{form}").read_bytes()
    code, out, _ = run("predict", model, "-", "--format-out", form, *options, stdin=text.encode(encoding))
    assert (code, out.encode()) == (0, content)
    for cut in (1, 3, 5, 40, len(content) // 2, len(content)):
        (tmp_path / f"out.{form}").write_bytes(content[:cut])
        code, _, err = run("predict", model, "in.csv", "-o", f"out.{form}", "--resume", *options)
        assert code == 0, err
        assert (tmp_path / f"out.{form}").read_bytes() == content
    assert run("predict", model, f"out.{form}", "-o", "again.csv")[0] == 0


def test_nothing_left(run, model, whole, tmp_path):
    (tmp_path / "out.csv").write_bytes(whole("csv"))
    code, _, err = run("predict", model, "in.csv", "-o", "out.csv", "--resume")
    assert code == 0
    assert "nothing was left to predict" in err


def test_without_an_output_resume_begins(run, model, whole, tmp_path):
    assert run("predict", model, "in.csv", "-o", "out.csv", "--resume")[0] == 0
    assert (tmp_path / "out.csv").read_bytes() == whole("csv")


def test_more_input_than_before(run, model, whole, table, tmp_path):
    (tmp_path / "out.csv").write_bytes(whole("csv"))
    table(tmp_path / "in.csv", 70)
    assert run("predict", model, "in.csv", "-o", "out.csv", "--resume")[0] == 0
    (tmp_path / "whole.csv").unlink()
    assert (tmp_path / "out.csv").read_bytes() == whole("csv")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda content: content.replace(b"probability:bad", b"probability:mad", 1), "it begins with"),
        (lambda content: b"id,text\n" + content.split(b"\n", 1)[1], "it begins with 'id,text'"),
        (lambda content: b"x", "it begins with 'x'"),
        (lambda content: content.replace(b"\n3,", b"\n33,", 1), "record 4 is not line"),
        (lambda content: content + content[-300:].split(b"\n", 1)[1], "more than the 60 rows"),
        (lambda content: content + b"x", "more than the 60 rows"),
        (lambda content: content.split(b"\n")[0] + b"\nx", "record 1 is not line 2"),
    ],
)
def test_another_file_is_left_alone(run, model, whole, tmp_path, change, said):
    changed = change(whole("csv"))
    (tmp_path / "out.csv").write_bytes(changed)
    code, _, err = run("predict", model, "in.csv", "-o", "out.csv", "--resume")
    assert code == 2
    assert "[HW602]" in err
    assert said in err
    assert "--overwrite" in err
    assert (tmp_path / "out.csv").read_bytes() == changed


def test_jsonl_of_another_kind(run, model, whole, tmp_path):
    lines = whole("jsonl").splitlines(keepends=True)
    record = json.loads(lines[0])
    record["probabilities"] = 1
    for other in (json.dumps(record, ensure_ascii=False).encode() + b"\n", b'{"some": "thing"'):
        (tmp_path / "out.jsonl").write_bytes(other)
        code, _, err = run("predict", model, "in.csv", "-o", "out.jsonl", "--resume")
        assert code == 2
        assert "HW602" in err
        assert (tmp_path / "out.jsonl").read_bytes() == other


@pytest.mark.parametrize("records", [3, 8, 60])
def test_another_model_with_the_same_labels(run, save, whole, tmp_path, records):
    lines = whole("jsonl").splitlines(keepends=True)
    (tmp_path / "out.jsonl").write_bytes(b"".join(lines[:records]))
    other = save(["bad", "good"], seed=2)
    code, _, err = run("predict", other, "in.csv", "-o", "out.jsonl", "--resume")
    assert code == 2
    assert "the model gives other predictions" in err


def test_compressed_outputs_cannot_be_resumed(run, model, table, tmp_path):
    table(tmp_path / "in.csv", 5)
    for name in ("out.csv.gz", "out.jsonl.xz"):
        code, _, err = run("predict", model, "in.csv", "-o", name, "--resume")
        assert code == 2
        assert "HW602" in err
        assert "compressed" in err


@pytest.mark.parametrize("times", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_killed(run, fork, model, table, tmp_path, times):
    table(tmp_path / "in.csv", 12_000)
    assert run("predict", model, "in.csv", "-o", "whole.csv")[0] == 0
    content = (tmp_path / "whole.csv").read_bytes()
    out = tmp_path / "out.csv"
    chance = np.random.default_rng()
    killed = 0
    while killed < times:
        began = out.stat().st_size if out.exists() else 0
        enough = chance.integers(began + 1, max(began + 2, len(content) // 2))
        process = fork("predict", model, "in.csv", "-o", "out.csv", "--resume")
        while process.poll() is None and (not out.exists() or out.stat().st_size < enough):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if out.stat().st_size < len(content):
            killed += 1
        else:  # this process had its turn only when the other was done
            out.unlink()
    assert run("predict", model, "in.csv", "-o", "out.csv", "--resume")[0] == 0
    assert out.read_bytes() == content


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_by_a_signal(fork, model, tmp_path, number, code):
    # More than are done before this process has its turn.
    (tmp_path / "in.csv").write_text("text\n" + "w1 w2 w3\nw4 w5 w6\n" * 60_000)
    process = fork("predict", model, "in.csv", "-o", "out.csv")
    out = tmp_path / "out.csv"
    while process.poll() is None and (not out.exists() or out.stat().st_size < 100_000):
        time.sleep(0.002)
    process.send_signal(number)
    _, err = process.communicate(timeout=40)
    assert process.returncode == code
    assert b"texts; the same command with --resume" in err
    assert b"Traceback" not in err


@pytest.mark.parametrize("how", ["--resume", "--overwrite"])
def test_two_processes_do_not_write_to_one_file(run, fork, model, table, tmp_path, how):
    table(tmp_path / "in.csv", 20)
    assert run("predict", model, "in.csv", "-o", "out.csv")[0] == 0
    content = (tmp_path / "out.csv").read_bytes()
    with locked_file(tmp_path / "out.csv"):
        process = fork("predict", model, "in.csv", "-o", "out.csv", how)
        said = process.communicate()[1].decode()
    assert process.returncode == 2
    assert "[HW606] out.csv: another process is writing to it" in said
    assert (tmp_path / "out.csv").read_bytes() == content


def test_what_another_has_written_by_now_stays(run, model, table, tmp_path, monkeypatch):
    table(tmp_path / "in.csv", 5)
    opened = predict_workflow.open_session

    def slow(*own, **how):
        (tmp_path / "out.csv").write_text("of another process")
        return opened(*own, **how)

    monkeypatch.setattr(predict_workflow, "open_session", slow)
    code, _, err = run("predict", model, "in.csv", "-o", "out.csv")
    assert (code, "[HW601]" in err) == (2, True)
    assert (tmp_path / "out.csv").read_text() == "of another process"


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_marks_of_another_threshold_are_not_mixed(run, model, whole, tmp_path, form):
    chances = sorted(json.loads(line)["probability"] for line in whole("jsonl").splitlines())
    middle = f"{chances[30]:.6f}"
    arguments = ("predict", model, "in.csv", "-o", f"out.{form}")
    assert run(*arguments, "--unsure", middle)[0] == 0
    content = (tmp_path / f"out.{form}").read_bytes()
    (tmp_path / f"out.{form}").write_bytes(content[: len(content) // 2])
    code, _, err = run(*arguments, "--unsure", f"{chances[-1] + 0.01:.6f}", "--resume")
    assert (code, "was marked by another --unsure" in err) == (2, True), err
    assert run(*arguments, "--unsure", middle, "--resume")[0] == 0
    assert (tmp_path / f"out.{form}").read_bytes() == content
