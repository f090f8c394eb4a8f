"""Build the configuration of a training run (a recipe) from layers of settings.

There are three layers, and each overrides the ones before it: defaults by the amount of data, a TOML file,
and flags. All layers use the same section and setting names.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from headwise.core.config import from_dict, unknown_name_error
from headwise.core.errors import ConfigError
from headwise.core.tokenizer import get_tokenizer
from headwise.data.columns.reading_options import SplitConfig
from headwise.data.items.item_types import DEFAULT_TASK, options_for
from headwise.data.splits.data_parts import DataParts
from headwise.models.tasks import find_task, find_task_settings
from headwise.nn.encoders.encoder_configs import DEFAULT_ENCODER, encoder_name
from headwise.nn.networks.limits import check_limits
from headwise.nn.networks.model_config import CONFIGS, ModelConfig
from headwise.text.static_embeddings import (
    AUTO,
    NONE,
    StaticEmbeddings,
    check_single_vector_source,
    choose_base,
)
from headwise.text.vector_files import load_vectors
from headwise.text.vocabulary import WordVectors
from headwise.training.run_config import RunConfig, VectorsConfig
from headwise.training.settings import TrainConfig
from headwise.training.warm_start import PreviousModel

SECTIONS = ("data", "split", "vectors", "model", "encoder", *CONFIGS, "train")
Sections = Mapping[str, Mapping[str, Any]]


def build_config(*layers: Mapping[str, Mapping[str, Any]]) -> RunConfig:
    """A recipe from layers of sections; later layers override earlier ones, and missing settings are
    default.

    Raises:
        ConfigError: A section or setting is unknown (the nearest one is suggested), has the wrong type, or
            exceeds its limit.
    """
    merged: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for layer in layers:
        for section, settings in layer.items():
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


def _normalized_keys(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("-", "_"): value for key, value in settings.items()}


def _encoder_settings(layers: Sequence[Mapping[str, Any]], default: str) -> dict[str, Any]:
    """The encoder's settings. The last layer with a name decides; settings for other encoders are
    dropped."""
    current, names = default, []
    for layer in layers:
        current = layer.get("name", current)
        names.append(current)
    merged: dict[str, Any] = {"name": current}
    for name, layer in zip(names, layers, strict=True):
        if name == current:
            merged.update(layer)
    return merged


def read_preset(path: Path) -> dict[str, dict[str, Any]]:
    """The sections of a TOML recipe: a file, or the name of a recipe in headwise.

    Raises:
        ConfigError: There is no such file or recipe, or it is not valid TOML (the message has the line).
    """
    recipes = {item.name.removesuffix(".toml"): item for item in files("headwise.app.presets").iterdir()}
    recipes = {name: item for name, item in recipes.items() if item.name.endswith(".toml")}
    if not path.suffix and not path.exists() and str(path) not in recipes:
        raise unknown_name_error("recipe", str(path), [*sorted(recipes), "any TOML file"])
    try:
        source = path if path.suffix or path.exists() else recipes[str(path)]
        with source.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the recipe: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # also for huge integers, deep nesting
        raise ConfigError(f"{path}: not a TOML file: {error}") from None


def defaults_by_size(
    items: int, *, vectors: bool, encoder: str = DEFAULT_ENCODER, task: str = DEFAULT_TASK
) -> dict[str, dict[str, Any]]:
    """Default settings for a number of training items; see `TaskSettings.defaults`."""
    return find_task_settings(task).defaults(items, vectors=vectors, encoder=encoder)


class SettingsSources:
    """A cache of word vectors and static embeddings (bases) for one data set, so that repeated calls of
    `resolve_recipe` read each of them once.

    Args:
        parts: The data.
    """

    def __init__(self, parts: DataParts[Any]):
        self.parts = parts
        self._vectors = dict[str, WordVectors]()
        self._bases = dict[tuple[str, str], tuple[StaticEmbeddings | None, str]]()

    def vectors(self, file: str) -> WordVectors:
        """The word vectors of a file; see `load_vectors`."""
        if file not in self._vectors:
            self._vectors[file] = load_vectors(file)
        return self._vectors[file]

    def base(self, name: str, tokenizer: str) -> tuple[StaticEmbeddings | None, str]:
        """The base for the tokens of the training texts, and a note; see `choose_base`."""
        key = name, tokenizer
        if key not in self._bases:
            cut, kind = get_tokenizer(tokenizer).words, self.parts.kind
            texts = (words for item in self.parts.train for words in kind.words(item, cut))
            self._bases[key] = choose_base(name, texts)
        return self._bases[key]


def resolve_recipe(
    parts: DataParts[Any],
    layers: Sequence[Sections],
    previous_model: PreviousModel | None = None,
    sources: SettingsSources | None = None,
) -> tuple[RunConfig, WordVectors | None, tuple[str, ...]]:
    """The settings of a training run: defaults for the data, overridden by the settings of the user.

    Args:
        parts: The data.
        layers: Settings of the user; later layers override earlier ones.
        previous_model: A model to start from (warm start); its settings override the defaults.
        sources: A cache, for repeated calls on the same data.

    Returns:
        The recipe, its word vectors (None without a vector file), and notes for the user.
    """
    if previous_model is not None:
        requested = build_config(*layers)
        previous_model.check_task(requested)
        previous_settings = {
            name: of
            for name, of in previous_model.settings().items()
            if name in ("model", *requested.sections)
        }
        layers = (previous_settings, *layers)
    requested = build_config(*layers)
    task, task_settings = find_task(requested.model.task), find_task_settings(requested.model.task)
    sources = sources or SettingsSources(parts)
    vectors = sources.vectors(requested.vectors.file) if requested.vectors.file else None
    encoder = encoder_name(requested.model.encoder)
    learnt = vectors is not None or (previous_model is not None and previous_model.bare)
    by_size = task_settings.defaults(len(parts.train), vectors=learnt, encoder=encoder)
    if vectors is not None:
        by_size["words"]["vector_size"] = vectors.size
    name, note, base_section = _base_name(requested, task_settings.uses_embeddings), "", {"name": ""}
    suits: Sections = {}
    if name != NONE:
        base, note = sources.base(name, requested.model.words.tokenizer)
        if base is not None:
            if not any(layer.get("encoder") for layer in layers):
                suits = task.encoder_with_base(parts)
            if suits:
                encoder = suits["encoder"]["name"]
                by_size = task_settings.defaults(len(parts.train), vectors=False, encoder=encoder)
            by_size = task_settings.defaults_with_base(by_size, len(parts.train))
            base_name = base.name if name == AUTO else name
            base_section = {"name": base_name, "size": base.size, "subwords": len(base.subwords)}
    base_layer = {"base": base_section} if "base" in requested.sections else {}
    recipe = build_config(by_size, suits, task.suggested(parts), *layers, base_layer)
    if previous_model is not None:
        previous_model.check(recipe)
        recipe = replace(recipe, init_from=previous_model)
    return recipe, vectors, (note,) if note else ()


def _base_name(requested: RunConfig, based: bool) -> str:
    """The name of the requested base; NONE without one.

    Raises:
        ConfigError: Word vectors or a pretrained encoder are requested, too.
    """
    if "base" not in requested.sections:
        return NONE
    name, alternatives = (
        requested.model.base.name,
        (requested.vectors.file, requested.model.pretrained.name),
    )
    if name in ("", AUTO):
        return NONE if any(alternatives) or not (based or name == AUTO) else AUTO
    if name != NONE:
        check_single_vector_source(*alternatives)
    return name
