"""Recipes from files, flags and the size of the data.

Three layers of settings, the later over the earlier: defaults for the size of the data, a TOML file, and
flags. All of them name the same fields.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from headwise.config import from_dict, unknown
from headwise.data.kinds import DEFAULT_TASK, options_for
from headwise.data.parts import Parts
from headwise.data.split import SplitConfig
from headwise.errors import ConfigError
from headwise.features.bases import AUTO, NONE, Base, check_alone, choose_base
from headwise.features.tokenize import get_tokenizer
from headwise.features.vector_files import load_vectors
from headwise.features.vectors import WordVectors
from headwise.models.limits import check_limits
from headwise.models.model_config import CONFIGS, ModelConfig, encoder_name
from headwise.tasks import find_task
from headwise.tasks.task import DEFAULT_ENCODER
from headwise.train.config import TrainConfig
from headwise.train.former import Former
from headwise.train.recipe import Recipe, VectorsConfig

SECTIONS = ("data", "split", "vectors", "model", "encoder", *CONFIGS, "train")
Sections = Mapping[str, Mapping[str, Any]]


def build_recipe(*layers: Mapping[str, Mapping[str, Any]]) -> Recipe:
    """A recipe from layers of sections, the later over the earlier; what none of them names is default.

    Raises:
        ConfigError: A section or setting is unknown (the nearest is named), has the wrong type, or is
            larger than can be.
    """
    merged: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for layer in layers:
        for section, settings in layer.items():
            if section not in SECTIONS:
                raise unknown("section", str(section), list(SECTIONS))
            if not isinstance(settings, Mapping):
                raise ConfigError(f"{section}: expected a table of settings, got {settings!r}")
            if section != "encoder":
                merged[section].update(_spelt(settings))
    for key in merged["model"]:
        if key not in ("task", "readout"):
            error = unknown("setting", key, ["task", "readout"])
            raise ConfigError(f"model: {error.args[0]}")
    name = merged["model"].get("task", DEFAULT_TASK)
    task = find_task(name)
    own = task.sections
    encoders = [_spelt(layer.get("encoder", {})) for layer in layers]
    merged["encoder"] = _encoder_settings(encoders, task.encoder)
    for section in CONFIGS:
        if merged[section] and section not in own:
            told = f"it has those of {', '.join(own)}"
            if section == "base" and "words" in own:
                told = (
                    "its words begin with vectors (--vectors FILE), or all of it with a model of masked "
                    "words (--base FOLDER)"
                )
            raise ConfigError(f"{section}: the task {name} has no such settings; {told}")
    for section in ("encoder", "vectors"):
        given = {key for layer in layers for key in layer.get(section, {})} - {"extra_words"}
        if "encoder" not in own and given:
            raise ConfigError(f"{section}: the task {name} has no such settings, as it reads no texts")
    parts = {section: merged[section] for section in own}
    model = ModelConfig.from_json({**parts, **merged["model"]}, sections=own)
    check_limits(model.to_json(own))
    return Recipe(
        data=options_for(name, merged["data"], "data"),
        split=from_dict(SplitConfig, merged["split"], "split"),
        vectors=from_dict(VectorsConfig, merged["vectors"], "vectors"),
        model=model,
        train=from_dict(TrainConfig, merged["train"], "train"),
        sections=own,
    )


def _spelt(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("-", "_"): value for key, value in settings.items()}


def _encoder_settings(layers: Sequence[Mapping[str, Any]], default: str) -> dict[str, Any]:
    """The encoder's settings; those said of another encoder than the one named last do not carry over."""
    current, names = default, []
    for layer in layers:
        current = layer.get("name", current)
        names.append(current)
    merged: dict[str, Any] = {"name": current}
    for name, layer in zip(names, layers, strict=True):
        if name == current:
            merged.update(layer)
    return merged


def read_recipe(path: Path) -> dict[str, dict[str, Any]]:
    """The sections of a TOML recipe: a file, or the name of one that comes with headwise.

    Raises:
        ConfigError: There is no such file or recipe, or it is not TOML (with its line).
    """
    own = {item.name.removesuffix(".toml"): item for item in files("headwise.recipes").iterdir()}
    own = {name: item for name, item in own.items() if item.name.endswith(".toml")}
    if not path.suffix and not path.exists() and str(path) not in own:
        raise unknown("recipe", str(path), [*sorted(own), "any TOML file"])
    try:
        source = path if path.suffix or path.exists() else own[str(path)]
        with source.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the recipe: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # also a number of 4,301 digits, lists within lists
        raise ConfigError(f"{path}: not a TOML file: {error}") from None


def size_defaults(
    items: int, *, vectors: bool, encoder: str = DEFAULT_ENCODER, task: str = DEFAULT_TASK
) -> dict[str, dict[str, Any]]:
    """Sensible settings for a number of training items; see `headwise.tasks.task.Task.defaults`."""
    return find_task(task).defaults(items, vectors=vectors, encoder=encoder)


class Sources:
    """What settings are chosen by: word vectors of files, and bases for these data; each is read once, by
    whoever chooses several times.

    Args:
        parts: The data.
    """

    def __init__(self, parts: Parts[Any]):
        self.parts = parts
        self._vectors = dict[str, WordVectors]()
        self._bases = dict[tuple[str, str], tuple[Base | None, str]]()

    def vectors(self, file: str) -> WordVectors:
        """See `load_vectors`."""
        if file not in self._vectors:
            self._vectors[file] = load_vectors(file)
        return self._vectors[file]

    def base(self, name: str, tokenizer: str) -> tuple[Base | None, str]:
        """See `choose_base`; by the words that a tokenizer finds in the training texts."""
        key = name, tokenizer
        if key not in self._bases:
            cut, kind = get_tokenizer(tokenizer).words, self.parts.kind
            texts = (words for item in self.parts.train for words in kind.words(item, cut))
            self._bases[key] = choose_base(name, texts)
        return self._bases[key]


def choose_settings(
    parts: Parts[Any],
    layers: Sequence[Sections],
    former: Former | None = None,
    sources: Sources | None = None,
) -> tuple[Recipe, WordVectors | None, tuple[str, ...]]:
    """The settings of a training: what suits the data under what the user has said.

    Args:
        parts: The data.
        layers: What the user has said, the later over the earlier.
        former: An earlier model to begin with; its settings go before those by size.
        sources: Where settings for the same data are chosen several times.

    Returns:
        The recipe; the word vectors that it names, if any; and what there is to say.
    """
    if former is not None:
        asked = build_recipe(*layers)
        former.check_task(asked)
        own = {name: of for name, of in former.settings().items() if name in ("model", *asked.sections)}
        layers = (own, *layers)
    asked = build_recipe(*layers)
    task, sources = find_task(asked.model.task), sources or Sources(parts)
    vectors = sources.vectors(asked.vectors.file) if asked.vectors.file else None
    encoder = encoder_name(asked.model.encoder)
    learnt = vectors is not None or (former is not None and former.bare)
    by_size = task.defaults(len(parts.train), vectors=learnt, encoder=encoder)
    if vectors is not None:
        by_size["words"]["vector_size"] = vectors.size
    name, note, own = _base_name(asked, task.based), "", {"name": ""}
    suits: Sections = {}
    if name != NONE:
        base, note = sources.base(name, asked.model.words.tokenizer)
        if base is not None:
            if not any(layer.get("encoder") for layer in layers):
                suits = task.encoder_with_base(parts)
            if suits:
                encoder = suits["encoder"]["name"]
                by_size = task.defaults(len(parts.train), vectors=False, encoder=encoder)
            by_size = task.defaults_with_base(by_size, len(parts.train))
            known = base.name if name == AUTO else name
            own = {"name": known, "size": base.size, "subwords": len(base.subwords)}
    found = {"base": own} if "base" in asked.sections else {}
    recipe = build_recipe(by_size, suits, task.suggested(parts), *layers, found)
    if former is not None:
        former.check(recipe)
        recipe = replace(recipe, former=former)
    return recipe, vectors, (note,) if note else ()


def _base_name(asked: Recipe, based: bool) -> str:
    """The base that is asked for.

    Raises:
        ConfigError: So are vectors or a pretrained encoder.
    """
    if "base" not in asked.sections:
        return NONE
    name, others = asked.model.base.name, (asked.vectors.file, asked.model.pretrained.name)
    if name in ("", AUTO):
        return NONE if any(others) or not (based or name == AUTO) else AUTO
    if name != NONE:
        check_alone(*others)
    return name
