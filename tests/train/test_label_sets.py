"""Training label sets: what the linear expert beside the encoder is fitted with."""

import numpy as np
import pytest

from headwise.data.label_set import LabelSetExample
from headwise.data.labels import indicators
from headwise.encoders import MSTransformerConfig
from headwise.features.embedding import WordConfig
from headwise.features.vocabulary import Vocabulary
from headwise.layers.classify import ClassifierConfig
from headwise.linear.text_fit import fit_linear
from headwise.models.label_set_model import LabelSetModel
from headwise.models.model_config import ModelConfig
from headwise.train.label_sets import LabelSetObjective, finish_label_sets


@pytest.mark.parametrize(("setting", "ratio"), [("none", 1.0), ("rare=4.0", 4.0)])
def test_class_weights_reach_the_expert(monkeypatch, setting, ratio):
    sets = [("often",)] * 6 + [("often", "rare")] * 2
    texts = [LabelSetExample(f"w{n}", labels=own) for n, own in enumerate(sets)]
    config = ModelConfig(
        task="multi-label",
        words=WordConfig(vector_size=4),
        encoder=MSTransformerConfig(width=4, heads=1, head_size=4, layers=1),
        classifier=ClassifierConfig(hidden=4, class_weights=setting),
    )
    model = LabelSetModel(config, Vocabulary.build([[own.text] for own in texts]), ["often", "rare"])
    found = []

    def fit(*given, class_weight, **more):
        found.append(class_weight)
        return fit_linear(*given, class_weight=class_weight, **more)

    monkeypatch.setattr("headwise.train.label_expert.fit_linear", fit)
    part = texts, indicators(texts, model.labels)
    finish_label_sets(LabelSetObjective(model, part, part))
    weights = np.ones(2) if found[0] is None else found[0]
    assert weights[1] / weights[0] == pytest.approx(ratio)


@pytest.mark.parametrize(("strength", "asked"), [(0.0, False), (3.0, True)])
def test_an_encoder_that_knows_nothing_is_not_asked(strength, asked):
    """What the expert reads tells one label, and what the encoder says another, or nothing."""
    chance = np.random.default_rng(0)
    wanted = chance.random((240, 2)) < 0.4
    texts = [
        LabelSetExample(
            f"{'good' if first else 'bad'} w{n % 7}", labels=tuple("ab"[k] for k in range(2) if row[k])
        )
        for n, (row, first) in enumerate(zip(wanted, wanted[:, 0], strict=True))
    ]
    config = ModelConfig(
        task="multi-label",
        words=WordConfig(vector_size=4),
        encoder=MSTransformerConfig(width=4, heads=1, head_size=4, layers=1),
        classifier=ClassifierConfig(hidden=4),
    )
    model = LabelSetModel(config, Vocabulary.build([own.text.split() for own in texts]), ["a", "b"]).eval()
    noise = chance.normal(size=(80, 2))
    said = strength * (2.0 * wanted[160:] - 1) * [0, 1] + 1e-3 * noise
    model.outputs_of = lambda *_, **__: said.astype(np.float32)  # type: ignore[method-assign]
    parts = [(part, indicators(part, model.labels)) for part in (texts[:160], texts[160:])]
    finish_label_sets(LabelSetObjective(model, *parts))
    assert model.expert is not None
    assert (model.encoder_weight > 0) == asked
    assert (model.expert_share < 1) == asked
    logits = model.logits(model.encoded(texts[160:])) / model.temperature
    assert ((logits[:, 0] > 0) == wanted[160:, 0]).mean() > 0.95
    assert (((logits[:, 1] > 0) == wanted[160:, 1]).mean() > 0.95) == asked
