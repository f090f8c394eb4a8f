"""What every task promises of its report: a page from the folder alone, and one with a file."""

import json
import re

import pytest

from headwise.app.workflows.evaluate import evaluate_file

DRIFT: dict[str, dict[str, str]] = {}


def test_a_page(call, own, sizes, tmp_path):
    plain, full = tmp_path / "plain.html", tmp_path / "full.html"
    code, _, err = call("report", own.model, "--output", plain)
    assert code == 0, err
    assert "test" in plain.read_text()
    code, _, err = call("report", own.model, own.test, "--output", full)  # or with --data
    assert code == 0, err
    assert {"Scores", "Training", "Data"} <= set(re.findall(r"<h2>(.*?)</h2>", full.read_text()))
    assert call("report", own.model, "--output", plain)[0] == 2  # it is not lost by mistake
    assert call("report", own.model, "--output", plain, "--overwrite")[0] == 0


def test_a_page_of_training_texts_says_so(call, trained_of, tmp_path):
    own, page = trained_of("classify"), tmp_path / "known.html"
    assert call("report", own.model, "--data", own.train, "--output", page)[0] == 0
    assert "these scores do not hold for new ones" in page.read_text()


def test_spans_that_are_wrong_are_listed(call, trained_of, tmp_path):
    own, page, file = trained_of("tag"), tmp_path / "full.html", tmp_path / "wrong.conll"
    tags = {"O": "B-X", "B-X": "O"}
    rows = [line.split() for line in own.test.read_text().splitlines()]
    file.write_text("".join(f"{row[0]}\t{tags[row[1]]}\n" if row else "\n" for row in rows))
    code, _, err = call("report", own.model, "--data", file, "--output", page)
    assert code == 0, err
    assert f"<small>{file.name}:" in page.read_text()
    assert " missed " in page.read_text()
    scores = json.loads(call("evaluate", own.model, file, "--json")[1])
    wrong = sum(scores["span_errors"].values())
    assert wrong > own.test.read_text().count("\n\n")  # more than there are sentences
    assert f"{wrong:,} spans in {len(file.read_text().split(chr(10) * 2)):,} sentences" in page.read_text()


@pytest.mark.parametrize("other", ["tag", "language-model"])
def test_after_a_training_for_something_else(call, trained_of, tmp_path, other):
    page = tmp_path / "trained.html"
    code, _, err = call(*trained_of(other).training(tmp_path / "again"), "--report", page)
    assert code == 0, err
    assert "Training" in page.read_text()


def test_after_a_training(call, trained_of, tmp_path):
    own, page = trained_of("classify"), tmp_path / "trained.html"
    code, _, err = call(*own.training(tmp_path / "again"), "--report", page)
    assert code == 0, err
    text = page.read_text()
    assert {"Words", "Heads", "Probabilities"} <= set(re.findall(r"<h2>(.*?)</h2>", text))
    assert "TF-IDF" in text


@pytest.mark.parametrize("kind", ["classify", "tag", "pair"])
def test_every_head_is_left_out_once(call, trained_of, kind):
    own = trained_of(kind)
    code, out, err = call("heads", own.model, own.test, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert len(found["heads"]) == 2  # one layer
    before = (own.model / "model.safetensors").read_bytes()
    code, out, err = call("heads", own.model, own.test)
    assert code == 0, err
    assert "heads add nothing" in out
    assert (own.model / "model.safetensors").read_bytes() == before


def test_who_has_no_heads_says_so(call, trained_of):
    own = trained_of("bags")
    code, _, err = call("heads", own.model, own.test)
    assert (code, "no heads" in err) == (2, True), err


def test_a_notebook_shows_the_scores(own):
    found = evaluate_file(own.model, own.test)
    shown = found._repr_html_()
    assert found.task.metric_table(found.scores).primary_metric.title in shown
    assert "<table" in shown


def test_of_a_finished_run_the_page_is_written_too(call, trained_of, tmp_path):
    own, page = trained_of("classify"), tmp_path / "trained.html"
    assert call(*own.training(tmp_path / "again"))[0] == 0
    code, _, err = call(*own.training(tmp_path / "again"), "--resume", "--report", page)
    assert code == 0, err
    assert "the run is finished" in err
    assert {"Words", "Heads", "Probabilities"} <= set(re.findall(r"<h2>(.*?)</h2>", page.read_text()))
