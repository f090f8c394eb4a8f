import numpy as np
import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.models.tasks import TASKS
from headwise.nn.networks.bag_model import BagFeatures, BagModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import BagConfig

NAMES = ("x", "y", "z")


def build(name="sab+pma", **settings):
    torch.manual_seed(0)
    config = ModelConfig(task="bags", bags=BagConfig(model=name, width=8, heads=2, **settings))
    model = BagModel(config, BagFeatures(NAMES), ["no", "yes"]).eval()
    model.standardize.fit([np.random.default_rng(1).normal(3, 2, (50, 3)).astype(np.float32)])
    return model


def some_bags(sizes=(1, 4, 2, 7)):
    random = np.random.default_rng(0)
    return [random.normal(3, 2, (size, 3)).astype(np.float32) for size in sizes]


@pytest.mark.parametrize("name", ["sab+pma", "isab2+pma", "rff+mean", "rff+max", "sab+sum"])
def test_a_bag_s_logits_depend_on_nothing_else(name):
    model, bags = build(name), some_bags()
    logits = model.logits(bags)
    assert logits.shape == (4, 2)
    assert logits.dtype == np.float32
    alone = np.concatenate([model.logits([bag]) for bag in bags])
    np.testing.assert_allclose(logits, alone, atol=1e-5)
    turned = model.logits([bag[::-1].copy() for bag in bags])
    np.testing.assert_allclose(logits, turned, atol=1e-5)
    small = model.logits(bags, batch_bags=2, batch_tokens=5)
    np.testing.assert_allclose(logits, small, atol=1e-5)


def test_features_are_standardised():
    model, bags = build(), some_bags()
    before = model.logits(bags)
    scaled = [bag * 100 - 7 for bag in bags]
    model.standardize.mean.mul_(100).sub_(7)
    model.standardize.factor.div_(100)
    np.testing.assert_allclose(model.logits(scaled), before, atol=1e-3)


def test_dropout_only_while_training():
    model, bags = build(dropout=0.5), some_bags()
    batch = model.collate(bags)
    assert model(batch).equal(model(batch))
    model.train()
    assert not model(batch).equal(model(batch))
    model.logits(bags)
    assert model.training


def test_probabilities_and_predictions():
    model, bags = build(), some_bags()
    model.temperature = 2.0
    chances = model.predict_proba(bags)
    np.testing.assert_allclose(chances.sum(1), 1)
    ratio = np.log(chances[:, 1] / chances[:, 0])
    logits = model.logits(bags)
    np.testing.assert_allclose(ratio, (logits[:, 1] - logits[:, 0]) / 2, atol=1e-6)
    for row, prediction in zip(chances, model.predict(bags), strict=True):
        assert prediction.label == ("no", "yes")[row.argmax()]
        assert prediction.probabilities == tuple(row)


@pytest.mark.parametrize(
    ("bag", "message"),
    [
        (np.zeros((2, 4)), r"bag 1 has the shape \(2, 4\); expected \(instances, 3\)"),
        (np.zeros(3), "shape"),
        ([[0, 1, np.nan]], "not finite numbers"),
        (np.array([[0, 1, 1e39]]), "not finite numbers"),
        ([["a", 1, 2]], "bag 1 is not a table of numbers"),
        ([[1, 2, 3], [1, 2]], "bag 1 is not a table of numbers"),
    ],
)
def test_what_is_no_bag(bag, message):
    with pytest.raises(ConfigError, match=message):
        build().predict_proba([some_bags()[0], bag])


def test_the_configuration_survives_json():
    config = build(layers=1).config
    sections = TASKS["bags"].sections
    saved = config.to_json(sections)
    assert saved.keys() == {"task", "bags"}
    assert ModelConfig.from_json(saved, sections=sections) == config
    with pytest.raises(ConfigError, match="readout"):
        ModelConfig.from_json({**saved, "readout": "mean"}, sections=sections)


def test_features_survive_json():
    features = BagFeatures(NAMES)
    assert BagFeatures.from_json(features.to_json()) == features
    for bad in ({}, {"features": []}, {"features": ["a", "a"]}, {"features": [1]}, {"features": "a"}):
        with pytest.raises(ConfigError):
            BagFeatures.from_json(bad)


@pytest.mark.parametrize("labels", [[], ["a"], ["a", "a"]])
def test_two_labels_at_least(labels):
    with pytest.raises(ConfigError, match="two or more"):
        BagModel(ModelConfig(task="bags"), BagFeatures(NAMES), labels)


class Table(dict):
    """What pandas has for this."""

    columns = property(dict.keys)

    def __getitem__(self, names):
        return np.stack([dict.__getitem__(self, name) for name in names], axis=1)


def test_columns_of_tables_go_by_their_names():
    model, (bag, *_) = build(), some_bags()
    x, y, z = bag.T
    turned = Table(z=z, note=x, y=y, x=x)
    np.testing.assert_array_equal(model.predict_proba([turned]), model.predict_proba([bag]))
    with pytest.raises(ConfigError, match="bag 0 has no column 'z'; expected x, y, z"):
        model.predict_proba([Table(x=x, y=y)])
