"""A model that answers."""

import pytest

from headwise import TextClassifier
from headwise.app.serve.answering import ModelService

LABELS = ["bad", "<b>good</b>"]
TEXTS = [f"{word} {n}" for n in range(10) for word in ("poor plot", "great film", "awful", "lovely actor")]


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    small = {
        "encoder": {"layers": 1, "width": 8, "heads": 2, "head_size": 4},
        "words": {"vector_size": 8},
        "base": {"name": "none"},
    }
    folder = tmp_path_factory.mktemp("served") / "my <model>"
    TextClassifier(epochs=1, recipe=small).fit(TEXTS, LABELS * 20).save(folder)
    return folder


@pytest.fixture(scope="package")
def answering(folder):
    return ModelService(folder)
