"""Loading a model folder for prediction without torch; see `headwise.runtime`.

The checks are those of `headwise.artifacts.load`: files against the manifest, and contents against each
other.
"""

from collections.abc import Iterable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headwise.artifacts.folder_config import read_folder_config
from headwise.artifacts.model_folder import (
    StoreError,
    VerifiedFolder,
    read_calibration,
    read_vocabulary,
)
from headwise.artifacts.weights import TensorSpec, read_weights
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import CALIBRATION, CONFIG, LABELS, STATIC_EMBEDDINGS, WEIGHTS
from headwise.data.items.item_type import ItemType
from headwise.data.items.item_types import ITEM_TYPES
from headwise.data.items.label_types import LabelSetType, LabelType, NumericLabelType, SingleLabelType
from headwise.data.items.text_items import TextItems
from headwise.linear.linear_tables import TextTableFormat
from headwise.metrics.novelty import unit_vectors
from headwise.nn.encoders.encoder_configs import (
    MSSANConfig,
    MSTransformerConfig,
    encoder_name,
    output_width,
)
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.priors.base import Prior, strictest
from headwise.runtime.encoders import (
    EncoderNetwork,
    FusionLayer,
    FusionNetwork,
    MultiScaleLayer,
    MultiScaleNetwork,
)
from headwise.runtime.layers import LayerWeights, Perceptron
from headwise.runtime.outputs import (
    NOVELTY_FACTORS,
    AnyOutputs,
    MultiLabelOutputs,
    NumberOutputs,
    OutputsError,
    SingleLabelOutputs,
)
from headwise.runtime.prediction_models import PredictionLinearModel
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

BY_KIND: dict[tuple[type[ItemType[Any]], type[LabelType]], type[AnyOutputs]] = {
    (TextItems, SingleLabelType): SingleLabelOutputs,
    (TextItems, LabelSetType): MultiLabelOutputs,
    (TextItems, NumericLabelType): NumberOutputs,
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
    if config.readout not in TextReadout.NAMES:
        return f"the readout {config.readout}"
    if getattr(encoder, "positions", "none") != "none":
        return "position embeddings"
    if getattr(encoder, "activation", "relu") != "relu":
        return f"the activation {getattr(encoder, 'activation', '')}"
    if "node" in config.readout and not getattr(encoder, "classification_node", False):
        return "a readout of a node that the encoder does not have"
    try:
        priors = [prior for layer in encoder.layer_priors for prior in layer]
    except HeadwiseError:
        return "these priors"  # the error is that of the complete check
    if strictest(prior.tree_use for prior in priors) != "none":
        return "dependency trees"
    return next((f"the prior {prior}" for prior in priors if not _is_band(prior)), None)


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


def load_for_prediction(folder: PathLike[str] | str) -> NetworkTextModel:
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
    try:
        outputs: AnyOutputs = outputs_type(**outputs_type.read_outputs(described))
    except HeadwiseError as error:
        code = "HW507"
        where = files.name(LABELS) if isinstance(error, OutputsError) else files.name(CONFIG)
        raise StoreError(f"{where}: {error.args[0]}", code=code) from error
    listed = _listed_words(files) if config.base.name else ()
    linear = _linear_format(config, outputs)
    specs = _specs(config, vocabulary, outputs.count, listed, linear)
    arrays = read_weights(files, lambda weights: weights.read(specs, dtype))
    model = _build(config, vocabulary, outputs, listed, arrays, (files, linear))
    for name, factor in read_calibration(files, outputs_type, described.get("labels")).items():
        setattr(model, name, factor)
    if model.references is not None and model.novelty is None:
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


def _linear_format(config: ModelConfig, outputs: AnyOutputs) -> TextTableFormat | None:
    """The tables of the linear model; None without one."""
    linear = config.linear_model
    if not linear.words + linear.characters:
        return None
    return TextTableFormat(
        linear.words + linear.characters,
        linear.words,
        linear.vectors,
        outputs.count,
        config.words.tokenizer,
        sets=isinstance(outputs, MultiLabelOutputs),
        stored_weights=linear.kept,
        reach=linear.reach,
        form=linear.form,
        edges=linear.edges,
        tabular=linear.tabular_width,
    )


class _Specs(dict[str, TensorSpec]):
    """Shapes and types of the tensors of a model, by name."""

    def add(self, name: str, *shape: int, dtype: Any = np.float32) -> None:
        self[name] = TensorSpec(shape, np.dtype(dtype))

    def linear(self, name: str, inputs: int, outputs: int, *, bias: bool = True) -> None:
        self.add(f"{name}.weight", outputs, inputs)
        if bias:
            self.add(f"{name}.bias", outputs)

    def norm(self, name: str, width: int) -> None:
        self.add(f"{name}.weight", width)
        self.add(f"{name}.bias", width)

    def attention(self, name: str, width: int, inner: int, *, bias: bool) -> None:
        for part in ("query", "key", "value"):
            self.linear(f"{name}.{part}", width, inner, bias=bias)
        self.linear(f"{name}.out", inner, width, bias=bias)


def _specs(
    config: ModelConfig,
    vocabulary: Vocabulary,
    outputs: int,
    listed: tuple[str, ...],
    linear: TextTableFormat | None,
) -> dict[str, TensorSpec]:
    specs = _Specs()
    _embedding_specs(specs, config, vocabulary, listed)
    _encoder_specs(specs, config.encoder)
    width = output_width(config.encoder)
    if config.readout.startswith("attentive"):
        specs.linear("readout.attentive.up", width, width)
        specs.linear("readout.attentive.down", width, width)
    number_head = (ITEM_TYPES[config.task].answer,)
    head = config.regressor.perceptron if _is_number(number_head) else config.classifier
    inputs = width * (1 + ("," in config.readout))
    if head.normalize != "none":
        specs.norm("head.layers.0", inputs)
    if head.normalize == "batch":
        specs.add("head.layers.0.running_mean", inputs)
        specs.add("head.layers.0.running_var", inputs)
        specs.add("head.layers.0.num_batches_tracked", dtype=np.int64)
    specs.linear("head.layers.1", inputs, head.hidden)
    specs.linear("head.layers.4", head.hidden, outputs)
    if config.base.name and config.base.probe:
        specs.linear("probe", config.base.size, outputs)
    if linear is not None:
        for name, (kind, shape) in linear.shapes().items():
            specs.add(f"linear_model.{name}", *shape, dtype=kind)
    if config.unknown.texts:
        specs.add("reference_vectors.values", config.unknown.texts, config.base.size, dtype=np.int8)
    return specs


def _is_number(answers: Iterable[LabelType]) -> bool:
    return any(isinstance(answer, NumericLabelType) for answer in answers)


def _embedding_specs(
    specs: _Specs, config: ModelConfig, vocabulary: Vocabulary, listed: tuple[str, ...]
) -> None:
    base, words, width = config.base, config.words, config.encoder.width
    count = len(vocabulary) - vocabulary.extra
    if not base.name:
        size = words.vector_size
        specs.add("embedding.vectors.weight", count, size)
        if vocabulary.extra:
            specs.add("embedding.extra.weight", vocabulary.extra, size)
    else:
        size, rows = base.size, len(listed) + base.subwords
        specs.add("embedding.values", rows, size, dtype=np.int8)
        specs.add("embedding.scales", rows)
        specs.add("embedding.weights", len(listed) + 1)
        if base.train:
            specs.add("embedding.vectors.weight", count, size)
        specs.norm("embedding.norm", size)
    if size != width:
        specs.linear("embedding.project", size, width)


def _encoder_specs(specs: _Specs, encoder: Any) -> None:
    width, inner_size = encoder.width, encoder.head_size
    if isinstance(encoder, MSTransformerConfig):
        if encoder.classification_node:
            specs.add("encoder.node.state", width)
        for number, priors in enumerate(encoder.layer_priors):
            name = f"encoder.blocks.{number}"
            specs.attention(f"{name}.attention", width, len(priors) * inner_size, bias=encoder.bias)
            specs.norm(f"{name}.norm", width)
        return
    for number, priors in enumerate(encoder.layer_priors):
        name = _fusion_name(encoder, number)
        specs.attention(f"{name}.attention", width, len(priors) * inner_size, bias=encoder.bias)
        for part in ("input", "output", "gate_input"):
            specs.linear(f"{name}.gate.{part}", width, width, bias=False)
        specs.linear(f"{name}.gate.gate_output", width, width)
        specs.linear(f"{name}.up", width, encoder.feedforward)
        specs.linear(f"{name}.down", encoder.feedforward, width)
        specs.norm(f"{name}.norm", width)


def _fusion_name(encoder: MSSANConfig, number: int) -> str:
    stack, layer = divmod(number, encoder.layers)
    return f"encoder.stacks.{stack}.{layer}"


def _build(
    config: ModelConfig,
    vocabulary: Vocabulary,
    outputs: AnyOutputs,
    listed: tuple[str, ...],
    arrays: dict[str, NDArray],
    linear: tuple[VerifiedFolder, TextTableFormat | None],
) -> NetworkTextModel:
    weights = LayerWeights(arrays)
    inputs = _word_inputs(config, weights, listed)
    base = inputs.lookup if isinstance(inputs.lookup, BaseLookup) else None
    windows = config.windows
    words, overlap = windows.sizes(config.encoder)
    features = TextFeatures(
        config.words.tokenizer,
        vocabulary,
        spell=None if base is None else base.prepare,
        most=None if windows.long == "split" else lambda: words,
        cut=windows.long == "truncate",
    )
    model = NetworkTextModel(features, base, _linear_model(*linear, arrays), outputs)
    head = config.regressor.perceptron if isinstance(outputs, NumberOutputs) else config.classifier
    model.network = TextNetwork(
        inputs,
        WindowedEncoder(_encoder(config.encoder, weights), words, overlap),
        TextReadout(config.readout, _attentive(weights)),
        weights.perceptron("head", head.normalize),
        weights.optional("probe"),
    )
    model.config, model.tabular = config, config.linear_model.tabular or ()
    if config.unknown.texts:
        model.references = unit_vectors(arrays["reference_vectors.values"])
    return model


def _attentive(weights: LayerWeights) -> Perceptron | None:
    up, down = (weights.optional(f"readout.attentive.{part}") for part in ("up", "down"))
    return None if up is None or down is None else Perceptron(up, down)


def _word_inputs(config: ModelConfig, weights: LayerWeights, listed: tuple[str, ...]) -> WordInputs:
    arrays, project = weights.arrays, weights.optional("embedding.project")
    if not config.base.name:
        parts = [arrays["embedding.vectors.weight"]]
        if "embedding.extra.weight" in arrays:
            parts.append(arrays["embedding.extra.weight"])
        return WordInputs(WordLookup(np.concatenate(parts)), None, project)
    values, scales = arrays["embedding.values"], arrays["embedding.scales"]
    rows = slice(len(listed)), slice(len(listed), None)
    tables = (QuantizedMatrix(values[part], scales[part]) for part in rows)
    listed_vectors, subwords = tables
    base = StaticEmbeddings("saved", listed, listed_vectors, subwords, arrays["embedding.weights"])
    lookup = BaseLookup(base, arrays.get("embedding.vectors.weight"))
    return WordInputs(lookup, weights.norm("embedding.norm"), project)


def _encoder(encoder: Any, weights: LayerWeights) -> EncoderNetwork:
    size = encoder.head_size
    if isinstance(encoder, MSTransformerConfig):
        layers = [
            MultiScaleLayer.of(weights, f"encoder.blocks.{number}", priors, size)
            for number, priors in enumerate(encoder.layer_priors)
        ]
        return MultiScaleNetwork(layers, weights.arrays.get("encoder.node.state"))
    fusion = [
        FusionLayer.of(weights, _fusion_name(encoder, number), priors, size)
        for number, priors in enumerate(encoder.layer_priors)
    ]
    cuts = range(0, len(fusion), encoder.layers)
    return FusionNetwork([fusion[cut : cut + encoder.layers] for cut in cuts])


def _linear_model(
    files: VerifiedFolder, linear: TextTableFormat | None, arrays: dict[str, NDArray]
) -> PredictionLinearModel | None:
    """The linear model.

    Raises:
        StoreError: HW509, positions of its weights are out of range.
    """
    if linear is None:
        return None
    prefix = "linear_model."
    tables = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    for problem in linear.errors(tables):
        raise StoreError(f"{files.path / WEIGHTS}: {problem}", code="HW509")
    return PredictionLinearModel(linear.model(tables), linear.vectors)
