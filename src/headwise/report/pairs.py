"""What is to be said of a model on text pairs; plain numbers, to be saved or shown."""

from collections.abc import Sequence

import numpy as np

from headwise.data.pair import Pair
from headwise.models.pair_model import PairModel, PairScorer
from headwise.report.labels import Evaluation
from headwise.report.numbers import NumberEvaluation
from headwise.scores.calibrate import expected_calibration_error
from headwise.scores.metrics import mean_loss, score
from headwise.scores.numbers import score_numbers


def evaluate_pairs(model: PairModel, pairs: Sequence[Pair], targets: np.ndarray) -> Evaluation:
    """Let a model label pairs, and compare with the labels that they have.

    Args:
        model: The model.
        pairs: One or more.
        targets: Their label numbers, in the order of `model.labels`, `[pairs]`.

    Raises:
        ValueError: There are no pairs.
    """
    encoded = model.encoded(pairs)
    logits = model.logits(encoded)
    probabilities = model.probabilities(logits)
    return Evaluation(
        scores=score(probabilities.argmax(axis=1), targets, model.labels),
        log_loss=mean_loss(logits / model.temperature, targets),
        calibration_error=expected_calibration_error(probabilities, targets),
        unknown_words=sum(pair.unknown for pair in encoded) / max(sum(map(len, encoded)), 1),
        empty_texts=sum(min(len(pair.first), len(pair.second)) == 0 for pair in encoded),
        cut_texts=sum(pair.cut > 0 for pair in encoded),
        probabilities=probabilities,
    )


def evaluate_pair_scores(model: PairScorer, pairs: Sequence[Pair], targets: np.ndarray) -> NumberEvaluation:
    """Let a model score pairs, and compare with the scores that they have, `[pairs]`.

    Raises:
        ValueError: There are no pairs.
    """
    encoded = model.encoded(pairs)
    predicted = model.scores(encoded)
    return NumberEvaluation(
        scores=score_numbers(predicted, targets),
        unknown_words=sum(pair.unknown for pair in encoded) / max(sum(map(len, encoded)), 1),
        empty_texts=sum(min(len(pair.first), len(pair.second)) == 0 for pair in encoded),
        cut_texts=sum(pair.cut > 0 for pair in encoded),
        predicted=predicted,
    )
