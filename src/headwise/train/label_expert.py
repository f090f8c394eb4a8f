"""The linear model in the ensemble of a classifier: fitted on the training texts, with its weight fitted on
dev."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headwise.data.chunks import items_at
from headwise.linear.mixture import Mixture, fit_mixture
from headwise.linear.settings import Chosen
from headwise.linear.text_expert import TextExpert
from headwise.linear.text_fit import LinearFit, fit_linear
from headwise.train.crossing import Crossed
from headwise.train.remember import remembered

if TYPE_CHECKING:
    from headwise.train.classification import ClassificationObjective
    from headwise.train.label_sets import LabelSetObjective
    from headwise.train.regression import RegressionObjective


def add_expert(objective: "ClassificationObjective", logits: np.ndarray) -> Chosen | None:
    """Fit the linear model on the training texts (or pairs), and the ensemble weights of it and the
    encoder, and the temperature, on dev. A member is dropped where the other does as well without it.

    Args:
        objective: The objective with the texts and the trained model.
        logits: Dev logits of the encoder.

    Returns:
        The chosen settings of the linear model, for `add_expert_again`.
    """
    model, targets = objective.model, objective.dev_targets
    expert, chosen = _text_expert(objective)
    if expert is None or not len(targets):
        return chosen
    model.add_expert(expert, 0.0)
    members = [logits, model.expert_scores(objective.dev_items)]
    knew = model.config.base.name or model.config.pretrained.name
    mixture = fit_mixture(members, targets, texts=objective.dev_weights, raw=None if knew else 0)
    _weigh(model, expert, mixture)
    return chosen


def add_expert_crossed(objective: "ClassificationObjective", crossed: Crossed) -> np.ndarray | None:
    """Fit the linear model on all texts, and the ensemble weights and the temperature on out-of-fold
    outputs.

    Returns:
        The ensemble logits of these texts; None where the linear model is dropped.
    """
    held = crossed.held
    fitted = fit_texts(objective, every=True)
    expert = TextExpert.of(fitted.model)
    if not expert.features:
        return None
    members = [crossed.outputs, fitted.oof_scores[held]]
    mixture = fit_mixture(members, objective.train_targets[held], texts=objective.weights_of(held))
    _weigh(objective.model, expert, mixture)
    return mixture.mix(members) if mixture.weights[1] else None


def _weigh(model: Any, expert: TextExpert, mixture: Mixture) -> None:
    """Set the ensemble weights and the temperature of a model."""
    encoder, expert_weight = mixture.weights
    if expert_weight == 0:
        model.remove_expert()
        return
    model.add_expert(
        expert,
        expert_weight / encoder if encoder else 1.0,
        encoder_weight=float(encoder > 0),
        share=mixture.shares[1],
    )
    model.temperature = 1 / (encoder or expert_weight)


def add_expert_again(objective: "ClassificationObjective", first_model: Any, chosen: Chosen | None) -> None:
    """Fit the linear model of a refitted model on more texts, with the ensemble weights of the first model.

    Args:
        objective: The objective with the texts and the model.
        first_model: The model whose ensemble weights are taken over.
        chosen: Settings and calibration factor of its linear model.
    """
    if first_model.expert is None or chosen is None:
        return
    expert, _ = _text_expert(objective, chosen)
    if expert is not None:
        weights = {"encoder_weight": first_model.encoder_weight, "share": first_model.expert_share}
        objective.model.add_expert(expert, first_model.expert_weight, **weights)


def _text_expert(
    objective: "ClassificationObjective", chosen: Chosen | None = None
) -> tuple[TextExpert | None, Chosen]:
    """Fit a linear model of words, character n-grams and vectors, and return it with its settings; None for
    the model where the texts have no words."""
    fitted = fit_texts(objective, chosen)
    expert = TextExpert.of(fitted.model)
    return expert if expert.features else None, fitted.chosen


def fit_texts(
    objective: "ClassificationObjective | LabelSetObjective | RegressionObjective",
    chosen: Chosen | None = None,
    *,
    every: bool = False,
) -> LinearFit:
    """Fit a linear model to the training texts (a sample of very many pairs, unless `every` is set):
    labels, label sets or numbers, with given settings or chosen ones."""
    model = objective.model
    places = np.arange(len(objective.train_items)) if every else objective.sampled
    texts, vectors, numbers = model.expert_reads(items_at(objective.train_items, places))
    return remembered(
        fit_linear,
        texts,
        objective.train_targets[places],
        model.outputs,
        sample_weight=objective.weights_of(places),
        class_weight=objective.class_weights,
        tokenizer=model.config.words.tokenizer,
        max_features=model.config.expert.max_features,
        dense=vectors,
        numbers=numbers,
        pairs=model.reads_pairs,
        always=objective.names,
        settings=chosen and chosen.settings,
        loudness=chosen and chosen.loudness,
        previous=model.previous_expert,
    )
