"""Training on pairs: what is learnt, from files to parts, weights of labels, going on with a run."""

import numpy as np
import pytest
import torch

from headwise.app.configuration import build_config
from headwise.core.errors import TrainingInterrupted
from headwise.data.items.examples import Pair
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.labels import label_targets
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks import find_task
from headwise.training.fit import fit_model
from headwise.training.text_objectives import ClassificationObjective

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
    for section, options in settings.items():
        layers[section] = {**layers.get(section, {}), **options}
    return build_config(layers)


def problem(pairs: int, seed: int, scored: bool = False) -> list[Pair]:
    """Whether both texts have the same word; the first text alone says nothing, nor the second."""
    random = np.random.default_rng(seed)
    made = []
    for line in range(pairs):
        one = random.choice(WORDS)
        same = random.random() < 0.5
        second = one if same else random.choice([word for word in WORDS if word != one])
        label = str(2.5 if same else -1.5) if scored else "same" if same else "other"
        made.append(Pair(one, second, label, line + 1))
    return made


def parts(scored: bool = False) -> DataParts:
    kind = ITEM_TYPES_BY_TASK["pair-score" if scored else "pair"]
    return DataParts(kind, problem(240, 0, scored), problem(60, 1, scored), problem(60, 2, scored))


def fit_pairs(parts, recipe, folder, **more):
    return fit_model(find_task(recipe.model.task), parts, recipe, folder, **more)


@pytest.mark.parametrize("interaction", ["none", "cross", "match"])
def test_it_compares_the_texts(tmp_path, interaction):
    pair_parts = parts()
    small = {"cross_heads": 2, "cross_head_size": 8, "cross_feedforward": 16}
    fitted = fit_pairs(
        pair_parts,
        recipe(pair={"interaction": interaction, **small}, linear_model={"kind": "none"}),
        tmp_path,
    )
    right = [
        p.label == pair.label
        for p, pair in zip(fitted.model.predict(pair_parts.test), pair_parts.test, strict=True)
    ]
    assert np.mean(right) > 0.9
    assert fitted.model.temperature != 1.0
    assert set(fitted.dev) == {"accuracy", "macro_f1", "loss", "sureness"}
    assert fitted.calibration is not None


def test_it_learns_scores(tmp_path):
    pair_parts = parts(scored=True)
    fitted = fit_pairs(pair_parts, recipe("pair-score"), tmp_path)
    scores = np.array(list(fitted.model.predict(pair_parts.test)))
    assert np.abs(scores - pair_parts.item_type.label_type.numbers(pair_parts.test)).mean() < 0.8
    assert fitted.dev["pearson"] > 0.9
    assert fitted.calibration is None


def test_a_run_that_goes_on_is_the_same_run(tmp_path):
    pair_parts, settings = parts(), recipe(train={"epochs": 2})
    complete = fit_pairs(pair_parts, settings, tmp_path / "whole")

    def stop(report):
        import os
        import signal

        if report.progress.step == 9:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(TrainingInterrupted):
        fit_pairs(pair_parts, settings, tmp_path / "parts", report=stop)
    resumed = fit_pairs(pair_parts, settings, tmp_path / "parts", resume=True)
    for one, second in zip(complete.model.parameters(), resumed.model.parameters(), strict=True):
        torch.testing.assert_close(one, second, rtol=0, atol=0)
    assert complete.model.temperature == resumed.model.temperature


def test_weights_of_labels(tmp_path):
    pair_parts = parts()
    plain = fit_pairs(pair_parts, recipe(train={"epochs": 1}), tmp_path / "a").model
    targets = label_targets(pair_parts.train, plain.labels)
    arguments = ((pair_parts.train, targets), (pair_parts.dev, label_targets(pair_parts.dev, plain.labels)))
    loss = ClassificationObjective(plain, *arguments).loss(range(8)).item()
    weighted = recipe(classifier={"class_weights": "same=3.0"})
    plain.config = weighted.model
    assert ClassificationObjective(plain, *arguments).loss(range(8)).item() != pytest.approx(loss)
