"""LabelTask: base class of the tasks with one label per item."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from headwise.data.labels import targets_of
from headwise.data.parts import Parts
from headwise.data.shares import held_weights_of, wanted_of, weights_of
from headwise.errors import ConfigError
from headwise.models.model_config import ModelConfig
from headwise.predictions.predictor import LabelPredictor
from headwise.report.explanation import Explanation, explain_labels
from headwise.report.label_shares import on_label_shares
from headwise.report.labels import Evaluation, evaluate_labels
from headwise.report.remarks import Remark
from headwise.report.rival import Rival
from headwise.report.sheet import RATES, Ahead, Each, Line, Sheet, lookup, reading_lines
from headwise.scores.calibrate import USUAL
from headwise.scores.metrics import compare, score
from headwise.scores.operating_points import OPERATING_POINTS, operating_points
from headwise.scores.sureness import SURENESS, least_sure
from headwise.scores.targets import right_of
from headwise.scores.thresholds import decide
from headwise.tasks.task import Task, where
from headwise.train.classification import (
    ClassificationObjective,
    finish_labels,
    finish_labels_again,
    finish_labels_crossed,
)
from headwise.train.crossing import Crossed
from headwise.train.fitted import Finished, Fitted
from headwise.train.recalibrate import calibrate_labels
from headwise.train.recipe import Recipe

LEAST = 1e-30
"""Lower bound of probabilities, so that their logarithms are finite."""
WITH_BASELINE = ("accuracy", "accuracy_interval", "macro_f1")


class LabelTask(Task):
    """A task with one of several labels for each item."""

    predictor = LabelPredictor
    after = "linear expert, calibration"

    def check(self, recipe: Recipe) -> None:
        super().check(recipe)
        self.check_thresholds(recipe.model.classifier.thresholds)

    def check_thresholds(self, thresholds: str) -> None:
        """Check that a thresholds setting fits a single label per item.

        Raises:
            ConfigError: It does not fit.
        """
        if len(operating_points(thresholds)) > 1:
            raise ConfigError(
                "classifier.thresholds asks for rates of several labels, but a text gets one label here: "
                "name one"
            )

    def objective(self, model: Any, parts: Parts[Any]) -> ClassificationObjective:
        train, dev = ((part, wanted_of(part, model.labels)) for part in (parts.train, parts.dev))
        return ClassificationObjective(
            model,
            train,
            dev,
            weights=weights_of(parts.train),
            dev_weights=held_weights_of(parts.dev),
        )

    def finish(self, model: Any, objective: Any, parts: Parts[Any]) -> Finished:
        return finish_labels(objective)

    def finish_again(self, model: Any, objective: Any, finished: Finished) -> None:
        finish_labels_again(objective, finished)

    def finish_crossed(self, model: Any, objective: Any, crossed: Crossed) -> Finished:
        return finish_labels_crossed(objective, crossed)

    def ask_thresholds(self, model: Any, thresholds: str | None) -> None:
        if thresholds is not None:
            self.check_thresholds(thresholds)
            set_asked(model, thresholds)

    def calibrate(self, model: Any, items: Any) -> Finished:
        logits = model.logits(model.encoded(items))
        return calibrate_labels(model, logits, wanted_of(items, model.labels), held_weights_of(items))

    def explain(self, model: Any, items: Sequence[Any]) -> list[Explanation]:
        if not self.kind.sides:
            return super().explain(model, items)
        return explain_labels(model, model.encoded(items))

    def headline(self, parts: Parts[Any], config: ModelConfig) -> str:
        return "accuracy"

    def training_summary(self, fitted: Fitted) -> list[str]:
        model, many = fitted.model, self.kind.nouns.many
        calibrated = [calibration_told(fitted, many), *thresholds_told(fitted, many)]
        return [*names_told(model), *expert_told(model), *calibrated]

    def judge(self, model: Any, items: Any) -> Evaluation:
        return evaluate_labels(model, items, wanted_of(items, model.labels))

    def guesses(self, parts: Parts[Any], model: Any, *, refit: bool) -> tuple[str, np.ndarray] | None:
        """The name of a linear baseline, and its label indices for the test items."""
        raise NotImplementedError

    def baseline(self, parts: Parts[Any], model: Any, judged: Any, *, refit: bool = False) -> Rival | None:
        named_guesses = self.guesses(parts, model, refit=refit)
        if named_guesses is None:
            return None
        name, guessed = named_guesses
        targets = targets_of(parts.test, model.labels)
        return label_rival(name, guessed, targets, model.labels, judged.predicted)

    def ablations(self, model: Any, items: Any, judged: Any) -> dict[str, Rival]:
        targets = targets_of(items, model.labels)
        return {
            f"{name}_alone": label_rival(f"{name} alone", logits.argmax(axis=1), targets, model.labels)
            for name, logits in each_alone(model, items).items()
        }

    def sureness(self, model: Any, items: Any, judged: Any) -> tuple[np.ndarray, np.ndarray]:
        sure = judged.probabilities[np.arange(len(judged.predicted)), judged.predicted]
        return sure, right_of(judged.predicted, wanted_of(items, model.labels))

    def odd_shares(self, model: Any, items: Any, judged: Evaluation) -> list[Remark]:
        targets = wanted_of(items, model.labels)
        has = np.eye(len(model.labels))[targets] if targets.ndim == 1 else targets
        return on_label_shares(model.labels, judged.probabilities, has, self.kind.nouns.many)

    def tally(self, model: Any, items: Any, judged: Evaluation) -> np.ndarray:
        targets, soft_targets = targets_of(items, model.labels), wanted_of(items, model.labels)
        logs = -np.log(judged.probabilities.clip(LEAST))
        losses = (
            logs[np.arange(len(targets)), soft_targets]
            if soft_targets.ndim == 1
            else (soft_targets * logs).sum(axis=1)
        )
        return np.stack([losses, judged.predicted == targets, np.ones(len(targets))], axis=1)

    def doubts(self, model: Any, items: Sequence[Any]) -> tuple[list[str], np.ndarray]:
        """The uncertainty is 1 minus the margin between the two most probable labels."""
        if not self.kind.sides:
            return super().doubts(model, items)
        chances = model.predict_proba(items)
        ranked = np.sort(chances, axis=1)
        guesses = [model.labels[number] for number in decide(chances, model.thresholds)]
        return guesses, 1 - (ranked[:, -1] - ranked[:, -2])

    def least_sure(self, criterion: str, metrics: Mapping[str, Any]) -> float:
        return least_sure(criterion, lookup(metrics, f"dev.{SURENESS}"))

    def sheet(self, scores: Mapping[str, Any]) -> Sheet:
        of = self.kind.nouns.many
        rows = lookup(scores, "labels")
        first = rows[0] if isinstance(rows, list | tuple) and rows else None
        threshold_rows = (
            (Line("threshold", "threshold", "two"),) if lookup(first, "threshold") is not None else ()
        )
        return Sheet(
            (
                Line("accuracy", "accuracy", interval="accuracy_interval", card=True),
                Line("macro F1", "macro_f1", card=True),
                Line("log loss", "log_loss", "nats", rivals=False),
                Line("calibration error", "calibration_error", rivals=False),
                Line("sure enough", "sure.share", rivals=False),
                Line("  right of these", "sure.accuracy", interval="sure.accuracy_interval", rivals=False),
                *reading_lines(of),
            ),
            of,
            Each("labels", "label", "label", ("texts", of), (*RATES, *threshold_rows)),
            Ahead("accuracy", "McNemar p"),
            confusion="confusion",
        )

    def mistakes(self, model: Any, data: Any, judged: Any, count: int) -> list[dict[str, Any]]:
        rows = []
        for number in judged.worst(targets_of(data.items, model.labels), count):
            guess = int(judged.predicted[number])
            rows.append(
                {
                    "where": where(data, number),
                    "label": data.items[number].label,
                    "predicted": model.labels[guess],
                    "probability": float(judged.probabilities[number, guess]),
                    "text": self.kind.show(data.items[number]),
                }
            )
        return rows

    def mistaken(self, mistake: Mapping[str, Any]) -> str:
        chance = f"{100 * mistake['probability']:.1f} %"
        return f"{mistake['label']} taken for {mistake['predicted']} ({chance})"


def set_asked(model: Any, thresholds: str) -> None:
    """Change the thresholds setting of a model.

    Raises:
        ConfigError: The setting cannot be parsed, or names a label that the model does not have.
    """
    operating_points(thresholds, model.labels)
    model.config = replace(model.config, classifier=replace(model.config.classifier, thresholds=thresholds))


def label_rival(
    name: str,
    guessed: np.ndarray,
    targets: np.ndarray,
    labels: Sequence[str],
    predicted: np.ndarray | None = None,
) -> Rival:
    """A comparison system with these predictions (label indices), compared with those of a model if
    given."""
    scores = score(guessed, targets, labels)
    difference = None if predicted is None else asdict(compare(predicted, guessed, targets))
    return Rival(name, {key: getattr(scores, key) for key in WITH_BASELINE}, difference)


def each_alone(model: Any, items: Any) -> dict[str, np.ndarray]:
    """The outputs of encoder and linear model alone, `[items, outputs]`; empty without a linear model."""
    if model.expert is None:
        return {}
    encoded = model.encoded(items)
    return {"encoder": model.outputs_of(encoded), "expert": model.expert_scores(encoded)}


def names_told(model: Any) -> list[str]:
    """A message if label names were training texts."""
    if not (named := model.config.base.named):
        return []
    return [f"The names of {named} labels were training texts too (--base.no-names leaves them out)."]


def expert_told(model: Any) -> list[str]:
    """A message about the linear model, if there is one."""
    if model.expert is None:
        return []
    config = model.config.expert
    inputs = ["words", "word pairs"]
    inputs += ["runs of characters"] * bool(config.characters) + [
        "where texts begin and end"
    ] * config.edges
    inputs += ["the base's vectors"] * bool(config.vectors)
    inputs += ["the form of texts (length, capitals, digits, marks)"] * config.form
    read = f"{', '.join(inputs[:-1])} and {inputs[-1]}"
    message = f"A linear expert on {len(model.expert.keys):,} {read} stands beside the encoder"
    return [f"{message} {expert_say(model)}"]


def expert_say(model: Any) -> str:
    """A message about the contribution of the linear model."""
    say = f"and has {100 * model.expert_share:.0f} % of the say"
    if model.encoder_weight == 0:
        say = "and decides alone: on dev the encoder adds nothing to it"
    return f"{say} (--expert.kind none leaves it out)."


def thresholds_told(fitted: Fitted, many: str) -> list[str]:
    """Messages about the thresholds of the labels."""
    model = fitted.model
    if model.thresholds is None or OPERATING_POINTS in fitted.dev:
        return promised_told(fitted.dev, many)
    least, most = min(model.thresholds), max(model.thresholds)
    return [
        f"Thresholds of {len(model.labels):,} labels chosen on dev for the macro F1, from {least:.2f} to "
        f"{most:.2f}: a text gets the label whose probability is the most times its threshold."
    ]


def promised_told(dev: Mapping[str, Any], many: str) -> list[str]:
    """Messages about the requested operating points, and the rates to expect on new texts by held-out
    scores."""
    populations = {"recall": "of the label", "precision": "that get it", "fpr": "of other labels"}
    messages = []
    for point in dev.get(OPERATING_POINTS, ()):
        name, side = ("false positive rate", "most") if point["rate"] == "fpr" else (point["rate"], "least")
        target = f"a {name} of at {side} {100 * point['wanted']:.4g} %"
        came = "to be expected" if point["kept"] else "the best that can be promised"
        of = f"is {came} by {point['texts']:,.0f} held-out {many} {populations[point['rate']]}"
        messages.append(f"{point['label']!r} is given for {target}: {100 * point['expected']:.1f} % {of}.")
    return messages


def calibration_told(fitted: Fitted, many: str) -> str:
    """A message about the calibration of the probabilities."""
    if fitted.model.expert is None and fitted.model.temperature > USUAL:
        return (
            "The outputs of the encoder say next to nothing of the labels of dev: calibration has switched "
            f"it off (temperature {fitted.model.temperature:,.0f}). Either the {many} do not tell their "
            "labels, or training has diverged (then try a smaller --learning-rate)."
        )
    before, after = (f"{100 * error:.1f} %" for error in fitted.calibration or (0.0, 0.0))
    return (
        f"Probabilities calibrated on dev (temperature {fitted.model.temperature:.2f}): calibration error "
        f"of the encoder before {before}, of the whole model now {after} (cross-fitted)."
    )
