"""Training on pairs: what is learnt, from files to parts, weights of labels, going on with a run."""

from pathlib import Path

import numpy as np
import pytest
import torch

from headwise.data.errors import DataError
from headwise.data.pair import Pair
from headwise.errors import ConfigError, HeadwiseError
from headwise.recipe import build_recipe
from headwise.train.classification import ClassificationObjective
from headwise.train.loop import TrainingInterrupted
from headwise.train.pair_parts import PairParts, label_numbers, read_pair_parts, scores_of, two_files
from headwise.train.run import Parses
from headwise.train.run_pairs import fit_pairs

WORDS = [f"w{n}" for n in range(6)]


def recipe(task="pair", **settings):
    layers = {
        "model": {"task": task, "readout": "mean"},
        "words": {"tokenizer": "whitespace", "vector_size": 8, "dropout": 0.0, "word_dropout": 0.0},
        "encoder": {"name": "transformer", "width": 16, "heads": 2, "head_size": 8, "layers": 1}
        | {"feedforward": 16, "dropout": 0.0, "positions": "none", "classification_node": False},
        "pair": {"features": "product"},
        "train": {"epochs": 6, "batch_texts": 16, "learning_rate": 0.01, "score": "loss"},
    }
    for section, own in settings.items():
        layers[section] = {**layers.get(section, {}), **own}
    return build_recipe(layers)


def problem(pairs: int, seed: int, scored: bool = False) -> list[Pair]:
    """Whether both texts have the same word; the first text alone says nothing, nor the second."""
    random = np.random.default_rng(seed)
    made = []
    for line in range(pairs):
        one = random.choice(WORDS)
        same = random.random() < 0.5
        other = one if same else random.choice([word for word in WORDS if word != one])
        label = str(2.5 if same else -1.5) if scored else "same" if same else "other"
        made.append(Pair(one, other, label, line + 1))
    return made


def parts(scored: bool = False) -> PairParts:
    return PairParts(problem(240, 0, scored), problem(60, 1, scored), problem(60, 2, scored))


@pytest.mark.parametrize("interaction", ["none", "cross"])
def test_it_compares_the_texts(tmp_path, interaction):
    own = parts()
    small = {"cross_heads": 2, "cross_head_size": 8, "cross_feedforward": 16}
    fitted = fit_pairs(
        own, recipe(pair={"interaction": interaction, **small}, expert={"kind": "none"}), tmp_path
    )
    right = [
        p.label == pair.label for p, pair in zip(fitted.model.predict(own.test), own.test, strict=True)
    ]
    assert np.mean(right) > 0.9
    assert fitted.model.temperature != 1.0
    assert set(fitted.dev) == {"accuracy", "macro_f1", "loss"}
    assert fitted.calibration is not None


def test_it_learns_scores(tmp_path):
    own = parts(scored=True)
    fitted = fit_pairs(own, recipe("pair-score"), tmp_path)
    found = np.array(list(fitted.model.predict(own.test)))
    assert np.abs(found - scores_of(own.test)).mean() < 0.8
    assert fitted.dev["pearson"] > 0.9
    assert fitted.calibration is None


def test_a_run_that_goes_on_is_the_same_run(tmp_path):
    own, settings = parts(), recipe(train={"epochs": 2})
    whole = fit_pairs(own, settings, tmp_path / "whole")

    def stop(report):
        import os
        import signal

        if report.progress.step == 9:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(TrainingInterrupted):
        fit_pairs(own, settings, tmp_path / "parts", report=stop)
    resumed = fit_pairs(own, settings, tmp_path / "parts", resume=True)
    for one, other in zip(whole.model.parameters(), resumed.model.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)
    assert whole.model.temperature == resumed.model.temperature


def test_weights_of_labels(tmp_path):
    own = parts()
    plain = fit_pairs(own, recipe(train={"epochs": 1}), tmp_path / "a").model
    targets = label_numbers(own.train, plain.labels)
    arguments = ((own.train, targets), (own.dev, label_numbers(own.dev, plain.labels)))
    loss = ClassificationObjective(plain, *arguments).loss(range(8)).item()
    weighted = recipe(classifier={"class_weights": "same=3.0"})
    plain.config = weighted.model
    assert ClassificationObjective(plain, *arguments).loss(range(8)).item() != pytest.approx(loss)


def write(path: Path, pairs: list[Pair]) -> str:
    rows = [f"{pair.first}\t{pair.second}\t{pair.label}" for pair in pairs]
    path.write_text("\n".join(["sentence1\tsentence2\tlabel", *rows]) + "\n")
    return str(path)


def test_files_to_parts(tmp_path):
    train = write(tmp_path / "train.tsv", [Pair(f"a {n}", "b", "xy"[n % 2]) for n in range(40)])
    test = write(tmp_path / "test.tsv", [Pair("c", "d", "x")])
    own = read_pair_parts(train, None, test, recipe(), Parses())
    assert (len(own.train), len(own.dev), len(own.test)) == (34, 6, 1)
    own = read_pair_parts(train, test, test, recipe(), Parses())
    assert (len(own.train), len(own.dev), len(own.test)) == (40, 1, 1)


def test_files_that_do_not_fit(tmp_path):
    train = write(tmp_path / "train.tsv", [Pair(f"a {n}", "b", "xy"[n % 2]) for n in range(40)])
    strange = write(tmp_path / "test.tsv", [Pair("c", "d", "X")])
    one = write(tmp_path / "one.tsv", [Pair(f"a {n}", "b", "x") for n in range(9)])
    with pytest.raises(DataError, match="HW140"):
        read_pair_parts(train, None, strange, recipe(), Parses())
    with pytest.raises(HeadwiseError, match="HW406"):
        read_pair_parts(one, None, None, recipe(), Parses())
    with pytest.raises(DataError, match=r"HW287.*train\.tsv:2"):
        read_pair_parts(train, None, None, recipe("pair-score"), Parses())
    with pytest.raises(HeadwiseError, match="HW405"):
        read_pair_parts(train, None, None, recipe(split={"dev": 0.0}), Parses())
    with pytest.raises(ConfigError, match="no file of dev pairs"):
        read_pair_parts(train, None, None, recipe(), Parses(dev="x,y"))
    with pytest.raises(HeadwiseError, match="HW405"):
        fit_pairs(PairParts(problem(9, 0), [], []), recipe(), tmp_path)


def test_two_files_of_parses():
    assert two_files("a.heads, b.heads") == ("a.heads", "b.heads")
    for wrong in ("a", "a,", ",b", "a,b,c"):
        with pytest.raises(ConfigError, match="two files"):
            two_files(wrong)
