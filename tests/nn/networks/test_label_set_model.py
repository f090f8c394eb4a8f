"""MultiLabelModel: sets alone and in company, the model folder, the report."""

import json

import numpy as np
import pytest
import torch

from headwise.artifacts import StoreError, load_model, save_model
from headwise.data.items.examples import MultiLabelExample
from headwise.data.items.labels import multi_hot_targets
from headwise.models.label_evaluation import evaluate_multi_label
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import MultiLabelModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = [f"w{i}" for i in range(20)]


def new(labels=("a", "b", "c")) -> MultiLabelModel:
    torch.manual_seed(0)
    config = ModelConfig(
        task="multi-label",
        words=WordConfig(vector_size=8),
        encoder=MSTransformerConfig(width=12, heads=3, head_size=4, layers=1),
        classifier=ClassifierConfig(hidden=8),
    )
    model = MultiLabelModel(config, Vocabulary.build([WORDS]), labels, separator=";")
    for parameter in model.parameters():
        parameter.data += 0.5 * torch.randn_like(parameter)
    middle = torch.from_numpy(model.outputs_of(model.features.encode(random_texts(50))).mean(0))
    model.head.layers[-1].bias.data -= middle  # so that each label is given now and then
    model.temperature, model.thresholds = 0.5, [0.3, 0.5, 0.7][: len(labels)]
    return model.eval()


def random_texts(texts: int) -> list[str]:
    random = np.random.default_rng(0)
    return ["", *(" ".join(random.choice(WORDS, random.integers(0, 12))) for _ in range(texts))]


def test_alone_and_in_company():
    model, texts = new(), random_texts(30)
    together = model.predict_proba(texts)
    alone = [next(model.predict([text])) for text in texts]
    np.testing.assert_allclose(together, [prediction.probabilities for prediction in alone], atol=1e-5)
    for row, prediction in zip(together, model.predict(iter(texts), chunk=7), strict=True):
        expected = [n for n, p, t in zip("abc", row, model.thresholds, strict=True) if p >= t]
        assert list(prediction.labels) == expected
    assert len({prediction.labels for prediction in alone}) > 2
    assert {prediction.unknown_words for prediction in alone} == {0.0}
    assert np.ptp(together.sum(1)) > 0.1  # each label by itself


def test_saved_and_loaded(tmp_path):
    model, texts = new(), random_texts(10)
    save_model(model, tmp_path / "m", data={}, training={}, metrics={"dev": {"micro_f1": 0.5}})
    loaded = load_model(tmp_path / "m")
    assert isinstance(loaded, MultiLabelModel)
    assert (loaded.thresholds, loaded.temperature, loaded.separator) == ([0.3, 0.5, 0.7], 0.5, ";")
    assert list(loaded.predict(texts)) == list(model.predict(texts))
    assert json.loads((tmp_path / "m" / "calibration.json").read_text())["thresholds"] == [0.3, 0.5, 0.7]
    card = (tmp_path / "m" / "README.md").read_text()
    assert "multi-label text classifier" in card
    assert "all labels right" in card
    one = new(["only"])
    save_model(one, tmp_path / "one", data={}, training={}, metrics={})
    assert load_model(tmp_path / "one").labels == ("only",)
    model.separator = " "
    save_model(model, tmp_path / "blank", data={}, training={}, metrics={})
    assert load_model(tmp_path / "blank").separator == " "


@pytest.mark.parametrize("thresholds", [[0.5], [0.5, 0.5, "x"], [0.5, 0.5, -1.0], 0.5, None])
def test_forged_thresholds(tmp_path, thresholds):
    save_model(new(), tmp_path, data={}, training={}, metrics={})
    forge(tmp_path, "calibration.json", {"thresholds": thresholds})
    with pytest.raises(StoreError, match=r"calibration\.json: thresholds must be") as raised:
        load_model(tmp_path)
    assert raised.value.code == "HW510"


@pytest.mark.parametrize(
    "change", [{"separator": None}, {"separator": "  "}, {"labels": []}, {"labels": ["a", "a", "b"]}]
)
def test_forged_outputs(tmp_path, change):
    save_model(new(), tmp_path, data={}, training={}, metrics={})
    forge(tmp_path, "labels.json", change)
    with pytest.raises(StoreError, match=r"labels\.json") as raised:
        load_model(tmp_path)
    assert raised.value.code == "HW507"


def forge(folder, name, change) -> None:
    """Change a file, and the manifest with it."""
    import hashlib

    path = folder / name
    content = json.dumps({**json.loads(path.read_text()), **change}).encode()
    path.write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_evaluation():
    model, texts = new(), random_texts(20)
    examples = [
        MultiLabelExample(text, labels=p.labels)
        for text, p in zip(texts, model.predict(texts), strict=True)
    ]
    targets = multi_hot_targets(examples, model.labels)
    actual = evaluate_multi_label(model, examples, targets)
    assert (actual.scores.micro_f1, actual.scores.subset_accuracy, actual.reading.empty_texts) == (
        1.0,
        1.0,
        1 + sum(not t for t in texts[1:]),
    )
    assert actual.worst(targets, 5) == []
    wrong = targets.copy()
    wrong[3, 1] ^= True
    wrong[7, 0] ^= True
    worse = evaluate_multi_label(model, examples, wrong)
    gaps = np.abs(worse.probabilities - wrong)
    assert worse.worst(wrong, 5) == sorted([3, 7], key=lambda n: -gaps[n, 1 if n == 3 else 0])
    messages = json.loads(json.dumps(worse.to_json()))
    assert messages["labels"][0]["threshold"] == 0.3
