"""Label sets at the command line: train, predict, go on with predictions, evaluate, doctor."""

import csv
import io
import json
import random

import pytest

from headwise.app.cli import main

SMALL = (
    *("--epochs", "6", "--encoder.width", "8", "--encoder.heads", "2", "--encoder.head-size", "4"),
    *("--encoder.layers", "1", "--words.vector-size", "8", "--classifier.hidden", "8"),
)
NAMES = ("sun", "rain", "wind")


def write(path, rows: int, seed: int = 0, separator: str = "|"):
    chance, made = random.Random(seed), []
    for number in range(rows):
        own = [name for name in NAMES if chance.random() < 0.4]
        words = [*own, *chance.choices("abcdef", k=5), f"n{number}"]
        made.append((str(number), " ".join(words), separator.join(own)))
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([("id", "text", "topics"), *made])
    return made


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    write(folder / "train.csv", 150)
    assert main(["train", str(folder / "train.csv"), "--output", str(folder / "model"), *SMALL]) == 0
    return folder / "model"


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_training_says_what_it_found(run, tmp_path):
    write(tmp_path / "train.csv", 120)
    code, out, err = run("train", "train.csv", *SMALL)
    assert code == 0, err
    assert "task multi-label guessed from the file (the labels are separated by '|' and recur)" in err
    assert "texts without a label, which is an answer like others" in err
    told = " ".join(out.split())
    for words in (
        "micro F1",
        "TF-IDF + one SVM per label",
        "all labels right",
        "Thresholds of 3 labels",
        "threshold",
    ):
        assert words in told


def test_rates_of_labels(run, tmp_path):
    write(tmp_path / "train.csv", 120)
    asked = ",".join(f"{name}:recall=0.8" for name in NAMES[:2])
    code, out, err = run("train", "train.csv", *SMALL, "--classifier.thresholds", asked)
    assert code == 0, err
    told = " ".join(out.split())
    assert all(f"{name!r} is given for a recall of at least 80 %" in told for name in NAMES[:2])
    code, _, err = run("train", "train.csv", *SMALL, "--classifier.thresholds", "f1", "--overwrite")
    assert code == 2
    assert "label sets have such thresholds anyway" in err


def test_predictions(run, trained, tmp_path):
    rows = write(tmp_path / "new.csv", 60, seed=1)
    code, out, err = run("predict", trained, "new.csv")
    assert code == 0, err
    assert "no label" in err
    found = read(out)
    assert list(found[0]) == [
        "id",
        "text",
        "topics",
        "prediction",
        *(f"probability:{n}" for n in sorted(NAMES)),
    ]
    thresholds = json.loads((trained / "calibration.json").read_text())["thresholds"]
    for row, (number, _, _) in zip(found, rows, strict=True):
        above = [
            n for n, t in zip(sorted(NAMES), thresholds, strict=True) if float(row[f"probability:{n}"]) >= t
        ]
        assert (row["prediction"], row["id"]) == ("|".join(above), number)
    _, out, _ = run("predict", trained, "new.csv", "--label-separator", "+")
    assert [row["prediction"] for row in read(out)] == [
        row["prediction"].replace("|", "+") for row in found
    ]
    _, out, _ = run("predict", trained, "new.csv", "--format-out", "jsonl")
    lines = [json.loads(line) for line in out.splitlines()]
    assert ["|".join(line["prediction"]) for line in lines] == [row["prediction"] for row in found]
    assert {name: f"{p:.6g}" for name, p in lines[0]["probabilities"].items()} == {
        n: found[0][f"probability:{n}"] for n in sorted(NAMES)
    }


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_resumed_predictions_are_the_same_bytes(run, trained, tmp_path, suffix):
    write(tmp_path / "new.csv", 30, seed=1)
    path = tmp_path / f"out.{suffix}"
    assert run("predict", trained, "new.csv", "--output", path)[0] == 0
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    code, _, err = run("predict", trained, "new.csv", "--output", path, "--resume")
    assert code == 0, err
    assert path.read_bytes() == whole


def test_evaluation(run, trained, tmp_path):
    write(tmp_path / "test.csv", 50, seed=2, separator=";")
    code, out, err = run("evaluate", trained, "test.csv", "--label-separator", ";", "--errors", "2")
    assert code == 0, err
    assert "micro F1" in out
    code, out, _ = run("evaluate", trained, "test.csv", "--label-separator", ";", "--json")
    told = json.loads(out)
    assert told["micro_f1"] > 0.8
    assert {row["label"] for row in told["labels"]} == set(NAMES)
    code, _, err = run("evaluate", trained, "test.csv")
    assert (code, "HW140" in err) == (2, True)
    (tmp_path / "bare.txt").write_text("sun rain\n")
    code, _, err = run("evaluate", trained, "bare.txt", "--format", "text")
    assert (code, "HW163" in err) == (2, True)


def test_labels_that_hold_the_separator(run, tmp_path):
    rows = [{"text": f"{word} {n}", "tags": [f"{word}|x"]} for n in range(40) for word in ("sun", "rain")]
    (tmp_path / "f.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, _, err = run("train", "f.jsonl", "--output", "model", *SMALL)
    assert (code, "the field 'tags' holds lists" in err) == (0, True), err
    assert json.loads((tmp_path / "model" / "labels.json").read_text())["separator"] == ";"
    code, _, err = run("predict", "model", "f.jsonl", "--label-separator", "|")
    assert (code, "HW603" in err) == (2, True)


def test_doctor(run, tmp_path):
    write(tmp_path / "train.csv", 60)
    code, out, err = run("doctor", "train.csv")
    assert code == 0, err
    assert "task multi-label guessed" in err
    assert "HW168" in out


def test_what_to_label_where_each_label_has_a_column(run, tmp_path):
    """Texts whose columns are filled in have their labels; the others get no new column."""
    chance = random.Random(0)
    texts = [
        (f"{' '.join(chance.choices('abcdef', k=5))} n{n}", *chance.choices("01", k=3)) for n in range(80)
    ]
    with open(tmp_path / "train.csv", "w", newline="") as file:
        csv.writer(file).writerows([("text", *NAMES), *texts])
    assert run("train", "train.csv", "-o", "model", *SMALL)[0] == 0
    rows = [(f"new {text}", *(own if n % 2 else ("", "", ""))) for n, (text, *own) in enumerate(texts)]
    with open(tmp_path / "new.csv", "w", newline="") as file:
        csv.writer(file).writerows([("text", *NAMES), *rows])
    code, _, err = run("suggest", "model", "new.csv", "--count", "100", "-o", "next.csv")
    assert code == 0, err
    assert "fill in the columns 'sun', 'rain', 'wind'" in " ".join(err.split())
    found = read((tmp_path / "next.csv").read_text())
    assert list(found[0]) == ["text", *NAMES, "guess"]
    assert {own["text"] for own in found} == {text for text, *_ in rows[::2]}
