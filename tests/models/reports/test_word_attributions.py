"""Word attributions by integrated gradients: complete, independent of the batch, for pairs and surface
features too."""

import numpy as np
import pytest
import torch

from headwise.data.items.examples import Pair
from headwise.linear.linear_fit import LinearExamples, fit_linear
from headwise.linear.linear_settings import LinearSettings
from headwise.models.encoder_attributions import encoder_attributions
from headwise.models.tasks.training_messages import linear_model_message
from headwise.models.text_explanation import explain_labels
from headwise.nn.encoders import MSTransformerConfig
from headwise.nn.networks.linear_members import TextLinearBuffers
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.networks.text_models import PairModel, TextClassifierModel
from headwise.text.text_configs import WordConfig
from headwise.text.vocabulary import Vocabulary

WORDS = [f"w{i}" for i in range(20)]
LABELS = ["bad", "good", "mixed"]


def made(kind, labels=LABELS):
    torch.manual_seed(0)
    encoder = MSTransformerConfig(width=12, heads=3, head_size=4, layers=2)
    task = "pair" if kind is PairModel else "classify"
    config = ModelConfig(task=task, words=WordConfig(vector_size=12), encoder=encoder)
    model = kind(config, Vocabulary.build([WORDS]), labels)
    for parameter in model.parameters():
        parameter.data += 0.02 * torch.randn_like(parameter)
    return model.eval()


def sample_texts(texts: int, seed: int = 0) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(0, 9))) for _ in range(texts)]


@pytest.mark.parametrize("kind", [TextClassifierModel, PairModel])
def test_complete_and_alike_in_any_company(kind):
    model = made(kind)
    firsts, seconds = sample_texts(7), sample_texts(7, 1)
    items = [Pair(*both) for both in zip(firsts, seconds, strict=True)] if kind is PairModel else firsts
    encoded = model.encoded(items)
    output_weights = np.random.default_rng(2).normal(size=(7, 3))
    shares = encoder_attributions(model, encoded, output_weights, steps=256)
    assert [len(share) for share in shares] == [len(text) for text in encoded]
    with torch.no_grad():
        batch = model.collate(encoded)
        words, _ = model.embed(batch)
        flat = words.mean()[batch.layout.text_of]
        states = model.encode_words(words.with_values(flat))
        start = model.read(states).numpy()
    expected = ((model.outputs_of(encoded) - start) * output_weights).sum(axis=1)
    np.testing.assert_allclose([share.sum() for share in shares], expected, atol=0.01)
    alone = encoder_attributions(model, encoded[3:4], output_weights[3:4], steps=256)[0]
    np.testing.assert_allclose(alone, shares[3], atol=1e-5)


def test_the_form_of_a_text_is_no_word_and_no_rest():
    """Line ends that decide a label are told, and shares still add up to the margin."""
    texts = [" ".join(WORDS[n % 7 :][: 4 + n % 5]) for n in range(60)]
    texts = [text if n % 2 else text.replace(" ", "\n", 1) for n, text in enumerate(texts)]
    settings = LinearSettings(blocks=("words",), form=True)
    fit = fit_linear(LinearExamples(texts, np.arange(60) % 2, 2), settings=settings)
    model = made(TextClassifierModel, LABELS[:2])
    assert linear_model_message(model) == []
    model.add_linear_model(TextLinearBuffers.of(fit.model), 0.8)
    assert (
        "and surface features (length, capitals, digits, punctuation) is combined"
        in linear_model_message(model)[0]
    )
    two = ["w1\nw2 w3 w4", "w1 w2 w3 w4"]
    broken, complete = explain_labels(model, model.encoded(two))
    for explanation in (broken, complete):
        assert explanation.surface_features is not None
        total = (
            explanation.rest
            + explanation.surface_features.attribution
            + sum(word.attribution for word in explanation.words)
        )
        assert total == pytest.approx(explanation.margin)
    assert (broken.prediction, broken.surface_features.strongest, complete.prediction) == (
        "bad",
        "line ends",
        "good",
    )
    # The words are the same, so what the texts differ by is their form.
    assert broken.surface_features.attribution - -complete.surface_features.attribution == pytest.approx(
        broken.margin + complete.margin, abs=1e-4
    )
    assert broken.rest == pytest.approx(-complete.rest, abs=1e-4)
