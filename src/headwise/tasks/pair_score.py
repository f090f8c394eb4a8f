"""Scores of text pairs: how similar two texts are, say."""

from typing import Any

import numpy as np

from headwise.data.parts import Parts
from headwise.linear.pair_baseline import SCORE_NAME, fit_pair_baseline
from headwise.models.model_config import TEXT_SECTIONS
from headwise.models.pair_model import PairScorer
from headwise.tasks.defaults import Settings
from headwise.tasks.numbers import NumberTask
from headwise.tasks.pair import PairLabels, pair_defaults, pair_defaults_with_base


class PairScores(NumberTask):
    """A number for each pair of texts."""

    name = "pair-score"
    title, purpose = "model of text pairs", "a score for each pair of texts"
    model = PairScorer
    based = True
    sections = (*TEXT_SECTIONS, "pair", "regressor", "expert")
    new_file, answered_file, example_file = "NEW_PAIRS", "SCORED_PAIRS", "pairs.csv"
    usage = PairLabels.usage

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """As for labels of pairs, with the regressor instead of the classifier."""
        settings = pair_defaults(items, vectors=vectors, encoder=encoder)
        settings["regressor"] = settings.pop("classifier")
        return settings

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        return pair_defaults_with_base(super().defaults_with_base(settings, items), items)

    def guesses(self, parts: Parts[Any], model: Any, *, refit: bool) -> tuple[str, np.ndarray] | None:
        train, dev = ((part, self.targets(part)) for part in (parts.train, parts.dev))
        tokenizer = model.config.words.tokenizer
        linear = fit_pair_baseline(train, dev, tokenizer=tokenizer, scores=True, refit=refit)
        return None if linear is None else (SCORE_NAME, linear.predict(parts.test))
