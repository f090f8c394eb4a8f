"""Loading of an exported model: without torch, and without running any code of its folder but the graphs.

The files of the folder are checked against each other. The graphs are run only where the runtime of
headwise cannot compute the network.
"""

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import numpy as np

from headwise.artifacts.folder_config import load_calibration, parse_config
from headwise.artifacts.model_folder import (
    StoreError,
    VerifiedFolder,
    get_typed,
    read_vocabulary,
    with_reading_rule,
)
from headwise.artifacts.model_info import ModelInfo
from headwise.artifacts.onnx.onnx_models import (
    ExportedModel,
    ExportedPairModel,
    ExportedTagger,
    ExportedTextModel,
    OnnxPairNetwork,
    OnnxTagNetwork,
    OnnxTextNetwork,
)
from headwise.artifacts.onnx.onnx_runner import OnnxSession, Runner
from headwise.artifacts.onnx.onnx_settings import ExportSettings
from headwise.artifacts.onnx.onnx_tables import BASE as BASE_TABLES
from headwise.artifacts.onnx.onnx_tables import (
    CHAIN,
    CHARACTER_INPUTS,
    LINEAR_MODEL,
    NOVELTY_TABLE,
    WORDS,
    CharacterAugmentedLookup,
    CharacterFeatureGraph,
    base_of,
    base_shapes,
    from_safetensors,
)
from headwise.artifacts.runtime_builders import NetworkBuilder, inputs_from
from headwise.artifacts.runtime_load import builder_types, listed_words, unsupported_reason
from headwise.artifacts.runtime_tag_builder import TaggerBuilder, clusters_of
from headwise.artifacts.tensor_specs import CLUSTERS, vector_size
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.errors import HeadwiseError
from headwise.core.folder_layout import (
    CHARACTER_FEATURES,
    CONFIG,
    ENCODER,
    EXPORTED,
    LABELS,
    METRICS,
    NETWORK,
    READOUT,
    TABLES,
    TRAINING,
)
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.data.items.pair_items import PairItems
from headwise.data.items.sentence_items import TaggedSentenceItems
from headwise.data.items.text_items import TextItems
from headwise.linear.pair_features import NUMBERS, dense_pair_size
from headwise.linear.tag_crf import TagTableFormat
from headwise.metrics.novelty import unit_vectors
from headwise.models.prediction_types import PREDICTION_TYPES
from headwise.runtime.chain_tagger import CrfScores, chain_shapes
from headwise.runtime.layers import LayerWeights
from headwise.runtime.outputs import MultiLabelOutputs, OutputsError
from headwise.runtime.prediction_models import PredictionLinearModel
from headwise.runtime.word_lookup import BaseLookup, WordLookup
from headwise.text.static_embeddings.word_groups import ClusterTableFormat, WordClusters
from headwise.text.vocabulary import Vocabulary

Engine = Literal["auto", "onnxruntime"]
"""What computes the network of an exported model."""


class Builder:
    """Builds models from a folder.

    Args:
        files: The folder.
        settings: Settings of the model.
        vocabulary: Its word vocabulary.
        engine: What computes the network; see `load_exported`.
        threads: Number of threads; see `load_exported`.
    """

    def __init__(
        self,
        files: VerifiedFolder,
        settings: ExportSettings,
        vocabulary: Vocabulary,
        engine: Engine,
        threads: int | None,
    ):
        self.files, self.settings, self.vocabulary = files, settings, vocabulary
        self.engine, self.threads = engine, threads

    def build(
        self, model_class: Any, outputs_type: type[Any], outputs: JsonMapping
    ) -> ExportedModel | ExportedTagger:
        """Build a model without the factors that were fitted after training (temperature, thresholds).

        Args:
            model_class: Class of the model.
            outputs_type: What it makes of the outputs of its network.
            outputs: Result of `read_outputs` of that.

        Raises:
            StoreError: The files contradict each other.
            ExportError: As `OnnxSession`.
        """
        if model_class is ExportedTagger:
            return self._tagger(outputs)
        return self._model(model_class, outputs_type(**outputs), outputs)

    def _model(self, model_class: Any, described: Any, outputs: JsonMapping) -> ExportedModel:
        settings, size = self.settings, self.settings.base.size
        count, sets = described.count, isinstance(described, MultiLabelOutputs)
        tables = settings.linear_model.table_format(
            count, settings.tokenizer, sets=sets, pairs=model_class.PAIRS
        )
        texts = settings.unknown.texts
        shapes = {NOVELTY_TABLE: (np.int8, (texts, size))} if texts else {}
        reader, linear, more = self._tables(tables, shapes)
        linear_model = None if tables is None else PredictionLinearModel(linear, tables.vectors)
        if linear_model and linear_model.vectors not in (
            0,
            dense_pair_size(size) - NUMBERS if model_class.PAIRS else size,
        ):
            raise self._error(CONFIG, "a linear model of other vectors than the base's")
        base = reader if isinstance(reader, BaseLookup) else None
        model = model_class(settings, self.vocabulary, base, linear_model, described)
        model.references = unit_vectors(more[NOVELTY_TABLE]) if texts else None
        if (computed := self._runtime_network(outputs)) is not None:
            builder, weights = computed
            model.network = builder.network(inputs_from(reader, weights), weights)
            if model_class.PAIRS:
                model.probe = weights.optional("probe")
            return model
        read = ("tokens", *(("summary",) if settings.network.summary else ()), "lengths")
        if model_class.PAIRS:
            read = tuple(f"{name}_{side}" for name in read for side in (1, 2))
            read = (*read, "compared") if base else read
        else:
            read = *read, "vectors", "weights"
        network_type = OnnxPairNetwork if model_class.PAIRS else OnnxTextNetwork
        model.network = network_type(self._runner(reader, read), count)
        return model

    def _tagger(self, outputs: JsonMapping) -> ExportedTagger:
        tags = tuple(outputs["tags"])
        sizes = self.settings.linear_model
        tables = TagTableFormat(sizes.features, tags, sizes.grouped) if sizes.features else None
        shapes = chain_shapes(len(tags)) if self.settings.tags.crf else {}
        chain = {CHAIN + name: (np.float32, shape) for name, shape in shapes.items()}
        characters = self.settings.characters
        if characters.clusters:
            shapes = ClusterTableFormat(characters.clustered).shapes()
            chain |= {f"{CLUSTERS}.{name}": shape for name, shape in shapes.items()}
        reader, linear_model, tables_read = self._tables(tables, chain)
        try:
            clusters = clusters_of(tables_read, CLUSTERS)
        except ValueError as error:
            raise self._error(TABLES, error.args[0], "HW509") from error
        if linear_model is not None and clusters is not None:
            linear_model = replace(linear_model, groups=clusters)
        if (computed := self._runtime_network(outputs)) is not None:
            builder, weights = computed
            if isinstance(builder, TaggerBuilder):
                builder.clusters = clusters
            network = builder.network(inputs_from(reader, weights), weights)
        else:
            network = OnnxTagNetwork(self._tag_runner(reader, outputs, clusters), len(tags))
        prepare = reader.prepare if isinstance(reader, BaseLookup) else None
        try:
            parts = (linear_model, CrfScores.of(_tables_of(tables_read, CHAIN), len(tags)), outputs)
            return ExportedTagger(self.settings, self.vocabulary, network, prepare, *parts)
        except (HeadwiseError, ValueError) as error:
            raise self._error(LABELS, error.args[0]) from error

    def _tag_runner(
        self, reader: WordLookup | BaseLookup, outputs: JsonMapping, clusters: WordClusters | None
    ) -> Runner:
        """The graphs of a tagger."""
        characters, spelling = self.settings.characters, None
        if characters.size:
            graph = self._session(CHARACTER_FEATURES, CHARACTER_INPUTS, 1)
            if graph.widths != [characters.size]:
                raise self._error(
                    CONFIG,
                    f"{characters.size} features of the spelling, but its graph gives {graph.widths[0]}",
                )
            spelling = CharacterFeatureGraph(graph, characters, outputs["alphabet"], clusters)
        return self._runner(CharacterAugmentedLookup(reader, spelling), ("tokens",))

    def _runtime_network(
        self, outputs: JsonMapping
    ) -> tuple[NetworkBuilder[Any, Any], LayerWeights] | None:
        """The builder of the network without onnxruntime, and its weights; None if onnxruntime computes it.

        Raises:
            StoreError: HW507, the settings of the network contradict those of the model.
        """
        described = self.files.json(CONFIG).get("network")
        if self.engine == "onnxruntime" or described is None:
            return None
        where = f"{self.files.name(CONFIG)}: network"
        if not isinstance(described, dict):
            raise self._error(CONFIG, "network: expected a table of settings")
        config, settings = parse_config(described, where), self.settings
        sizes = (config.task, vector_size(config), bool(config.base.name))
        if sizes != (settings.task, settings.network.vectors, bool(settings.base.size)):
            raise self._error(CONFIG, "network: settings of another model")
        if unsupported_reason(config) is not None:
            return None
        builder_type, _ = builder_types(ITEM_TYPES_BY_TASK[config.task])
        try:
            builder = builder_type(config, self.vocabulary, (), outputs)
        except (HeadwiseError, ValueError) as error:
            raise self._error(CONFIG, f"network: {error.args[0]}") from error
        shapes = {name: (spec.dtype, spec.shape) for name, spec in builder.network_specs().items()}
        tables = from_safetensors(self.files.content(NETWORK), shapes, self.files.name(NETWORK))
        for name in (ENCODER, READOUT, *((CHARACTER_FEATURES,) if settings.characters.size else ())):
            self.files.content(name)  # not used here, but verified: other programs read them
        return builder, LayerWeights(tables)

    def _tables(
        self, linear_model: Any, more: Mapping[str, Any]
    ) -> tuple[WordLookup | BaseLookup, Any, dict[str, np.ndarray]]:
        """The word vectors, the linear model, and further tables by name.

        Args:
            linear_model: Sizes and meaning of the tables of the linear model; None without one.
            more: Types and shapes of the further tables: of a tagger's CRF, of a novelty detector.
        """
        sizes, word_count = self.settings.base, len(self.vocabulary)
        listed = ()
        shapes: JsonObject = dict(more)
        if sizes.size:
            if sizes.size != self.settings.network.vectors or self.vocabulary.extra:
                raise self._error(CONFIG, "the network reads other vectors than the base's")
            listed = listed_words(self.files)
            table_shapes = base_shapes(len(listed), word_count, sizes)
            shapes |= {BASE_TABLES + name: shape for name, shape in table_shapes.items()}
        else:
            shapes[f"{WORDS}vectors"] = np.float32, (word_count, self.settings.network.vectors)
        if linear_model is not None:
            shapes |= {LINEAR_MODEL + name: shape for name, shape in linear_model.shapes().items()}
        tables = from_safetensors(self.files.content(TABLES), shapes, self.files.name(TABLES))
        if sizes.size:
            selected = _tables_of(tables, BASE_TABLES)
            reader = BaseLookup(base_of(selected, listed), selected.get("vectors"))
        else:
            reader = WordLookup(tables[f"{WORDS}vectors"])
        linear = None
        if linear_model is not None:
            selected = _tables_of(tables, LINEAR_MODEL)
            for problem in linear_model.errors(selected):
                raise self._error(TABLES, problem, "HW509")
            linear = linear_model.build(selected)
        return reader, linear, {name: tables[name] for name in more}

    def _runner(
        self, reader: WordLookup | BaseLookup | CharacterAugmentedLookup, read: tuple[str, ...]
    ) -> Runner:
        """The two graphs; the second one reads `read`."""
        network = self.settings.network
        encoder = self._session(ENCODER, ("vectors", "lengths", *network.marks), 1 + network.summary)
        return Runner(encoder, self._session(READOUT, read, 1), network, self.settings.windows, reader)

    def _session(self, name: str, inputs: tuple[str, ...], outputs: int) -> OnnxSession:
        """Load a graph, after a check of its file's hash."""
        return OnnxSession(self.files.content(name), inputs, outputs, self.files.name(name), self.threads)

    def _error(self, name: str, problem: str, code: str = "HW507") -> StoreError:
        return StoreError(f"{self.files.name(name)}: {problem}", code=code)


def _tables_of(tables: Mapping[str, np.ndarray], part: str) -> dict[str, np.ndarray]:
    return {name.removeprefix(part): table for name, table in tables.items() if name.startswith(part)}


MODEL_CLASSES: dict[type[Any], type[Any]] = {
    TextItems: ExportedTextModel,
    PairItems: ExportedPairModel,
    TaggedSentenceItems: ExportedTagger,
}
"""By item type. The label type decides what they make of the outputs of their network:
`headwise.models.prediction_types.PREDICTION_TYPES`."""


def load_exported(
    folder: PathLike[str] | str, *, threads: int | None = None, engine: Engine = "auto"
) -> Any:
    """Load an exported model, an `ExportedModel` or an `ExportedTagger`. It has the prediction methods of
    the original (`predict`, and `predict_proba` for labels) and its `labels`.

    Args:
        folder: The exported folder.
        threads: Number of threads of onnxruntime; None for OMP_NUM_THREADS, else the number of processor
            cores.
        engine: What computes the network: "auto" for NumPy and the compiled loops of headwise where these
            can, else onnxruntime; "onnxruntime" for the graphs of the folder in any case.

    Raises:
        StoreError: It is no such folder, or damaged; see there.
        ExportError: HW951 onnxruntime is not installed, HW956 it cannot run the network.
    """
    files = VerifiedFolder(folder, EXPORTED)
    where = files.name(CONFIG)
    about = files.json(CONFIG)
    settings = get_typed(about, "model", dict, where)
    settings = ExportSettings.of(with_reading_rule(about, settings), where)
    model_class, outputs_type = _model_types(settings, where)
    vocabulary = read_vocabulary(files, Vocabulary.from_json)
    labels = files.json(LABELS)
    try:
        outputs = outputs_type.read_outputs(labels)
    except OutputsError as error:
        raise StoreError(f"{files.name(LABELS)}: {error.args[0]}", code="HW507") from error
    model = Builder(files, settings, vocabulary, engine, threads).build(model_class, outputs_type, outputs)
    load_calibration(model, outputs_type.FITTED, files, has_references=False)
    return model


def exported_info(folder: PathLike[str] | str) -> ModelInfo:
    """The metadata of an exported folder: `training` has the columns that the model was trained on,
    `metrics` the scores that selective prediction needs."""
    files = VerifiedFolder(folder, EXPORTED)
    return ModelInfo({name.removesuffix(".json"): files.json(name) for name in (TRAINING, METRICS)})


def _model_types(settings: ExportSettings, where: str) -> tuple[type[Any], type[Any]]:
    """The class of the model, and what it makes of the outputs of its network."""
    item_type = ITEM_TYPES_BY_TASK.get(settings.task)
    model_class = MODEL_CLASSES.get(type(item_type))
    if item_type is None or model_class is None or type(item_type.label_type) not in PREDICTION_TYPES:
        raise StoreError(f"{where}: no exported model does {settings.task!r:.40}", code="HW507")
    return model_class, PREDICTION_TYPES[type(item_type.label_type)].outputs_type()
