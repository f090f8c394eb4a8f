"""`headwise noise`: flipped labels of a file are found."""

import csv
import io
import json
import random
from pathlib import Path

from headwise.app.cli.noise_command import noise
from headwise.app.reporter import Reporter
from headwise.app.workflows.label_errors import noise_file
from headwise.app.workflows.label_issues import LabelIssue

WORDS = (("refund", "invoice", "payment"), ("badge", "door", "garage"))


def write(path, texts=200, flipped=(3, 10, 20)):
    chance = random.Random(0)
    rows = []
    for number in range(texts):
        own = [*chance.choices(WORDS[number % 2], k=4), f"n{number % 7}"]
        label = number % 2 ^ (number in flipped)
        rows.append([" ".join(own), ("money", "house")[label]])
    rows.append([rows[0][0].upper(), "house"])  # the same text with another label
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["text", "label"], *rows])


def test_flipped_labels_are_found(run, tmp_path):
    write(tmp_path / "data.csv")
    code, out, _ = run("noise", "data.csv", "--output", "suspects.csv", "--base", "none")
    assert code == 0
    assert "labels are likely to be wrong" in out
    with (tmp_path / "suspects.csv").open(newline="") as file:
        found = list(csv.DictReader(file))
    assert {5, 12, 22} <= {int(row["line"]) for row in found[:5]}
    assert all(row["label"] != row["suggested"] for row in found)
    twins = {int(row["line"]): int(row["twin"]) for row in found}
    assert twins[202] == 2
    code, out, _ = run("noise", "data.csv", "--json", "--base", "none")
    assert [json.loads(line)["line"] for line in out.splitlines()] == [int(row["line"]) for row in found]
    assert run("noise", "data.csv", "--output", "suspects.csv")[0] == 2  # it is not lost by mistake


def test_two_labels_of_one_text_are_told_whatever_the_model_thinks(run, tmp_path):
    write(tmp_path / "data.csv", flipped=())
    text = "the invoice of the badge for the garage door has a payment and a refund"
    with (tmp_path / "data.csv").open("a") as file:
        file.write(f"{text} today,money\n{text} tomorrow,house\n")
    assert run("noise", "data.csv", "--output", "suspects.csv", "--base", "none")[0] == 0
    with (tmp_path / "suspects.csv").open(newline="") as file:
        twins = {int(row["line"]): int(row["twin"]) for row in csv.DictReader(file)}
    assert {203: 204, 204: 203}.items() & twins.items()


def test_where_labels_are_thrown_by_a_coin_none_is_called_wrong(run, tmp_path):
    chance = random.Random(1)
    rows = [
        [f"{' '.join(chance.choices(WORDS[0] + WORDS[1], k=5))} n{n}", chance.choice("ab")]
        for n in range(150)
    ]
    rows.append([rows[0][0].upper(), {"a": "b", "b": "a"}[rows[0][1]]])
    with (tmp_path / "coin.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["text", "label"], *rows])
    code, out, err = run("noise", "coin.csv", "--json", "--base", "none")
    assert code == 0
    assert "no better than how common the labels are" in " ".join(err.split())
    assert len({json.loads(line)["line"] for line in out.splitlines()} - {2, 152}) == 0


def test_suspects_are_not_trained_on(run, tmp_path):
    write(tmp_path / "data.csv")
    assert run("noise", "data.csv", "--output", "suspects.csv", "--base", "none")[0] == 0
    small = "--base none --encoder.layers 1 --encoder.width 8 --encoder.heads 2 --epochs 1"
    flags = (
        "--drop",
        "suspects.csv",
        *small.split(),
        "--words.vector-size",
        "8",
        "--linear-model.kind",
        "none",
    )
    code, _, err = run("train", "data.csv", "--output", "model", *flags)
    assert code == 0, err
    parts = json.loads((tmp_path / "model" / "data.json").read_text())
    assert "texts of suspects.csv are left out" in err
    assert parts["train"]["texts"] + parts["dev"]["texts"] + parts["test"]["texts"] < parts["file"]["texts"]
    flags = ("--weight", *flags[1:])
    code, _, err = run("train", "data.csv", "--output", "weighed", *flags)
    assert code == 0, err
    assert "count as much as suspects.csv says" in err
    write(tmp_path / "data.csv", flipped=(4, 11))
    code, _, err = run("train", "data.csv", "--output", "other", *flags)
    assert (code, "HW127" in err) == (2, True)


def test_words_with_wrong_tags_are_listed_and_their_sentences_left_out(run, tmp_path):
    rows = [("Tom", "PER"), ("saw", "O"), ("Rome", "LOC"), (".", "O")]
    lines = [f"{word}\t{'B-' * (tag != 'O')}{tag}" for word, tag in rows]
    sentences = ["\n".join([*lines[:3], f"n{n}\tO"]) for n in range(60)]
    sentences[7] = sentences[7].replace("B-LOC", "B-PER")
    (tmp_path / "t.conll").write_text("\n\n".join(sentences) + "\n")
    code, out, err = run("noise", "t.conll", "--output", "suspects.csv")
    assert (code, "a file of tagged sentences" in err, "Rome in: Tom saw" in out) == (0, True, True)
    assert "1 tag is likely to be wrong" in out
    with (tmp_path / "suspects.csv").open(newline="") as file:
        (found,) = csv.DictReader(file)
    assert (found["line"], found["words"], found["place"]) == ("36", "Rome", "t.conll:38")
    assert (found["label"], found["suggested"]) == ("B-PER", "B-LOC")
    small = "--base none --encoder.layers 1 --encoder.width 8 --encoder.heads 2 --epochs 1"
    code, _, err = run("train", "t.conll", "--output", "m", "--drop", "suspects.csv", *small.split())
    assert (code, "sentences of suspects.csv are left out" in err) == (0, True), err
    (tmp_path / "few.conll").write_text("\n\n".join(sentences[:9]) + "\n")
    code, _, err = run("noise", "few.conll")
    assert (code, "20 or more sentences" in " ".join(err.split())) == (2, True)


def test_json_is_json_where_standard_output_has_few_letters(monkeypatch):
    found = [LabelIssue(2, "caf\u00e9", "th\u00e9", 0.1, 0.9, "\U0001f600")]
    monkeypatch.setattr("headwise.app.workflows.label_errors.noise_file", lambda *_, **__: found)
    out = io.TextIOWrapper(io.BytesIO(), "ascii", errors="backslashreplace")
    monkeypatch.setattr("sys.stdout", out)
    noise(Path("data.csv"), json=True)
    out.flush()
    assert json.loads(out.buffer.getvalue())["label"] == "caf\u00e9"


def test_too_few_texts_are_told(run, tmp_path):
    write(tmp_path / "few.csv", texts=8, flipped=())
    code, _, err = run("noise", "few.csv")
    assert code == 2
    assert "20 or more texts" in err


def test_the_list_is_a_table_with_commas(run, tmp_path):
    write(tmp_path / "data.csv")
    for name in ("n.tsv", "n.jsonl", "n.csv.gz"):
        code, _, err = run("noise", "data.csv", "--output", name)
        assert code == 2
        assert "name it .csv" in err
    assert run("noise", "data.csv", "--show", "-3")[0] == 2


class StageReporter(Reporter):
    """Records the steps."""

    def __init__(self):
        self.stages: list[str] = []

    def stage(self, text: str) -> None:
        self.stages.append(text)


def test_the_steps_of_a_search_are_reported(tmp_path):
    write(tmp_path / "data.csv")
    reporter = StageReporter()
    noise_file(tmp_path / "data.csv", base="none", reporter=reporter)
    assert [reporter.stages[0], reporter.stages[-1]] == [
        "computing the vectors of the texts",
        "comparing the labels of near-duplicates",
    ]
    assert "choosing settings" in reporter.stages
