import numpy as np
import pytest
import torch

from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.labels import label_targets
from headwise.data.readers.bags import Bag
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks import find_task
from headwise.nn.networks.bag_model import BagFeatures, BagModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import BagConfig
from headwise.training.loop import run_epochs
from headwise.training.settings import TrainConfig


def made(count, seed=0):
    """Bags of which one instance decides: it is far out, or none is."""
    random = np.random.default_rng(seed)
    bags = []
    for n in range(count):
        rows = random.normal(50, 2, (random.integers(1, 6), 2)).astype(np.float32)
        rows[random.integers(len(rows)), 0] += 12 * (n % 2)
        bags.append(Bag(str(n), ["no", "yes"][n % 2], rows))
    return bags


def objective(train_bags, dev_bags, **settings):
    torch.manual_seed(0)
    config = ModelConfig(task="bags", bags=BagConfig(width=16, heads=2, **settings))
    model = BagModel(config, BagFeatures(("x", "y")), ["no", "yes"])
    return find_task("bags").objective(
        model, DataParts(ITEM_TYPES_BY_TASK["bags"], train_bags, dev_bags, [])
    )


def test_targets():
    assert label_targets(made(4), ["yes", "no"]).tolist() == [1, 0, 1, 0]


def test_the_loss_is_the_sum_over_bags():
    bag_objective = objective(made(8), made(4), dropout=0.0)
    assert bag_objective.lengths.tolist() == [len(bag.instances) for bag in made(8)]
    alone = sum(bag_objective.loss([n]).item() for n in range(8))
    assert bag_objective.loss(range(8)).item() == pytest.approx(alone, rel=1e-5)


def test_class_weights_count():
    plain, weighted = (
        objective(made(8), made(4), dropout=0.0, class_weights=weights) for weights in ("none", "yes=3.0")
    )
    ratios = [weighted.loss([n]).item() / plain.loss([n]).item() for n in (0, 1)]
    assert ratios == pytest.approx([0.5, 1.5])


def test_features_are_standardised_on_the_training_bags_alone():
    train_bags = made(8)
    shifted = [Bag(bag.id, bag.label, bag.instances + 1000) for bag in made(4)]
    bag_objective = objective(train_bags, shifted).model.standardize
    rows = np.concatenate([bag.instances for bag in train_bags])
    torch.testing.assert_close(bag_objective.mean, torch.from_numpy(rows.mean(0)))
    torch.testing.assert_close(bag_objective.factor, torch.from_numpy(1 / rows.std(0)))


def test_learning(tmp_path):
    bag_objective = objective(made(64), made(32, seed=1))
    before = bag_objective.evaluate()["accuracy"]
    config = TrainConfig(epochs=25, learning_rate=3e-3, batch_texts=16, score="loss", patience=0)
    run_epochs(bag_objective.model, bag_objective, config, tmp_path)
    after = bag_objective.evaluate()
    assert before < 0.8 < 0.95 < after["accuracy"]
    assert after["loss"] < 0.2
    assert after["macro_f1"] == pytest.approx(after["accuracy"], abs=0.05)
