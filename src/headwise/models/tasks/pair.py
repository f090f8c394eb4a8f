"""Classification of text pairs: paraphrase or not, entailment, an answer to a question.

Scores of text pairs: how similar two texts are, say.
"""

from typing import Any

import numpy as np

from headwise.data.items.labels import label_names, label_targets
from headwise.data.splits.data_parts import DataParts
from headwise.linear.baselines import PAIR_TFIDF_SVM, SCORE_NAME, fit_pair_baseline
from headwise.models.tasks.classify import LabelTask
from headwise.models.tasks.regress import NumberTask
from headwise.models.tasks.size_defaults import (
    Settings,
    fast_settings,
    folds_for,
    probe_start_settings,
    resize_encoder,
    text_defaults,
)
from headwise.nn.encoders import ENCODERS
from headwise.nn.networks.model_config import LABEL_SECTIONS, TEXT_SECTIONS
from headwise.nn.networks.text_models import PairModel, PairScorer
from headwise.text.vocabulary import Vocabulary
from headwise.training.run_config import RunConfig

FEWEST = 700
"""Minimum number of training pairs for an encoder that aligns words."""
MATCHING = (128, 4, 1)
"""Width, heads and layers of such an encoder."""


class PairLabelTask(LabelTask):
    """One of several labels for each pair of texts."""

    name = "pair"
    title, purpose = "classifier of text pairs", "classification of text pairs"
    model = PairModel
    uses_embeddings = supports_cross_fitting = True
    sections = (*LABEL_SECTIONS, "pair")
    new_file, answered_file, example_file = "NEW_PAIRS", "LABELLED_PAIRS", "pairs.csv"
    usage = (
        "On the command line, a csv, tsv or jsonl file with two columns of texts, named as in the training "
        "file or as\nusual (`premise` and `hypothesis`, say):"
    )

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        return pair_defaults(items, vectors=vectors, encoder=encoder)

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        return pair_defaults_with_base(super().defaults_with_base(settings, items), items)

    def make(self, words: Vocabulary, parts: DataParts[Any], recipe: RunConfig) -> PairModel:
        return PairModel(recipe.model, words, label_names(item.label for item in parts.train))

    def guesses(self, parts: DataParts[Any], model: Any, *, refit: bool) -> tuple[str, np.ndarray] | None:
        train, dev = ((part, label_targets(part, model.labels)) for part in (parts.train, parts.dev))
        linear = fit_pair_baseline(train, dev, tokenizer=model.config.words.tokenizer, refit=refit)
        return None if linear is None else (PAIR_TFIDF_SVM, linear.predict(parts.test))


def pair_defaults(items: int, *, vectors: bool, encoder: str) -> Settings:
    """Settings of pair models. Relations between texts are harder to learn than topics, so training has
    more and smaller steps."""
    settings = text_defaults(items, vectors=vectors, encoder=encoder, config=ENCODERS[encoder][1])
    settings["words"]["dropout"] = 0.3
    settings["model"] = {"readout": "max"}
    settings["classifier"] = {"hidden": 300, "dropout": 0.3, "normalize": "layer"}
    settings["pair"] = {"features": "product"}
    settings["expert"] = {"max_features": 100_000}  # each feature has four weights per label
    settings["train"] |= {"epochs": 10 if items < 20_000 else 6, "batch_texts": 32, "score": "loss"}
    return settings


def pair_defaults_with_base(settings: Settings, items: int) -> Settings:
    """The same with static embeddings. With few pairs, the model is initialised from a linear probe. With
    more pairs, the encoder learns to align words, and the linear model uses the vectors; an encoder
    initialised from the probe would have too little left to learn.

    Args:
        settings: Settings of models with static embeddings.
        items: Number of training pairs.
    """
    if items < FEWEST:
        return fast_settings(probe_start_settings(settings, items), items)
    resize_encoder(settings, *MATCHING)
    settings["pair"]["interaction"] = "match"
    settings["base"]["probe"] = False
    settings["train"] |= {
        "epochs": 6 if items < 50_000 else 3,
        "learning_rate": 1e-3,
        "vectors_learning_rate": 1e-4,
        "folds": folds_for(items),
    }
    return settings


class PairScoreTask(NumberTask):
    """A number for each pair of texts."""

    name = "pair-score"
    title, purpose = "model of text pairs", "a score for each pair of texts"
    model = PairScorer
    uses_embeddings = True
    sections = (*TEXT_SECTIONS, "pair", "regressor", "expert")
    new_file, answered_file, example_file = "NEW_PAIRS", "SCORED_PAIRS", "pairs.csv"
    usage = PairLabelTask.usage

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """As for labels of pairs, with the regressor instead of the classifier."""
        settings = pair_defaults(items, vectors=vectors, encoder=encoder)
        settings["regressor"] = settings.pop("classifier")
        return settings

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        return pair_defaults_with_base(super().defaults_with_base(settings, items), items)

    def guesses(self, parts: DataParts[Any], model: Any, *, refit: bool) -> tuple[str, np.ndarray] | None:
        train, dev = ((part, self.targets(part)) for part in (parts.train, parts.dev))
        tokenizer = model.config.words.tokenizer
        linear = fit_pair_baseline(train, dev, tokenizer=tokenizer, scores=True, refit=refit)
        return None if linear is None else (SCORE_NAME, linear.predict(parts.test))
