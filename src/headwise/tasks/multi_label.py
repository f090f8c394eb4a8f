"""Multi-label classification: any number of labels for each text."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from headwise.data.label_set import separator_for
from headwise.data.labels import indicators, label_names
from headwise.data.parts import Parts
from headwise.data.shares import held_weights_of, weights_of
from headwise.encoders import ENCODERS
from headwise.errors import ConfigError
from headwise.features.vocabulary import Vocabulary
from headwise.linear.one_vs_rest import NAME, fit_label_set_baseline
from headwise.models.label_set_model import LabelSetModel
from headwise.models.model_config import LABEL_SECTIONS, ModelConfig
from headwise.predictions.label_sets import LabelSetPredictor
from headwise.report.explanation import Explanation, explain_label_sets
from headwise.report.label_sets import LabelSetEvaluation, evaluate_label_sets
from headwise.report.label_shares import on_label_shares
from headwise.report.remarks import Remark, on_label_sets
from headwise.report.rival import Rival
from headwise.report.sheet import RATES, Each, Line, Sheet, reading_lines
from headwise.scores.label_set_metrics import compare_sets, label_set_scores, set_counts
from headwise.tasks.defaults import Settings, folds_for, kept_base, text_defaults
from headwise.tasks.labels import (
    LEAST,
    calibration_told,
    expert_told,
    names_told,
    promised_told,
    set_asked,
)
from headwise.tasks.task import Task, names_of, where
from headwise.train.crossing import Crossed
from headwise.train.fitted import Finished, Fitted
from headwise.train.label_sets import (
    LabelSetObjective,
    finish_label_sets,
    finish_label_sets_again,
    finish_label_sets_crossed,
)
from headwise.train.recalibrate import calibrate_label_sets
from headwise.train.recipe import Recipe

SUMMARY = ("micro_f1", "macro_f1", "subset_accuracy", "ranking", "mean_average_precision")
"""The scores that reports compare with the baseline."""


class MultiLabel(Task):
    """Multi-label classification: any number of labels for each text."""

    name = "multi-label"
    title, purpose = "multi-label text classifier", "any number of labels for each text"
    model = LabelSetModel
    sections = (*LABEL_SECTIONS, "thresholds")
    in_python = True
    predictor = LabelSetPredictor
    after = "linear expert, calibration, thresholds"
    based = crosses = True

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """As for single labels; the best epoch is chosen by F1 of the label sets, on small data by the
        loss."""
        settings = text_defaults(items, vectors=vectors, encoder=encoder, config=ENCODERS[encoder][1])
        settings["train"] |= {"score": "loss" if items < 5_000 else "f1"}
        return settings

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        settings = kept_base(super().defaults_with_base(settings, items), items)
        settings["train"]["folds"] = folds_for(items)
        return settings

    def check(self, recipe: Recipe) -> None:
        super().check(recipe)
        self.check_thresholds(recipe.model.classifier.thresholds)

    def check_thresholds(self, thresholds: str) -> None:
        """Check that a thresholds setting fits label sets.

        Raises:
            ConfigError: The setting is the default anyway.
        """
        if thresholds == "f1":
            raise ConfigError("classifier.thresholds: label sets have such thresholds anyway; leave it out")

    def make(self, words: Vocabulary, parts: Parts[Any], recipe: Recipe) -> LabelSetModel:
        labels = label_names(names_of(parts))
        read = parts.kind.likeness(parts.files["train"])[1] if "train" in parts.files else None
        separator = separator_for(recipe.data, labels, read)
        return LabelSetModel(recipe.model, words, labels, separator=separator)

    def objective(self, model: Any, parts: Parts[Any]) -> LabelSetObjective:
        train, dev = ((part, indicators(part, model.labels)) for part in (parts.train, parts.dev))
        weights = weights_of(parts.train), held_weights_of(parts.dev)
        return LabelSetObjective(model, train, dev, *weights)

    def finish(self, model: Any, objective: Any, parts: Parts[Any]) -> Finished:
        return finish_label_sets(objective)

    def finish_again(self, model: Any, objective: Any, finished: Finished) -> None:
        finish_label_sets_again(objective, finished)

    def finish_crossed(self, model: Any, objective: Any, crossed: Crossed) -> Finished:
        return finish_label_sets_crossed(objective, crossed)

    def ask_thresholds(self, model: Any, thresholds: str | None) -> None:
        if thresholds is not None:
            self.check_thresholds(thresholds)
            set_asked(model, thresholds)

    def calibrate(self, model: Any, items: Any) -> Finished:
        logits, targets = model.logits(model.encoded(items)), indicators(items, model.labels)
        return calibrate_label_sets(model, logits, targets, held_weights_of(items))

    def headline(self, parts: Parts[Any], config: ModelConfig) -> str:
        return "f1"

    def training_summary(self, fitted: Fitted) -> list[str]:
        model = fitted.model
        thresholds = (
            f"Thresholds of {len(model.labels):,} labels tuned there, from {min(model.thresholds):.2f} to "
            f"{max(model.thresholds):.2f}: micro F1 on dev {100 * fitted.dev['micro_f1']:.1f} %."
        )
        calibrated = calibration_told(fitted, self.kind.nouns.many)
        promised = promised_told(fitted.dev, self.kind.nouns.many)
        return [*names_told(model), *expert_told(model), f"{calibrated} {thresholds}", *promised]

    def judge(self, model: Any, items: Any) -> LabelSetEvaluation:
        return evaluate_label_sets(model, items, indicators(items, model.labels))

    def baseline(self, parts: Parts[Any], model: Any, judged: Any, *, refit: bool = False) -> Rival | None:
        """TF-IDF and one SVM per label, with thresholds tuned on dev as for the model."""
        all_parts = (parts.train, parts.dev, parts.test)
        read = [([item.text for item in part], indicators(part, model.labels)) for part in all_parts]
        config = model.config
        linear = fit_label_set_baseline(
            *read[:2],
            tokenizer=config.words.tokenizer,
            min_texts=config.thresholds.min_texts,
            refit=refit,
        )
        if linear is None:
            return None
        scores, targets = linear.scores(read[2][0]), read[2][1]
        baseline_scores = label_set_scores(scores, linear.thresholds, targets, model.labels)
        difference = asdict(compare_sets(judged.predicted, scores >= linear.thresholds, targets))
        return Rival(NAME, {key: getattr(baseline_scores, key) for key in SUMMARY}, difference)

    def odd_shares(self, model: Any, items: Any, judged: LabelSetEvaluation) -> list[Remark]:
        has = indicators(items, model.labels)
        return on_label_shares(model.labels, judged.probabilities, has, self.kind.nouns.many)

    def tally(self, model: Any, items: Any, judged: LabelSetEvaluation) -> np.ndarray:
        targets = indicators(items, model.labels)
        chances = np.where(targets, judged.probabilities, 1 - judged.probabilities)
        counts = set_counts(judged.predicted, targets)
        losses = -np.log(chances.clip(LEAST)).mean(axis=1)
        return np.stack([losses, 2 * counts[:, 0], counts[:, 1] + counts[:, 2]], axis=1)

    def doubts(self, model: Any, items: Sequence[Any]) -> tuple[list[str], np.ndarray]:
        """The uncertainty is that of the label nearest to its threshold."""
        chances, least = model.predict_proba(items), np.array(model.thresholds)
        far = np.abs(chances - least) / np.where(chances >= least, 1 - least, least).clip(1e-9)
        rows = model.chosen_labels(chances)
        guesses = [model.separator.join(np.array(model.labels)[row]) for row in rows]
        return guesses, 1 - far.min(axis=1)

    def least_sure(self, criterion: str, metrics: Mapping[str, Any]) -> float:
        raise ConfigError(
            "--unsure is for models that choose one of several labels; predictions of label sets have the "
            "probability of each label (probability:NAME): leave to people what is near its threshold there"
        )

    def explain(self, model: Any, items: Sequence[Any]) -> list[Explanation]:
        return explain_label_sets(model, model.encoded(items))

    def sheet(self, scores: Mapping[str, Any]) -> Sheet:
        of = self.kind.nouns.many
        return Sheet(
            (
                Line("micro F1", "micro_f1", interval="micro_f1_interval", card=True),
                Line("macro F1", "macro_f1", interval="macro_f1_interval", card=True),
                Line("all labels right", "subset_accuracy", interval="subset_accuracy_interval", card=True),
                Line("ranking precision", "ranking", interval="ranking_interval"),
                Line("mean average precision", "mean_average_precision", card=True),
                Line("log loss", "log_loss", "label nats", rivals=False),
                Line("calibration error", "calibration_error", rivals=False),
                *reading_lines(of),
            ),
            of,
            Each(
                "labels",
                "label",
                "label",
                ("texts", of),
                (
                    *RATES,
                    Line("average precision", "average_precision"),
                    Line("threshold", "threshold", "two"),
                ),
            ),
        )

    def remarks(
        self, info: Mapping[str, Any], scores: Mapping[str, Any], *, thresholds: bool = False
    ) -> list[Remark]:
        return on_label_sets(scores)

    def likeness(self, model: Any) -> Any:
        return model.labels, None

    def options(self, model: Any, options: Any) -> Any:
        if options.label_separator is None and options.label_columns is None:
            return replace(options, label_separator=model.separator)
        return options

    def mistakes(self, model: Any, data: Any, judged: Any, count: int) -> list[dict[str, Any]]:
        targets = indicators(data.items, model.labels)
        rows = []
        for number in judged.worst(targets, count):
            wrong = np.flatnonzero(judged.predicted[number] != targets[number]).tolist()
            rows.append(
                {
                    "where": where(data, number),
                    "labels": list(data.items[number].labels),
                    "predicted": [
                        model.labels[n] for n in np.flatnonzero(judged.predicted[number]).tolist()
                    ],
                    "wrong": {model.labels[n]: float(judged.probabilities[number, n]) for n in wrong},
                    "text": self.kind.show(data.items[number]),
                }
            )
        return rows

    def mistaken(self, mistake: Mapping[str, Any]) -> str:
        true, predicted = (", ".join(mistake[key]) or "no label" for key in ("labels", "predicted"))
        wrong_labels = ", ".join(f"{name} {100 * p:.1f} %" for name, p in mistake["wrong"].items())
        return f"{true} taken for {predicted} ({wrong_labels})"
