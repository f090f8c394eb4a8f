"""Warm start of a model from a previous one, instead of static embeddings.

Encoder, head and word vectors start from the weights of the previous model. Its vocabulary is extended by
the words of the new texts, and output rows are copied for labels that both have. The linear model and the
probe learn corrections to its scores.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from headwise.core.config import JsonObject, to_dict
from headwise.core.errors import ConfigError
from headwise.data.splits.contamination import PartOverlap, fingerprint_overlaps, in_fingerprint
from headwise.data.splits.data_parts import DataParts
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.networks.masked_model import MaskedModel
from headwise.nn.networks.text_model import TextEncoderModel

_WORDS, _EXTRA = "embedding.vectors.weight", "embedding.extra.weight"
_MOST_KNOWN = 0.05
"""Share of the new texts up to which the previous model may have been trained on them. Beyond it, its
linear model would repeat memorised labels, and the ensemble would overrate it."""


@dataclass(frozen=True)
class PreviousModel:
    """A previous model that training starts from.

    Attributes:
        name: Its folder, as the user wrote it.
        model: The model.
        digest: Hash of its folder.
        training_fingerprint: Fingerprint of its training set
            (`headwise.data.splits.contamination.make_fingerprint`);
            None for models trained without labels.
        new: Whether the texts are new to it, so that its linear model is used for the warm start too.
    """

    name: str
    model: Any
    digest: str = ""
    training_fingerprint: Any = None
    new: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.model, TextEncoderModel | MaskedModel) or self.model.reads_pairs:
            raise ConfigError(
                f"--base {self.name}: a model of the task {self.model.config.task}; only models of whole "
                "texts (labels, numbers, masked words) can be continued. Train on the earlier and the new "
                "data together instead: headwise train EARLIER NEW"
            )

    @property
    def words(self) -> Sequence[str]:
        """Its vocabulary, without the unknown word."""
        return self.model.features.vocabulary.words[1:]

    def for_parts(self, parts: DataParts) -> "PreviousModel":
        """A copy with `new` set for these data."""
        is_known = in_fingerprint(parts.item_type, self.training_fingerprint, [*parts.train, *parts.dev])
        return replace(self, new=sum(is_known) <= _MOST_KNOWN * len(is_known))

    def message(self) -> str:
        """A message that describes the warm start."""
        if self.has_no_task:
            return f"begins with what {self.name} has read: {len(self.words):,} words and an encoder"
        anew = (
            "" if self.new else ", and has learnt from these texts: the linear model is fitted from scratch"
        )
        return f"starts from the model {self.name} and its {len(self.words):,} words{anew}"

    def overlaps(self, parts: DataParts) -> tuple[PartOverlap, ...]:
        """Dev and test texts that it was trained on, which make scores optimistic."""
        return fingerprint_overlaps(parts.item_type, self.training_fingerprint, self.name, parts.named)

    @property
    def has_no_task(self) -> bool:
        """Whether it has only a vocabulary and an encoder, for any task that reads words."""
        return isinstance(self.model, MaskedModel)

    def settings(self) -> dict[str, JsonObject]:
        """The settings that fit its weights, by section of a recipe."""
        config = self.model.config
        encoder = {key: value for key, value in to_dict(config.encoder).items() if "dropout" not in key}
        encoder = {"name": encoder_name(config.encoder), **encoder}
        words: JsonObject = {"tokenizer": config.words.tokenizer, "case": config.words.case}
        if self.has_no_task:
            words["vector_size"] = config.words.vector_size
            return {"encoder": encoder, "words": words, "base": {"name": "none"}}
        base: JsonObject = {"name": config.base.name or "none"}
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

    def check_task(self, run_config: Any) -> None:
        """Check that the recipe's task is the same, or that it reads words if this model is `has_no_task`.

        Raises:
            ConfigError: The task does not fit.
        """
        model_task, task = self.model.config.task, run_config.model.task
        if self.has_no_task and not {"words", "encoder"} <= set(run_config.sections):
            raise ConfigError(
                f"--base {self.name}: a {model_task} model, but the task {task} reads no words"
            )
        if not self.has_no_task and task != model_task:
            raise ConfigError(
                f"--base {self.name}: a model of the task {model_task}, but the task is {task}"
            )

    def check(self, run_config: Any) -> None:
        """Check that the recipe has the settings that fit the weights.

        Raises:
            ConfigError: A setting differs.
        """
        requested = run_config.to_json()
        for section, settings in self.settings().items():
            for key, value in settings.items():
                now = requested.get(section, {}).get(key)
                if now != value and not (section == "base" and value == "none"):
                    raise ConfigError(
                        f"--base {self.name}: its {section}.{key} is {value!r}, and {now!r} is asked for; "
                        "leave that out, or begin with another base"
                    )


@torch.no_grad()
def copy_weights(model: Any, previous: PreviousModel) -> None:
    """Copy the weights of a previous model with the same settings into a new one."""
    theirs = dict(previous.model.named_parameters())
    outputs = set() if previous.has_no_task else set(_outputs(model))
    for name, values in model.named_parameters():
        if name in (_WORDS, _EXTRA) and _WORDS in theirs:
            old_rows = torch.cat(
                [table for key in (_WORDS, _EXTRA) if (table := theirs.get(key)) is not None]
            )
            now = model.features.vocabulary
            first = 0 if name == _WORDS else len(now) - now.extra
            _copy_rows(values, old_rows, previous.model.features.vocabulary.words, now.words[first:])
            continue
        if (source := theirs.get(name)) is None:
            continue
        if previous.has_no_task and values.shape != source.shape:
            continue  # per-word outputs of a vocabulary of another size
        if name in outputs:
            values.zero_()
            _copy_rows(values, source, previous.model.labels, model.labels)
        else:
            values.copy_(source)
    linear_model = getattr(previous.model, "linear_model", None)
    if linear_model is not None and previous.new:
        from headwise.linear.linear_warm_start import LinearWarmStart  # imports scipy

        before, now = (getattr(network, "labels", ("number",)) for network in (previous.model, model))
        places = {label: number for number, label in enumerate(before)}
        model.previous_linear_model = LinearWarmStart(
            linear_model.contents(), tuple(places.get(label, -1) for label in now)
        )


def _outputs(model: Any) -> Iterator[str]:
    """Names of the parameters with one row per label."""
    if not hasattr(model, "labels"):
        return
    last = len(model.head.layers) - 1
    for name, _ in model.named_parameters():
        if name.startswith((f"head.layers.{last}.", "probe.")):
            yield name


def _copy_rows(values: Tensor, source: Tensor, before: Sequence[str], now: Sequence[str]) -> None:
    places = {name: place for place, name in enumerate(before[: len(source)])}
    matches = [(row, places[name]) for row, name in enumerate(now[: len(values)]) if name in places]
    if matches:
        rows, old = (torch.tensor(column) for column in zip(*matches, strict=True))
        values[rows] = source[old].to(values)
