"""Text pairs and numbers at the command line: train, predict, go on with predictions, evaluate."""

import csv
import io
import json
import random

import pytest

SMALL = (
    *("--epochs", "2", "--encoder", "transformer", "--encoder.width", "12", "--encoder.heads", "2"),
    *("--encoder.head-size", "4", "--encoder.layers", "1", "--encoder.feedforward", "16"),
    *("--words.vector-size", "8"),
)
WORDS = [f"w{n}" for n in range(30)]


def write(path, rows: int, kind: str, seed: int = 0) -> list[dict[str, str]]:
    """Pairs; the label says whether the first word is the same, the score how many words are."""
    chance, made = random.Random(seed), []
    for number in range(rows):
        first = chance.sample(WORDS, 5)
        keep = chance.randint(0, 5)
        second = first[:keep] + [word.upper() + "x" for word in chance.sample(WORDS, 5 - keep)]
        label = str(keep + 0.5) if kind == "score" else "same" if keep else "other"
        made.append(
            {"id": str(number), "premise": " ".join(first), "hypothesis": " ".join(second), kind: label}
        )
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, list(made[0]))
        writer.writeheader()
        writer.writerows(made)
    return made


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Train a model once for each task; returns its folder."""
    from headwise.app.cli import main

    folders = {}
    for task, kind in (("pair", "label"), ("pair-score", "score"), ("regress", "score")):
        folder = tmp_path_factory.mktemp(task)
        write(folder / "train.csv", 120, kind)
        text = ("--task", "regress", "--text-column", "hypothesis") if task == "regress" else ()
        output = ("--output", str(folder / "model"))
        assert main(["train", str(folder / "train.csv"), *output, *text, *SMALL]) == 0
        folders[task] = folder
    return folders


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_training_says_what_it_found(run, tmp_path):
    write(tmp_path / "train.csv", 80, "label")
    code, out, err = run("train", "train.csv", *SMALL, "--pair.interaction", "cross")
    assert code == 0, err
    assert "task pair guessed from the file (it has the columns 'premise' and 'hypothesis')" in err
    assert "pairs with the same first text stay together" in err
    assert "differing" in out  # the baseline
    assert "encoder alone" in " ".join(out.split())
    assert "--linear-model.kind none leaves it out" in " ".join(out.split())
    info = json.loads((tmp_path / "train.model" / "config.json").read_text())["model"]
    assert (info["task"], info["pair"]["interaction"]) == ("pair", "cross")


def test_labels_of_pairs(run, trained, tmp_path):
    rows = write(tmp_path / "new.csv", 70, "label", seed=1)
    model = trained["pair"] / "model"
    code, out, err = run("predict", model, "new.csv")
    assert code == 0, err
    found = read(out)
    assert [{name: row[name] for name in rows[0]} for row in found] == rows
    assert list(found[0])[4:] == ["prediction", "probability", "probability:other", "probability:same"]
    for row in found:
        assert float(row["probability:other"]) + float(row["probability:same"]) == pytest.approx(
            1, abs=1e-5
        )
    code, out, err = run("evaluate", model, "new.csv", "--json", "--errors", "2")
    told = json.loads(out)
    right = sum(row["prediction"] == row["label"] for row in found)
    assert told["accuracy"] == pytest.approx(right / 70)
    assert len(told["errors"]) == min(2, 70 - right)


def test_scores_of_pairs(run, trained, tmp_path):
    rows = write(tmp_path / "new.csv", 40, "score", seed=1)
    model = trained["pair-score"] / "model"
    code, out, err = run("predict", model, "new.csv")
    assert code == 0, err
    found = read(out)
    assert [{name: row[name] for name in rows[0]} for row in found] == rows
    assert list(found[0])[4:] == ["prediction"]
    code, out, err = run("evaluate", model, "new.csv", "--json")
    gaps = [abs(float(row["prediction"]) - float(row["score"])) for row in found]
    assert json.loads(out)["mae"] == pytest.approx(sum(gaps) / len(gaps), abs=1e-4)
    code, out, err = run("evaluate", model, "new.csv", "--errors", "1")
    assert code == 0
    assert "Pearson correlation" in out


def test_numbers_of_texts(run, trained, tmp_path):
    write(tmp_path / "new.csv", 40, "score", seed=1)
    model = trained["regress"] / "model"
    code, out, err = run("predict", model, "new.csv", "--text-column", "hypothesis")
    assert code == 0, err
    assert list(read(out)[0])[4:] == ["prediction"]
    code, out, err = run("evaluate", model, "new.csv", "--text-column", "hypothesis")
    assert code == 0, err
    assert "mean absolute error" in out


@pytest.mark.parametrize("task", ["pair", "pair-score", "regress"])
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_going_on_with_predictions(run, trained, tmp_path, task, form):
    kind = "label" if task == "pair" else "score"
    write(tmp_path / "new.csv", 30, kind, seed=2)
    column = ("--text-column", "hypothesis") if task == "regress" else ()
    arguments = ("predict", trained[task] / "model", "new.csv", *column, "--output", f"out.{form}")
    assert run(*arguments)[0] == 0
    whole = (tmp_path / f"out.{form}").read_bytes()
    (tmp_path / f"out.{form}").write_bytes(whole[: len(whole) // 2])
    code, _, err = run(*arguments, "--resume")
    assert code == 0, err
    assert (tmp_path / f"out.{form}").read_bytes() == whole


def test_the_baseline_of_training_stands_beside_the_test_pairs(run, tmp_path):
    write(tmp_path / "train.csv", 80, "score")
    write(tmp_path / "test.csv", 30, "score", seed=1)
    assert run("train", "train.csv", "--test", "test.csv", *SMALL)[0] == 0
    assert "ridge regression" in " ".join(run("evaluate", "train.model", "test.csv")[1].split())
    assert "ridge regression" not in run("evaluate", "train.model", "train.csv")[1]


def test_a_score_that_is_no_number(run, tmp_path):
    write(tmp_path / "train.csv", 30, "score")
    with open(tmp_path / "train.csv", "a") as file:
        file.write("30,a b,c d,high\n")
    code, _, err = run("train", "train.csv", "--task", "pair-score", *SMALL)
    assert code == 2
    assert "HW287" in err
    assert "train.csv:32" in err


def test_scores_judged_on_what_looks_like_classes(run, trained, tmp_path):
    rows = write(tmp_path / "new.csv", 40, "score", seed=1)
    told = "the numbers of this file look like classes (0, 1, 2), those of training are scores from"
    assert told not in run("evaluate", trained["pair-score"] / "model", "new.csv")[2]
    lines = [f"{n},{row['premise']},{row['hypothesis']},{n % 3}\n" for n, row in enumerate(rows)]
    (tmp_path / "new.csv").write_text("id,premise,hypothesis,score\n" + "".join(lines))
    code, _, err = run("evaluate", trained["pair-score"] / "model", "new.csv")
    assert code == 0
    assert told in " ".join(err.split())


def test_parses_of_both_texts(run, tmp_path):
    rows = write(tmp_path / "train.csv", 60, "label")
    chain = "\n".join(" ".join(map(str, range(5))) for _ in rows) + "\n"
    (tmp_path / "a.heads").write_text(chain)
    (tmp_path / "b.heads").write_text(chain)
    encoder = ("--encoder", "ms-san", "--encoder.width", "12", "--encoder.heads", "4", "--epochs", "1")
    common = ("train", "train.csv", *encoder, "--words.vector-size", "8")
    code, _, err = run(*common)
    assert code == 2
    assert "HW235" in err  # no parses
    code, _, err = run(*common, "--parses", "a.heads", "--overwrite")
    assert code == 2
    assert "two files of parses" in err
    code, _, err = run(*common, "--parses", "a.heads,b.heads", "--overwrite")
    assert code == 0, err
    assert run("predict", "train.model", "train.csv")[0] == 2
    code, out, err = run("predict", "train.model", "train.csv", "--parses", "a.heads,b.heads")
    assert code == 0, err
    assert len(read(out)) == 60
    (tmp_path / "b.heads").write_text(chain + "0\n")
    code, _, err = run("predict", "train.model", "train.csv", "--parses", "a.heads,b.heads")
    assert code == 2
    assert "more parses" in err


def test_doctor(run, tmp_path):
    write(tmp_path / "train.csv", 40, "label")
    code, out, err = run("doctor", "train.csv", "train.csv")
    assert code == 0, err
    assert "HW160" in out
    assert "task pair guessed" in err
