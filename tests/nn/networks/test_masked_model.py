"""MaskedModel: what it sees, what it may be asked, and that batches do not matter."""

import math

import numpy as np
import pytest
import torch

from headwise.nn.embeddings.encoded_batches import batch_of
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.masked_model import MaskedModel
from headwise.nn.networks.model_config import ModelConfig
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

TEXTS = ["the film was dull", "a fine film and a fine plot", "", "plot", "extra film extra nothing"]


@pytest.fixture
def model():
    torch.manual_seed(0)
    encoder = MSTransformerConfig(width=8, heads=2, head_size=4, layers=2, scales=("3", "n"))
    config = ModelConfig(task="masked-words", words=WordConfig(vector_size=6), encoder=encoder)
    words = Vocabulary.build(
        [text.replace("extra", "").split() for text in TEXTS[:4]], extra_words=["extra"]
    )
    return MaskedModel(config, words).eval()


def test_what_is_hidden_is_not_seen(model):
    """Other words in its place change nothing of what is said of it and of its neighbours."""
    first, second = (batch_of(model.encoded([text])) for text in ("the film was dull", "the plot was dull"))
    places, unseen = torch.arange(4), torch.tensor([False, True, False, False])
    torch.testing.assert_close(*(model.guesses(batch, places, unseen) for batch in (first, second)))
    seen = torch.zeros(4, dtype=torch.bool)
    first_guesses, second_guesses = (model.guesses(batch, places, seen) for batch in (first, second))
    assert not torch.allclose(first_guesses[1], second_guesses[1])


def test_only_words_of_the_training_texts_are_hidden(model):
    numbers = torch.from_numpy(model.encoded(["extra film nothing dull"])[0].words)
    assert model.is_maskable(numbers).tolist() == [False, True, False, True]


def test_a_judgement_adds_up_whatever_the_batches(model):
    encoded = model.encoded(TEXTS * 20)
    full = model.score(encoded)
    actual = {}
    for texts, owner, nats, right in model.nats(encoded):
        for place, loss, is_right in zip(owner.tolist(), nats.tolist(), right.tolist(), strict=True):
            actual.setdefault(texts[place], []).append((loss, is_right))
    assert full.words == sum(map(len, actual.values())) > 50
    assert full.nats == pytest.approx(sum(loss for texts in actual.values() for loss, _ in texts), rel=1e-5)
    assert full.right == sum(messages for texts in actual.values() for _, messages in texts)
    alone = model.batches
    model.batches = lambda encoded: alone(encoded, batch_texts=1)
    single = model.score(encoded)
    assert single.words == full.words
    assert single.nats == pytest.approx(full.nats, rel=1e-5)
    assert full.perplexity == pytest.approx(math.exp(full.nats / full.words))


def test_nothing_to_judge(model):
    scores = model.score(model.encoded(["", "nothing"]))
    assert (scores.words, scores.loss, scores.accuracy) == (0, 0.0, 0.0)


def test_which_words_are_hidden_is_the_same_every_time(model):
    encoded = model.encoded(TEXTS * 3)
    first, second = ([places.tolist() for _, _, places, _ in model.masked_batches(encoded)] for _ in "ab")
    assert first == second
    assert np.concatenate(first).size
