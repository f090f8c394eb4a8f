"""Regression: a number for each text, such as a rating or a price."""

from typing import Any

import numpy as np

from headwise.data.parts import Parts
from headwise.encoders import ENCODERS
from headwise.linear.number_baseline import NAME, fit_number_baseline
from headwise.models.model_config import TEXT_SECTIONS
from headwise.models.regressor import Regressor
from headwise.tasks.defaults import Settings, kept_base, light, text_defaults
from headwise.tasks.numbers import NumberTask


class Regress(NumberTask):
    """A number for each text."""

    name = "regress"
    title, purpose = "regressor of texts", "a number for each text"
    model = Regressor
    sections = (*TEXT_SECTIONS, "regressor", "expert")
    in_python = True
    based = True

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """As for labels, with the regressor instead of the classifier."""
        settings = text_defaults(items, vectors=vectors, encoder=encoder, config=ENCODERS[encoder][1])
        del settings["classifier"]
        settings["regressor"] = {"hidden": 300 if vectors else 128, "normalize": "layer"}
        settings["model"] = {"readout": "mean,max"}
        settings["train"] |= {"score": "loss"}
        return settings

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        return light(kept_base(super().defaults_with_base(settings, items), items), items)

    def guesses(self, parts: Parts[Any], model: Any, *, refit: bool) -> tuple[str, np.ndarray] | None:
        read = [[item.text for item in part] for part in (parts.train, parts.dev, parts.test)]
        train, dev = zip(read[:2], (self.targets(parts.train), self.targets(parts.dev)), strict=True)
        tokenizer = model.config.words.tokenizer
        predictions = fit_number_baseline(train, dev, read[2], tokenizer=tokenizer, refit=refit)
        return None if predictions is None else (NAME, predictions)
