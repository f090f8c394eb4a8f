"""The configuration, the fitted numbers and the metadata of a model folder; they are read without torch."""

from os import PathLike
from typing import Any

import numpy as np

from headwise.artifacts.model_folder import StoreError, VerifiedFolder, get_typed, with_reading_rule
from headwise.artifacts.model_info import ModelInfo
from headwise.artifacts.weights import DTYPES
from headwise.core.config import JsonObject
from headwise.core.errors import ConfigError, HeadwiseError
from headwise.core.folder_layout import CALIBRATION, CONFIG, DATA, ENVIRONMENT, LABELS, METRICS, TRAINING
from headwise.models.tasks import find_task_settings
from headwise.nn.networks.model_config import ModelConfig
from headwise.runtime.limits import check_limits
from headwise.runtime.outputs import NOVELTY_NUMBERS, FittedNumbers

_INFO = (CONFIG, LABELS, CALIBRATION, ENVIRONMENT, DATA, TRAINING, METRICS)


def read_folder_config(files: VerifiedFolder) -> tuple[ModelConfig, type[np.floating]]:
    """The configuration of the model in a folder, and the floating-point type of its weights.

    Raises:
        StoreError: HW507, they are invalid.
    """
    settings, where = files.json(CONFIG), files.name(CONFIG)
    model_settings = get_typed(settings, "model", dict, where)
    if isinstance(words := model_settings.get("words"), dict):
        model_settings = {**model_settings, "words": with_reading_rule(settings, words)}
    config = parse_config(model_settings, f"{where}: model")
    dtype = DTYPES.get(get_typed(settings, "weights", str, where))
    if dtype is None:
        raise StoreError(f"{where}: weights must be {' or '.join(DTYPES)}", code="HW507")
    return config, dtype


def parse_config(data: JsonObject, where: str) -> ModelConfig:
    """Parse the configuration of a model.

    Raises:
        StoreError: HW507, it is invalid.
    """
    try:
        check_limits(data, where)
    except ConfigError as error:
        raise StoreError(error.args[0], code="HW507") from error
    try:
        sections = find_task_settings(data.get("task", ModelConfig.task)).sections
    except HeadwiseError as error:
        raise StoreError(f"{where}: {error.args[0]}", code="HW507") from error
    try:
        return ModelConfig.from_json(data, where, sections)
    except HeadwiseError as error:
        raise StoreError(error.args[0], code="HW507") from error
    except Exception as error:  # tables where names are expected and the like
        raise StoreError(f"{where}: no configuration of a model ({error})", code="HW507") from error


def load_calibration(
    model: Any, fitted: FittedNumbers, files: VerifiedFolder, *, has_references: bool
) -> None:
    """Set the fitted numbers of a model to those in its folder (calibration.json).

    Args:
        model: The model.
        fitted: Names and minimums of the numbers.
        files: The folder.
        has_references: Whether the model has vectors of training texts, for a novelty detector.

    Raises:
        StoreError: HW510, one is missing, no number or too small.
    """
    saved, where = files.json(CALIBRATION), files.name(CALIBRATION)
    for name, least in fitted.numbers.items():
        if name in saved or name not in fitted.optional:
            setattr(model, name, _number(saved.get(name), name, least, where))
    for name, least in fitted.label_numbers.items():
        if name in saved or name not in fitted.optional:
            values, count = saved.get(name), len(model.labels)
            if not isinstance(values, list) or len(values) != count:
                problem = f"{where}: {name} must be {count} numbers, one for each label"
                raise StoreError(problem, code="HW510")
            setattr(model, name, [_number(value, name, least, where) for value in values])
    if has_references and model.novelty is None:
        raise StoreError(
            f"{where}: the model has vectors of training texts, but the numbers of its novelty detector "
            f"({', '.join(NOVELTY_NUMBERS)}) are missing",
            code="HW510",
        )


def _number(value: object, name: str, least: float, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= 1e12:
        raise StoreError(
            f"{where}: {name} must be a number between {least:g} and 1e12, found {value!r:.80}",
            code="HW510",
        )
    return float(value)


def read_info(folder: PathLike[str] | str) -> ModelInfo:
    """The metadata of a model folder, without loading the model and its vocabulary.

    Raises:
        StoreError: The folder cannot be read (see `StoreError`).
    """
    files = VerifiedFolder(folder)
    return ModelInfo({name.removesuffix(".json"): files.json(name) for name in _INFO})
