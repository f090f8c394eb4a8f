"""The weighted outputs of an ensemble of a network and a linear model, without torch."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from headwise.data.items.dataset import in_chunks
from headwise.runtime.limits import check_finite

MOST_SCORED = 1 << 14
"""Number of texts or pairs that a linear model scores at once."""


class EnsembleMembers(Protocol):
    """A model of texts or pairs that may be an ensemble of a network and a linear model
    (`headwise.nn.networks.linear_members`).

    Attributes:
        outputs: What it makes of the outputs.
        encoder_weight: Ensemble weight of the network's outputs; 0 if the linear model alone was as good on
            held-out texts.
        linear_model: The linear model; None if it did not improve the score on held-out texts.
        linear_weight: Ensemble weight of the linear model's scores.
        linear_share: Contribution of the linear model to the combined score, from 0 to 1, averaged over
            held-out texts; 0 if not measured.
    """

    outputs: Any
    encoder_weight: float
    linear_model: Any
    linear_weight: float
    linear_share: float

    def encoded(self, items: Sequence[Any]) -> Sequence[Any]:
        """Encode texts or pairs."""
        ...

    def outputs_of(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """The network's outputs, `[texts, outputs]` float32, in the order of the encoded texts or pairs."""
        ...

    def linear_inputs(
        self, encoded: Sequence[Any], *, vectors: bool = True
    ) -> tuple[Sequence[Any], np.ndarray | None, np.ndarray | None]:
        """Inputs of the linear model: texts, their vectors if there is a base, and numeric features.

        Args:
            encoded: Encoded texts or pairs.
            vectors: Whether the linear model reads vectors; if not, they are None.
        """
        ...

    def linear_scores(self, encoded: Sequence[Any]) -> np.ndarray:
        """See `linear_scores`."""
        ...

    def logits(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """See `ensemble_logits`."""
        ...


def linear_scores(model: EnsembleMembers, encoded: Sequence[Any]) -> np.ndarray:
    """Scores of the linear model, float32 `[texts, outputs]`, before weighting."""
    if model.linear_model is None:
        raise ValueError("the model has no linear model")
    return scores_of(model.linear_model, model, encoded)


def scores_of(member: Any, model: EnsembleMembers, encoded: Sequence[Any]) -> np.ndarray:
    """Scores of a linear model for encoded texts or pairs, float32 `[texts, outputs]`, computed in parts
    where there are very many.

    Args:
        member: The linear model.
        model: Gives its inputs.
        encoded: Encoded texts or pairs.
    """

    def scores(part: Sequence[Any]) -> np.ndarray:
        return member(*model.linear_inputs(part, vectors=member.vectors > 0))

    if len(encoded) <= MOST_SCORED:
        return scores(encoded)
    return np.concatenate([scores(part) for part in in_chunks(encoded, MOST_SCORED)])


@np.errstate(over="ignore", invalid="ignore")  # `check_finite` reports it
def ensemble_logits(
    model: EnsembleMembers, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
) -> np.ndarray:
    """Weighted sum of the outputs of network and linear model (for labels, logits before calibration),
    float32 `[texts, outputs]`, in the order of the encoded texts or pairs.

    `outputs_of` gives the outputs of the network alone. A member with weight 0 is not computed.
    """
    if model.encoder_weight == 0.0 and model.linear_model is not None:
        logits = np.zeros((len(encoded), model.outputs.count), dtype=np.float32)
    else:
        logits = model.outputs_of(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
        if model.encoder_weight != 1.0:
            logits = np.float32(model.encoder_weight) * logits
    if model.linear_model is None or model.linear_weight == 0.0 or not encoded:
        return logits
    return check_finite(logits + np.float32(model.linear_weight) * model.linear_scores(encoded))


def item_probabilities(model: EnsembleMembers, items: Sequence[Any]) -> np.ndarray:
    """Calibrated probabilities of texts or pairs, `[texts, labels]`, float64."""
    return model.outputs.probabilities(model.logits(model.encoded(items)))


def item_numbers(
    model: EnsembleMembers, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
) -> np.ndarray:
    """Predicted numbers of encoded texts or pairs, float64 `[texts]`, in their order."""
    outputs = model.logits(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
    return model.outputs.scale.restore(outputs[:, 0])
