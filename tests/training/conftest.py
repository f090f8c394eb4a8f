"""A tiny classification problem, and models for it."""

from collections.abc import Callable

import numpy as np
import pytest
import torch

from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import TextClassifierModel
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary
from headwise.training.text_objectives import ClassificationObjective

GOOD, BAD = ["fine", "great", "lovely", "nice"], ["poor", "bad", "awful", "dull"]
FILLER = ["the", "film", "was", "a", "really", "and", "plot", "actor"]


def problem(texts: int, seed: int) -> tuple[list[str], np.ndarray]:
    """Texts of 0 to 12 words; the label says whether a good or a bad word is among them."""
    random = np.random.default_rng(seed)
    documents, targets = [], random.integers(0, 2, texts)
    for target in targets:
        words = list(random.choice(FILLER, random.integers(0, 12)))
        words.insert(random.integers(0, len(words) + 1), random.choice(GOOD if target else BAD))
        documents.append(" ".join(words))
    return documents, targets


@pytest.fixture(scope="session")
def make_objective() -> Callable[..., ClassificationObjective]:
    """Makes a model (its start depends on `seed`) with 60 training and 30 dev texts."""

    def make(seed: int = 0, classifier: ClassifierConfig | None = None) -> ClassificationObjective:
        torch.manual_seed(seed)
        words = WordConfig(tokenizer="whitespace", vector_size=8, dropout=0.2, word_dropout=0.1)
        config = ModelConfig(
            words=words,
            encoder=MSTransformerConfig(width=12, heads=3, head_size=4, layers=2, dropout=0.2),
            classifier=classifier or ClassifierConfig(hidden=8, dropout=0.2),
        )
        vocabulary = Vocabulary.build([[*GOOD, *BAD, *FILLER]])
        model = TextClassifierModel(config, vocabulary, ["bad", "good"])
        return ClassificationObjective(model, problem(60, 1), problem(30, 2))

    return make
