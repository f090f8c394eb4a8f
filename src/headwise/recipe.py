"""Recipe: everything that decides what `headwise train` does, from files, flags and the size of the data.

Three layers of settings, the later over the earlier: defaults for the size of the data, a TOML file, and
flags. All of them name the same fields.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from headwise.config import check_range, from_dict, to_dict, unknown
from headwise.data.options import ReadOptions
from headwise.data.split import SplitConfig
from headwise.data.tasks import DATA
from headwise.errors import ConfigError
from headwise.models.model_config import CONFIGS, ModelConfig
from headwise.models.model_config import SECTIONS as MODEL_SECTIONS
from headwise.train.config import TrainConfig

DEFAULT_ENCODER = "ms-transformer"
DEFAULT_TASK = "classify"
_OTHER_ENCODERS = {"language-model": "transformer"}
"""The encoders that other tasks begin with: the Multi-Scale Transformer looks to both sides."""
SECTIONS = ("data", "split", "vectors", "model", "encoder", *CONFIGS, "train")


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

    data: Any = field(default_factory=ReadOptions)
    """Of the kind that `DATA` has for the task."""
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
            "model": {name: model.pop(name) for name in ("task", "readout") if name in model},
            **model,
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
    for key in merged["model"]:
        if key not in ("task", "readout"):
            error = unknown("setting", key, ["task", "readout"])
            raise ConfigError(f"model: {error.args[0]}")
    task = merged["model"].get("task", DEFAULT_TASK)
    if task not in MODEL_SECTIONS:
        raise unknown("task", str(task), list(MODEL_SECTIONS))
    own = MODEL_SECTIONS[task]
    default = _OTHER_ENCODERS.get(task, DEFAULT_ENCODER)
    merged["encoder"] = _encoder_settings([_spelt(layer.get("encoder", {})) for layer in layers], default)
    for section in CONFIGS:
        if merged[section] and section not in own:
            raise ConfigError(
                f"{section}: the task {task} has no such settings; it has those of {', '.join(own)}"
            )
    for section in ("encoder", "vectors"):
        given = {key for layer in layers for key in layer.get(section, {})} - {"extra_words"}
        if "encoder" not in own and given:
            raise ConfigError(f"{section}: the task {task} has no such settings, as it reads no texts")
    parts = {section: merged[section] for section in own}
    return Recipe(
        data=from_dict(DATA[task], merged["data"], "data"),
        split=from_dict(SplitConfig, merged["split"], "split"),
        vectors=from_dict(VectorsConfig, merged["vectors"], "vectors"),
        model=ModelConfig.from_json({**parts, **merged["model"]}),
        train=from_dict(TrainConfig, merged["train"], "train"),
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
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not a TOML file: {error}") from None


def size_defaults(
    texts: int, *, vectors: bool, encoder: str = DEFAULT_ENCODER, task: str = DEFAULT_TASK
) -> dict[str, dict[str, Any]]:
    """Sensible settings for a number of training texts.

    Args:
        texts: Training texts.
        vectors: Whether there are pretrained vectors.
        encoder: Its name. Encoders other than ours keep what their papers say, but for the width.
        task: What the model does.
    """
    found = _of_texts(texts, vectors=vectors, encoder=encoder)
    if task != DEFAULT_TASK:
        del found["classifier"], found["model"]
        _ADAPT[task](found, texts)
    return found


def _for_tags(settings: dict[str, dict[str, Any]], texts: int) -> None:
    """Every word of a sentence is an example, so fewer sentences are enough."""
    small = texts < 5_000
    settings["words"]["dropout"] = 0.3
    settings["words"]["min_count"] = 1
    settings["train"] |= {"epochs": 20 if small else 12, "batch_texts": 16, "patience": 5}


def _for_label_sets(settings: dict[str, dict[str, Any]], texts: int) -> None:
    """As for one label; what is best on dev is the F1 of the sets, or of few texts the loss."""
    of_one = _of_texts(
        texts, vectors="vector_size" not in settings["words"], encoder=settings["encoder"]["name"]
    )
    settings |= {"classifier": of_one["classifier"], "model": of_one["model"]}
    settings["train"] |= {"score": "loss" if texts < 5_000 else "f1"}


def _for_numbers(settings: dict[str, dict[str, Any]], texts: int) -> None:
    """As for labels, with the regressor in the classifier's place."""
    with_vectors = "vector_size" not in settings["words"]
    settings["regressor"] = {"hidden": 300 if with_vectors else 128, "normalize": "layer"}
    settings["model"] = {"readout": "mean,max"}
    settings["train"] |= {"score": "loss"}


def _for_pairs(settings: dict[str, dict[str, Any]], texts: int) -> None:
    """What holds between two texts is harder to learn than what one is about: more and slower steps."""
    settings["words"]["dropout"] = 0.3
    settings["model"] = {"readout": "max"}
    settings["classifier"] = {"hidden": 300, "dropout": 0.3, "normalize": "layer"}
    settings["pair"] = {"features": "product"}
    settings["expert"] = {"max_features": 100_000}  # it has four weights a label for each
    settings["train"] |= {"epochs": 10 if texts < 20_000 else 6, "batch_texts": 32, "score": "loss"}


def _for_pair_scores(settings: dict[str, dict[str, Any]], texts: int) -> None:
    """As for the labels of pairs; the regressor takes the classifier's place."""
    _for_pairs(settings, texts)
    del settings["expert"]
    settings["regressor"] = settings.pop("classifier")


def _for_bags(settings: dict[str, dict[str, Any]], bags: int) -> None:
    """Bags are few, and epochs of them short; nothing is there of words."""
    settings.clear()
    settings["train"] = {
        "epochs": 60 if bags < 5_000 else 20,
        "learning_rate": 2e-3,
        "batch_texts": 16,
        "patience": 15 if bags < 5_000 else 5,
        "score": "loss",
    }


def _for_language(settings: dict[str, dict[str, Any]], symbols: int) -> None:
    """Encoders that look back, and epochs of at most a million symbols. Every second head leans towards the
    symbols right before, which is learned late from position embeddings."""
    encoder = settings["encoder"]["name"]
    settings.clear()
    sizes = {"width": 128, "layers": 3, "heads": 4, "head_size": 32}
    backwards: dict[str, Any] = {"priors": ["forward + word-distance(1)", "forward"]}
    if encoder == "bp-transformer":
        backwards = {"causal": True, "k": 32, "attention_dropout": 0.1}
    elif encoder in ("transformer", "ms-transformer"):
        backwards |= {"classification_node": False, "positions": "none"}
    if encoder != "ms-transformer":
        sizes["feedforward"] = 512
    # Other encoders look ahead; which settings they have matters no more.
    known = encoder in ("transformer", "ms-transformer", "bp-transformer", "ms-san")
    settings["encoder"] = {"name": encoder, **(sizes | backwards if known else {})}
    settings["language"] = {"windows": min(2_000, -(-symbols // 512))}
    settings["train"] = {
        "epochs": 10 if symbols < 5_000_000 else 20,
        "learning_rate": 3e-3,
        "schedule": "cosine",
        "batch_texts": 8,
        "score": "loss",
    }


_ADAPT: dict[str, Callable[[dict[str, dict[str, Any]], int], None]] = {
    "tag": _for_tags,
    "multi-label": _for_label_sets,
    "pair": _for_pairs,
    "pair-score": _for_pair_scores,
    "regress": _for_numbers,
    "bags": _for_bags,
    "language-model": _for_language,
}
"""What the defaults of other tasks do to those of classification."""


def _of_texts(texts: int, *, vectors: bool, encoder: str) -> dict[str, dict[str, Any]]:
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
    settings["model"] = {}
    if encoder in ("ms-transformer", "transformer"):
        settings["model"] = {"readout": "mean"}
        settings["encoder"] |= {"heads": heads, "head_size": width // heads, "layers": layers}
    if encoder == "transformer":
        settings["encoder"]["feedforward"] = 4 * width
    return settings
