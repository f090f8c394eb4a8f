"""The main job from Python: read, split, train, judge, save, load, predict, draw.

python examples/python_api.py [FOLDER] [EPOCHS]
"""

import sys
from importlib.resources import files
from pathlib import Path

import numpy as np

from headwise import TextClassifier, attention_weights, read_examples
from headwise.data import split_examples
from headwise.linear.baselines import fit_baseline
from headwise.metrics.classification_scores import compare_labels
from headwise.models.label_evaluation import evaluate_labels
from headwise.nn.priors.drawing import draw


def main(folder: Path, epochs: int | None) -> None:
    data = read_examples(Path(str(files("headwise"))) / "data" / "samples" / "helpdesk.tsv")
    parts = split_examples(data.items, dev=0.15, test=0.15)
    train, dev, test = (
        ([example.text for example in part], [example.label for example in part])
        for part in (parts.train, parts.dev, parts.test)
    )

    classifier = TextClassifier(epochs=epochs).fit(*train, dev=dev)
    print(f"accuracy {classifier.score(*test):.1%}")

    # The same with an interval, and beside a linear baseline.
    model = classifier.model_
    number = {label: n for n, label in enumerate(model.labels)}
    train_targets, dev_targets, targets = (
        np.array([number[y] for y in part[1]]) for part in (train, dev, test)
    )
    result = evaluate_labels(model, test[0], targets)
    low, high = result.scores.accuracy_interval
    print(f"95 % interval {low:.1%} to {high:.1%}, calibration error {result.calibration_error:.1%}")
    baseline = fit_baseline((train[0], train_targets), (dev[0], dev_targets))
    if baseline is not None:
        gap = compare_labels(result.predicted, baseline.predict(test[0]), targets)
        print(f"ahead of TF-IDF + linear SVM by {gap.accuracy:+.1%} (p = {gap.p_value:.3f})")

    classifier.save(folder / "model")
    again = TextClassifier.load(folder / "model")
    for text in ("I cannot log in any more", "The heating in room 214 is off"):
        print(f"{again.predict([text])[0]:<12}{again.predict_proba([text]).max():.2f}  {text}")

    heads = [block.attention.priors for block in model.encoder.blocks]
    seen = attention_weights(classifier.model_, test[0][0])[-1]
    print("the last layer's heads, read from the words:", tuple(seen.between_words().shape))
    (folder / "heads.svg").write_text(draw(heads, title="What every head may see"), encoding="utf-8")
    print(f"written: {folder / 'model'}, {folder / 'heads.svg'}")


if __name__ == "__main__":
    main(
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path("python-demo"),
        int(sys.argv[2]) if len(sys.argv) > 2 else None,
    )
