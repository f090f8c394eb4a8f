"""Training label sets: what the linear model beside the encoder is fitted with."""

import numpy as np
import pytest

from headwise.data.items.examples import MultiLabelExample
from headwise.data.items.labels import multi_hot_targets
from headwise.linear.linear_fit import fit_linear
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import MultiLabelModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig, LinearMemberConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary
from headwise.training.cross_fitting import OutOfFold
from headwise.training.ensembles import MultiLabelEnsembleFitter
from headwise.training.run_state import RunProgress
from headwise.training.text_objectives import MultiLabelObjective


@pytest.mark.parametrize(("setting", "ratio"), [("none", 1.0), ("rare=4.0", 4.0)])
def test_class_weights_reach_the_linear_model(monkeypatch, setting, ratio):
    sets = [("often",)] * 6 + [("often", "rare")] * 2
    texts = [MultiLabelExample(f"w{n}", labels=label_set) for n, label_set in enumerate(sets)]
    config = ModelConfig(
        task="multi-label",
        words=WordConfig(vector_size=4),
        encoder=MSTransformerConfig(width=4, heads=1, head_size=4, layers=1),
        classifier=ClassifierConfig(hidden=4, class_weights=setting),
    )
    model = MultiLabelModel(
        config, Vocabulary.build([[example.text] for example in texts]), ["often", "rare"]
    )
    class_weights = []

    def fit(examples, **more):
        class_weights.append(examples.class_weight)
        return fit_linear(examples, **more)

    monkeypatch.setattr("headwise.training.ensembles.fit_linear", fit)
    part = texts, multi_hot_targets(texts, model.labels)
    MultiLabelEnsembleFitter(MultiLabelObjective(model, part, part)).fit()
    weights = np.ones(2) if class_weights[0] is None else class_weights[0]
    assert weights[1] / weights[0] == pytest.approx(ratio)


@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize(("strength", "used"), [(0.0, False), (3.0, True)])
def test_an_encoder_that_knows_nothing_is_not_asked(strength, used, crossed):
    """What the linear model reads tells one label, and what the encoder says another, or nothing: on
    dev, or of texts that models of folds have not seen."""
    chance = np.random.default_rng(0)
    truth = chance.random((240, 2)) < 0.4
    texts = [
        MultiLabelExample(
            f"{'good' if first else 'bad'} w{n % 7}", labels=tuple("ab"[k] for k in range(2) if row[k])
        )
        for n, (row, first) in enumerate(zip(truth, truth[:, 0], strict=True))
    ]
    config = ModelConfig(
        task="multi-label",
        words=WordConfig(vector_size=4),
        encoder=MSTransformerConfig(width=4, heads=1, head_size=4, layers=1),
        classifier=ClassifierConfig(hidden=4),
    )
    model = MultiLabelModel(
        config, Vocabulary.build([example.text.split() for example in texts]), ["a", "b"]
    ).eval()
    encoder_logits = strength * (2.0 * truth - 1) * [0, 1] + 1e-3 * chance.normal(size=(240, 2))
    model.outputs_of = lambda items, **_: encoder_logits[-len(items) :].astype(np.float32)  # type: ignore
    if crossed:
        held = np.arange(3, 240)
        out_of_fold = OutOfFold(encoder_logits[held].astype(np.float32), held, RunProgress(), folds=3)
        train_data = texts, multi_hot_targets(texts, model.labels)
        MultiLabelEnsembleFitter(MultiLabelObjective(model, train_data, ([], train_data[1][:0]))).fit(
            out_of_fold
        )
    else:
        parts = [(part, multi_hot_targets(part, model.labels)) for part in (texts[:160], texts[160:])]
        MultiLabelEnsembleFitter(MultiLabelObjective(model, *parts)).fit()
    assert model.linear_model is not None
    assert (model.encoder_weight > 0) == used
    assert (model.linear_share < 1) == used
    logits = model.logits(model.encoded(texts[160:])) / model.temperature
    assert ((logits[:, 0] > 0) == truth[160:, 0]).mean() > 0.95
    assert (((logits[:, 1] > 0) == truth[160:, 1]).mean() > 0.95) == used


@pytest.mark.parametrize("linear_model", ["none", "linear"])
def test_temperature_and_thresholds_are_those_of_what_other_models_say(linear_model):
    """The model itself, which has seen the texts, is surer and never wrong."""
    chance = np.random.default_rng(1)
    truth = chance.random((300, 2)) < 0.5
    texts = [
        MultiLabelExample(f"w{n % 9}", labels=tuple(np.array(["a", "b"])[row]))
        for n, row in enumerate(truth)
    ]
    config = ModelConfig(
        task="multi-label",
        words=WordConfig(vector_size=4),
        encoder=MSTransformerConfig(width=4, heads=1, head_size=4, layers=1),
        classifier=ClassifierConfig(hidden=4),
        linear_model=LinearMemberConfig(kind=linear_model),
    )
    model = MultiLabelModel(
        config, Vocabulary.build([example.text.split() for example in texts]), ["a", "b"]
    ).eval()
    model.outputs_of = lambda *_, **__: 9 * (2 * truth - 1).astype(np.float32)  # type: ignore
    says = (2.0 * truth - 1) * np.where(chance.random((300, 2)) < 0.8, 1, -1)  # right four times in five
    crossed = OutOfFold(3 * says.astype(np.float32), np.arange(300), RunProgress(), folds=3)
    train_data = texts, multi_hot_targets(texts, model.labels)
    done = MultiLabelEnsembleFitter(MultiLabelObjective(model, train_data, ([], train_data[1][:0]))).fit(
        crossed
    )
    assert 3 * model.encoder_weight / model.temperature == pytest.approx(np.log(4), rel=0.25)
    assert done.dev["loss"] == pytest.approx(0.5, abs=0.06)
    assert done.calibration[0] > 2 * done.calibration[1]


def test_labels_have_the_rates_that_are_asked_of_them():
    chance = np.random.default_rng(1)
    truth = chance.random((300, 3)) < [0.5, 0.2, 0.3]
    encoder_logits = (2.0 * truth - 1 + 1.5 * chance.normal(size=(300, 3))).astype(np.float32)
    names = ["a", "b", "c"]
    texts = [
        MultiLabelExample(f"w{n % 9}", labels=tuple(np.array(names)[row])) for n, row in enumerate(truth)
    ]
    plain, constrained = (
        MultiLabelModel(
            ModelConfig(
                task="multi-label",
                words=WordConfig(vector_size=4),
                encoder=MSTransformerConfig(width=4, heads=1, head_size=4, layers=1),
                classifier=ClassifierConfig(hidden=4, thresholds=setting),
                linear_model=LinearMemberConfig(kind="none"),
            ),
            Vocabulary.build([example.text.split() for example in texts]),
            names,
        ).eval()
        for setting in ("none", "a:recall=0.95,b:fpr=0.05")
    )
    done = []
    for model in (plain, constrained):
        model.outputs_of = lambda *_, **__: encoder_logits  # type: ignore
        part = texts, multi_hot_targets(texts, names)
        done.append(MultiLabelEnsembleFitter(MultiLabelObjective(model, part, part)).fit().dev)
    assert "operating_points" not in done[0]
    assert [(point["label"], point["kept"]) for point in done[1]["operating_points"]] == [
        ("a", True),
        ("b", True),
    ]
    assert constrained.thresholds[2] == plain.thresholds[2]
    chosen = constrained.chosen_labels(constrained.probabilities(encoder_logits))
    assert 0.95 <= chosen[truth[:, 0], 0].mean() < 0.97
    assert 0.03 < chosen[~truth[:, 1], 1].mean() <= 0.05
