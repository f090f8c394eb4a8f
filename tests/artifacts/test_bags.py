"""Models of bags in folders: saved, loaded, and forged."""

import json

import numpy as np
import pytest
import torch

from headwise.artifacts import StoreError, load_model
from headwise.nn.networks.bag_model import BagFeatures, BagModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import BagConfig


@pytest.fixture
def bags(save):
    """A model of bags and its folder."""
    torch.manual_seed(0)
    config = ModelConfig(task="bags", bags=BagConfig(model="isab2+pma", width=8, heads=2))
    model = BagModel(config, BagFeatures(("x", "größe")), ["no", "yes"]).eval()
    model.standardize.fit([np.array([[1, 7], [2, 7]], dtype=np.float32)])
    model.temperature = 1.5
    return model, save(model)


def test_what_is_loaded_is_what_was_saved(bags):
    model, folder = bags
    loaded = load_model(folder)
    assert (loaded.config, loaded.features, loaded.labels, loaded.temperature) == (
        model.config,
        model.features,
        model.labels,
        1.5,
    )
    rows = [np.array([[1, 2], [3, 4]], dtype=np.float32)]
    assert (loaded.predict_proba(rows) == model.predict_proba(rows)).all()
    assert json.loads((folder / "vocabulary.json").read_text()) == {"features": ["x", "größe"]}


@pytest.mark.parametrize(
    ("name", "change", "code"),
    [
        ("vocabulary.json", lambda data: {"features": ["x"]}, "HW509"),
        ("vocabulary.json", lambda data: {"features": ["x", "x"]}, "HW507"),
        ("vocabulary.json", lambda data: {"features": [["x"], "y"]}, "HW507"),
        ("vocabulary.json", lambda data: {"words": ["x", "y"]}, "HW507"),
        ("labels.json", lambda data: {"labels": ["no"]}, "HW507"),
        ("labels.json", lambda data: {"labels": ["a", "b", "c"]}, "HW509"),
        ("config.json", lambda data: data["model"]["bags"].update(layers=4000), "HW509"),
        ("config.json", lambda data: data["model"]["bags"].update(width=1 << 24), "HW509"),
        ("config.json", lambda data: data["model"]["bags"].update(width=1 << 30), "HW507"),
        (
            "config.json",
            lambda data: data["model"]["bags"].update(model="isab" + "9" * 30 + "+pma"),
            "HW50",
        ),
        (
            "config.json",
            lambda data: data["model"]["bags"].update(model="isab" + "9" * 9999 + "+pma"),
            "HW50",
        ),
        ("config.json", lambda data: data["model"]["bags"].update(dropout=2), "HW507"),
        ("config.json", lambda data: data["model"].update(encoder={}), "HW507"),
        ("calibration.json", lambda data: data.update(temperature=0), "HW510"),
    ],
)
def test_forged_folders(bags, sign, name, change, code):
    folder = bags[1]
    data = json.loads((folder / name).read_text())
    changed = change(data)
    (folder / name).write_text(json.dumps(data if changed is None else changed))
    sign(folder)
    with pytest.raises(StoreError) as caught:
        load_model(folder)
    assert caught.value.code.startswith(code)
