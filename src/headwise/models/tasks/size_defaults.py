"""Default settings of text models, by the number of training texts."""

from typing import Any

from headwise.nn.encoders import ENCODERS
from headwise.nn.encoders.encoder_configs import text_settings

Settings = dict[str, dict[str, Any]]
"""The sections of a recipe."""


FEW = 20_000
"""Number of training items below which a refit on training and dev items is worth its time."""
_LONG = 200_000
"""Number of texts, mostly labelled by a teacher, above which a refit takes too long."""
SMALL = (64, 4, 1)
"""Width, heads and layers of a small encoder, which adds little to static embeddings."""


def text_defaults(items: int, *, vectors: bool, encoder: str, config: type[Any]) -> Settings:
    """Default settings of text models.

    Args:
        items: Number of training texts.
        vectors: Whether there are pretrained vectors.
        encoder: Name of the encoder.
        config: Configuration class of the encoder.
    """
    small, large = items < 5_000, items > 50_000
    width, heads, layers = (300, 10, 3) if vectors else (128, 4, 2)
    encoder_settings = text_settings(config, width, heads, layers)
    readout = encoder_settings.pop("readout", None)
    settings: Settings = {
        "words": {"min_count": 1 if small else 2 if not large else 5, "max_words": 30_000, "dropout": 0.3},
        "encoder": {"name": encoder, "width": width, **encoder_settings},
        "classifier": {"hidden": 128, "dropout": 0.3},
        "expert": {"max_features": 1_000_000},
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


def teacher_settings(human: int, items: int) -> Settings:
    """Settings that override the defaults where a teacher has labelled most of the texts. Dev texts are
    labelled by people, so their number decides on the refit.

    Args:
        human: Number of training texts labelled by people.
        items: Number of all training texts.
    """
    return {"train": {"refit": human < FEW and items <= _LONG}}


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
    encoder_settings = text_settings(ENCODERS[name][1], width, heads, layers)
    encoder_settings.pop("readout", None)
    settings["encoder"] = {"name": name, "width": width, **encoder_settings}


def folds_for(items: int) -> int:
    """Number of folds for cross-fitting; 0 where a dev part is large enough."""
    return 3 if items < 1_000 else 0


def fast_settings(settings: Settings, items: int) -> Settings:
    """Faster settings with static embeddings: a small encoder and fewer, larger steps reach the same in a
    third of the time; with few items, cross-fitting replaces the dev part.

    Args:
        settings: Settings from `probe_start_settings`.
        items: Number of training items.
    """
    resize_encoder(settings, *SMALL)
    settings["train"] |= {
        "epochs": 5 if items < 50_000 else 3,
        "batch_texts": 32,
        "learning_rate": 5e-4,
        "vectors_learning_rate": 7e-4,
        "folds": folds_for(items),
    }
    return settings
