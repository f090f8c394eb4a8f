"""The configuration and the metadata of a model folder, which are read without torch."""

from os import PathLike

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


def read_info(folder: PathLike[str] | str) -> ModelInfo:
    """The metadata of a model folder, without loading the model and its vocabulary.

    Raises:
        StoreError: The folder cannot be read (see `StoreError`).
    """
    files = VerifiedFolder(folder)
    return ModelInfo({name.removesuffix(".json"): files.json(name) for name in _INFO})
