"""Loading a model folder for prediction without torch; see `headwise.runtime`.

The checks are those of `headwise.artifacts.load`: files against the manifest, and contents against each
other.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from os import PathLike
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from headwise.artifacts.folder_config import read_folder_config
from headwise.artifacts.model_folder import (
    StoreError,
    VerifiedFolder,
    read_calibration,
    read_vocabulary,
)
from headwise.artifacts.runtime_networks import (
    attentive_scores,
    cross_layers,
    tagger_inputs,
    windowed_encoder,
    word_inputs,
)
from headwise.artifacts.tensor_specs import CHAIN, TensorSpecs, vector_size
from headwise.artifacts.weights import read_weights
from headwise.core.config import JsonObject
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import CALIBRATION, CONFIG, LABELS, STATIC_EMBEDDINGS, WEIGHTS
from headwise.data.items.item_type import ItemType
from headwise.data.items.item_types import ITEM_TYPES
from headwise.data.items.label_types import (
    LabelSetType,
    LabelType,
    NumericLabelType,
    SingleLabelType,
    TagSequenceType,
)
from headwise.data.items.pair_items import PairItems
from headwise.data.items.sentence_items import TaggedSentenceItems
from headwise.data.items.text_items import TextItems
from headwise.linear.linear_tables import TagTableFormat, TextTableFormat
from headwise.linear.pair_features import dense_pair_size
from headwise.metrics.novelty import unit_vectors
from headwise.nn.encoders.encoder_configs import MSSANConfig, MSTransformerConfig, encoder_name
from headwise.nn.layers.layer_configs import ClassifierConfig
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.priors.base import Prior, strictest
from headwise.runtime.chain_tagger import CrfScores
from headwise.runtime.layers import LayerWeights
from headwise.runtime.outputs import (
    NOVELTY_FACTORS,
    AnyOutputs,
    MultiLabelOutputs,
    NumberOutputs,
    OutputsError,
    SingleLabelOutputs,
)
from headwise.runtime.pair_network import NetworkPairModel, PairNetwork
from headwise.runtime.prediction_models import PredictionLinearModel
from headwise.runtime.tag_network import NetworkTagger, TagNetwork
from headwise.runtime.tag_outputs import TagOutputs
from headwise.runtime.text_network import NetworkTextModel, TextNetwork, TextReadout
from headwise.runtime.word_lookup import BaseLookup
from headwise.text.character_features import character_encoder
from headwise.text.text_features import TextFeatures
from headwise.text.vocabulary import Vocabulary

NetworkModel = NetworkTextModel | NetworkPairModel | NetworkTagger
"""A model that predicts without torch."""

BY_KIND: dict[tuple[type[ItemType[Any]], type[LabelType]], type[AnyOutputs] | type[TagOutputs]] = {
    (TextItems, SingleLabelType): SingleLabelOutputs,
    (TextItems, LabelSetType): MultiLabelOutputs,
    (TextItems, NumericLabelType): NumberOutputs,
    (PairItems, SingleLabelType): SingleLabelOutputs,
    (PairItems, NumericLabelType): NumberOutputs,
    (TaggedSentenceItems, TagSequenceType): TagOutputs,
}
"""The outputs of the models that are read here, by item type and label type."""
_LENGTHS = np.array([0, 1, 40])


def unsupported_reason(config: ModelConfig) -> str | None:
    """Why a model of this configuration needs torch; None if it predicts without."""
    kind = ITEM_TYPES.get(config.task)
    if kind is None or (type(kind), type(kind.answer)) not in BY_KIND:
        return f"models of the task {config.task}"
    if config.pretrained.name:
        return "pretrained encoders"
    encoder = config.encoder
    if not isinstance(encoder, MSTransformerConfig | MSSANConfig):
        return f"the encoder {encoder_name(encoder)}"
    if not isinstance(kind, TaggedSentenceItems) and (reason := _readout_reason(config)):
        return reason
    if getattr(encoder, "positions", "none") != "none":
        return "position embeddings"
    if getattr(encoder, "activation", "relu") != "relu":
        return f"the activation {getattr(encoder, 'activation', '')}"
    try:
        priors = [prior for layer in encoder.layer_priors for prior in layer]
    except HeadwiseError:
        return "these priors"  # the error is that of the complete check
    if strictest(prior.tree_use for prior in priors) != "none":
        return "dependency trees"
    return next((f"the prior {prior}" for prior in priors if not _is_band(prior)), None)


def _readout_reason(config: ModelConfig) -> str | None:
    if config.readout not in TextReadout.NAMES:
        return f"the readout {config.readout}"
    if "node" in config.readout and not getattr(config.encoder, "classification_node", False):
        return "a readout of a node that the encoder does not have"
    return None


def _is_band(prior: Prior) -> bool:
    parts = getattr(prior, "parts", (prior,))
    ours = all(type(part).__module__.startswith("headwise.") for part in parts)  # others need torch
    return ours and not prior.learned and prior.band(_LENGTHS) is not None


def needs_torch(folder: PathLike[str] | str) -> str | None:
    """Why the model in a folder needs torch; None if it predicts without.

    Raises:
        StoreError: The folder cannot be read.
    """
    return unsupported_reason(read_folder_config(VerifiedFolder(folder))[0])


def load_for_prediction(folder: PathLike[str] | str) -> NetworkModel:
    """Load a model whose `unsupported_reason` is None.

    Raises:
        StoreError: The folder cannot be loaded (see `StoreError`); the message names the file.
    """
    files = VerifiedFolder(folder)
    config, dtype = read_folder_config(files)
    kind = ITEM_TYPES[config.task]
    outputs_type = BY_KIND[type(kind), type(kind.answer)]
    vocabulary = read_vocabulary(files, Vocabulary.from_json)
    described = files.json(LABELS)
    builder_type = _TaggerBuilder if isinstance(kind, TaggedSentenceItems) else _TextBuilder
    listed = _listed_words(files) if config.base.name else ()
    try:
        builder = builder_type(config, vocabulary, listed, outputs_type.read_outputs(described))
    except (HeadwiseError, ValueError) as error:
        where = files.name(LABELS) if isinstance(error, OutputsError) else files.name(CONFIG)
        raise StoreError(f"{where}: {error.args[0]}", code="HW507") from error
    specs = builder.specs()
    arrays = read_weights(files, lambda weights: weights.read(specs, dtype))
    model = builder.model(LayerWeights(arrays), _linear_tables(files, builder, arrays))
    for name, factor in read_calibration(files, outputs_type, described.get("labels")).items():
        setattr(model, name, factor)
    if not isinstance(model, NetworkTagger) and model.references is not None and model.novelty is None:
        raise StoreError(
            f"{files.name(CALIBRATION)}: the model has vectors of training texts, but the numbers of its "
            f"novelty detector ({', '.join(NOVELTY_FACTORS)}) are missing",
            code="HW510",
        )
    return model


def _listed_words(files: VerifiedFolder) -> tuple[str, ...]:
    """The words of the base."""
    match files.json(STATIC_EMBEDDINGS):
        case {"words": list(words)}:
            if all(isinstance(word, str) for word in words) and len(set(words)) == len(words):
                return tuple(words)
    raise StoreError(f"{files.name(STATIC_EMBEDDINGS)}: expected a list of different words", code="HW507")


Tables = Mapping[str, NDArray]
"""Tables of a linear model, by name."""
Format = TypeVar("Format", TextTableFormat, TagTableFormat)


def _linear_tables(
    files: VerifiedFolder, builder: "_TextBuilder | _TaggerBuilder", arrays: Tables
) -> Tables:
    """The tables of the linear model; empty without one.

    Raises:
        StoreError: HW509, their values are no linear model.
    """
    if builder.linear is None:
        return {}
    prefix = "linear_model."
    tables = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    for problem in builder.linear.errors(tables):
        raise StoreError(f"{files.path / WEIGHTS}: {problem}", code="HW509")
    return tables


class _Builder(ABC, Generic[Format]):
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

    def features(self, spell: Any) -> TextFeatures:
        """The text encoder; for `spell` see `TextFeatures`."""
        windows = self.config.windows
        words, _ = windows.sizes(self.config.encoder)
        return TextFeatures(
            self.config.words.tokenizer,
            self.vocabulary,
            spell=spell,
            most=None if windows.long == "split" else lambda: words,
            cut=windows.long == "truncate",
        )

    @abstractmethod
    def model(self, weights: LayerWeights, tables: Tables) -> NetworkModel:
        """The model of these weights, with the tables of its linear model."""


class _TextBuilder(_Builder[TextTableFormat]):
    """Builds models of texts, and of pairs of texts."""

    def __init__(
        self, config: ModelConfig, vocabulary: Vocabulary, listed: tuple[str, ...], described: JsonObject
    ):
        super().__init__(config, vocabulary, listed, described)
        kind = ITEM_TYPES[config.task]
        self.pairs = isinstance(kind, PairItems)
        outputs_type: Any = BY_KIND[type(kind), type(kind.answer)]
        self.outputs: AnyOutputs = outputs_type(**described)
        linear = config.linear_model
        self.linear = None
        if linear.words + linear.characters:
            self.linear = TextTableFormat(
                linear.words + linear.characters,
                linear.words,
                linear.vectors,
                self.outputs.count,
                config.words.tokenizer,
                sets=isinstance(self.outputs, MultiLabelOutputs),
                pairs=self.pairs,
                stored_weights=linear.kept,
                reach=linear.reach,
                form=linear.form,
                edges=linear.edges,
                tabular=linear.tabular_width,
            )

    @property
    def head(self) -> ClassifierConfig:
        """The configuration of the head."""
        numbers = isinstance(self.outputs, NumberOutputs)
        return self.config.regressor.perceptron if numbers else self.config.classifier

    def specs(self) -> TensorSpecs:
        specs, config = super().specs(), self.config
        inputs = specs.text_vectors(config)
        if self.pairs:
            inputs *= 2 if config.pair.features == "concat" else 4
            specs.interaction(config)
        specs.perceptron("head", inputs, self.outputs.count, self.head)
        if config.base.name and config.base.probe:
            size = dense_pair_size(config.base.size) if self.pairs else config.base.size
            specs.linear("probe", size, self.outputs.count)
        if config.unknown.texts:
            specs.add("reference_vectors.values", config.unknown.texts, config.base.size, dtype=np.int8)
        return specs

    def model(self, weights: LayerWeights, tables: Tables) -> NetworkTextModel | NetworkPairModel:
        config, inputs = self.config, word_inputs(self.config, weights, self.listed)
        base = inputs.lookup if isinstance(inputs.lookup, BaseLookup) else None
        features = self.features(None if base is None else base.prepare)
        linear = self.linear
        member = None if linear is None else PredictionLinearModel(linear.model(tables), linear.vectors)
        model_type = NetworkPairModel if self.pairs else NetworkTextModel
        model = model_type(features, base, member, self.outputs)
        head, probe = weights.perceptron("head", self.head.normalize), weights.optional("probe")
        readout = TextReadout(config.readout, attentive_scores(weights))
        encoder = windowed_encoder(config, weights)
        if isinstance(model, NetworkPairModel):
            layers, combination = cross_layers(config.pair, weights), config.pair.features
            model.network = PairNetwork(inputs, encoder, layers, readout, combination, head)
            model.probe = probe
        else:
            model.network = TextNetwork(inputs, encoder, readout, head, probe)
        model.config, model.tabular = config, config.linear_model.tabular or ()
        if config.unknown.texts:
            model.references = unit_vectors(weights.arrays["reference_vectors.values"])
        return model


class _TaggerBuilder(_Builder[TagTableFormat]):
    """Builds taggers."""

    def __init__(
        self, config: ModelConfig, vocabulary: Vocabulary, listed: tuple[str, ...], described: JsonObject
    ):
        super().__init__(config, vocabulary, listed, described)
        if config.windows.long == "truncate":
            raise ValueError("windows: long = truncate leaves words without a tag; choose split or error")
        if config.characters.size:
            self.width = vector_size(config)  # the spelling joins word vectors before the projection
        self.tagger = NetworkTagger()
        self.tagger.name_tags(
            described["tags"], described["written"], config.tagger.scheme, described["alphabet"]
        )
        self._set_chain({})
        linear, tags = config.linear_model, self.tagger.tags
        self.linear = TagTableFormat(linear.features, tags, linear.grouped) if linear.features else None

    def _set_chain(self, arrays: Tables) -> None:
        head, tags = self.config.tagger, len(self.tagger.tags)
        self.tagger.set_chain(CrfScores.of(arrays, tags), learned=head.crf, constraints=head.constraints)

    def specs(self) -> TensorSpecs:
        specs, config = super().specs(), self.config
        if config.characters.size:
            characters = len(self.tagger.alphabet)
            specs.characters(config.characters, characters, vector_size(config), config.encoder.width)
        specs.tagger(config, len(self.tagger.tags))
        return specs

    def model(self, weights: LayerWeights, tables: Tables) -> NetworkTagger:
        config, tagger = self.config, self.tagger
        words = word_inputs(config, weights, self.listed)
        prepare = words.lookup.prepare if isinstance(words.lookup, BaseLookup) else None
        tagger.config, tagger.features = config, self.features(character_encoder(prepare))
        inputs = tagger_inputs(config, weights, words, tagger.alphabet)
        hidden = config.tagger.hidden
        head = weights.perceptron("tagger", "none") if hidden else weights.affine("tagger.layers.1")
        tagger.network = TagNetwork(inputs, windowed_encoder(config, weights), head)
        prefix = f"{CHAIN}."
        self._set_chain(
            {name.removeprefix(prefix): a for name, a in weights.arrays.items() if name.startswith(prefix)}
        )
        tagger.linear_model = None if self.linear is None else self.linear.model(tables)
        tagger.encoder_weight, tagger.linear_weight = 1.0, 0.0
        tagger.linear_share, tagger.outside = 0.0, 0.0
        return tagger
