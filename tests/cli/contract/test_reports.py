"""What every task promises of its report: a page from the folder alone, and one with a file."""

import re

DRIFT: dict[str, dict[str, str]] = {}


def test_a_page(call, own, sizes, tmp_path):
    plain, full = tmp_path / "plain.html", tmp_path / "full.html"
    code, _, err = call("report", own.model, "--output", plain)
    assert code == 0, err
    assert "test" in plain.read_text()
    code, _, err = call("report", own.model, "--data", own.test, "--output", full)
    assert code == 0, err
    assert {"Scores", "Training", "Data"} <= set(re.findall(r"<h2>(.*?)</h2>", full.read_text()))
    assert call("report", own.model, "--output", plain)[0] == 2  # it is not lost by mistake
    assert call("report", own.model, "--output", plain, "--overwrite")[0] == 0


def test_after_a_training(call, trained_of, tmp_path):
    own, page = trained_of("classify"), tmp_path / "trained.html"
    code, _, err = call(*own.training(tmp_path / "again"), "--report", page)
    assert code == 0, err
    text = page.read_text()
    assert {"Words", "Heads", "Probabilities"} <= set(re.findall(r"<h2>(.*?)</h2>", text))
    assert "TF-IDF" in text
