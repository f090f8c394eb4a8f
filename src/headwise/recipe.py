"""Recipe: everything that decides what `headwise train` does, from files, flags and the size of the data.

Three layers of settings, the later over the earlier: defaults for the size of the data, a TOML file, and
flags. All of them name the same fields.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from headwise.config import check_range, from_dict, to_dict, unknown
from headwise.data.options import ReadOptions
from headwise.errors import ConfigError
from headwise.model import ModelConfig
from headwise.train.config import TrainConfig

DEFAULT_ENCODER = "ms-transformer"
_MODEL = ("words", "pretrained", "syntax", "encoder", "classifier", "expert")
SECTIONS = ("data", "split", "vectors", "model", *_MODEL, "train")


@dataclass(frozen=True)
class SplitConfig:
    """How a file is split where no dev or test file is given."""

    dev: float = 0.15
    """Share of the training file for dev: it chooses the best epoch and sets the temperature."""
    test: float = 0.15
    """Share of the training file for the test; 0 for no test."""
    seed: int = 0
    """Another seed gives another split; the training seed does not change it."""

    def __post_init__(self) -> None:
        check_range(self, "dev", "test", low=0, high=1, open=True)
        if self.dev + self.test >= 1:
            raise ConfigError(f"dev {self.dev:g} and test {self.test:g} leave nothing to train on")


@dataclass(frozen=True)
class VectorsConfig:
    """Pretrained word vectors to begin with."""

    file: str | None = None
    """A file in GloVe or word2vec text format (plain, .gz, .xz), or .npy with the words beside it."""
    extra_words: int = 10_000
    """How many of the file's most frequent words are known even where no training text has them; they cost
    room in the model's folder, but no time in training."""

    def __post_init__(self) -> None:
        check_range(self, "extra_words", low=0)


@dataclass(frozen=True)
class Recipe:
    """A whole training run, apart from its texts."""

    data: ReadOptions = field(default_factory=ReadOptions)
    split: SplitConfig = field(default_factory=SplitConfig)
    vectors: VectorsConfig = field(default_factory=VectorsConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)

    def to_json(self) -> dict[str, Any]:
        """Plain data, in the sections of a TOML recipe."""
        model = self.model.to_json()
        return {
            "data": {key: value for key, value in asdict(self.data).items() if value is not None},
            "split": to_dict(self.split),
            "vectors": {key: value for key, value in to_dict(self.vectors).items() if value is not None},
            "model": {"readout": model["readout"]},
            **{section: model[section] for section in _MODEL},
            "train": to_dict(self.train),
        }


def build_recipe(*layers: Mapping[str, Mapping[str, Any]]) -> Recipe:
    """A recipe from layers of sections, the later over the earlier; what none of them names is default.

    Raises:
        ConfigError: A section or setting is unknown (the nearest is named) or has the wrong type.
    """
    merged: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for layer in layers:
        for section, settings in layer.items():
            if section not in SECTIONS:
                raise unknown("section", section, list(SECTIONS))
            if not isinstance(settings, Mapping):
                raise ConfigError(f"{section}: expected a table of settings, got {settings!r}")
            if section != "encoder":
                merged[section].update(_spelt(settings))
    merged["encoder"] = _encoder_settings([_spelt(layer.get("encoder", {})) for layer in layers])
    for key in merged["model"]:
        if key != "readout":
            error = unknown("setting", key, ["readout"])
            raise ConfigError(f"model: {error.args[0]}")
    parts = {section: merged[section] for section in _MODEL}
    return Recipe(
        data=from_dict(ReadOptions, merged["data"], "data"),
        split=from_dict(SplitConfig, merged["split"], "split"),
        vectors=from_dict(VectorsConfig, merged["vectors"], "vectors"),
        model=ModelConfig.from_json({**parts, **merged["model"]}),
        train=from_dict(TrainConfig, merged["train"], "train"),
    )


def _spelt(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("-", "_"): value for key, value in settings.items()}


def _encoder_settings(layers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The encoder's settings; those said of another encoder than the one named last do not carry over."""
    current, names = DEFAULT_ENCODER, []
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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a TOML file: {error}") from None


def size_defaults(
    texts: int, *, vectors: bool, encoder: str = DEFAULT_ENCODER
) -> dict[str, dict[str, Any]]:
    """Sensible settings for a number of training texts.

    Args:
        texts: Training texts.
        vectors: Whether there are pretrained vectors.
        encoder: Its name. Encoders other than ours keep what their papers say, but for the width.
    """
    small, large = texts < 5_000, texts > 50_000
    width, heads, layers = (300, 10, 3) if vectors else (128, 4, 2)
    settings: dict[str, dict[str, Any]] = {
        "words": {"min_count": 1 if small else 2 if not large else 5, "max_words": 30_000, "dropout": 0.3},
        "encoder": {"name": encoder, "width": width},
        "classifier": {"hidden": 128, "dropout": 0.3},
        "train": {
            # About as many updates for every size: word vectors that begin at random need them.
            "epochs": 25 if small else 3 if large else 4,
            "batch_texts": 16 if small else 32,
            "vectors_learning_rate": 5e-3,
            # A few hundred dev texts tell losses apart better than they tell accuracies apart.
            "score": "loss" if small else "accuracy",
        },
    }
    if vectors:
        settings["words"]["dropout"] = 0.5
        settings["classifier"] = {"hidden": 300, "dropout": 0.5, "normalize": "layer"}
        settings["train"] |= {"epochs": 6 if small else 4, "vectors_learning_rate": 1e-4}
    else:
        settings["words"]["vector_size"] = width
    if encoder in ("ms-transformer", "transformer"):
        settings["model"] = {"readout": "mean"}
        settings["encoder"] |= {"heads": heads, "head_size": width // heads, "layers": layers}
    if encoder == "transformer":
        settings["encoder"]["feedforward"] = 4 * width
    return settings
