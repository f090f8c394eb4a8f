"""`headwise noise`: flipped labels of a file are found."""

import csv
import json
import random

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


def test_too_few_texts_are_told(run, tmp_path):
    write(tmp_path / "few.csv", texts=8, flipped=())
    code, _, err = run("noise", "few.csv")
    assert code == 2
    assert "20 or more texts" in err
