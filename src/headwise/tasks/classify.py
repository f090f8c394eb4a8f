"""Classification: one of several labels for each text."""

from typing import Any

import numpy as np

from headwise.data.labels import all_labels, targets_of
from headwise.data.parts import Parts
from headwise.encoders import ENCODERS
from headwise.encoders.base import text_settings
from headwise.features.vocabulary import Vocabulary
from headwise.linear.baseline import NAME, fit_baseline
from headwise.linear.text_fit import MOST_CELLS
from headwise.models.classifier import Model
from headwise.models.model_config import LABEL_SECTIONS
from headwise.report.remarks import Remark
from headwise.tasks.defaults import Settings, kept_base, text_defaults
from headwise.tasks.labels import LabelTask
from headwise.train.classification import finish_labels_again, finish_labels_crossed
from headwise.train.crossing import Crossed
from headwise.train.fitted import Finished
from headwise.train.recipe import Recipe

SMALL = (64, 4, 1)
"""Width, heads and layers of an encoder that has little to add to a base."""


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
        settings = kept_base(super().defaults_with_base(settings, items), items)
        settings["train"]["folds"] = 3 if items < 1_000 else 0
        # A small encoder, fewer and larger steps come to the same in a third of the time.
        name = settings["encoder"]["name"]
        small = text_settings(ENCODERS[name][1], *SMALL)
        small.pop("readout", None)
        settings["encoder"] = {"name": name, "width": SMALL[0], **small}
        settings["train"] |= {
            "epochs": 5 if items < 50_000 else 3,
            "batch_texts": 32,
            "learning_rate": 5e-4,
            "vectors_learning_rate": 7e-4,
        }
        return settings

    def announce(self, parts: Parts[Any], recipe: Recipe) -> list[Remark]:
        found, labels = super().announce(parts, recipe), len(all_labels(parts.train))
        if labels * len(parts.train) > MOST_CELLS and recipe.model.expert.kind == "linear":
            few = "a fifth of the texts, not all, and two folds say how to choose the linear expert"
            found.append(Remark(f"{labels:,} labels: {few}, which saves time"))
        return found

    def make(self, words: Vocabulary, parts: Parts[Any], recipe: Recipe) -> Model:
        return Model(recipe.model, words, all_labels(parts.train))

    def finish_again(self, model: Any, objective: Any, finished: Finished) -> None:
        finish_labels_again(objective, finished)

    def finish_crossed(self, model: Any, objective: Any, crossed: Crossed) -> Finished:
        return finish_labels_crossed(objective, crossed)

    def guesses(self, parts: Parts[Any], model: Any) -> tuple[str, np.ndarray] | None:
        train, dev = (
            ([item.text for item in own], targets_of(own, model.labels)) for own in (parts.train, parts.dev)
        )
        linear = fit_baseline(train, dev, tokenizer=model.config.words.tokenizer)
        return None if linear is None else (NAME, linear.predict([item.text for item in parts.test]))
