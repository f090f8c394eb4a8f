"""The settings of each task: its sections, and their defaults by the number of training items.

Importing this file loads neither torch nor NumPy.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from headwise.core.config import JsonObject
from headwise.data.columns.item_options import BagOptions, PairOptions, StreamOptions, TagOptions
from headwise.data.columns.reading_options import (
    MultiLabelOptions,
    ReadOptions,
    SoftLabelOptions,
    WeightOptions,
)
from headwise.nn.encoders.encoder_configs import (
    DEFAULT_ENCODER,
    ENCODER_CONFIGS,
    causal_settings,
    text_settings,
)
from headwise.nn.networks.model_config import LABEL_SECTIONS, TEXT_SECTIONS

Settings = dict[str, JsonObject]
"""The sections of a recipe."""


FEW = 20_000
"""Number of training items below which a refit on training and dev items is worth its time."""
_LONG = 200_000
"""Number of texts, mostly labelled by a teacher, above which a refit takes too long."""
SMALL = (64, 4, 1)
"""Width, heads and layers of a small encoder, which adds little to static embeddings."""
FEWEST = 700
"""Minimum number of training pairs for an encoder that aligns words."""
MATCHING = (128, 4, 1)
"""Width, heads and layers of such an encoder."""


def text_defaults(items: int, *, vectors: bool, encoder: str) -> Settings:
    """Default settings of text models.

    Args:
        items: Number of training texts.
        vectors: Whether there are pretrained vectors.
        encoder: Name of the encoder.
    """
    small, large = items < 5_000, items > 50_000
    width, heads, layers = (300, 10, 3) if vectors else (128, 4, 2)
    encoder_settings = text_settings(ENCODER_CONFIGS[encoder], width, heads, layers)
    readout = encoder_settings.pop("readout", None)
    settings: Settings = {
        "words": {"min_count": 1 if small else 2 if not large else 5, "max_words": 30_000, "dropout": 0.3},
        "encoder": {"name": encoder, "width": width, **encoder_settings},
        "classifier": {"hidden": 128, "dropout": 0.3},
        "linear_model": {"max_features": 1_000_000},
        "model": {} if readout is None else {"readout": readout},
        "train": {
            # A similar number of updates for each size: randomly initialised word vectors need them.
            "epochs": 25 if small else 3 if large else 4,
            "batch_texts": 16 if small else 32,
            "vectors_learning_rate": 5e-3,
            # With a few hundred dev texts, the loss distinguishes epochs better than accuracy does.
            "score": "loss" if small else "accuracy",
            "refit": items < FEW,
        },
    }
    if vectors:
        settings["words"]["dropout"] = 0.5
        settings["classifier"] = {"hidden": 300, "dropout": 0.5, "normalize": "layer"}
        settings["train"] |= {"epochs": 6 if small else 4, "vectors_learning_rate": 1e-4}
    else:
        settings["words"]["vector_size"] = width
    return settings


def teacher_settings(gold_texts: int, items: int) -> Settings:
    """Settings that override the defaults where a teacher has labelled most of the texts. Dev texts are
    labelled by people, so their number decides on the refit.

    Args:
        gold_texts: Number of training texts labelled by people.
        items: Number of all training texts.
    """
    return {"train": {"refit": gold_texts < FEW and items <= _LONG}}


def probe_start_settings(settings: Settings, items: int) -> Settings:
    """Settings of models initialised from a linear probe on static embeddings: few and small steps, which
    keep that start.

    Args:
        settings: Settings of models with static embeddings.
        items: Number of training items.
    """
    settings["train"] |= {
        "epochs": 8 if items < 5_000 else 5 if items < 50_000 else 3,
        "learning_rate": 3e-4,
        "vectors_learning_rate": 5e-4,
        "score": "loss",
    }
    return settings


def resize_encoder(settings: Settings, width: int, heads: int, layers: int) -> None:
    """Change the size of the encoder in the settings, and nothing else."""
    name = settings["encoder"]["name"]
    encoder_settings = text_settings(ENCODER_CONFIGS[name], width, heads, layers)
    encoder_settings.pop("readout", None)
    settings["encoder"] = {"name": name, "width": width, **encoder_settings}


def folds_for(items: int) -> int:
    """Number of folds for cross-fitting; 0 where a dev part is large enough."""
    return 3 if items < 1_000 else 0


def fast_settings(settings: Settings, items: int) -> Settings:
    """Faster settings of models initialised from a linear probe (`probe_start_settings`): a small encoder
    and fewer, larger steps reach the same in a third of the time; with few items, cross-fitting replaces
    the dev part."""
    settings = probe_start_settings(settings, items)
    resize_encoder(settings, *SMALL)
    settings["train"] |= {
        "epochs": 5 if items < 50_000 else 3,
        "batch_texts": 32,
        "learning_rate": 5e-4,
        "vectors_learning_rate": 7e-4,
        "folds": folds_for(items),
    }
    return settings


class TaskSettings(ABC):
    """The settings of a task: which it has, and their defaults. Without torch, for the command line.

    Args:
        task: Class of the task, with its module.
    """

    def __init__(self, task: str):
        self.task = task

    options: ClassVar[type[Any]]
    """The reading options of its files, as of its item type."""

    sections: ClassVar[tuple[str, ...]]
    """Names of its configuration sections."""

    encoder: ClassVar[str] = DEFAULT_ENCODER
    """Default encoder."""

    uses_embeddings: ClassVar[bool] = False
    """Whether its models use static embeddings by default."""

    @abstractmethod
    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Default settings for a number of training items.

        Args:
            items: Number of training items.
            vectors: Whether there are pretrained vectors.
            encoder: Name of the encoder. Encoders from the literature keep the settings of their papers,
                except for the width.
        """

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        """Default settings for models with static embeddings.

        Args:
            settings: Settings for models without.
            items: Number of training items.
        """
        words = {key: value for key, value in settings["words"].items() if key != "vector_size"}
        return settings | {"words": words, "base": {"train": True}}


class ClassifySettings(TaskSettings):
    """One label for each text."""

    options = SoftLabelOptions
    sections = LABEL_SECTIONS
    uses_embeddings = True

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        return text_defaults(items, vectors=vectors, encoder=encoder)

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        settings = fast_settings(super().defaults_with_base(settings, items), items)
        if items >= 20_000:  # with long texts the first epoch is often the best, and each takes a minute
            settings["train"] |= {"patience": 2, "stop_if_unused": True}
        return settings


class MultiLabelSettings(TaskSettings):
    """Any number of labels for each text."""

    options = MultiLabelOptions
    sections = (*LABEL_SECTIONS, "thresholds")
    uses_embeddings = True

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """As for single labels; the best epoch is chosen by F1 of the label sets, on small data by the
        loss."""
        settings = text_defaults(items, vectors=vectors, encoder=encoder)
        settings["train"] |= {"score": "loss" if items < 5_000 else "f1"}
        return settings

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        settings = probe_start_settings(super().defaults_with_base(settings, items), items)
        settings["train"]["folds"] = folds_for(items)
        return settings


class TagSettings(TaskSettings):
    """A tag for each word."""

    options = TagOptions
    sections = (*TEXT_SECTIONS, "characters", "tagger", "linear_model")
    uses_embeddings = True

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Every word is an example, so fewer sentences are enough."""
        settings = text_defaults(items, vectors=vectors, encoder=encoder)
        del settings["classifier"], settings["linear_model"], settings["model"]
        settings["words"] |= {"dropout": 0.3, "min_count": 1}
        settings["train"] |= {"epochs": 20 if items < 5_000 else 12, "batch_texts": 16, "patience": 5}
        settings["train"]["refit"] = items < 5_000
        return settings

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        """Static embeddings tell what words mean; their role in a sentence must be learned. Capitals and
        clusters of words with the same neighbours, which the embeddings do not have, are added as
        features."""
        settings = super().defaults_with_base(settings, items)
        settings["base"]["dropout"] = 0.3
        settings["characters"] = {"shape": 10, "clusters": 64}
        few = items < 5_000
        settings["train"] |= {
            "epochs": 12 if few else 8,
            "batch_texts": 16 if few else 32,
            "learning_rate": 2e-3,
            "vectors_learning_rate": 1e-3,
        }
        return settings


class PairLabelSettings(TaskSettings):
    """One label for each pair of texts."""

    options = PairOptions
    sections = (*TEXT_SECTIONS, "classifier", "linear_model", "pair")
    uses_embeddings = True

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Settings of pair models. Relations between texts are harder to learn than topics, so training has
        more and smaller steps."""
        settings = text_defaults(items, vectors=vectors, encoder=encoder)
        settings["words"]["dropout"] = 0.3
        settings["model"] = {"readout": "max"}
        settings["classifier"] = {"hidden": 300, "dropout": 0.3, "normalize": "layer"}
        settings["pair"] = {"features": "product"}
        settings["linear_model"] = {"max_features": 100_000}  # each feature has four weights per label
        settings["train"] |= {"epochs": 10 if items < 20_000 else 6, "batch_texts": 32, "score": "loss"}
        return settings

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        """With few pairs, the model is initialised from a linear probe. With more pairs, the encoder learns
        to align words, and the linear model uses the vectors; an encoder initialised from the probe would
        have too little left to learn."""
        settings = super().defaults_with_base(settings, items)
        if items < FEWEST:
            return fast_settings(settings, items)
        resize_encoder(settings, *MATCHING)
        settings["pair"]["interaction"] = "match"
        settings["base"]["probe"] = False
        settings["train"] |= {
            "epochs": 6 if items < 50_000 else 3,
            "learning_rate": 1e-3,
            "vectors_learning_rate": 1e-4,
            "folds": folds_for(items),
        }
        return settings


class PairScoreSettings(PairLabelSettings):
    """A number for each pair."""

    sections = (*TEXT_SECTIONS, "pair", "regressor", "linear_model")

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """As for labels of pairs, with the regressor instead of the classifier."""
        settings = super().defaults(items, vectors=vectors, encoder=encoder)
        settings["regressor"] = settings.pop("classifier")
        return settings


class RegressSettings(TaskSettings):
    """A number for each text."""

    options = WeightOptions
    sections = (*TEXT_SECTIONS, "regressor", "linear_model")
    uses_embeddings = True

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """As for labels, with the regressor instead of the classifier."""
        settings = text_defaults(items, vectors=vectors, encoder=encoder)
        del settings["classifier"]
        settings["regressor"] = {"hidden": 300 if vectors else 128, "normalize": "layer"}
        settings["model"] = {"readout": "mean,max"}
        settings["train"] |= {"score": "loss"}
        return settings

    def defaults_with_base(self, settings: Settings, items: int) -> Settings:
        return fast_settings(super().defaults_with_base(settings, items), items)


class BagSettings(TaskSettings):
    """One label for each bag of vectors."""

    options = BagOptions
    sections = ("bags",)

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Data sets of bags are small, and their epochs short. On few dev bags, the best of many epochs is
        chance and its temperature too low, so folds choose both."""
        few = items < 5_000
        return {
            "train": {
                "epochs": 60 if few else 20,
                "learning_rate": 2e-3,
                "batch_texts": 16,
                "patience": 15 if few else 5,
                "score": "loss",
                "refit": items < 20_000,
                "folds": folds_for(items),
            }
        }


class LanguageModelSettings(TaskSettings):
    """The next symbol of a text."""

    options = StreamOptions
    sections = ("encoder", "language")
    encoder = "transformer"
    """The default encoder of other tasks is bidirectional, so this one differs."""

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Causal encoders, and epochs of at most a million symbols."""
        return {
            "encoder": {"name": encoder, **causal_settings(ENCODER_CONFIGS[encoder])},
            "language": {"windows": min(2_000, -(-items // 512))},
            "train": {
                "epochs": 10 if items < 5_000_000 else 20,
                "learning_rate": 3e-3,
                "schedule": "cosine",
                "batch_texts": 8,
                "score": "loss",
            },
        }


class MaskedWordsSettings(TaskSettings):
    """The masked words of a text."""

    options = ReadOptions
    sections = ("words", "syntax", "encoder", "windows", "masked")

    def defaults(self, items: int, *, vectors: bool, encoder: str) -> Settings:
        """Sizes as for models with pretrained vectors, which stay frozen; a million texts are read once, a
        few thousand many times."""
        encoder_settings = text_settings(ENCODER_CONFIGS[encoder], 300, 10, 3)
        encoder_settings.pop("readout", None)
        words = {"dropout": 0.1, "word_dropout": 0.0, "max_words": 50_000, "train_vectors": not vectors}
        return {
            "words": words | {"min_count": 1 if items < 5_000 else 3 if items < 50_000 else 5},
            "encoder": {"name": encoder, "width": 300, **encoder_settings},
            "train": {
                "epochs": 20 if items < 5_000 else 5 if items < 50_000 else 2 if items < 500_000 else 1,
                "batch_texts": 64,
                "batch_tokens": 4_096,
                "warmup": 0.03,
                "patience": 0,
                "score": "loss",
            },
        }
