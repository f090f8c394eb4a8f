"""Texts about a few topics, for linear models to tell apart."""

import numpy as np

TOPICS = ["the harbour and its boats", "a garden of roses", "engines with gears", "snow upon mountains"]


def corpus(
    classes: int, texts: int = 120, seed: int = 0, noise: float = 0.0
) -> tuple[list[str], np.ndarray]:
    random = np.random.default_rng(seed)
    targets = random.integers(0, classes, texts)
    shown = np.where(random.random(texts) < noise, random.integers(0, classes, texts), targets)
    words = [topic.split() for topic in TOPICS]
    sentences = [
        " ".join(random.choice(words[label], 3)) + f" number {random.integers(99)}" for label in shown
    ]
    return sentences, targets
