"""Classification: one of several labels for each text."""

from typing import Any

import numpy as np

from headwise.data.labels import all_labels, targets_of
from headwise.data.parts import Parts
from headwise.encoders import ENCODERS
from headwise.features.vocabulary import Vocabulary
from headwise.linear.baseline import NAME, fit_baseline
from headwise.linear.text_fit import MOST_CELLS
from headwise.models.classifier import Model
from headwise.models.model_config import LABEL_SECTIONS
from headwise.report.remarks import Remark
from headwise.tasks.defaults import Settings, kept_base, light, text_defaults
from headwise.tasks.labels import LabelTask
from headwise.train.recipe import Recipe

_SEVERAL, _FEW_LABELS, _ENOUGH = 4_000, 25, 1_000
"""Minimum number of training texts for an encoder that learns word order; maximum number of labels, or more
if each has `_ENOUGH` texts."""
_MANY, _LONG, _MOST = 20_000, 100, 10_000_000
"""Number of training texts above which that encoder is too slow for its gain if texts are long on average
(`_LONG` words) or in total (`_MOST` words)."""
_LOOKED_AT = 1_000


class Classify(LabelTask):
    """One of several labels for each text."""

    name = "classify"
    title, purpose = "text classifier", "text classification"
    model = Model
    sections = LABEL_SECTIONS
    in_python = True
    based = crosses = True

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        return text_defaults(items, vectors=vectors, encoder=encoder, config=ENCODERS[encoder][1])

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        settings = light(kept_base(super().defaults_with_base(settings, items), items), items)
        if items >= 20_000:  # with long texts the first epoch is often the best, and each takes a minute
            settings["train"]["patience"] = 2
        return settings

    def encoder_with_base(self, parts: Parts[Any]) -> Settings:
        """With several thousand texts, attention learns word order, which neither static embeddings nor the
        linear model know. The encoder is then a correction to these, not initialised from them, unless
        there are many labels."""
        texts, labels = len(parts.train), len(all_labels(parts.train))
        if texts < _SEVERAL or labels > max(_FEW_LABELS, texts // _ENOUGH):
            return {}
        if any(item.shares is not None for item in parts.train):
            return {}
        if texts >= _MANY:
            sample = parts.train[:: texts // _LOOKED_AT]
            words = sum(map(parts.kind.size, sample)) / len(sample)
            if words > _LONG or words * texts > _MOST:
                return {}
        return {"encoder": {"name": "ms-san", "distances": ["word", "none"]}, "base": {"probe": False}}

    def announce(self, parts: Parts[Any], recipe: Recipe) -> list[Remark]:
        remarks, labels = super().announce(parts, recipe), len(all_labels(parts.train))
        if labels * len(parts.train) > MOST_CELLS and recipe.model.expert.kind == "linear":
            few = "a fifth of the texts, not all, and two folds say how to choose the linear expert"
            remarks.append(Remark(f"{labels:,} labels: {few}, which saves time"))
        return remarks

    def make(self, words: Vocabulary, parts: Parts[Any], recipe: Recipe) -> Model:
        return Model(recipe.model, words, all_labels(parts.train))

    def guesses(self, parts: Parts[Any], model: Any, *, refit: bool) -> tuple[str, np.ndarray] | None:
        train, dev = (
            ([item.text for item in part], targets_of(part, model.labels))
            for part in (parts.train, parts.dev)
        )
        linear = fit_baseline(train, dev, tokenizer=model.config.words.tokenizer, refit=refit)
        return None if linear is None else (NAME, linear.predict([item.text for item in parts.test]))
