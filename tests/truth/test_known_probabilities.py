"""Where answers are drawn with known probabilities, what a model says of new items comes near to these."""

import math
import random

import pytest

from headwise import train_files

SURE = 0.8
FAR = {"multi-label": 0.16, "pair-score": 0.12, "regress": 0.14}


def test_probabilities_are_near_the_truth(task, truth):
    model, path = truth.model(task, SURE).fitted.model, truth.fresh(task, SURE)
    loss, best = truth.metric_part_count(task, model, path)[:, 0].mean(), truth.best(task, SURE)
    print(task, loss - best)
    assert -0.05 < loss - best < FAR.get(task, 0.1)


def texts(truth, count, seed):
    """Texts with up to three words that tell, and how likely `good` is: never most likely where there is
    none."""
    chance, rows = random.Random(seed), []
    for text, _ in truth.drawn("regress", count, seed, 1.0):
        sides = sum((word in truth.cues[1]) - (word in truth.cues[0]) for word in text.split())
        rows.append((text, 1 / (1 + math.exp(-sides))))
    chance.shuffle(rows)
    return rows


def trained(truth, head, rows):
    path = truth.place("soft").with_suffix(".csv")
    path.write_text("\n".join([head, *rows]) + "\n")
    quick = {"split": {"test": 0.0}, "base": {"encoder": "off"}, "train": {"folds": 2}}
    settings = [{"model": {"task": "classify"}}, quick]
    return train_files(path, truth.place("model"), settings=settings, baseline=False)


def off(truth, model, scale=1.0):
    """How far the probabilities of new texts are from the truth, in the mean."""
    new = texts(truth, 400, 9)
    chances = model.predict_proba([text for text, _ in new])[:, model.labels.index("good")]
    return sum(
        abs(probability - scale * true) for probability, (_, true) in zip(chances, new, strict=True)
    ) / len(new)


def test_probabilities_are_learnt_as_they_are(truth):
    rows = [f"{text},{true:.3f},{1 - true:.3f}" for text, true in texts(truth, 200, 8)]
    outcome = trained(truth, "text,good,bad", rows)
    print(off(truth, outcome.fitted.model), outcome.fitted.calibration)
    assert off(truth, outcome.fitted.model) < 0.06
    assert outcome.fitted.calibration is not None
    assert outcome.fitted.calibration[1] < 0.08


def test_a_label_that_is_never_the_likeliest_is_learnt(truth):
    """No text is most likely `good`, and yet it is one label of two."""
    rows = [f"{text},{0.4 * true:.3f},{1 - 0.4 * true:.3f}" for text, true in texts(truth, 200, 8)]
    outcome = trained(truth, "text,good,bad", rows)
    print(off(truth, outcome.fitted.model, 0.4))
    assert off(truth, outcome.fitted.model, 0.4) < 0.05


def test_confidence_is_probability(truth):
    rows = [
        f"{text},{'good' if true >= 0.5 else 'bad'},{max(true, 1 - true):.3f}"
        for text, true in texts(truth, 200, 8)
    ]
    model = trained(truth, "text,label,confidence", rows).fitted.model
    print(off(truth, model))
    assert off(truth, model) < 0.06


@pytest.mark.parametrize("share", [0.04])
def test_rare_labels(truth, share):
    """One text in 25 has a word that tells the label, in four of five of them."""
    chance = random.Random(5)

    def drawn(count):
        for text, _ in truth.drawn("classify", count, chance.randrange(10**6), 1.0):
            cue = chance.random() < share
            alarm = chance.random() < (0.8 if cue else 0.005)
            yield (f"{text} fire" if cue else text), ("alarm" if alarm else "none")

    rows = [f"{text},{label}" for text, label in drawn(500)]
    model = trained(truth, "text,label", rows).fitted.model
    new = [text for text, _ in drawn(1000)]
    chances = model.predict_proba(new)[:, 0]
    with_it = [probability for probability, text in zip(chances, new, strict=True) if text.endswith("fire")]
    without = [
        probability for probability, text in zip(chances, new, strict=True) if not text.endswith("fire")
    ]
    print(sum(with_it) / len(with_it), sum(without) / len(without))
    assert 0.55 < sum(with_it) / len(with_it) < 0.95
    assert sum(without) / len(without) < 0.02
