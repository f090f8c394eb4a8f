"""Training a model of label sets: from labelled texts to a model with thresholds, and its scores on dev."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headwise.data.example import Example
from headwise.data.label_set import label_sets, set_fingerprint
from headwise.data.options import SEPARATOR
from headwise.errors import HeadwiseError
from headwise.features.tokenize import get_tokenizer
from headwise.features.vectors import WordVectors, load_vectors
from headwise.layers.classify import class_weights
from headwise.layers.label_sets import label_set_loss
from headwise.linear.one_vs_rest import fit_label_set_expert
from headwise.models.label_set_model import LabelSetModel
from headwise.recipe import Recipe
from headwise.scores.binary import (
    binary_calibration_error,
    fit_binary_mixture,
    fit_binary_temperature,
    mean_binary_loss,
)
from headwise.scores.label_set_metrics import dev_scores, label_set_scores
from headwise.scores.thresholds import fit_thresholds
from headwise.train.fit import new_vocabulary, pick_device, start_from_vectors
from headwise.train.fitted import Fitted
from headwise.train.loop import Report
from headwise.train.model_run import train_by
from headwise.train.reading import ReaderObjective


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

    def loss(self, texts: Sequence[int]) -> Tensor:
        targets = self.there(self.train_targets[list(texts)].astype(np.float32))
        weights = None if self._weights is None else self._weights.to(self.model.device)
        return label_set_loss(
            self.outputs(texts), targets, label_smoothing=self._smoothing, weights=weights
        ).sum()

    def evaluate(self) -> Mapping[str, float]:
        return dev_scores(self.model.logits(self.dev_items), self.dev_targets)


def fit_label_sets(
    train_examples: Sequence[Example],
    dev_examples: Sequence[Example],
    labels: Sequence[str],
    recipe: Recipe,
    folder: Path,
    *,
    vectors: WordVectors | None = None,
    separator: str = SEPARATOR,
    resume: bool = False,
    report: Callable[[Report], None] = lambda _: None,
) -> Fitted[LabelSetModel]:
    """Train a model of label sets.

    Args:
        train_examples: `LabelSetExample`s.
        dev_examples: Likewise; they choose the best epoch and set temperature and thresholds.
        labels: All labels.
        recipe: The settings.
        folder: Where the state of the run is kept.
        vectors: What `recipe.vectors.file` holds; read from there where not given.
        separator: What the model writes between labels.
        resume: Go on with the run in `folder`.
        report: Called after each update and each epoch.

    Raises:
        HeadwiseError: The data, the settings or a state to resume do not fit.
    """
    if not dev_examples:
        raise HeadwiseError("there are no dev texts to choose the best epoch on", code="HW405")
    torch.manual_seed(recipe.train.seed)
    if vectors is None and recipe.vectors.file is not None:
        vectors = load_vectors(recipe.vectors.file)
    words = get_tokenizer(recipe.model.words.tokenizer).words
    vocabulary = new_vocabulary((words(example.text) for example in train_examples), recipe, vectors)
    model = LabelSetModel(recipe.model, vocabulary, labels, separator=separator)
    covered = start_from_vectors(model, vectors, recipe.train.seed)
    model.to(pick_device(recipe.train.device))
    parts = {"train": train_examples, "dev": dev_examples}
    own = {name: (examples, indicators(examples, labels)) for name, examples in parts.items()}
    objective = LabelSetObjective(model, own["train"], own["dev"])
    hashes = {name: set_fingerprint(examples).sha256 for name, examples in parts.items()}
    progress = train_by(recipe, model, objective, folder, hashes, resume=resume, report=report)
    targets = objective.dev_targets
    encoder = model.outputs_of(objective.dev_items)
    before = binary_calibration_error(model.probabilities(encoder), targets)
    if recipe.model.expert.kind == "linear":
        add_expert(model, objective, encoder)
    if model.expert is None:
        model.temperature = fit_binary_temperature(encoder, targets)
    logits = model.logits(objective.dev_items)
    probabilities = model.probabilities(logits)
    least = recipe.model.thresholds.min_texts
    model.thresholds = fit_thresholds(probabilities, targets, least).clip(0.0, 1.0).tolist()
    after = binary_calibration_error(probabilities, targets)
    scores = label_set_scores(probabilities, np.array(model.thresholds), targets, model.labels)
    dev = {
        "micro_f1": scores.micro_f1,
        "macro_f1": scores.macro_f1,
        "subset_accuracy": scores.subset_accuracy,
        "ranking": scores.ranking,
        "mean_average_precision": scores.mean_average_precision,
        "loss": mean_binary_loss(logits / model.temperature, targets),
    }
    return Fitted(model, progress, covered, dev, (before, after))


def add_expert(model: LabelSetModel, objective: LabelSetObjective, logits: NDArray[np.float32]) -> None:
    """Fit the linear expert on the training texts, and its weight and the temperature on dev.

    Args:
        model: Trained; left without an expert where dev gives it no say.
        objective: With the texts.
        logits: The encoder's on dev.
    """
    dev_words = model.expert_reads(objective.dev_items)
    expert = fit_label_set_expert(
        (model.expert_reads(objective.train_items), objective.train_targets),
        (dev_words, objective.dev_targets),
        max_features=model.config.expert.max_features,
    )
    if expert is None:
        return
    temperature, weight, shift = fit_binary_mixture(logits, expert(dev_words), objective.dev_targets)
    if weight > 0:
        expert.bias += torch.from_numpy(shift)
        model.add_expert(expert, weight)
        model.temperature = temperature


def indicators(examples: Sequence[Example], labels: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each text has each label, `[texts, labels]`. All labels of the texts must be among them."""
    number = {label: n for n, label in enumerate(labels)}
    found = np.zeros((len(examples), len(labels)), dtype=np.bool_)
    for text, own in enumerate(label_sets(examples)):
        found[text, [number[label] for label in own]] = True
    return found
