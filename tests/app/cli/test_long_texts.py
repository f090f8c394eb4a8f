"""Long texts at the command line: what is told of them."""

import json
import re

import numpy as np
import pytest

SMALL = (
    *("--epochs", "1", "--encoder.width", "8", "--encoder.heads", "2", "--encoder.head-size", "4"),
    *("--encoder.layers", "1", "--words.vector-size", "8", "--windows.words", "12"),
)


@pytest.fixture(autouse=True)
def file(tmp_path):
    random = np.random.default_rng(0)
    rows = []
    for n in range(60):
        words = random.choice(list("abcdefgh"), 30 if n % 3 == 0 else 5)
        rows.append(f"{'good' if n % 2 else 'bad'}\t{' '.join(words)} {n}")
    (tmp_path / "f.tsv").write_text("label\ttext\n" + "\n".join(rows) + "\n")


def test_windows_are_told_and_saved(run, tmp_path):
    code, _, err = run("train", "f.tsv", *SMALL, "--encoder", "transformer")
    assert code == 0, err
    assert "20 of 60 texts have more than 12 words: read in windows that overlap" in " ".join(err.split())
    saved = json.loads((tmp_path / "f.model" / "config.json").read_text())["model"]["windows"]
    assert saved == {"words": 12, "long": "split"}
    code, _, err = run("predict", "f.model", "f.tsv")
    assert (code, "cut short" in err) == (0, False)


def test_cut_texts_are_counted_everywhere(run):
    code, out, err = run("train", "f.tsv", *SMALL, "--windows.long", "truncate")
    assert code == 0, err
    assert "20 of 60 texts have more than 12 words: only these are read" in " ".join(err.split())
    assert "cut short" in out
    _, _, err = run("predict", "f.model", "f.tsv")
    assert "20 of them have more words than the model reads" in " ".join(err.split())
    _, out, _ = run("evaluate", "f.model", "f.tsv", "--json")
    assert json.loads(out)["cut_texts"] == 20


def test_refused(run):
    code, _, err = run("train", "f.tsv", *SMALL, "--windows.long", "error")
    assert (code, "HW226" in err, bool(re.search(r"line \d+", err))) == (2, True, True)


def test_nothing_is_told_where_there_is_nothing(run):
    code, _, err = run("train", "f.tsv", *SMALL[:-1], "0")
    assert (code, "words: " in err) == (0, False)


def test_a_text_that_is_far_longer_than_all_others_is_told_and_cut(run, tmp_path):
    rows = [f"{'good' if n % 2 else 'bad'}\t{'a b ' * (3_000 if n == 7 else 3)}{n}" for n in range(60)]
    (tmp_path / "f.tsv").write_text("label\ttext\n" + "\n".join(rows) + "\n")
    code, _, err = run("train", "f.tsv", *SMALL)
    assert code == 0, err
    told = " ".join(err.split())
    assert "f.tsv:9: 6,001 words; this run uses the first 512 words of a text" in told
    assert "--windows.most-words 0" in told
    assert "--windows.long truncate" in told
    assert "1 of 60 texts have more than 12 words: read in windows" in told
    code, _, err = run("train", "f.tsv", *SMALL, "--windows.most-words", "0", "--overwrite")
    assert (code, "this run uses" in err) == (0, False)
