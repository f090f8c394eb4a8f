"""The wrong predictions of an evaluation."""

from types import SimpleNamespace

import numpy as np

from headwise.data.items.dataset import Dataset
from headwise.data.items.examples import Example
from headwise.metrics.classification_scores import score_labels
from headwise.models import label_evaluation
from headwise.models.label_evaluation import SingleLabelEvaluation
from headwise.models.tasks import find_task

LABELS = ("a", "b")


def test_labels_are_predicted_for_all_of_many_mistakes_at_once(monkeypatch):
    """For each alone it would take minutes for 100,000 texts."""
    chance = np.random.default_rng(0)
    probabilities = chance.dirichlet([1, 1], size=50)
    targets = chance.integers(0, 2, 50)
    calls = []
    predict = label_evaluation.predict_labels
    monkeypatch.setattr(
        label_evaluation,
        "predict_labels",
        lambda *arguments: calls.append(arguments) or predict(*arguments),
    )
    predicted = probabilities.argmax(axis=1)
    scores = score_labels(predicted, targets, LABELS)
    evaluation = SingleLabelEvaluation(scores, 0.5, 0.1, None, probabilities)
    items = [Example(f"text {number}", LABELS[target]) for number, target in enumerate(targets)]
    model, data = SimpleNamespace(labels=LABELS), Dataset(items, "f.csv", "csv", None)
    mistakes = find_task("classify").mistakes(model, data, evaluation, 100)
    wrong = np.flatnonzero(predicted != targets)
    assert len(wrong) > 10
    assert {mistake["text"] for mistake in mistakes} == {f"text {number}" for number in wrong}
    sureness = [mistake["probability"] for mistake in mistakes]
    assert sureness == sorted(sureness, reverse=True)
    assert len(calls) <= 2
