"""Saving a model folder so that a reader finds the old model, the new one, or a clear error.

All files are first written to a staging folder, `.saving` inside the folder. They are flushed to the disk
and loaded from there as a test; up to here the model that the folder held is untouched. Then its manifest
is removed, each file is replaced by one rename, and the new manifest is put in place last. A process that
is killed between these renames (milliseconds) leaves a folder without a manifest, which `load_model` calls
incomplete; saving again mends it. One atomic rename of the whole folder is not possible, as the state of
the training run, in `training/`, lives in the folder too. Two processes must not save to one folder at the
same time; if they do, the hashes in the manifest tell.

The folder also records the software and hardware of the training run (`describe_environment`).
"""

import contextlib
import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from headwise.artifacts.load import load_model
from headwise.artifacts.model_card import model_card
from headwise.artifacts.model_folder import (
    NORMALIZED_TEXTS,
    StoreError,
    check_target,
    parse_json,
    read_limited,
    to_json,
)
from headwise.artifacts.weights import DTYPES
from headwise.core.config import JsonObject, section_of
from headwise.core.folder_layout import (
    CALIBRATION,
    CARD,
    CONFIG,
    DATA,
    ENVIRONMENT,
    FORMAT,
    LABELS,
    LIMITS,
    MANIFEST,
    METRICS,
    PRETRAINED,
    STAGING,
    STATIC_EMBEDDINGS,
    TOKENIZER,
    TRAINING,
    VOCABULARY,
    WEIGHTS,
)
from headwise.core.version import __version__
from headwise.data.files.fingerprint import file_sha256
from headwise.models.tasks import find_task_settings
from headwise.nn.embeddings.base_embedding import BaseEmbedding
from headwise.nn.embeddings.pretrained import PretrainedEmbedding
from headwise.nn.kernel_rows import describe_kernels


def describe_environment(seed: int | None = None) -> JsonObject:
    """Versions, platform, threads and attention kernels as a JSON object."""
    return {
        "headwise": __version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "platform": platform.platform(),
        "threads": torch.get_num_threads(),
        "kernels": describe_kernels(),
        "seed": seed,
    }


def remove_staging(staging: Path) -> None:
    """Remove the files of an interrupted save, and nothing else.

    Raises:
        StoreError: HW511, the folder is a link.
        OSError: The folder has other files.
    """
    if staging.is_symlink():
        raise StoreError(f"{staging}: this is a link; remove it", code="HW511")
    if not staging.exists():
        return
    # safetensors writes to a hidden temporary file first, which a killed process leaves behind.
    for name in (*LIMITS, WEIGHTS, *(path.name for path in staging.glob(".tmp*"))):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(staging / name)
    os.rmdir(staging)


def flush(path: Path) -> None:
    """Flush a file, or the directory entries of a folder, to the disk (fsync)."""
    if path.is_dir():
        if os.name == "nt":  # folders cannot be opened there
            return
        descriptor = os.open(path, os.O_RDONLY)
    else:
        descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def save_model(
    model: Any,
    folder: Path | str,
    *,
    data: JsonObject,
    training: JsonObject,
    metrics: JsonObject,
    environment: JsonObject | None = None,
    dtype: str = "float32",
) -> None:
    """Save a model with its data, training and evaluation records.

    The dictionaries may contain JSON values, dataclasses, NumPy numbers and paths; NaN and infinities
    become null. The model card shows the entries that are listed here.

    Args:
        model: The model.
        folder: The target, created if it does not exist. An older headwise model in it is replaced; the
            state of a training run in `training/` stays. An edited model card is kept under another name.
        data: `train`, `dev`, `test`: the `Fingerprint` of each split.
        training: `recipe`: the configuration of the run; `history`: an entry for each epoch.
        metrics: `test`: the `to_json` of an evaluation; `dev`: the same or a part of it; `baseline`: the
            `ComparisonSystem.to_json` of the baseline; `calibration`: written to calibration.json, with the
            `expected_calibration_error_before` and `_after` temperature scaling.
        environment: The environment; `describe_environment()` with the seed of the run by default.
        dtype: `float32`, or `float16` for a file of half the size (the model computes in float32 again
            once loaded).

    Raises:
        StoreError: HW501 the path is no folder, HW506 a file would be larger than can be loaded, HW507 a
            value that JSON cannot say, HW510 weights that are not finite (in `dtype`), HW511 the folder
            has files that are not of a headwise model, HW512 it cannot be written.
    """
    folder = Path(folder)
    data, training, metrics = _json_value(data), _json_value(training), _json_value(metrics)
    if environment is None:
        environment = describe_environment(section_of(training, "recipe.train").get("seed"))
    tensors = _tensors(model, dtype)
    contents = {
        CONFIG: {
            "format": FORMAT,
            "headwise": __version__,
            "weights": dtype,
            **NORMALIZED_TEXTS,
            "model": model.config.to_json(find_task_settings(model.config.task).sections),
        },
        VOCABULARY: model.features.vocabulary.to_json(),
        LABELS: _json_value(model.outputs_json()),
        CALIBRATION: {**section_of(metrics, "calibration"), **model.FITTED.of(model)},
        ENVIRONMENT: _json_value(environment),
        DATA: data,
        TRAINING: training,
        METRICS: metrics,
    }
    files = {name: _json_bytes(name, content) for name, content in contents.items()}
    if isinstance(model.embedding, PretrainedEmbedding):
        parts = model.embedding.to_files()
        files[PRETRAINED] = _json_bytes(PRETRAINED, parts[PRETRAINED])
        files[TOKENIZER] = _json_bytes(TOKENIZER, json.loads(str(parts[TOKENIZER])))
    if isinstance(model.embedding, BaseEmbedding):
        files[STATIC_EMBEDDINGS] = _json_bytes(
            STATIC_EMBEDDINGS, model.embedding.to_files()[STATIC_EMBEDDINGS]
        )
    files[CARD] = model_card(model, data=data, metrics=metrics, dtype=dtype, training=training).encode(
        "utf-8", "replace"
    )
    check_target(folder)
    try:
        _write_files(folder, files, tensors, model)
    except OSError as error:
        raise StoreError(f"{folder}: the model cannot be saved: {error}", code="HW512") from error


def _write_files(folder: Path, files: Mapping[str, bytes], tensors: dict[str, Tensor], model: Any) -> None:
    staging = folder / STAGING
    staging.parent.mkdir(parents=True, exist_ok=True)
    remove_staging(staging)
    staging.mkdir()
    try:
        for name, content in files.items():
            (staging / name).write_bytes(content)
        save_file(tensors, staging / WEIGHTS, {"format": "pt"})
        os.chmod(staging / WEIGHTS, (staging / CONFIG).stat().st_mode)  # safetensors: owner only
        manifest = {"format": FORMAT, "headwise": __version__, "files": {}}
        for name in sorted([*files, WEIGHTS]):
            path = staging / name
            manifest["files"][name] = {"sha256": file_sha256(path), "size": path.stat().st_size}
        (staging / MANIFEST).write_bytes(_json_bytes(MANIFEST, manifest))
        for path in staging.iterdir():
            flush(path)
        _check_saved(staging, model)
        _put_in_place(staging, folder)
    finally:
        with contextlib.suppress(OSError):
            remove_staging(staging)


def _put_in_place(staging: Path, folder: Path) -> None:
    _keep_edited_card(folder)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(folder / MANIFEST)
    flush(folder)
    # The configuration first, by which `is_headwise_folder` recognises the folder; the manifest last.
    for name in (CONFIG, VOCABULARY, LABELS, CALIBRATION, WEIGHTS):
        os.replace(staging / name, folder / name)
    for name in (PRETRAINED, TOKENIZER, STATIC_EMBEDDINGS):
        if (staging / name).exists():
            os.replace(staging / name, folder / name)
        else:  # left by the previous model
            (folder / name).unlink(missing_ok=True)
    for name in (ENVIRONMENT, DATA, TRAINING, METRICS, CARD):
        os.replace(staging / name, folder / name)
    flush(folder)
    os.replace(staging / MANIFEST, folder / MANIFEST)
    flush(folder)


def _keep_edited_card(folder: Path) -> None:
    """Rename a model card that differs from the saved one: a user has edited it."""
    card = folder / CARD
    if not card.is_file():
        return
    try:
        saved = parse_json(read_limited(folder / MANIFEST), MANIFEST)["files"][CARD]["sha256"]
    except (StoreError, KeyError, TypeError):
        return  # the save was interrupted
    if file_sha256(card) != saved:
        number = 1
        while (backup := folder / f"README.edited-{number}.md").exists():
            number += 1
        os.replace(card, backup)


def _check_saved(staging: Path, model: Any) -> None:
    """Check that the saved files load to an equal model before they replace the previous model."""
    loaded, sections = load_model(staging), find_task_settings(model.config.task).sections
    fitted, reloaded_numbers = model.FITTED.of(model), model.FITTED.of(loaded)
    for what, saved, reloaded in (
        ("configuration", *(saved_model.config.to_json(sections) for saved_model in (model, loaded))),
        ("vocabulary", model.features.vocabulary, loaded.features.vocabulary),
        ("labels", model.outputs_json(), loaded.outputs_json()),
        *((name, number, reloaded_numbers.get(name)) for name, number in fitted.items()),
    ):
        if saved != reloaded:
            raise StoreError(
                f"the {what} of the model cannot be written as JSON without loss", code="HW507"
            )


def _tensors(model: Any, dtype: str) -> dict[str, Tensor]:
    if dtype not in DTYPES:
        raise StoreError(f"dtype must be {' or '.join(DTYPES)}, got {dtype!r}", code="HW507")
    tensors = {}
    for name, tensor in model.state_dict().items():
        stored = tensor.detach().to("cpu", stored_dtype(tensor, getattr(torch, dtype))).contiguous()
        if not np.isfinite(stored.numpy()).all():
            raise StoreError(
                f"the weights {name} hold numbers that are NaN, infinite or too large for {dtype}; the "
                "model is not saved",
                code="HW510",
            )
        tensors[name] = stored
    return tensors


def _json_bytes(name: str, content: object) -> bytes:
    try:
        result = to_json(content, indent=None if name in (VOCABULARY, STATIC_EMBEDDINGS) else 2)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{name}: cannot be written as JSON: {error}", code="HW507") from error
    if len(result) > LIMITS[name]:
        raise StoreError(
            f"{name}: {len(result)} bytes; it could not be loaded again, at most {LIMITS[name]} are read",
            code="HW506",
        )
    return result


def _json_value(value: Any) -> Any:
    """Convert a value to JSON types; numbers that are not finite become None."""
    if is_dataclass(value) and not isinstance(value, type):
        return _json_value(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _json_value(value.tolist())
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_json_value(item) for item in value]
    if isinstance(value, np.generic):
        return _json_value(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def stored_dtype(tensor: Tensor, dtype: torch.dtype) -> torch.dtype:
    """The type in which a tensor is stored: `dtype` for floating-point tensors, or float16 if that is
    exact; all others keep their type."""
    if not tensor.is_floating_point():
        return tensor.dtype
    return torch.float16 if torch.equal(tensor.half().to(tensor.dtype), tensor) else dtype
