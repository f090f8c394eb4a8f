"""Classification of text pairs: paraphrase or not, entailment, an answer to a question."""

from typing import Any

import numpy as np

from headwise.data.labels import label_names, targets_of
from headwise.data.parts import Parts
from headwise.encoders import ENCODERS
from headwise.features.vocabulary import Vocabulary
from headwise.linear.pair_baseline import NAME, fit_pair_baseline
from headwise.models.model_config import LABEL_SECTIONS
from headwise.models.pair_model import PairModel
from headwise.tasks.defaults import Settings, folds_for, kept_base, light, resize, text_defaults
from headwise.tasks.labels import LabelTask
from headwise.train.recipe import Recipe

FEWEST = 700
"""Minimum number of training pairs for an encoder that aligns words."""
MATCHING = (128, 4, 1)
"""Width, heads and layers of such an encoder."""


class PairLabels(LabelTask):
    """One of several labels for each pair of texts."""

    name = "pair"
    title, purpose = "classifier of text pairs", "classification of text pairs"
    model = PairModel
    based = crosses = True
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

    def make(self, words: Vocabulary, parts: Parts[Any], recipe: Recipe) -> PairModel:
        return PairModel(recipe.model, words, label_names(item.label for item in parts.train))

    def guesses(self, parts: Parts[Any], model: Any, *, refit: bool) -> tuple[str, np.ndarray] | None:
        train, dev = ((part, targets_of(part, model.labels)) for part in (parts.train, parts.dev))
        linear = fit_pair_baseline(train, dev, tokenizer=model.config.words.tokenizer, refit=refit)
        return None if linear is None else (NAME, linear.predict(parts.test))


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
        return light(kept_base(settings, items), items)
    resize(settings, *MATCHING)
    settings["pair"]["interaction"] = "match"
    settings["base"]["probe"] = False
    settings["train"] |= {
        "epochs": 6 if items < 50_000 else 3,
        "learning_rate": 1e-3,
        "vectors_learning_rate": 1e-4,
        "folds": folds_for(items),
    }
    return settings
