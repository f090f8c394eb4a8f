"""The linear expert beside an encoder of labels: fitted on the training texts, weighed on dev."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headwise.data.chunks import some
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
    """Fit the linear expert on the training texts (or pairs), and on dev how much say it and the encoder
    have, and the temperature. Either is dropped where the other does as well without it.

    Args:
        objective: With the texts and the trained model.
        logits: The encoder's on dev.

    Returns:
        What was chosen for a linear model of words and characters, for `add_expert_again`.
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
    """Fit the linear expert on all texts, and the weights and the temperature on what models said of texts
    that they were not trained on.

    Returns:
        The logits of these texts by the mixture; None where the expert has no say.
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
    """Give encoder and expert their weights, and the whole its temperature."""
    encoder, own = mixture.weights
    if own == 0:
        model.remove_expert()
        return
    model.add_expert(
        expert,
        own / encoder if encoder else 1.0,
        encoder_weight=float(encoder > 0),
        share=mixture.shares[1],
    )
    model.temperature = 1 / (encoder or own)


def add_expert_again(objective: "ClassificationObjective", former: Any, chosen: Chosen | None) -> None:
    """Give a model that was trained again, on more texts, an expert on these and the former weights.

    Args:
        objective: With the texts and the model.
        former: The model before.
        chosen: What was chosen for its expert, and how loud that was when it got its weight.
    """
    if former.expert is None or chosen is None:
        return
    expert, _ = _text_expert(objective, chosen)
    if expert is not None:
        weights = {"encoder_weight": former.encoder_weight, "share": former.expert_share}
        objective.model.add_expert(expert, former.expert_weight, **weights)


def _text_expert(
    objective: "ClassificationObjective", chosen: Chosen | None = None
) -> tuple[TextExpert | None, Chosen]:
    """A linear model of words, characters and the vectors of a base, and what was chosen for it; no model
    where the texts have no words."""
    fitted = fit_texts(objective, chosen)
    expert = TextExpert.of(fitted.model)
    return expert if expert.features else None, fitted.chosen


def fit_texts(
    objective: "ClassificationObjective | LabelSetObjective | RegressionObjective",
    chosen: Chosen | None = None,
    *,
    every: bool = False,
) -> LinearFit:
    """A linear model of the training texts (of very many pairs some, unless it is to be `every` one), of
    labels, of label sets or of numbers, as was chosen before, or as it chooses."""
    model = objective.model
    places = np.arange(len(objective.train_items)) if every else objective.sampled
    texts, vectors, numbers = model.expert_reads(some(objective.train_items, places))
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
        earlier=model.earlier,
    )
