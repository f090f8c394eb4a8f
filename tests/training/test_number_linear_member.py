"""The linear model beside an encoder of numbers."""

import json

import numpy as np
import pytest

from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model
from headwise.linear.ensemble_weights import PRETRAINED_NETWORK, fit_number_weights
from headwise.models.text_explanation import explain_numbers

SMALL = {
    "encoder": {"width": 8, "heads": 2, "head-size": 4, "layers": 1},
    "regressor": {"hidden": 8},
    "words": {"vector_size": 8},
    "base": {"name": "none"},
}


def test_weights_are_near_those_of_least_squares():
    random = np.random.default_rng(0)
    encoder, linear_model = random.normal(size=(2, 5_000))
    targets = 0.7 * encoder + 0.2 * linear_model + 0.1 * random.normal(size=5_000)
    ensemble = fit_number_weights(encoder, linear_model, targets)
    assert (ensemble.encoder, ensemble.linear_model) == pytest.approx((0.7, 0.2), abs=0.01)
    assert ensemble.share == pytest.approx(0.2 / 0.9, abs=0.02)


def test_one_text_that_both_are_far_off_does_not_decide():
    random = np.random.default_rng(0)
    encoder, linear_model = random.normal(size=(2, 400))
    targets = 0.5 * encoder + 0.5 * linear_model + 0.1 * random.normal(size=400)
    for far in (40.0, -40.0, -400.0):
        encoder[0], linear_model[0], targets[0] = 5.0, 5.0, far
        ensemble = fit_number_weights(encoder, linear_model, targets)
        assert (ensemble.encoder, ensemble.linear_model) == pytest.approx((0.5, 0.5), abs=0.03)


@pytest.mark.parametrize("far", [1e30, -1e97, np.inf])
def test_nor_does_one_that_is_far_off_all_training_texts(far):
    random = np.random.default_rng(0)
    encoder, linear_model = random.normal(size=(2, 50))
    targets = 0.5 * encoder + 0.5 * linear_model + 0.1 * random.normal(size=50)
    targets[0] = far
    ensemble = fit_number_weights(encoder, linear_model, targets)
    assert (ensemble.encoder, ensemble.linear_model) == pytest.approx((0.5, 0.5), abs=0.1)


def test_texts_that_do_not_count_are_as_if_they_were_not_there():
    random = np.random.default_rng(0)
    encoder, linear_model, noise = random.normal(size=(3, 400))
    targets = np.where(np.arange(400) < 300, 0.5 * encoder + 0.5 * linear_model, noise)
    counts = (np.arange(400) < 300) / 0.75
    subset = fit_number_weights(encoder[:300], linear_model[:300], targets[:300], np.full(300, 1 / 0.75))
    assert fit_number_weights(encoder, linear_model, targets, counts).encoder == pytest.approx(
        subset.encoder
    )


def test_few_texts_leave_both_a_say():
    random = np.random.default_rng(0)
    targets = random.normal(size=3)
    ensemble = fit_number_weights(targets, targets + 0.3 * random.normal(size=3), targets)
    assert 0.2 < ensemble.share < 0.8


@pytest.mark.parametrize("good", [0, 1])
def test_who_says_nothing_true_is_dropped(good):
    random = np.random.default_rng(0)
    targets = random.normal(size=500)
    members = [random.normal(size=500), random.normal(size=500)]
    members[good] = 2 * targets
    ensemble = fit_number_weights(*members, targets)
    weights = (ensemble.encoder, ensemble.linear_model)
    assert weights[1 - good] == 0
    assert weights[good] == pytest.approx(0.5, abs=0.01)
    assert ensemble.share == good


def test_nothing_at_all_is_weighed():
    ensemble = fit_number_weights(np.zeros(4), np.zeros(4), np.ones(4))
    assert np.isfinite([ensemble.encoder, ensemble.linear_model, ensemble.share]).all()


def write(path, count: int, pairs: bool) -> str:
    random = np.random.default_rng(count)
    names = ("first,second" if pairs else "text") + ",score"
    rows = [names]
    for _ in range(count):
        good = random.integers(0, 5)
        text = " ".join(["good"] * good + ["bad"] * (4 - good) + [f"w{random.integers(30)}"])
        rows.append(
            f"{text},{'good good bad bad' + ',' if pairs else ''}{3 + good + random.normal() / 9:.3f}"
        )
    path.write_text("\n".join([*rows, ""]))
    return str(path)


@pytest.mark.parametrize("task", ["regress", "pair-score"])
@pytest.mark.parametrize(("folds", "refit"), [(0, False), (0, True), (3, False)])
def test_it_stands_beside_the_encoder(tmp_path, task, folds, refit):
    """And what both say is saved, is explained, and is closer than what the encoder says."""
    settings = {
        **SMALL,
        "model": {"task": task},
        "train": {"epochs": 2, "batch-texts": 16, "folds": folds, "refit": refit},
    }
    file = write(tmp_path / "n.csv", 120, task == "pair-score")
    outcome = train_files(file, tmp_path / "model", settings=[settings], baseline=False)
    model, items = outcome.fitted.model, list(outcome.parts.test)
    assert model.linear_model is not None
    assert model.linear_share > 0
    encoded = model.encoded(items)
    encoder, linear = model.outputs_of(encoded)[:, 0], model.linear_scores(encoded)[:, 0]
    both = model.scale.restore(model.encoder_weight * encoder + model.linear_weight * linear)
    np.testing.assert_allclose(model.scores(encoded), both, rtol=1e-5)
    loaded = load_model(tmp_path / "model")
    np.testing.assert_allclose(list(loaded.predict(items)), both, rtol=1e-4)
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert metrics["test"]["mae"] < metrics["encoder_alone"]["mae"]
    assert metrics["linear_model_alone"]["pearson"] > 0.9
    for number, explanation in enumerate(explain_numbers(model, encoded[:3])):
        assert explanation.margin == pytest.approx(both[number] - model.scale.mean, rel=1e-4)
        assert any(word.parts.get("linear_model") for word in explanation.words)


def test_it_can_be_left_out(tmp_path):
    settings = {
        **SMALL,
        "model": {"task": "regress"},
        "train": {"epochs": 1},
        "linear_model": {"kind": "none"},
    }
    outcome = train_files(write(tmp_path / "n.csv", 60, False), tmp_path / "model", settings=[settings])
    assert outcome.fitted.model.linear_model is None
    assert "linear_model_alone" not in outcome.systems


def test_few_texts_leave_the_expected_weights():
    random = np.random.default_rng(3)
    targets = random.normal(size=2_000)
    encoder, linear_model = (targets + 0.5 * random.normal(size=2_000) for _ in range(2))

    def weights(texts):
        parts = (values[:texts] for values in (encoder, linear_model, targets))
        ensemble = fit_number_weights(*parts, prior=PRETRAINED_NETWORK)
        return ensemble.encoder, ensemble.linear_model

    assert weights(1) == pytest.approx(PRETRAINED_NETWORK.expected, abs=0.1)
    assert weights(2_000) == pytest.approx((0.44, 0.44), abs=0.05)  # 1 / (2 + 0.5^2)
