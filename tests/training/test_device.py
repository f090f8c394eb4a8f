"""The device that a setting names."""

import pytest
import torch

from headwise.artifacts import load_model
from headwise.core.errors import ConfigError
from headwise.training.fit import pick_device


def test_devices(monkeypatch):
    assert pick_device("cpu").type == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert pick_device("auto").type == "cpu"
    for name in ("cdua", "cuda:99"):
        with pytest.raises(ConfigError, match=f"the device '{name}' cannot be used"):
            pick_device(name)
    if not torch.backends.mps.is_available():
        with pytest.raises(ConfigError) as caught:  # PyTorch says it in a thousand letters
            pick_device("mps")
        assert len(str(caught.value)) < 200


def test_a_model_is_not_loaded_for_a_device_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="the device 'cdua' cannot be used"):
        load_model(tmp_path, device="cdua")
