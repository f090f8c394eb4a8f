"""NoveltyMember: how models of PyTorch and exported models score the novelty of texts.

This module does not import torch.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headwise.core.errors import ConfigError
from headwise.runtime.outputs import OutputsAttribute

if TYPE_CHECKING:
    from headwise.metrics.novelty import FamiliarityFeatures, NoveltyDetector


class NoveltyMember:
    """A model of texts that may have a novelty detector (`headwise.metrics.novelty`).

    Attributes:
        novelty: The detector; None without one.
        references: Vectors of training texts at length 1, `[texts, size]`; None if the detector has none.
    """

    novelty: "OutputsAttribute[NoveltyDetector | None]" = OutputsAttribute()
    novelty_offset = OutputsAttribute[float | None]()
    novelty_logit = OutputsAttribute[float | None]()
    novelty_similarity = OutputsAttribute[float | None]()
    novelty_threshold = OutputsAttribute[float | None]()

    if TYPE_CHECKING:

        @property
        def references(self) -> NDArray[np.float32] | None: ...

    def novelty_scores(self, encoded: Sequence[Any], logits: NDArray[np.floating]) -> NDArray[np.float64]:
        """Novelty scores of encoded texts, `[texts]`: higher is less like the training texts; a text with a
        score above `novelty.threshold` is out of scope.

        Args:
            encoded: Encoded texts.
            logits: Their uncalibrated logits, `[texts, labels]`.

        Raises:
            ConfigError: The model has no detector.
        """
        detector = self.novelty
        if detector is None:
            raise ConfigError(
                "the model has no novelty detector; train it with --unknown "
                "(in Python: recipe={'unknown': {'detect': True}})"
            )
        return familiarity(self, encoded, logits, self.references).scores(detector)


def familiarity(
    model: Any,
    encoded: Sequence[Any],
    logits: NDArray[np.floating],
    references: NDArray[np.float32] | None,
    excluded: NDArray[np.bool_] | None = None,
) -> "FamiliarityFeatures":
    """What the novelty score of encoded texts is computed from.

    Args:
        model: The model.
        encoded: Encoded texts.
        logits: Their uncalibrated logits, `[texts, labels]`.
        references: Vectors of training texts at length 1, `[references, size]`; None without.
        excluded: See `headwise.metrics.novelty.mean_similarities`.
    """
    from headwise.metrics.novelty import FamiliarityFeatures, mean_similarities

    largest = logits.max(axis=1) if len(encoded) else np.zeros(0)
    if references is None:
        return FamiliarityFeatures(largest)
    _, vectors, _ = model.linear_inputs(encoded, vectors=True)
    return FamiliarityFeatures(largest, mean_similarities(vectors, references, excluded))
