"""AnyModel: what all models have, to be saved, loaded and shown by those who do not know which they are."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import nn

from headwise.errors import ConfigError
from headwise.features.encoded import Batch
from headwise.models.model_config import ModelConfig
from headwise.ragged import Ragged


class AnyModel(nn.Module):
    """A model of any task.

    Attributes:
        config: What it was made with.
        features: How it reads; its `vocabulary` is kept in a file of its own.
        card: What a notebook shows of a model; that of one from a folder tells what the folder says.
    """

    config: ModelConfig
    features: Any
    card: Callable[[Any], str] | None = None

    FACTORS: ClassVar[dict[str, float]] = {}
    """Attributes that are numbers fitted beside the weights, and the least value of each."""
    LABEL_FACTORS: ClassVar[dict[str, float]] = {}
    """Attributes that are lists of such numbers, one for each of `labels`; likewise."""
    read_vocabulary: ClassVar[Callable[[dict[str, Any]], Any]]
    """Undoes `to_json` of the vocabulary."""

    @staticmethod
    def read_outputs(outputs: Mapping[str, Any]) -> dict[str, Any]:
        """What the model is made with beside its configuration and vocabulary, from what `outputs_json`
        gave, which may be hostile.

        Raises:
            OutputsError: The outputs make no sense.
        """
        raise NotImplementedError

    def outputs_json(self) -> dict[str, Any]:
        """What the outputs mean, as plain data for `read_outputs`."""
        raise NotImplementedError

    def __call__(self, batch: Any, *more: Any) -> Any:
        """What the network computes of an encoded batch.

        Raises:
            ConfigError: It is none: texts, say.
        """
        if not isinstance(batch, Batch | Ragged):
            fix = "model.predict(texts) says what it makes of texts"
            if not hasattr(self, "predict"):
                fix = "headwise.models.sampling.sample lets it write"
            raise ConfigError(f"a {type(self).__name__} is not called with a {type(batch).__name__}; {fix}")
        return super().__call__(batch, *more)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def _repr_html_(self) -> str | None:
        return None if self.card is None else self.card(self)
