"""Former: an earlier model that a training begins with, in place of a base.

Encoder, layers above it and all that it has learnt of words begin as they were; its words stay known
beside those of the new texts, and outputs keep their weights where they have the same label. What the
linear expert learns, and what the base says of labels, is added to what the model says of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from headwise.config import to_dict
from headwise.data.overlap import Overlap, known_overlaps, remembered
from headwise.data.parts import Parts
from headwise.errors import ConfigError
from headwise.models.masked_model import MaskedModel
from headwise.models.model_config import encoder_name
from headwise.models.text_model import TextReader

_WORDS, _EXTRA = "embedding.vectors.weight", "embedding.extra.weight"
_MOST_KNOWN = 0.05
"""Share of the texts that it may have learnt from before: of those its expert says what it was told, which
would be taken for skill."""


@dataclass(frozen=True)
class Former:
    """An earlier model.

    Attributes:
        name: As the user has named its folder.
        model: The model.
        digest: Of its folder: another model has another.
        seen: What tells which texts it has learnt from (`headwise.data.overlap.remember`); None of one that
            has read without labels.
        new: Whether the texts are new to it, so that its linear expert is gone on with too.
    """

    name: str
    model: Any
    digest: str = ""
    seen: Any = None
    new: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.model, TextReader | MaskedModel):
            raise ConfigError(
                f"--base {self.name}: a model of the task {self.model.config.task}; only those that give a "
                "whole text labels or a number, or tell masked words, can be gone on with"
            )

    @property
    def words(self) -> Sequence[str]:
        """The words that it knows."""
        return self.model.features.vocabulary.words[1:]

    def beside(self, parts: Parts[Any]) -> "Former":
        """Itself, which knows whether these texts are `new`."""
        known = remembered(parts.kind, self.seen, [*parts.train, *parts.dev])
        return replace(self, new=sum(known) <= _MOST_KNOWN * len(known))

    def told(self) -> str:
        """What there is to say of it."""
        if self.bare:
            return f"begins with what {self.name} has read: {len(self.words):,} words and an encoder"
        anew = "" if self.new else ", and has learnt from these texts: the linear expert is fitted anew"
        return f"goes on from the model {self.name}, which knows {len(self.words):,} words{anew}"

    def overlaps(self, parts: Parts[Any]) -> tuple[Overlap, ...]:
        """Dev and test texts that it has learnt from, which make scores too good."""
        return known_overlaps(parts.kind, self.seen, self.name, parts.named)

    @property
    def bare(self) -> bool:
        """Whether it has words and an encoder alone, for any task that reads words."""
        return isinstance(self.model, MaskedModel)

    def settings(self) -> dict[str, dict[str, Any]]:
        """The settings that its weights fit, in the sections of a recipe."""
        config = self.model.config
        encoder = {key: value for key, value in to_dict(config.encoder).items() if "dropout" not in key}
        encoder = {"name": encoder_name(config.encoder), **encoder}
        words: dict[str, Any] = {"tokenizer": config.words.tokenizer, "case": config.words.case}
        if self.bare:
            words["vector_size"] = config.words.vector_size
            return {"encoder": encoder, "words": words, "base": {"name": "none"}}
        base: dict[str, Any] = {"name": config.base.name or "none"}
        head = "classifier" if hasattr(self.model, "labels") else "regressor"
        above = getattr(config, head)
        if config.base.name:
            base["train"] = config.base.train
        else:
            words["vector_size"] = config.words.vector_size
        return {
            "model": {"readout": config.readout},
            "encoder": encoder,
            "words": words,
            "base": base,
            head: {"hidden": above.hidden, "normalize": above.normalize},
        }

    def check_task(self, recipe: Any) -> None:
        """Check that a training is for the same task, or of what reads words as it does.

        Raises:
            ConfigError: It is not.
        """
        own, task = self.model.config.task, recipe.model.task
        if self.bare and not {"words", "encoder"} <= set(recipe.sections):
            raise ConfigError(f"--base {self.name}: a {own} model, but the task {task} reads no words")
        if not self.bare and task != own:
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
    theirs = dict(former.model.named_parameters())
    outputs = set() if former.bare else set(_outputs(model))
    for name, values in model.named_parameters():
        if name in (_WORDS, _EXTRA) and _WORDS in theirs:
            known = torch.cat([own for key in (_WORDS, _EXTRA) if (own := theirs.get(key)) is not None])
            now = model.features.vocabulary
            first = 0 if name == _WORDS else len(now) - now.extra
            _copy_rows(values, known, former.model.features.vocabulary.words, now.words[first:])
            continue
        if (source := theirs.get(name)) is None:
            continue
        if former.bare and values.shape != source.shape:
            continue  # what tells words, of another number of words
        if name in outputs:
            values.zero_()
            _copy_rows(values, source, former.model.labels, model.labels)
        else:
            values.copy_(source)
    own = getattr(former.model, "expert", None)
    if own is not None and former.new:
        from headwise.linear.earlier import Earlier  # takes Numba

        before, now = (getattr(each, "labels", ("number",)) for each in (former.model, model))
        places = {label: number for number, label in enumerate(before)}
        model.earlier = Earlier(own.linear_model(), tuple(places.get(label, -1) for label in now))


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
