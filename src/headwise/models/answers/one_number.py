"""Prediction of one number for each text or pair (regression)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from headwise.data.chunks import in_chunks
from headwise.errors import ConfigError
from headwise.models.answers.outputs import OutputsError
from headwise.models.answers.weighed import Weighed
from headwise.scores.scale import Scale


class NumberAnswers(Weighed):
    """Mixin of regressors.

    The class attributes are the defaults for folders of earlier versions, which save no ensemble weights.

    Attributes:
        scale: Maps outputs of the network to the scale of the target.
    """

    encoder_weight, expert_weight, expert_share = 1.0, 0.0, 0.0
    scale: Scale

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        try:
            return {"scale": Scale.from_json(outputs)}
        except ConfigError as error:
            raise OutputsError(error.args[0]) from None

    def outputs_json(self) -> dict[str, Any]:
        return dict(self.scale.to_json())

    def scores(
        self, encoded: Sequence[Any], *, batch_texts: int = 256, batch_tokens: int = 16_384
    ) -> np.ndarray:
        """Predicted numbers of encoded texts or pairs, float64 `[texts]`, in their order."""
        outputs = self.logits(encoded, batch_texts=batch_texts, batch_tokens=batch_tokens)
        return self.scale.restore(outputs[:, 0])

    def predict(self, items: Iterable[Any], *, chunk: int = 4096) -> Iterator[float]:
        """Predicted numbers in the order of the texts or pairs, which may be a stream of any length."""
        for part in in_chunks(items, chunk):
            yield from map(float, self.scores(self.encoded(part)))
