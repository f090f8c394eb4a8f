"""The tasks of text pairs: one of several labels (paraphrase, entailment, answer selection), or a score
(semantic similarity).
"""

from __future__ import annotations  # the models, which need torch, are loaded when they are needed

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from headwise.data.items.examples import Pair
from headwise.data.items.labels import label_targets
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks.classify import LabelTask
from headwise.models.tasks.regress import NumberTask
from headwise.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headwise.nn.networks.text_models import PairModel, PairScorer
    from headwise.training.settings import RunConfig


class PairLabelTask(LabelTask["PairModel", Pair]):
    """One of several labels for each pair of texts."""

    name = "pair"
    model_class = "headwise.nn.networks.text_models:PairModel"
    title, purpose = "classifier of text pairs", "classification of text pairs"
    supports_cross_fitting = True
    new_file, labelled_file, example_file = "NEW_PAIRS", "LABELLED_PAIRS", "pairs.csv"
    usage = (
        "On the command line, a csv, tsv or jsonl file with two columns of texts, named as in the training "
        "file or as\nusual (`premise` and `hypothesis`, say):"
    )

    def make(self, words: Vocabulary, parts: DataParts[Sequence[Pair]], run_config: RunConfig) -> PairModel:
        return self.model(run_config.model, words, parts.labels)

    def guesses(
        self, parts: DataParts[Sequence[Pair]], model: PairModel, *, refit: bool
    ) -> tuple[str, np.ndarray] | None:
        from headwise.linear.baselines import PAIR_TFIDF_SVM, fit_pair_baseline

        train, dev = ((part, label_targets(part, model.labels)) for part in (parts.train, parts.dev))
        linear = fit_pair_baseline(train, dev, tokenizer=model.config.words.tokenizer, refit=refit)
        return None if linear is None else (PAIR_TFIDF_SVM, linear.predict(parts.test))


class PairScoreTask(NumberTask["PairScorer", Pair]):
    """A number for each pair of texts."""

    name = "pair-score"
    model_class = "headwise.nn.networks.text_models:PairScorer"
    title, purpose = "model of text pairs", "a score for each pair of texts"
    new_file, labelled_file, example_file = "NEW_PAIRS", "SCORED_PAIRS", "pairs.csv"
    usage = PairLabelTask.usage

    def guesses(
        self, parts: DataParts[Sequence[Pair]], model: PairScorer, *, refit: bool
    ) -> tuple[str, np.ndarray] | None:
        from headwise.linear.baselines import SCORE_NAME, fit_pair_baseline

        train, dev = ((part, self.targets(part)) for part in (parts.train, parts.dev))
        tokenizer = model.config.words.tokenizer
        linear = fit_pair_baseline(train, dev, tokenizer=tokenizer, scores=True, refit=refit)
        return None if linear is None else (SCORE_NAME, linear.predict(parts.test))
