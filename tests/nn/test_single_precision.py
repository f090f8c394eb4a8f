"""What computes on a device without float64, as Apple's GPUs are, takes no number there to 64 bits."""

import numpy as np
import pytest
import torch
from torch import nn

from headwise import PairClassifier, TextClassifier, TextTagger, train_files
from headwise.nn.networks.language_model import generate
from headwise.nn.task_layers.layer_configs import SampleConfig

SMALL = {"encoder": {"layers": 1, "heads": 2, "head_size": 4, "width": 8}, "words": {"vector_size": 8}}
SIDES = [number % 2 for number in range(40)]
TEXTS = [f"{('bad', 'good')[side]} {number // 2} of a kind" for number, side in enumerate(SIDES)]
LABELS = [("no", "yes")[side] for side in SIDES]


class Single(torch.Tensor):
    """As on such a device; on the CPU, to which `cpu` brings it, there is float64."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs or {})
        if func is torch.Tensor.cpu:
            return result.as_subclass(torch.Tensor)
        if isinstance(result, cls) and result.dtype == torch.float64:
            raise TypeError("there is no float64 on this device")
        return result


@pytest.fixture
def single(monkeypatch):
    """Models are moved to such a device, whatever is named."""

    def move(model: nn.Module, *_) -> nn.Module:
        for module in model.modules():
            for name, parameter in module._parameters.items():
                if parameter is not None and not isinstance(parameter, Single):
                    moved = parameter.detach().as_subclass(Single)
                    module._parameters[name] = nn.Parameter(moved, requires_grad=parameter.requires_grad)
        return model

    monkeypatch.setattr(nn.Module, "to", move)


@pytest.mark.parametrize("base", ["none", "english"])
@pytest.mark.parametrize("kind", [TextClassifier, PairClassifier])
def test_texts_and_pairs_are_learnt_and_explained(single, kind, base):
    items = TEXTS if kind is TextClassifier else [(text, "good") for text in TEXTS]
    estimator = kind(recipe={**SMALL, "base": {"name": base}}, epochs=1).fit(items, LABELS)
    assert all(isinstance(weights, Single) for weights in estimator.model_.parameters())
    assert estimator.explain(items[:2])


def test_tags_are_learnt(single):
    words = [text.split() for text in TEXTS]
    tags = [["B-N" if side else "O", "I-N" if side else "O", "O", "O", "O"] for side in SIDES]
    tagger = TextTagger(recipe={**SMALL, "base": {"name": "none"}}, epochs=1).fit(words, tags)
    assert np.isfinite(tagger.score(words, tags))


@pytest.mark.parametrize("task", ["language-model", "masked-words"])
def test_texts_without_labels_are_learnt(single, task, tmp_path):
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(TEXTS * 5), "utf-8")
    settings = {"model": {"task": task}, "train": {"epochs": 1}, "encoder": SMALL["encoder"]}
    model = train_files(file, tmp_path / "m", settings=[settings]).fitted.model
    if task == "language-model":
        assert len(list(generate(model, [1], SampleConfig(length=3)))) == 3
