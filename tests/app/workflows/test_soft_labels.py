"""Models of labels that are not certain say how certain they are, and are judged by that."""

import numpy as np
import pytest

from headwise.app.workflows.evaluate import evaluate_file
from headwise.app.workflows.train import train_files
from headwise.artifacts import load_model

CHANCES = {"rain": 0.8, "snow": 0.4, "wind": 0.6}
ENTROPY = np.mean([-p * np.log(p) - (1 - p) * np.log(1 - p) for p in CHANCES.values()])


def write(path, count: int, start: int = 0) -> str:
    rows = ["text,no,yes"]
    for n in range(start, start + count):
        word = list(CHANCES)[n % 3]
        rows.append(f"{word} on day {n},{1 - CHANCES[word]:.2f},{CHANCES[word]:.2f}")
    path.write_text("\n".join([*rows, ""]))
    return str(path)


@pytest.mark.parametrize("folds", [0, 3])
def test_probabilities_are_learnt_as_they_are(folds, tmp_path):
    """With a dev part and without one, where models without each fold say how sure to be."""
    settings = {
        "train": {"epochs": 3, "folds": folds, "refit": False},
        "encoder": {"width": 16, "heads": 2, "head_size": 8, "layers": 1},
    }
    train, test = write(tmp_path / "train.csv", 240), write(tmp_path / "test.csv", 90, 300)
    train_files(train, tmp_path / "model", settings=[settings], baseline=False)
    model = load_model(tmp_path / "model")
    own = model.predict_proba([f"{word} on day 7" for word in CHANCES])
    assert own[:, model.labels.index("yes")] == pytest.approx(list(CHANCES.values()), abs=0.1)
    judged = evaluate_file(tmp_path / "model", test).evaluation
    assert judged.log_loss == pytest.approx(ENTROPY, abs=0.03)
    assert judged.calibration_error < 0.1
