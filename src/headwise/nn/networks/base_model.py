"""BaseModel: base class of all models, the interface for saving, loading and display."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar, Never

import torch
from torch import nn

from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import ConfigError
from headwise.data.items.dataset import require_list
from headwise.data.items.examples import as_example
from headwise.nn.embeddings.encoded_batches import TextBatch
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.ragged import Ragged
from headwise.runtime.outputs import FittedNumbers


class BaseModel(nn.Module):
    """Base class of the models of all tasks.

    Attributes:
        config: The configuration.
        features: Encodes inputs; its `vocabulary` is saved in a separate file.
        card: Renders the model as HTML in notebooks; None for the default representation.
        explainer: Explains the predictions for items; `load_model` sets it.
    """

    config: ModelConfig
    features: Any
    card: Callable[[Any], str] | None = None
    explainer: Callable[[Any, Sequence[Any]], list[Any]] | None = None

    FITTED: ClassVar = FittedNumbers()
    """The attributes with numbers that are fitted after training."""
    read_vocabulary: ClassVar[Callable[[JsonObject], Any]]
    """The inverse of `to_json` of the vocabulary."""

    @staticmethod
    def read_outputs(outputs: JsonMapping) -> JsonObject:
        """Constructor arguments besides configuration and vocabulary, from the untrusted output of
        `outputs_json`.

        Raises:
            OutputsError: The outputs are invalid.
        """
        raise NotImplementedError

    def outputs_json(self) -> JsonObject:
        """Description of the outputs (labels, scale) as JSON data for `read_outputs`."""
        raise NotImplementedError

    def __call__(self, batch: Any, *more: Any) -> Any:
        """Apply the network to an encoded batch.

        Raises:
            ConfigError: The input is not a batch, but texts, for example.
        """
        if not isinstance(batch, TextBatch | Ragged):
            fix = "use model.predict([text])"
            if getattr(type(self), "predict", predict_nothing) is predict_nothing:
                fix = "use headwise.nn.networks.language_model.generate to sample text"
            type_name, got = type(self).__name__, type(batch).__name__
            raise ConfigError(f"{type_name}.__call__ takes an encoded batch, not a {got}; {fix}")
        return super().__call__(batch, *more)

    def explain(self, items: Iterable[Any]) -> list[Any]:
        """The explanations of the predictions for texts, pairs or sentences, as
        `headwise.models.explanation.Explanation`; one for each, or one for each of its labels or spans.

        Raises:
            ConfigError: The model was not loaded by `load_model`, models of its task cannot be explained,
                or the items are not a list.
        """
        if self.explainer is None:
            raise ConfigError("explanations need a model of load_model, or the estimator that was fitted")
        examples = [as_example(item) if isinstance(item, str) else item for item in require_list(items)]
        return self.explainer(self, examples)

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def _repr_html_(self) -> str | None:
        return None if self.card is None else self.card(self)


def predict_nothing(model: BaseModel, items: Sequence[Any], /) -> Iterator[Never]:
    """The method `predict` of language models.

    Raises:
        ConfigError: Always: such models give texts no labels.
    """
    raise ConfigError(
        f"a {type(model).__name__} predicts no labels; "
        "headwise.nn.networks.language_model.generate lets a language model write"
    )
