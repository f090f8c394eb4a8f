"""Heads that go by sentences and paragraphs, through train, predict and explain."""

import csv

import numpy as np
import pytest

from headwise.artifacts import load_model
from headwise.text.text_features import EncodedText

SETTINGS = (
    *("--encoder", "transformer", "--encoder.width", "8", "--encoder.heads", "2", "--encoder.layers", "1"),
    *("--encoder.head-size", "4", "--encoder.feedforward", "8"),
    *("--words.vector-size", "8", "--base", "none", "--epochs", "1", "--linear-model.kind", "none"),
    *("--no-baseline", "--split.test", "0"),
)


@pytest.fixture
def train(tmp_path, run):
    """Train with the priors, on two sentences and two paragraphs a text; returns the model folder."""
    with open(tmp_path / "notes.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        rows.writerows([f"A {n}. B {n}!\n\nC {'good' if n % 2 else 'bad'}", n % 2] for n in range(80))

    def train(*priors: str):
        code, _, err = run("train", "notes.csv", "--encoder.priors", *priors, *SETTINGS)
        assert code == 0, err
        return tmp_path / "notes.model"

    return train


def test_sentences_come_from_the_text(train, run, tmp_path):
    folder = train("same-sentence", "same-paragraph")
    model = load_model(folder)
    [encoded] = model.encoded(["A 1. B 2.\n\nC good"])
    assert encoded.marks["sentence"].tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert encoded.marks["paragraph"].tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    apart, together = model.outputs_of(model.encoded(["A good B\n\nbad C", "A good B bad C"]))
    assert np.abs(apart - together).max() > 1e-4
    (tmp_path / "new.csv").write_text('text\n"A good.\n\nB bad"\n')
    for command in (
        ("predict", folder, "new.csv", "-o", "out.csv"),
        ("explain", folder, "new.csv"),
        ("heads", folder, "notes.csv", "--svg", "heads.svg"),
    ):
        code, _, err = run(*command)
        assert code == 0, err
    assert "same sentence" in (tmp_path / "heads.svg").read_text()


def test_texts_without_such_heads_have_no_marks(train):
    model = load_model(train("everything", "window(3)"))
    [encoded] = model.encoded(["A 1. B 2."])
    assert isinstance(encoded, EncodedText)
    assert not encoded.marks
