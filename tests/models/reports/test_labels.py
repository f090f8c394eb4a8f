import json

import numpy as np
import pytest

from headwise.artifacts.model_folder import to_json
from headwise.metrics.classification_scores import score_labels
from headwise.models.label_evaluation import MOST_MATRIX, SingleLabelEvaluation, evaluate_labels
from headwise.models.report_parts import ComparisonSystem
from headwise.models.tasks import find_task
from headwise.models.tasks.classify import ClassifyTask
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

TEXTS = ["a b a", "", "a zzz", "b b b b", "zzz"]
TARGETS = np.array([0, 1, 1, 0, 2])


@pytest.fixture(scope="module")
def model() -> TextClassifierModel:
    encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=2)
    config = ModelConfig(words=WordConfig(vector_size=8), encoder=encoder)
    model = TextClassifierModel(config, Vocabulary.build([["a", "b"]]), ["x", "y", "z"])
    model.temperature = 2.5
    return model


def test_evaluation_follows_its_definitions(model):
    evaluation = evaluate_labels(model, TEXTS, TARGETS)
    probabilities = model.predict_proba(TEXTS)
    np.testing.assert_allclose(evaluation.probabilities, probabilities)
    assert evaluation.scores == score_labels(evaluation.predicted, TARGETS, model.labels)
    expected = -np.log(probabilities[np.arange(5), TARGETS]).mean()
    assert evaluation.log_loss == pytest.approx(expected, rel=1e-5)
    assert evaluation.reading.unknown_words == 2 / 10
    assert evaluation.reading.empty_texts == 1
    confidence, right = probabilities.max(axis=1), evaluation.predicted == TARGETS
    gap = abs(confidence.mean() - right.mean())  # a lower bound, and all if one bin holds all texts
    assert gap - 1e-9 <= evaluation.calibration_error <= 1


def test_texts_without_any_word(model):
    assert evaluate_labels(model, ["", " "], np.array([0, 1])).reading.unknown_words == 0


def test_no_texts(model):
    with pytest.raises(ValueError, match="no texts"):
        evaluate_labels(model, [], np.array([], dtype=int))


def test_evaluation_as_json(model):
    data = json.loads(json.dumps(evaluate_labels(model, TEXTS, TARGETS).to_json()))
    assert data["texts"] == 5
    assert [label["label"] for label in data["labels"]] == ["x", "y", "z"]
    assert sum(map(sum, data["confusion"])) == 5
    assert {"accuracy", "accuracy_interval", "macro_f1", "log_loss", "calibration_error"} <= set(data)
    assert "probabilities" not in data


def test_of_many_labels_only_confusions_that_are_there_are_saved():
    labels, random = [f"label {n}" for n in range(MOST_MATRIX + 1)], np.random.default_rng(0)
    predicted, targets = random.integers(0, len(labels), (2, 500))
    scores = score_labels(predicted, targets, labels)
    saved = to_json(SingleLabelEvaluation(scores, 0.0, 0.0, None, np.zeros((500, 1))).to_json())
    assert len(saved) < 200 * len(labels) + 60 * 500
    assert ClassifyTask().metric_table({}).matrix(json.loads(saved)) == [
        list(row) for row in scores.confusion
    ]


def test_worst_errors():
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.7, 0.3], [0.3, 0.7]])
    targets = np.array([1, 1, 1, 1, 0])
    scores = score_labels(probabilities.argmax(axis=1), targets, ["x", "y"])
    evaluation = SingleLabelEvaluation(scores, 0, 0, None, probabilities)
    assert evaluation.worst(targets, 3) == [0, 3, 4]
    assert evaluation.worst(targets, 9) == [0, 3, 4, 1]
    assert evaluation.worst(evaluation.predicted, 3) == []


def test_thresholds_decide(model, monkeypatch):
    monkeypatch.setattr(model, "thresholds", [0.98, 0.01, 0.01], raising=False)
    evaluation = evaluate_labels(model, TEXTS, TARGETS)
    assert 0 not in evaluation.predicted.tolist()
    assert [prediction.label for prediction in model.predict(TEXTS)] == [
        model.labels[n] for n in evaluation.predicted
    ]
    data = evaluation.to_json()
    assert [label["threshold"] for label in data["labels"]] == model.thresholds
    assert evaluation.scores == score_labels(evaluation.predicted, TARGETS, model.labels)
    assert "threshold" in {line.key for line in find_task("classify").metric_table(data).per_class.lines}
    [explained] = find_task("classify").explain(model, TEXTS[:1])
    assert explained.prediction == model.labels[evaluation.predicted[0]]


def test_rival_survives_json():
    gap = {"accuracy": 0.1, "interval": [-0.1, 0.3], "p_value": 0.4}
    rival = ComparisonSystem("linear", {"accuracy": 0.5, "macro_f1": 0.4}, gap)
    assert ComparisonSystem.from_json(json.loads(json.dumps(rival.to_json()))) == rival


def test_rival_of_other_versions():
    assert ComparisonSystem.from_json({"accuracy": 0.5, "later": 1}) == ComparisonSystem(
        "baseline", {"accuracy": 0.5, "later": 1}
    )
    assert ComparisonSystem.from_json({"name": "linear", "difference": 3}) == ComparisonSystem("linear", {})
