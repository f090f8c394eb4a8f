"""Former: an earlier model that a training begins with, in place of a base.

Encoder, layers above it and all that it has learnt of words begin as they were; its words stay known beside
those of the new texts, and outputs keep their weights where they have the same label. What is fitted anew
is the linear expert, and what the base says of labels, as an addition to what the model says of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from headwise.config import to_dict
from headwise.errors import ConfigError
from headwise.models.model_config import encoder_name
from headwise.models.text_model import TextReader

_WORDS = "embedding.vectors.weight"


@dataclass(frozen=True)
class Former:
    """An earlier model.

    Attributes:
        name: As the user has named its folder.
        model: The model.
        digest: Of its folder: another model has another.
    """

    name: str
    model: Any
    digest: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.model, TextReader):
            raise ConfigError(
                f"--base {self.name}: a model of the task {self.model.config.task}; only those that give a "
                "whole text labels or a number can be gone on with"
            )

    @property
    def words(self) -> Sequence[str]:
        """The words that it knows."""
        return self.model.features.vocabulary.words[1:]

    def settings(self) -> dict[str, dict[str, Any]]:
        """The settings that its weights fit, in the sections of a recipe."""
        config = self.model.config
        encoder = {key: value for key, value in to_dict(config.encoder).items() if "dropout" not in key}
        words: dict[str, Any] = {"tokenizer": config.words.tokenizer, "case": config.words.case}
        base: dict[str, Any] = {"name": config.base.name or "none"}
        head = "classifier" if hasattr(self.model, "labels") else "regressor"
        above = getattr(config, head)
        if config.base.name:
            base["train"] = config.base.train
        else:
            words["vector_size"] = config.words.vector_size
        return {
            "model": {"readout": config.readout},
            "encoder": {"name": encoder_name(config.encoder), **encoder},
            "words": words,
            "base": base,
            head: {"hidden": above.hidden, "normalize": above.normalize},
        }

    def check_task(self, task: str) -> None:
        """Check that a training is for the same task.

        Raises:
            ConfigError: It is not.
        """
        if task != (own := self.model.config.task):
            raise ConfigError(f"--base {self.name}: a model of the task {own}, but the task is {task}")

    def check(self, recipe: Any) -> None:
        """Check that a training has the settings that its weights fit.

        Raises:
            ConfigError: One is another.
        """
        found = recipe.to_json()
        for section, own in self.settings().items():
            for key, value in own.items():
                now = found.get(section, {}).get(key)
                if now != value and not (section == "base" and value == "none"):
                    raise ConfigError(
                        f"--base {self.name}: its {section}.{key} is {value!r}, and {now!r} is asked for; "
                        "leave that out, or begin with another base"
                    )


@torch.no_grad()
def go_on_from(model: Any, former: Former) -> None:
    """Let a new model begin as an earlier one, of the same settings."""
    theirs, outputs = dict(former.model.named_parameters()), set(_outputs(model))
    for name, values in model.named_parameters():
        if (source := theirs.get(name)) is None:
            continue
        if name == _WORDS:
            _copy_rows(
                values, source, former.model.features.vocabulary.words, model.features.vocabulary.words
            )
        elif name in outputs:
            values.zero_()
            _copy_rows(values, source, former.model.labels, model.labels)
        else:
            values.copy_(source)


def _outputs(model: Any) -> Iterator[str]:
    """The names of the parameters with a row for each label."""
    if not hasattr(model, "labels"):
        return
    last = len(model.head.layers) - 1
    for name, _ in model.named_parameters():
        if name.startswith((f"head.layers.{last}.", "probe.")):
            yield name


def _copy_rows(values: Tensor, source: Tensor, before: Sequence[str], now: Sequence[str]) -> None:
    places = {name: place for place, name in enumerate(before[: len(source)])}
    own = [(row, places[name]) for row, name in enumerate(now[: len(values)]) if name in places]
    if own:
        rows, old = (torch.tensor(column) for column in zip(*own, strict=True))
        values[rows] = source[old].to(values)
