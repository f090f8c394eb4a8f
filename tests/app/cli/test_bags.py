"""`headwise train / evaluate / predict` on bags of instances."""

import csv
import io
import json

import numpy as np
import pytest

from headwise.artifacts import load_model

SMALL = ["--bags.width", "8", "--bags.heads", "2", "--epochs", "4"]


def bags(count, seed=0, names=("x1", "x2", "x3")):
    """A csv file whose bags are "far" if one of their instances is."""
    random = np.random.default_rng(seed)
    lines = [",".join(["bag_id", *names, "label"])]
    for n in range(count):
        rows = random.normal(5, 1, (random.integers(1, 5), 3))
        rows[0, 1] += 8 * (n % 2)
        label = ("near", "far")[n % 2]
        lines += [f"m{n},{','.join(f'{x:.4f}' for x in row)},{label}" for row in rows]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of bags, and the files that it was trained and tested on."""
    from headwise.app.cli import main

    home = tmp_path_factory.mktemp("bags")
    for name, count, seed in (("train", 60, 0), ("test", 20, 1)):
        (home / f"{name}.csv").write_text(bags(count, seed))
    files = [str(home / "train.csv"), "--test", str(home / "test.csv"), "--output", str(home / "model")]
    settings = ["--bags.width", "16", "--epochs", "30", "--learning-rate", "5e-3", "--folds", "0"]
    assert main(["train", *files, *settings]) == 0
    return home


def test_from_a_file_to_a_judged_model(run, tmp_path):
    (tmp_path / "molecules.csv").write_text(bags(40))
    code, out, err = run("train", "molecules.csv", *SMALL)
    assert code == 0
    assert "task bags guessed from the file (it has the column 'bag_id', and else numbers)" in err
    assert "34 bags in 2 folds" in err
    assert "and 6 test bags of 1 to 4 instances (median" in err
    assert "sab+pma (width 8" in err
    assert "linear SVM" in out
    assert "On the held-out test bags" in out
    assert "texts" not in out + err
    found = load_model(tmp_path / "molecules.model")
    assert (found.config.task, found.labels, found.features.names) == (
        "bags",
        ("far", "near"),
        ("x1", "x2", "x3"),
    )
    card = (tmp_path / "molecules.model" / "README.md").read_text()
    assert "multiple-instance learning" in card
    assert "training bags" in card
    assert "texts" not in card


def test_an_interrupted_training_can_be_resumed(run, tmp_path, monkeypatch):
    from headwise.training import loop

    (tmp_path / "a.csv").write_text(bags(30))
    finish = loop._TrainingRun.finish_epoch

    def killed(self):
        if self.progress.epoch == 2:
            raise KeyboardInterrupt
        return finish(self)

    run("train", "a.csv", *SMALL, "--output", "whole")
    monkeypatch.setattr(loop._TrainingRun, "finish_epoch", killed)
    assert run("train", "a.csv", *SMALL, "--output", "cut")[0] == 130
    monkeypatch.setattr(loop._TrainingRun, "finish_epoch", finish)
    assert run("train", "a.csv", *SMALL, "--output", "cut", "--resume")[0] == 0
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "cut")]
    assert weights[0] == weights[1]


def test_evaluate(run, folder):
    code, out, err = run("evaluate", folder / "model", folder / "test.csv", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["texts"] == 20
    assert found["accuracy"] > 0.8
    assert found["baseline"]["accuracy"] > 0.5  # it is the file that the model was tested on
    code, out, _ = run("evaluate", folder / "model", folder / "train.csv")
    assert code == 0
    assert "linear SVM" not in out
    assert "bags" in out


def test_the_surest_errors(run, folder, tmp_path):
    (tmp_path / "wrong.csv").write_text(
        bags(8).replace(",far", ",?").replace(",near", ",far").replace("?", "near")
    )
    code, out, _ = run("evaluate", folder / "model", "wrong.csv", "--errors", "2")
    assert code == 0
    assert out.count(" predicted as ") == 2
    assert "wrong.csv:" in out


def test_predict(run, folder, tmp_path):
    (tmp_path / "new.csv").write_text(bags(20, seed=1))
    code, out, err = run("predict", folder / "model", "new.csv")
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == [
        "bag",
        "instances",
        "prediction",
        "probability",
        "probability:far",
        "probability:near",
    ]
    assert [row["bag"] for row in rows] == [f"m{n}" for n in range(20)]
    assert sum(row["prediction"] == ("near", "far")[n % 2] for n, row in enumerate(rows)) > 16
    assert "20 bags predicted" in err
    model = load_model(folder / "model")
    x = np.array([[4.0, 5, 6], [3, 13, 5]], dtype=np.float32)
    assert model.predict_proba([x]).shape == (1, 2)


def test_predict_without_labels_and_in_another_order(run, folder, tmp_path):
    whole = [line.split(",") for line in bags(12, seed=2).splitlines()]
    (tmp_path / "a.csv").write_text("\n".join(",".join(row) for row in whole))
    turned = [[row[3], row[0], row[1], row[2]] for row in whole]
    (tmp_path / "b.csv").write_text("\n".join(",".join(row) for row in turned))
    outs = [run("predict", folder / "model", name)[1] for name in ("a.csv", "b.csv")]
    assert outs[0] == outs[1] != ""


def test_predictions_can_be_resumed(run, folder, tmp_path):
    call = ["predict", folder / "model", folder / "test.csv", "--output", "out.jsonl"]
    assert run(*call)[0] == 0
    whole = (tmp_path / "out.jsonl").read_text()
    (tmp_path / "out.jsonl").write_text(whole[: len(whole) // 2])
    assert run(*call, "--resume")[0] == 0
    assert (tmp_path / "out.jsonl").read_text() == whole
    assert json.loads(whole.splitlines()[0])["bag"] == "m0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--encoder", "bilstm"], "encoder: the task bags has no such settings"),
        (["--vectors", "glove.txt"], "vectors: the task bags has no such settings"),
        (["--words.dropout", "0.1"], "words: the task bags has no such settings"),
        (["--parses", "trees.txt"], "parses are the syntax of texts, but bags have none"),
        (["--bags.model", "sab"], "unknown model of sets 'sab'"),
        (["--bags.heads", "3"], "3 heads cannot share a width of 64"),
        (["--split.dev", "0"], "there are no dev bags"),
        (["--label-column", "bag_id"], "HW"),
    ],
)
def test_what_cannot_be_trained(run, tmp_path, arguments, message):
    for name in ("glove.txt", "trees.txt"):
        (tmp_path / name).write_text("a 0\n")
    (tmp_path / "a.csv").write_text(bags(30))
    code, _, err = run("train", "a.csv", "--task", "bags", *arguments)
    assert code == 2
    assert message in err


def test_files_that_do_not_fit_the_model(run, folder, tmp_path):
    (tmp_path / "trees.txt").write_text("0\n")
    (tmp_path / "other.csv").write_text(bags(4, names=("x1", "x2", "z")))
    (tmp_path / "strange.csv").write_text(bags(4).replace("far", "middle"))
    code, _, err = run("predict", folder / "model", "other.csv")
    assert (code, "[HW293] other.csv: no column 'x3'" in err) == (2, True)
    code, _, err = run("evaluate", folder / "model", "strange.csv")
    assert code == 2
    assert "[HW140] strange.csv:" in err
    assert "the label 'middle' does not occur in" in err
    for command in ("predict", "evaluate"):
        code, _, err = run(command, folder / "model", folder / "test.csv", "--parses", "trees.txt")
        assert (code, "parses are the syntax of texts, but bags have none" in err) == (2, True)
        code, _, err = run(command, folder / "model", folder / "test.csv", "--pipeline", "spacy")
        assert (code, "--pipeline parses texts" in err) == (2, True)


def test_doctor(run, folder):
    code, out, err = run("doctor", folder / "train.csv", folder / "test.csv")
    assert "features in columns" in out
    assert "bags  distinct  empty  instances: min" in out
    assert code == 0
    assert "task bags guessed" in err
    assert "No problems found" in out


def test_a_damaged_folder(run, folder, tmp_path):
    import shutil

    shutil.copytree(folder / "model", tmp_path / "model")
    path = tmp_path / "model" / "vocabulary.json"
    path.write_text(path.read_text().replace('"x1"', '"x2"'))
    code, _, err = run("predict", "model", folder / "test.csv")
    assert (code, "HW50" in err) == (2, True)
