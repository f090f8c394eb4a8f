"""`headwise train --unknown`: texts of no label, in every command that tells of them."""

import csv
import io
import json
import shutil

import pytest

from headwise.app.serve.answering import ModelService

TOPICS = {
    "order": ("where is my {} order", "track the parcel with the {}", "my {} has not arrived yet"),
    "refund": ("give me my money back for the {}", "refund the {} please", "i want to return the {}"),
    "hours": ("when do you open on {}", "what are the opening hours for the {}", "closing time of the {}"),
}
THINGS = (
    "shoes",
    "lamp",
    "phone",
    "table",
    "book",
    "jacket",
    "camera",
    "bike",
    "bag",
    "monday",
    "sofa",
    "mug",
)
STRANGE = (
    "write a poem about rivers",
    "who won the football match",
    "what is the capital of france",
    "how tall is a giraffe",
    "translate good morning into italian",
    "is it going to rain tonight",
    "the square root of seventeen",
    "sing a song for the children",
    "explain the theory of evolution",
    "which planet has most moons",
    "my doctor prescribed these pills",
    "boil the potatoes with salt",
)
SMALL = ("--encoder.layers", "1", "--encoder.heads", "2", "--encoder.width", "16", "--epochs", "1")


def rows_of(things=THINGS):
    return [
        (text.format(thing), label) for label, texts in TOPICS.items() for text in texts for thing in things
    ]


def write(path, rows, header=("text", "label")):
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model with a detector, that has read no text of no label."""
    from headwise.app.workflows.train import train_files

    folder = tmp_path_factory.mktemp("unknown")
    file = write(folder / "train.csv", rows_of())
    sections = {
        "encoder": {"layers": 1, "heads": 2, "width": 16},
        "train": {"epochs": 1},
        "unknown": {"detect": True},
    }
    train_files(file, folder / "model", settings=(sections,), baseline=False)
    return folder / "model"


@pytest.fixture
def both(tmp_path):
    known = rows_of(("car", "sweater", "kettle"))
    return write(tmp_path / "both.csv", [*known, *((text, "none") for text in STRANGE)])


def test_predictions_say_what_is_unknown(run, trained, both):
    code, out, err = run("predict", trained, both)
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out, newline="")))
    assert list(rows[0])[:6] == ["text", "label", "prediction", "probability", "unknown", "novelty"]
    strange = [row for row in rows if row["label"] == "none"]
    known = [row for row in rows if row["label"] != "none"]
    assert sum(row["unknown"] == "true" for row in strange) >= 11
    assert sum(row["unknown"] == "false" for row in known) >= 0.8 * len(known)
    assert min(float(row["novelty"]) for row in strange) > min(float(row["novelty"]) for row in known)
    assert "unlike the training texts" in err
    code, lines, _ = run("predict", trained, both, "--format-out", "jsonl", "--unsure", "0.5")
    records = [json.loads(line) for line in lines.splitlines()]
    assert [record["unknown"] for record in records] == [row["unknown"] == "true" for row in rows]
    assert all(isinstance(record["novelty"], float) for record in records)
    assert list(records[0])[2:6] == ["prediction", "probability", "unsure", "unknown"]


def test_an_interrupted_output_is_resumed(run, trained, both, tmp_path):
    code, _, err = run("predict", trained, both, "--output", "all.csv")
    assert code == 0, err
    lines = (tmp_path / "all.csv").read_text().splitlines(keepends=True)
    (tmp_path / "part.csv").write_text("".join(lines[:8]))
    assert run("predict", trained, both, "--output", "part.csv", "--resume")[0] == 0
    assert (tmp_path / "part.csv").read_text() == "".join(lines)


def test_evaluation_with_a_label_of_unknown_texts(run, trained, both):
    code, out, err = run("evaluate", trained, both, "--unknown-label", "none", "--json")
    assert code == 0, err
    scores = json.loads(out)
    novelty = scores["novelty"]
    assert scores["texts"] == 27
    assert novelty["auroc"] > 0.95
    assert novelty["detected"] >= 11 / 12
    counts = novelty["confusion"]
    assert sum(counts["unknown"].values()) == 12
    assert counts["unknown"]["unknown"] == round(12 * novelty["detected"])
    assert counts["known"]["known"] == round(27 * novelty["retained"])
    shown = run("evaluate", trained, both, "--unknown-label", "none")[1]
    assert "out-of-scope AUROC" in shown
    assert "out of scope, caught" in shown


def test_without_unknown_texts_the_share_that_is_kept_is_shown(run, trained, tmp_path):
    file = write(tmp_path / "known.csv", rows_of(("car", "kettle")))
    scores = json.loads(run("evaluate", trained, file, "--json")[1])
    assert scores["novelty"]["auroc"] is None
    assert 0.5 < scores["novelty"]["retained"] <= 1


@pytest.mark.parametrize(
    ("rows", "label", "words"),
    [
        (rows_of(("car",)), "oos", "none of the texts"),
        ([(text, "oos") for text in STRANGE], "oos", "all texts"),
        (rows_of(("car",)), "order", "is a label of"),
    ],
)
def test_labels_that_do_not_fit(run, trained, tmp_path, rows, label, words):
    file = write(tmp_path / "texts.csv", rows)
    code, _, err = run("evaluate", trained, file, "--unknown-label", label)
    assert code == 2
    assert words in " ".join(err.split())


def test_a_model_without_a_detector_says_so(run, model, tmp_path):
    file = write(tmp_path / "texts.csv", [("w1 w2", "good"), ("w3", "bad"), ("w4", "oos")])
    code, _, err = run("evaluate", model, file, "--unknown-label", "oos")
    assert code == 2
    assert "no novelty detector" in " ".join(err.split())
    assert "unknown" not in run("predict", model, file)[1].splitlines()[0]


def test_the_report_draws_the_scores(run, trained, both, tmp_path):
    code, _, err = run("report", trained, "--data", both, "--unknown-label", "none")
    assert code == 0, err
    page = (tmp_path / "report.html").read_text()
    assert "novelty score" in page
    assert "predicted unknown" in page
    assert run("report", trained, "--overwrite")[0] == 0
    assert "novelty score" in (tmp_path / "report.html").read_text()


def test_the_server_says_unknown(trained):
    service = ModelService(trained)
    answers = [
        json.loads(line) for line in service.predict(service.records([STRANGE[0], "refund the mug please"]))
    ]
    assert [answer["unknown"] for answer in answers] == [True, False]


def test_what_a_copy_without_its_numbers_says(run, trained, both, tmp_path):
    """Vectors of training texts without a threshold would mean nothing."""
    from headwise.artifacts.save import file_sha256

    copy = shutil.copytree(trained, tmp_path / "copy")
    path = copy / "calibration.json"
    numbers = json.loads(path.read_text())
    del numbers["novelty_threshold"]
    path.write_text(json.dumps(numbers))
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"]["calibration.json"] = {"sha256": file_sha256(path), "size": path.stat().st_size}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    code, _, err = run("predict", copy, both)
    assert code == 2
    assert "HW510" in err
    assert "novelty" in err


@pytest.mark.parametrize("task", ["classify", "multi-label"])
def test_training_texts_of_no_label(run, tmp_path, task):
    outside = [(text, "none") for text in STRANGE * 2]
    file = write(tmp_path / "texts.csv", [*rows_of(), *outside])
    arguments = ("--task", task, "--no-baseline", *SMALL)
    code, out, err = run("train", file, "--output", "m", "--unknown-label", "none", *arguments)
    assert code == 0, err
    assert "24 texts of the label 'none' belong to none of the labels" in " ".join(err.split())
    labels = json.loads((tmp_path / "m" / "labels.json").read_text())["labels"]
    assert labels == ["hours", "order", "refund"]
    metrics = json.loads((tmp_path / "m" / "metrics.json").read_text())
    assert metrics["dev"]["novelty"]["out_of_scope_texts"] == 20  # 4 are test texts
    assert sum(metrics["test"]["novelty"]["confusion"]["unknown"].values()) == 4
    assert "Novelty detector" in out
    assert ",unknown,novelty," in run("predict", "m", file)[1].splitlines()[0]
    code, out, err = run("evaluate", "m", file, "--json")
    assert code == 0, err
    assert sum(json.loads(out)["novelty"]["confusion"]["unknown"].values()) == 24


def test_no_training_text_of_that_label(run, tmp_path):
    file = write(tmp_path / "texts.csv", rows_of())
    code, _, err = run("train", file, "--output", "m", "--unknown-label", "oos", *SMALL)
    assert code == 2
    assert "has the label 'oos'" in " ".join(err.split())
    code, _, err = run("train", file, "--output", "m", "--unknown.keep", "0", *SMALL)
    assert code == 2
    assert "keep must be above 0" in " ".join(err.split())


def test_tasks_without_a_detector_refuse(run, tmp_path):
    rows = [(f"w{n} w1", str(n / 7)) for n in range(40)]
    file = write(tmp_path / "texts.csv", rows)
    code, _, err = run("train", file, "--output", "m", "--task", "regress", "--unknown", *SMALL)
    assert code == 2
    assert "unknown: the task regress has no such settings" in " ".join(err.split())


def test_an_exported_model_says_the_same(run, trained, both, tmp_path, one_registry):
    pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    code, _, err = run("export", trained, "exported")
    assert code == 0, err
    tables = []
    for folder in (trained, "exported"):
        out = run("predict", folder, both)[1]
        tables.append(list(csv.DictReader(io.StringIO(out, newline=""))))
    for row, copied in zip(*tables, strict=True):
        assert float(copied["novelty"]) == pytest.approx(float(row["novelty"]), abs=1e-3)
        assert copied["unknown"] == row["unknown"]


def test_without_a_base_the_logits_decide(run, tmp_path):
    file = write(tmp_path / "texts.csv", rows_of())
    code, out, err = run(
        "train", file, "--output", "m", "--base", "none", "--unknown", "--no-baseline", *SMALL
    )
    assert code == 0, err
    assert "reads the logits alone" in " ".join(out.split())
    numbers = json.loads((tmp_path / "m" / "calibration.json").read_text())
    assert numbers["novelty_similarity"] == 0
    assert "unknown,novelty" in run("predict", "m", file)[1].splitlines()[0]


def test_the_short_help_names_the_flags_of_its_tasks_only(run):
    shown = run("train", "--help")[1]
    assert "--unknown " in shown
    assert "--unknown-label" in shown
    assert "--unknown" not in run("train", "--task", "tag", "--help")[1]
