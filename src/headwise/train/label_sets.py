"""Training a model of label sets: from labelled texts to a model with thresholds, and its scores on dev."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import expit
from torch import Tensor

from headwise.data.example import Example
from headwise.layers.classify import class_weights
from headwise.layers.label_sets import label_set_loss
from headwise.linear.one_vs_rest import fit_label_set_expert
from headwise.models.label_set_model import LabelSetModel
from headwise.scores.binary import (
    binary_calibration_error,
    fit_binary_mixture,
    fit_binary_temperature,
    mean_binary_loss,
)
from headwise.scores.calibrate import USUAL, cross_fitted_error
from headwise.scores.label_set_metrics import dev_scores, label_set_scores
from headwise.scores.thresholds import fit_thresholds
from headwise.train.fitted import Finished
from headwise.train.probe import fit_probe
from headwise.train.reading import ReaderObjective
from headwise.train.remember import remembered


class LabelSetObjective(ReaderObjective[LabelSetModel]):
    """The loss on training texts and the scores on dev texts (see `headwise.train.objective`).

    Args:
        model: Its features encode the texts.
        train: Training texts and whether each has each label, `[texts, labels]`.
        dev: Dev texts likewise.
    """

    def __init__(
        self,
        model: LabelSetModel,
        train: tuple[Sequence[Example], NDArray[np.bool_]],
        dev: tuple[Sequence[Example], NDArray[np.bool_]],
    ):
        super().__init__(model, train[0], dev[0])
        self.train_targets, self.dev_targets = train[1], dev[1]
        settings = model.config.classifier
        counts = train[1].sum(0).tolist()
        self._weights = class_weights(settings.class_weights, model.labels, counts)
        self._smoothing = settings.label_smoothing

    @property
    def class_weights(self) -> NDArray[np.float32] | None:
        """How much the texts with each label count, `[labels]`; None where all count the same."""
        return None if self._weights is None else self._weights.numpy()

    def loss(self, texts: Sequence[int]) -> Tensor:
        targets = self.there(self.train_targets[list(texts)].astype(np.float32))
        weights = None if self._weights is None else self._weights.to(self.model.device)
        return label_set_loss(
            self.outputs(texts), targets, label_smoothing=self._smoothing, weights=weights
        ).sum()

    def probe(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return fit_probe(vectors, self.train_targets, len(self.model.labels), sets=True)

    def evaluate(self) -> Mapping[str, float]:
        return dev_scores(self.model.logits(self.dev_items), self.dev_targets)


def finish_label_sets(objective: LabelSetObjective) -> Finished:
    """Fit the linear expert, the temperature and the thresholds of a trained model on dev."""
    model, targets = objective.model, objective.dev_targets
    encoder = model.outputs_of(objective.dev_items)
    before = binary_calibration_error(model.probabilities(encoder), targets)
    if model.config.expert.kind == "linear":
        add_expert(model, objective, encoder)
    if model.expert is None:
        model.temperature = fit_binary_temperature(encoder, targets)
    logits = model.logits(objective.dev_items)
    probabilities = model.probabilities(logits)
    least = model.config.thresholds.min_texts
    model.thresholds = fit_thresholds(probabilities, targets, least).clip(0.0, 1.0).tolist()
    after = cross_fitted_error(logits, targets, fit_binary_temperature, expit, binary_calibration_error)
    scores = label_set_scores(probabilities, np.array(model.thresholds), targets, model.labels)
    dev = {
        "micro_f1": scores.micro_f1,
        "macro_f1": scores.macro_f1,
        "subset_accuracy": scores.subset_accuracy,
        "ranking": scores.ranking,
        "mean_average_precision": scores.mean_average_precision,
        "loss": mean_binary_loss(logits / model.temperature, targets),
    }
    return Finished(dev, (before, after))


def add_expert(model: LabelSetModel, objective: LabelSetObjective, logits: NDArray[np.float32]) -> None:
    """Fit the linear expert on the training texts, and its weight and the temperature on dev.

    Args:
        model: Trained; left without an expert where dev gives it no say.
        objective: With the texts.
        logits: The encoder's on dev.
    """
    dev_words = model.expert_reads(objective.dev_items)
    expert = remembered(
        fit_label_set_expert,
        (model.expert_reads(objective.train_items), objective.train_targets),
        (dev_words, objective.dev_targets),
        max_features=model.config.expert.max_features,
        class_weights=objective.class_weights,
    )
    if expert is None:
        return
    diverged = fit_binary_temperature(logits, objective.dev_targets) > USUAL
    if diverged:
        logits = np.zeros_like(logits)
    temperature, weight, shift = fit_binary_mixture(logits, expert(dev_words), objective.dev_targets)
    if weight > 0:
        expert.bias += torch.from_numpy(shift)
        says = [float(np.abs(own).mean()) for own in (logits, weight * expert(dev_words))]
        model.add_expert(expert, weight, encoder_weight=float(not diverged), share=says[1] / sum(says))
        model.temperature = temperature


def indicators(examples: Sequence[Example], labels: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each text has each label, `[texts, labels]`. All labels of the texts must be among them."""
    number = {label: n for n, label in enumerate(labels)}
    found = np.zeros((len(examples), len(labels)), dtype=np.bool_)
    for text, own in enumerate(examples):
        found[text, [number[label] for label in own.labels]] = True
    return found
