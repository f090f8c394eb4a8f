"""Export of a model: its network as ONNX files, everything else as in a model folder.

Before the folder is in place, its outputs are compared with those of the original on random texts.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray

from headwise.artifacts.model_folder import NORMALIZED_TEXTS, is_headwise_folder, to_json
from headwise.artifacts.model_info import MetricsInfo
from headwise.artifacts.onnx.export_agreement import ExportAgreement, compare_outputs
from headwise.artifacts.onnx.graph import LIBRARIES, check_exportable, example_input, onnx_of
from headwise.artifacts.onnx.onnx_errors import ExportError, library
from headwise.artifacts.onnx.onnx_load import load_exported
from headwise.artifacts.onnx.onnx_runner import MOST_WORDS
from headwise.artifacts.onnx.onnx_settings import (
    BaseSizes,
    ExportSettings,
    NetworkSizes,
    TagSizes,
    WindowSizes,
)
from headwise.artifacts.onnx.onnx_tables import BASE as BASE_TABLES
from headwise.artifacts.onnx.onnx_tables import CHAIN, LINEAR_MODEL, NOVELTY_TABLE, WORDS, to_safetensors
from headwise.artifacts.onnx.padded_network import (
    CharacterGraph,
    EncoderGraph,
    PairGraph,
    TagGraph,
    TextGraph,
)
from headwise.artifacts.runtime_load import builder_types, unsupported_reason
from headwise.artifacts.save import flush, remove_staging
from headwise.artifacts.tensor_specs import CLUSTERS
from headwise.core.config import JsonMapping, JsonObject
from headwise.core.folder_layout import (
    CALIBRATION,
    CARD,
    CHARACTER_FEATURES,
    CONFIG,
    ENCODER,
    EXPORTED,
    LABELS,
    MANIFEST,
    METRICS,
    NETWORK,
    READOUT,
    REQUIREMENTS,
    STAGING,
    STATIC_EMBEDDINGS,
    TABLES,
    TRAINING,
    VOCABULARY,
)
from headwise.core.version import __version__
from headwise.data.items.item_types import ITEM_TYPES_BY_TASK
from headwise.linear.pair_features import dense_pair_size
from headwise.metrics.metric_keys import SELECTIVE_PREDICTION
from headwise.models.tasks import find_task_settings
from headwise.nn.attention import SelfAttention
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.nn.encoders.encoder_configs import output_width
from headwise.nn.encoders.set_transformer import SAB
from headwise.nn.networks.tag_model import TagModel
from headwise.text.character_features import SHAPES
from headwise.text.static_embeddings.word_groups import LEVELS

NEEDED = (
    *("numpy", "safetensors", "regex", "cyclopts", "docstring-parser", "rich"),
    *("filelock", "jinja2", "markupsafe"),
)
"""What headwise needs where it does not train: its dependencies in pyproject.toml without the extras."""


@dataclass(frozen=True)
class ExportResult:
    """Result of an export.

    Attributes:
        folder: The folder of the exported model.
        compared: Agreement with the original model.
        sizes: Bytes of each file, by name.
        predictions: Suggested name of a file of predictions.
    """

    folder: Path
    compared: ExportAgreement
    sizes: Mapping[str, int]
    predictions: str


def write_exported(
    model: Any,
    folder: Path | str,
    *,
    title: str = "model of this kind",
    predictions: str = "predictions.csv",
    columns: Mapping[str, str] | None = None,
    metrics: JsonMapping | None = None,
    overwrite: bool = False,
) -> ExportResult:
    """Export a model, and compare the export with the original.

    Args:
        model: From `load_model`, in eval mode.
        folder: Output folder, created if needed.
        title: Display name of models of this task.
        predictions: Suggested name of a file of predictions.
        columns: The columns that the model was trained on, by the options that name them.
        metrics: Scores of the model; those that prediction needs are saved.
        overwrite: Replace a model that was exported to this folder before.

    Raises:
        ExportError: HW951 a library is missing, HW952 such models cannot be exported, HW953 the outputs of
            the export differ from those of the model, HW954 the folder has other files in it.
        OSError: The folder cannot be written.
    """
    folder = Path(folder)
    check_exportable(model, title)
    if model.config.linear_model.tabular:
        names = ", ".join(repr(encoding.name) for encoding in model.config.linear_model.tabular)
        raise ExportError(
            f"the model reads the columns {names} beside the text, which an exported model does not; use "
            "the model folder itself, or train without --features",
            code="HW952",
        )
    check_export_folder(folder, overwrite=overwrite)
    for name in (*LIBRARIES, "onnxruntime"):
        library(name, "headwise export")
    files = {
        **(network := _graph_files(model)),
        **_other_files(model),
        **_metadata_files(columns or {}, metrics or {}, predictions, onnx=NETWORK not in network),
    }
    staging = folder / STAGING
    remove_staging(staging)
    staging.mkdir(parents=True)
    try:
        for name, content in files.items():
            (staging / name).write_bytes(content)
        (staging / MANIFEST).write_bytes(to_json(_manifest(files)))
        for path in staging.iterdir():
            flush(path)
        compared = compare_outputs(model, load_exported(staging, engine="onnxruntime"))
        if NETWORK in files:
            computed = compare_outputs(model, load_exported(staging))
            compared = max(compared, computed, key=lambda agreement: agreement.difference)
        (folder / MANIFEST).unlink(missing_ok=True)
        flush(folder)
        for name in {CONFIG: 0, **files, MANIFEST: 0}:  # the manifest last
            os.replace(staging / name, folder / name)
        # Of the model that was here before.
        for name in {STATIC_EMBEDDINGS, CHARACTER_FEATURES, NETWORK} - files.keys():
            (folder / name).unlink(missing_ok=True)
        flush(folder)
    finally:
        with contextlib.suppress(OSError):
            remove_staging(staging)
    sizes = {name: len(content) for name, content in files.items()}
    return ExportResult(folder, compared, sizes, predictions)


def check_export_folder(folder: Path, *, overwrite: bool) -> None:
    """Check that a model may be exported to a folder.

    Raises:
        ExportError: HW954, it has files of something else, or an exported model that is not to be replaced.
    """
    if not folder.exists():
        return
    names = sorted(set(os.listdir(folder)) - {STAGING}) if folder.is_dir() else [folder.name]
    if not names:
        return
    if not folder.is_dir() or not is_headwise_folder(folder, EXPORTED):
        raise ExportError(
            f"{folder}: there are files of something else ({', '.join(map(repr, names[:5]))}); choose "
            "another folder or an empty one",
            code="HW954",
        )
    if not overwrite:
        raise ExportError(f"{folder} holds an exported model; add --overwrite to replace it", code="HW954")


def _graph_files(model: Any) -> dict[str, bytes]:
    """The files of the graphs, and the settings that describe their inputs and outputs."""
    width = output_width(model.config.encoder)
    words, overlap = model.window
    encoder = EncoderGraph(model, words or MOST_WORDS)
    inputs = {name: example_input(name, _input_size(model, name)) for name in encoder.inputs}
    with torch.no_grad():
        encoded = encoder.encoded(**inputs)
    tags = model.gives_tags
    summary, node = encoded.summary is not None, encoded.summary_is_node
    if tags:
        readout = TagGraph(model)
    else:
        graph = PairGraph if model.reads_pairs else TextGraph
        readout = graph(model, summary=summary, node=node)
    read = {name: example_input(name, _input_size(model, name)) for name in readout.inputs}
    settings = ExportSettings(
        model.config.task,
        model.config.words.tokenizer,
        WindowSizes(words, overlap, model.config.windows.long),
        _base_sizes(model),
        NetworkSizes(
            _vector_size(model),
            summary,
            width,
            any(isinstance(layer, SelfAttention | SAB) for layer in model.encoder.modules()),
            getattr(model, "interaction", None) is not None,
            encoder.marks,
        ),
        model.config.linear_model,
        model.config.unknown,
        **(_tags(model) if tags else {}),
    )
    outputs = ("states", "summaries") if summary else ("states",)
    about: JsonObject = {"format": EXPORTED.format, "headwise": __version__, **NORMALIZED_TEXTS}
    about["model"] = settings.to_json()
    weights = _network_weights(model)
    if weights:
        about["network"] = model.config.to_json(find_task_settings(model.config.task).sections)
    files = {
        CONFIG: to_json(about),
        ENCODER: onnx_of(encoder, inputs, outputs),
        READOUT: onnx_of(readout, read, ("outputs",)),
        **weights,
    }
    if tags and model.spelling is not None:
        spelling = CharacterGraph(model.spelling.characters)
        widths = {"shapes": len(SHAPES), "clusters": len(LEVELS)}
        read = {name: example_input(name, widths.get(name, 0)) for name in spelling.inputs}
        files[CHARACTER_FEATURES] = onnx_of(spelling, read, ("features",))
    return files


def _network_weights(model: Any) -> dict[str, bytes]:
    """The file of weights from which headwise computes the network; empty if only onnxruntime can."""
    if unsupported_reason(model.config) is not None:
        return {}
    builder_type, outputs_type = builder_types(ITEM_TYPES_BY_TASK[model.config.task])
    outputs = outputs_type.read_outputs(model.outputs_json())
    builder = builder_type(model.config, model.features.vocabulary, (), outputs)
    tensors = model.state_dict()
    return {NETWORK: to_safetensors({name: _array(tensors[name]) for name in builder.network_specs()})}


def _tags(model: TagModel) -> JsonObject:
    """Additional settings of a tagger."""
    config, scheme = model.config.tagger, model.config.tagger.scheme
    characters = {} if model.spelling is None else {"characters": model.config.characters}
    return {"tags": TagSizes(scheme, config.crf, config.constraints), **characters}


def _input_size(model: Any, name: str) -> int:
    """Number of features of an input of the graphs."""
    size = _base_sizes(model).size
    if name == "compared":
        return dense_pair_size(size)
    if name == "vectors":
        spelling = getattr(model, "spelling", None)
        return _vector_size(model) + (0 if spelling is None else spelling.characters.config.size)
    return output_width(model.config.encoder)


def _vector_size(model: Any) -> int:
    """Dimensions of the word vectors."""
    return _base_sizes(model).size or model.config.words.vector_size


def _base_sizes(model: Any) -> BaseSizes:
    if not isinstance(model.embedding, BaseEmbedding):
        return BaseSizes()
    config = model.embedding.config
    return BaseSizes(config.size, config.subwords, config.train)


def _other_files(model: Any) -> dict[str, bytes]:
    """The files other than graphs: vocabulary, labels, calibration, tables."""
    files = {
        VOCABULARY: to_json(model.features.vocabulary.to_json(), indent=None),
        LABELS: to_json(model.outputs_json()),
        CALIBRATION: to_json(model.FITTED.of(model)),
    }
    tables: dict[str, NDArray] = {}
    layer = model.embedding
    if isinstance(layer, BaseEmbedding):
        files[STATIC_EMBEDDINGS] = to_json(layer.to_files()[STATIC_EMBEDDINGS], indent=None)
        buffers = {"values": layer.values, "scales": layer.scales, "weights": layer.weights}
        if layer.vectors is not None:
            buffers["vectors"] = layer.vectors.weight
        tables |= {BASE_TABLES + name: _array(tensor) for name, tensor in buffers.items()}
    else:
        extra = [] if layer.extra is None else [layer.extra.weight]
        tables[f"{WORDS}vectors"] = _array(torch.cat([layer.vectors.weight, *extra]))
    if model.gives_tags and (crf := model.tagger.crf) is not None:
        tables |= {CHAIN + name: _array(tensor) for name, tensor in crf.named_parameters()}
    if model.gives_tags and model.clusters is not None:
        tables |= {f"{CLUSTERS}.{name}": _array(tensor) for name, tensor in model.clusters.named_buffers()}
    if model.linear_model is not None:
        tables |= {
            LINEAR_MODEL + name: _array(tensor) for name, tensor in model.linear_model.named_buffers()
        }
    if getattr(model, "reference_vectors", None) is not None:
        tables[NOVELTY_TABLE] = _array(model.reference_vectors.values)
    return {**files, TABLES: to_safetensors(tables)}


def _array(tensor: torch.Tensor) -> NDArray:
    return (tensor.float() if tensor.is_floating_point() else tensor).detach().cpu().numpy()


def _metadata_files(
    columns: Mapping[str, str], metrics: JsonMapping, predictions: str, *, onnx: bool
) -> dict[str, bytes]:
    """The files of training columns, scores, requirements and card; for `onnx` see `_requirements`."""
    scores = MetricsInfo.of(metrics)
    curve = scores.risk_coverage
    dev = {} if curve is None else {SELECTIVE_PREDICTION: curve}
    return {
        TRAINING: to_json({"recipe": {"data": dict(columns)}}),
        METRICS: to_json({"dev": dev, "test": {"unknown_words": scores.unknown_words}}),
        REQUIREMENTS: _requirements(onnx=onnx).encode(),
        CARD: _CARD.format(predictions=predictions).encode(),
    }


def _manifest(files: Mapping[str, bytes]) -> JsonObject:
    entries = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        for name, content in sorted(files.items())
    }
    return {"format": EXPORTED.format, "headwise": __version__, "files": entries}


def _requirements(*, onnx: bool) -> str:
    """Requirements for inference, with the minimum versions of the installed headwise's own metadata.

    Args:
        onnx: Whether onnxruntime computes the network.
    """
    try:
        requirements = requires("headwise") or []
    except PackageNotFoundError:
        requirements = []
    matches = (re.match(r"([\w-]+)(>=[\d.]+)", requirement) for requirement in requirements)
    least: dict[str, str] = {match[1]: match[2] for match in matches if match}
    lines = (f"{name}{least.get(name, '')}\n" for name in (*NEEDED, *("onnxruntime",) * onnx))
    return _NEEDS.format(version=__version__) + "".join(lines)


_NEEDS = """# Packages that this model needs, besides headwise {version} (its source folder or wheel):
# pip install -r requirements.txt && pip install --no-deps HEADWISE
"""

_CARD = """# An exported headwise model

It predicts without torch: `pip install -r requirements.txt`, headwise itself with `--no-deps`, and then

    headwise predict THIS_FOLDER NEW_TEXTS --output {predictions}

or in Python `headwise.load_exported("THIS_FOLDER").predict(texts)`. See the original model folder for
its training data and scores.
"""
