"""Builders: models without torch, from their configuration and the tensors of a model folder."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.artifacts.tensor_specs import CHAIN, CLUSTERS, TensorSpecs, fusion_name
from headwise.core.config import JsonObject
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.linear.linear_tables import TextTableFormat
from headwise.models.prediction_types import PREDICTION_TYPES
from headwise.nn.encoders.encoder_configs import MSTransformerConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.task_layers.layer_configs import ClassifierConfig
from headwise.runtime.encoders import (
    EncoderNetwork,
    FusionLayer,
    FusionNetwork,
    MultiScaleLayer,
    MultiScaleNetwork,
)
from headwise.runtime.layers import LayerWeights, Perceptron
from headwise.runtime.outputs import AnyOutputs, MultiLabelOutputs, NumberOutputs
from headwise.runtime.prediction_models import PredictionLinearModel, PredictionModel
from headwise.runtime.text_network import (
    NetworkTextModel,
    TextNetwork,
    TextReadout,
    WindowedEncoder,
    WordInputs,
)
from headwise.runtime.word_lookup import BaseLookup, WordLookup
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings
from headwise.text.text_features import TextFeatures
from headwise.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headwise.linear.tag_crf import TagTableFormat


def attentive_scores(weights: LayerWeights) -> Perceptron | None:
    """The scores of attentive pooling; None if the readout has none."""
    up, down = (weights.optional(f"readout.attentive.{part}") for part in ("up", "down"))
    return None if up is None or down is None else Perceptron(up, down)


def word_inputs(config: ModelConfig, weights: LayerWeights, listed: tuple[str, ...]) -> WordInputs:
    """Word vectors; `listed` are the words of the base."""
    arrays = weights.arrays
    if not config.base.name:
        parts = [arrays["embedding.vectors.weight"]]
        if "embedding.extra.weight" in arrays:
            parts.append(arrays["embedding.extra.weight"])
        return inputs_from(WordLookup(np.concatenate(parts)), weights)
    table = QuantizedMatrix(arrays["embedding.values"], arrays["embedding.scales"])
    rows = slice(len(listed)), slice(len(listed), None)
    tables = (QuantizedMatrix(table.values[part], table.scales[part]) for part in rows)
    listed_vectors, subwords = tables
    base = StaticEmbeddings("saved", listed, listed_vectors, subwords, arrays["embedding.weights"])
    return inputs_from(BaseLookup(base, arrays.get("embedding.vectors.weight"), table), weights)


def inputs_from(lookup: WordLookup | BaseLookup, weights: LayerWeights) -> WordInputs:
    """The inputs of the encoder from word vectors."""
    norm = weights.norm("embedding.norm") if isinstance(lookup, BaseLookup) else None
    return WordInputs(lookup, norm, weights.optional("embedding.project"))


def windowed_encoder(config: ModelConfig, weights: LayerWeights) -> WindowedEncoder:
    """The encoder, which reads long texts in windows."""
    return WindowedEncoder(_build_encoder(config.encoder, weights), *config.windows.sizes(config.encoder))


def _build_encoder(encoder: Any, weights: LayerWeights) -> EncoderNetwork:
    """MS-Transformer or MS-SAN."""
    if isinstance(encoder, MSTransformerConfig):
        layers = [
            MultiScaleLayer.of(weights, f"encoder.blocks.{number}", priors, encoder.head_size)
            for number, priors in enumerate(encoder.layer_priors)
        ]
        return MultiScaleNetwork(layers, weights.arrays.get("encoder.node.state"))
    fusion = [
        FusionLayer.of(weights, fusion_name(encoder, number), priors, encoder.head_size)
        for number, priors in enumerate(encoder.layer_priors)
    ]
    cuts = range(0, len(fusion), encoder.layers)
    return FusionNetwork([fusion[cut : cut + encoder.layers] for cut in cuts])


Tables = Mapping[str, NDArray]
"""Tables of a linear model, by name."""
Members = tuple[TextFeatures, BaseLookup | None, PredictionLinearModel | None, AnyOutputs]
"""The arguments of a `PredictionModel`."""

_TABLES = (
    *("embedding.vectors.", "embedding.extra.", "embedding.values", "embedding.scales"),
    *("embedding.weights", "linear_model.", "reference_vectors.", f"{CHAIN}.", f"{CLUSTERS}."),
)
"""Beginnings of the names of tensors that are no weights of layers."""


Format = TypeVar("Format", "TextTableFormat", "TagTableFormat")
"""How the tables of a linear model are stored."""
Model = TypeVar("Model")


class NetworkBuilder(ABC, Generic[Format, Model]):
    """What a configuration makes of tensors.

    Args:
        config: The configuration.
        vocabulary: The vocabulary.
        listed: Words of the base; empty without a base.
        described: Result of `read_outputs`.

    Attributes:
        linear: The format of the linear model; None without one.
        width: Features that word vectors are projected to.

    Raises:
        HeadwiseError, ValueError: They make no model.
    """

    linear: Format | None

    def __init__(
        self, config: ModelConfig, vocabulary: Vocabulary, listed: tuple[str, ...], described: JsonObject
    ):
        self.config, self.vocabulary, self.listed = config, vocabulary, listed
        self.width = config.encoder.width

    def specs(self) -> TensorSpecs:
        """The tensors of the model."""
        specs = TensorSpecs()
        specs.embedding(self.config, self.vocabulary, self.listed, self.width)
        specs.encoder(self.config.encoder)
        if self.linear is not None:
            specs.linear_model(self.linear.shapes())
        return specs

    def network_specs(self) -> TensorSpecs:
        """Those of the network alone: without vectors of words and texts, linear model and CRF."""
        specs = TensorSpecs()
        left_out = ".num_batches_tracked"  # counts the batches of training
        specs.update(
            (name, spec)
            for name, spec in self.specs().items()
            if not name.startswith(_TABLES) and not name.endswith(left_out)
        )
        return specs

    def features(self, character_encoder: Any) -> TextFeatures:
        """The text encoder; for `character_encoder` see `TextFeatures`."""
        windows = self.config.windows
        words, _ = windows.sizes(self.config.encoder)
        return TextFeatures(
            self.config.words.tokenizer,
            self.vocabulary,
            character_encoder=character_encoder,
            most=None if windows.long == "split" else lambda: words,
            cut=windows.long == "truncate",
        )

    @abstractmethod
    def network(self, inputs: WordInputs, weights: LayerWeights) -> Any:
        """The network, which reads these vectors of words."""

    @abstractmethod
    def model(self, weights: LayerWeights, tables: Tables) -> Model:
        """The model of these weights, with the tables of its linear model."""


TextModel = TypeVar("TextModel", bound=PredictionModel)


class ItemBuilder(NetworkBuilder[TextTableFormat, TextModel]):
    """Builds models of texts, or of pairs of texts.

    Attributes:
        outputs: What the model makes of the outputs of its network.
    """

    pairs: ClassVar[bool]

    def __init__(
        self, config: ModelConfig, vocabulary: Vocabulary, listed: tuple[str, ...], described: JsonObject
    ):
        super().__init__(config, vocabulary, listed, described)
        label_type = ITEM_TYPES_BY_TASK[config.task].label_type
        self.outputs: AnyOutputs = PREDICTION_TYPES[type(label_type)].outputs_type()(**described)
        sets = isinstance(self.outputs, MultiLabelOutputs)
        count, tokenizer = self.outputs.count, config.words.tokenizer
        self.linear = config.linear_model.table_format(count, tokenizer, sets=sets, pairs=self.pairs)

    @property
    def head(self) -> ClassifierConfig:
        """The configuration of the head."""
        numbers = isinstance(self.outputs, NumberOutputs)
        return self.config.regressor.perceptron if numbers else self.config.classifier

    @abstractmethod
    def head_inputs(self, specs: TensorSpecs) -> int:
        """Add the tensors between the encoder and the head; returns the features that the head reads."""

    @abstractmethod
    def probe_inputs(self) -> int:
        """Features from the base that its probe reads."""

    def specs(self) -> TensorSpecs:
        specs, config = super().specs(), self.config
        specs.perceptron("head", self.head_inputs(specs), self.outputs.count, self.head)
        if config.base.name and config.base.probe:
            specs.linear("probe", self.probe_inputs(), self.outputs.count)
        if config.unknown.texts:
            specs.add("reference_vectors.values", config.unknown.texts, config.base.size, dtype=np.int8)
        return specs

    @abstractmethod
    def network_model(self, members: Members, inputs: WordInputs, weights: LayerWeights) -> TextModel:
        """A model of these members, with its network."""

    def model(self, weights: LayerWeights, tables: Tables) -> TextModel:
        config, inputs = self.config, word_inputs(self.config, weights, self.listed)
        base = inputs.lookup if isinstance(inputs.lookup, BaseLookup) else None
        features = self.features(None if base is None else base.prepare)
        linear = self.linear
        member = None if linear is None else PredictionLinearModel(linear.build(tables), linear.vectors)
        model = self.network_model((features, base, member, self.outputs), inputs, weights)
        model.tabular = config.linear_model.tabular or ()
        if config.unknown.texts:
            from headwise.metrics.novelty import unit_vectors

            model.references = unit_vectors(weights.arrays["reference_vectors.values"])
        return model

    def readout(self, weights: LayerWeights) -> TextReadout:
        """From the states of words to a text vector."""
        return TextReadout(self.config.readout, attentive_scores(weights))


class TextBuilder(ItemBuilder[NetworkTextModel]):
    """Builds models of texts."""

    pairs = False

    def head_inputs(self, specs: TensorSpecs) -> int:
        return specs.text_vectors(self.config)

    def probe_inputs(self) -> int:
        return self.config.base.size

    def network(self, inputs: WordInputs, weights: LayerWeights) -> TextNetwork:
        encoder, readout = windowed_encoder(self.config, weights), self.readout(weights)
        head = weights.perceptron("head", self.head.normalize)
        return TextNetwork(inputs, encoder, readout, head, weights.optional("probe"))

    def network_model(
        self, members: Members, inputs: WordInputs, weights: LayerWeights
    ) -> NetworkTextModel:
        model = NetworkTextModel(*members)
        model.network, model.config = self.network(inputs, weights), self.config
        return model
