"""Settings that models of labelled texts begin with, by the number of their training texts."""

from typing import Any

from headwise.encoders import ENCODERS
from headwise.encoders.base import text_settings

Settings = dict[str, dict[str, Any]]
"""The sections of a recipe."""


FEW = 20_000
"""Training items below which what dev items add is worth a second training, on all of them."""
_LONG = 200_000
"""Texts, most of them a teacher's, with which a second training takes too long all the same."""
SMALL = (64, 4, 1)
"""Width, heads and layers of an encoder that has little to add to a base."""


def text_defaults(items: int, *, vectors: bool, encoder: str, config: type[Any]) -> Settings:
    """What models of labelled texts begin with.

    Args:
        items: Training texts.
        vectors: Whether there are pretrained vectors.
        encoder: Its name.
        config: The class of its configuration.
    """
    small, large = items < 5_000, items > 50_000
    width, heads, layers = (300, 10, 3) if vectors else (128, 4, 2)
    own = text_settings(config, width, heads, layers)
    readout = own.pop("readout", None)
    settings: Settings = {
        "words": {"min_count": 1 if small else 2 if not large else 5, "max_words": 30_000, "dropout": 0.3},
        "encoder": {"name": encoder, "width": width, **own},
        "classifier": {"hidden": 128, "dropout": 0.3},
        "expert": {"max_features": 1_000_000},
        "model": {} if readout is None else {"readout": readout},
        "train": {
            # About as many updates for every size: word vectors that begin at random need them.
            "epochs": 25 if small else 3 if large else 4,
            "batch_texts": 16 if small else 32,
            "vectors_learning_rate": 5e-3,
            # A few hundred dev texts tell losses apart better than they tell accuracies apart.
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


def with_teacher(human: int, items: int) -> Settings:
    """What goes over the settings by size where a teacher has labelled most of the texts: dev texts are
    people's, so it is by the number of those whether model and teacher are fitted again with them.

    Args:
        human: Training texts that people have labelled.
        items: All training texts.
    """
    return {"train": {"refit": human < FEW and items <= _LONG}}


def kept_base(settings: Settings, items: int) -> Settings:
    """Settings of models that begin as what their base says of texts: it is in place from the start and is
    to be kept, so steps are few and small.

    Args:
        settings: Those of models with a base.
        items: Training items.
    """
    settings["train"] |= {
        "epochs": 8 if items < 5_000 else 5 if items < 50_000 else 3,
        "learning_rate": 3e-4,
        "vectors_learning_rate": 5e-4,
        "score": "loss",
    }
    return settings


def resize(settings: Settings, width: int, heads: int, layers: int) -> None:
    """Give the encoder of some settings another size, and nothing else of its own."""
    name = settings["encoder"]["name"]
    own = text_settings(ENCODERS[name][1], width, heads, layers)
    own.pop("readout", None)
    settings["encoder"] = {"name": name, "width": width, **own}


def folds_for(items: int) -> int:
    """Folds that choose a model of so many items; of more, a dev part is large enough."""
    return 3 if items < 1_000 else 0


def light(settings: Settings, items: int) -> Settings:
    """Settings with a base: a small encoder, fewer and larger steps come to the same in a third of the
    time, and with few items folds say what is fitted after training.

    Args:
        settings: Those of `kept_base`.
        items: Training items.
    """
    resize(settings, *SMALL)
    settings["train"] |= {
        "epochs": 5 if items < 50_000 else 3,
        "batch_texts": 32,
        "learning_rate": 5e-4,
        "vectors_learning_rate": 7e-4,
        "folds": folds_for(items),
    }
    return settings
