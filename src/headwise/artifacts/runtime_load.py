"""Loading a model folder for prediction without torch; see `headwise.runtime`.

The checks are those of `headwise.artifacts.load`: files against the manifest, and contents against each
other. What only models of pairs or taggers need is imported for these.
"""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headwise.artifacts.folder_config import load_calibration, read_folder_config
from headwise.artifacts.model_folder import StoreError, VerifiedFolder, read_vocabulary
from headwise.artifacts.runtime_builders import NetworkBuilder, TextBuilder
from headwise.artifacts.weights import read_weights
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import CONFIG, LABELS, STATIC_EMBEDDINGS, WEIGHTS
from headwise.data.items.item_type import ItemType
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.models.prediction_types import PREDICTION_TYPES
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.priors.base import Prior, strictest_tree_use
from headwise.runtime.layers import LayerWeights
from headwise.runtime.outputs import OutputsError
from headwise.runtime.text_network import TextReadout
from headwise.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from headwise.runtime.pair_network import NetworkPairModel
    from headwise.runtime.tag_network import NetworkTagger
    from headwise.runtime.text_network import NetworkTextModel

    NetworkModel = NetworkTextModel | NetworkPairModel | NetworkTagger
    """A model that predicts without torch."""

_LENGTHS = np.array([0, 1, 40])


def unsupported_reason(config: ModelConfig) -> str | None:
    """Why a model of this configuration needs torch; None if it predicts without."""
    item_type = ITEM_TYPES_BY_TASK.get(config.task)
    if item_type is None or not (
        type(item_type.label_type) in PREDICTION_TYPES and (item_type.has_tags or item_type.sides)
    ):
        return f"models of the task {config.task}"
    if config.pretrained.name:
        return "pretrained encoders"
    encoder: Any = config.encoder
    if (name := encoder_name(encoder)) not in ("ms-transformer", "ms-san"):
        return f"the encoder {name}"
    if not item_type.has_tags and (reason := _readout_reason(config)):
        return reason
    if getattr(encoder, "positions", "none") != "none":
        return "position embeddings"
    if getattr(encoder, "activation", "relu") != "relu":
        return f"the activation {getattr(encoder, 'activation', '')}"
    try:
        priors = [prior for layer in encoder.layer_priors for prior in layer]
    except HeadwiseError:
        return "these priors"  # the error is that of the complete check
    if strictest_tree_use(prior.tree_use for prior in priors) != "none":
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


def load_for_prediction(folder: PathLike[str] | str) -> "NetworkModel":
    """Load a model whose `unsupported_reason` is None.

    Raises:
        StoreError: The folder cannot be loaded (see `StoreError`); the message names the file.
    """
    files = VerifiedFolder(folder)
    config, dtype = read_folder_config(files)
    item_type = ITEM_TYPES_BY_TASK[config.task]
    builder_type, outputs_type = builder_types(item_type)
    vocabulary = read_vocabulary(files, Vocabulary.from_json)
    described = files.json(LABELS)
    listed = listed_words(files) if config.base.name else ()
    try:
        builder = builder_type(config, vocabulary, listed, outputs_type.read_outputs(described))
    except (HeadwiseError, ValueError) as error:
        where = files.name(LABELS) if isinstance(error, OutputsError) else files.name(CONFIG)
        raise StoreError(f"{where}: {error.args[0]}", code="HW507") from error
    specs = builder.specs()
    arrays = read_weights(files, lambda weights: weights.read(specs, dtype))
    model = builder.model(LayerWeights(arrays), _linear_tables(files, builder, arrays))
    has_references = getattr(model, "references", None) is not None
    load_calibration(model, outputs_type.FITTED, files, has_references=has_references)
    return model


def builder_types(item_type: ItemType) -> tuple[type[Any], type[Any]]:
    """The builder of models of an item type, and the type of their outputs."""
    outputs_type = PREDICTION_TYPES[type(item_type.label_type)].outputs_type()
    if item_type.has_tags:
        from headwise.artifacts.runtime_tag_builder import TaggerBuilder

        return TaggerBuilder, outputs_type
    if item_type.sides > 1:
        from headwise.artifacts.runtime_pair_builder import PairBuilder

        return PairBuilder, outputs_type
    return TextBuilder, outputs_type


def listed_words(files: VerifiedFolder) -> tuple[str, ...]:
    """The words of the base.

    Raises:
        StoreError: HW507, they are no list of different words.
    """
    match files.json(STATIC_EMBEDDINGS):
        case {"words": list(words)}:
            if set(map(type, words)) <= {str} and len(set(words)) == len(words):
                return tuple(words)
    raise StoreError(f"{files.name(STATIC_EMBEDDINGS)}: expected a list of different words", code="HW507")


def _linear_tables(
    files: VerifiedFolder, builder: NetworkBuilder[Any, Any], arrays: Mapping[str, NDArray]
) -> Mapping[str, NDArray]:
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
