"""Build the configuration of a training run (a recipe) from layers of settings.

There are three layers, and each overrides the ones before it: defaults by the amount of data, a TOML file,
and flags. All layers use the same section and setting names.
"""

import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from headwise.app.reporter import NULL_REPORTER, Reporter
from headwise.artifacts.folder_config import read_info
from headwise.core.config import JsonMapping, JsonObject, from_dict, unknown_name_error
from headwise.core.deprecation import warn_renamed
from headwise.core.errors import ConfigError
from headwise.data.files.compression import STANDARD_INPUT
from headwise.data.items.item_types import DEFAULT_TASK, options_for
from headwise.data.splits.split_config import SplitConfig
from headwise.models.tasks import find_task_settings
from headwise.nn.networks.model_config import CONFIGS, ModelConfig
from headwise.runtime.limits import check_limits
from headwise.text.static_embeddings.base_choice import NONE
from headwise.training.settings import RunConfig, TrainConfig, VectorsConfig

SECTIONS = ("data", "split", "vectors", "model", "encoder", *CONFIGS, "train")
Sections = Mapping[str, JsonMapping]


def build_config(*layers: Mapping[str, JsonMapping]) -> RunConfig:
    """A recipe from layers of sections; later layers override earlier ones, and missing settings are
    default.

    Raises:
        ConfigError: A section or setting is unknown (the nearest one is suggested), has the wrong type, or
            exceeds its limit.
    """
    merged: dict[str, JsonObject] = {section: {} for section in SECTIONS}
    for layer in layers:
        for section, settings in layer.items():
            if section == "expert":
                warn_renamed("the section 'expert'", "'linear_model'")
                section = "linear_model"
            if section not in SECTIONS:
                raise unknown_name_error("section", str(section), list(SECTIONS))
            if not isinstance(settings, Mapping):
                raise ConfigError(f"{section}: expected a table of settings, got {settings!r}")
            if section != "encoder":
                merged[section].update(_normalized_keys(settings))
    for key in merged["model"]:
        if key not in ("task", "readout"):
            error = unknown_name_error("setting", key, ["task", "readout"])
            raise ConfigError(f"model: {error.args[0]}")
    name = merged["model"].get("task", DEFAULT_TASK)
    task_settings = find_task_settings(name)
    sections = task_settings.sections
    encoders = [_normalized_keys(layer.get("encoder", {})) for layer in layers]
    merged["encoder"] = _encoder_settings(encoders, task_settings.encoder)
    for section in CONFIGS:
        if merged[section] and section not in sections:
            hint = f"it has those of {', '.join(sections)}"
            if section == "base" and "words" in sections:
                hint = (
                    "its words begin with vectors (--vectors FILE), or all of it with a model of masked "
                    "words (--base FOLDER)"
                )
            raise ConfigError(f"{section}: the task {name} has no such settings; {hint}")
    for section in ("encoder", "vectors"):
        named_settings = {key for layer in layers for key in layer.get(section, {})} - {"extra_words"}
        if "encoder" not in sections and named_settings:
            raise ConfigError(f"{section}: the task {name} has no such settings, as it reads no texts")
    parts = {section: merged[section] for section in sections}
    model = ModelConfig.from_json({**parts, **merged["model"]}, sections=sections)
    check_limits(model.to_json(sections))
    return RunConfig(
        data=options_for(name, merged["data"], "data"),
        split=from_dict(SplitConfig, merged["split"], "split"),
        vectors=from_dict(VectorsConfig, merged["vectors"], "vectors"),
        model=model,
        train=from_dict(TrainConfig, merged["train"], "train"),
        sections=sections,
    )


def _normalized_keys(settings: JsonMapping) -> JsonObject:
    return {key.replace("-", "_"): value for key, value in settings.items()}


def _encoder_settings(layers: Sequence[JsonMapping], default: str) -> JsonObject:
    """The encoder's settings. The last layer with a name decides; settings for other encoders are
    dropped."""
    current, names = default, []
    for layer in layers:
        current = layer.get("name", current)
        names.append(current)
    merged: JsonObject = {"name": current}
    for name, layer in zip(names, layers, strict=True):
        if name == current:
            merged.update(layer)
    return merged


def read_preset(
    path: Path, *, task: str | None = None, reporter: Reporter = NULL_REPORTER
) -> dict[str, JsonObject]:
    """The sections of a recipe: a TOML file ("-" is standard input), the name of a recipe in headwise, or a
    model folder, for the settings that the model was trained with.

    Args:
        path: The file, the name or the folder.
        task: The task that the user names; None if none is named.
        reporter: Receives notes on the settings of a model that are left out.

    Raises:
        ConfigError: There is no such file or recipe, or it is not valid TOML (the message has the line); or
            the model has no settings, or is of another task.
        StoreError: The folder is not that of a model.
    """
    if path.is_dir():
        return _settings_of_model(path, task, reporter)
    presets = files("headwise.app.presets").iterdir()
    recipes = {file.name[:-5]: file for file in presets if file.name.endswith(".toml")}
    is_standard = str(path) == STANDARD_INPUT
    if not (is_standard or path.suffix or path.exists()) and str(path) not in recipes:
        raise unknown_name_error("recipe", str(path), [*sorted(recipes), "any TOML file"])
    try:
        if is_standard:
            content = sys.stdin.buffer.read()
        else:
            content = (path if path.suffix or path.exists() else recipes[str(path)]).read_bytes()
        return tomllib.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the recipe: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # also for huge integers, deep nesting
        raise ConfigError(f"{path}: not a TOML file: {error}") from None


_NAMES_OF_FILES = (("vectors", "file"), ("base", "name"), ("pretrained", "name"), ("syntax", "pipeline"))
"""Settings that may name a file or a folder."""


def _settings_of_model(folder: Path, task: str | None, reporter: Reporter) -> dict[str, JsonObject]:
    """The settings that a model was trained with, without its files and its device."""
    training = read_info(folder).training
    sections: dict[str, JsonObject] = {name: dict(of) for name, of in training.recipe.items()}
    model_task = sections.get("model", {}).get("task")
    if model_task is None:
        raise ConfigError(
            f"{folder}: the model has no settings of a training run, as it was saved from Python without "
            "them; give a TOML file"
        )
    if task not in (None, model_task):
        raise ConfigError(
            f"{folder}: the settings are those of the task {model_task}, but the task is {task}; leave out "
            "--recipe, or give a model of this task"
        )
    if (base := sections.get("base")) is not None and not base.get("name"):  # else one would be chosen
        base["name"] = NONE
    left_out = []
    for section, key in _NAMES_OF_FILES:
        name = sections.get(section, {}).get(key)
        if name and (section == "vectors" or _names_folder(name, section)):
            left_out.append(f"{section}.{key} = {name!r}")
            del sections[section][key]
    device = sections.get("train", {}).pop("device", TrainConfig.device)
    if device != TrainConfig.device:
        left_out.append(f"train.device = {device!r}")
    reporter.note(f"settings of the model {folder} (task {model_task})")
    if left_out:
        reporter.warn(
            f"{folder}: of these settings, files and devices are left out; name them again if the new "
            f"model is to use them: {', '.join(left_out)}"
        )
    if training.previous:
        reporter.note(f"{folder} started from the model {training.previous}; --base MODEL does so again")
    return sections


def _names_folder(name: str, section: str) -> bool:
    """Whether a name is a path. Encoders on the hub may have a slash in their names, bases have none."""
    path = Path(name)
    slash = section == "base" and len(path.parts) > 1
    return slash or path.is_absolute() or path.exists() or name[0] in ".~"
