"""Warm start of a model from a previous one, instead of static embeddings.

Encoder, head and word vectors start from the weights of the previous model. Its vocabulary is extended by
the words of the new texts, and output rows are copied for labels that both have. The linear model and the
probe learn corrections to its scores.

A tagger keeps all tags and characters of the previous one. Its linear CRF starts from the weights of the
previous one, and the ensemble weights are pulled towards those of the previous one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import torch
from torch import Tensor

from headwise.core.config import JsonObject, to_dict
from headwise.core.errors import ConfigError
from headwise.data.splits.contamination import PartOverlap, fingerprint_overlaps, in_fingerprint
from headwise.data.splits.data_parts import DataParts
from headwise.metrics.tag_schemes import detect_scheme
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.networks.masked_model import MaskedModel
from headwise.nn.networks.tag_model import TagModel
from headwise.nn.networks.text_model import TextEncoderModel

_WORDS, _EXTRA = "embedding.vectors.weight", "embedding.extra.weight"
_CHARACTERS, _TRANSITIONS = "spelling.characters.vectors.weight", "tagger.crf.transitions"
_MOST_KNOWN = 0.05
"""Share of the words of the new texts up to which the previous model may have been trained on these texts.
Beyond it, its linear model would repeat memorised labels, and the ensemble would overrate it."""


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
        kinds = TextEncoderModel | TagModel | MaskedModel
        if not isinstance(self.model, kinds) or self.model.reads_pairs:
            raise ConfigError(
                f"--base {self.name}: a model of the task {self.model.config.task}; only models of single "
                "texts (labels, numbers, tags, masked words) can be continued. Train on the earlier and "
                "the new data together instead: headwise train EARLIER NEW"
            )

    @property
    def words(self) -> Sequence[str]:
        """Its vocabulary, without the unknown word."""
        return self.model.features.vocabulary.words[1:]

    def for_parts(self, parts: DataParts) -> "PreviousModel":
        """A copy with `new` set for these data.

        Raises:
            ConfigError: Their tags mark spans and those of the model do not, or the other way round.
        """
        items = [*parts.train, *parts.dev]
        if isinstance(self.model, TagModel):
            self._check_scheme(detect_scheme(item.tags for item in items).scheme)
        sizes = list(map(parts.item_type.size, items))
        is_known = in_fingerprint(parts.item_type, self.training_fingerprint, items)
        return replace(self, new=sum(compress(sizes, is_known)) <= _MOST_KNOWN * sum(sizes))

    def _check_scheme(self, scheme: str) -> None:
        kinds = "plain tags, a tag for each word", "tags that mark spans, such as B-PER"
        theirs, tags = kinds[self.model.scheme != "plain"], kinds[scheme != "plain"]
        if theirs != tags:
            raise ConfigError(f"--base {self.name}: it has {theirs}, but the training file {tags}")

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
        if config.base.name:
            base["train"] = config.base.train
        else:
            words["vector_size"] = config.words.vector_size
        shared = {"encoder": encoder, "words": words, "base": base}
        if isinstance(self.model, TagModel):
            counted = ("clustered", "min_count", "dropout")  # of the data, or for training only
            characters = {k: v for k, v in to_dict(config.characters).items() if k not in counted}
            tagger = {k: v for k, v in to_dict(config.tagger).items() if k != "dropout"}
            return {**shared, "characters": characters, "tagger": tagger}
        head = "classifier" if hasattr(self.model, "labels") else "regressor"
        above = getattr(config, head)
        return {
            "model": {"readout": config.readout},
            **shared,
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
        pretrained = self.model.config.pretrained.name
        if pretrained != run_config.model.pretrained.name and not self.has_no_task:
            advice = f"add --pretrained {pretrained}" if pretrained else "leave out --pretrained"
            reads = f"the pretrained encoder {pretrained}" if pretrained else "no pretrained encoder"
            raise ConfigError(f"--base {self.name}: it has {reads}; {advice}")
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
        if name == _CHARACTERS:  # new characters come last
            values[: len(source)] = source
            continue
        if previous.has_no_task and values.shape != source.shape:
            continue  # per-word outputs of a vocabulary of another size
        if name in outputs:
            before, now = _names_of(previous.model), _names_of(model)
            if name == _TRANSITIONS:
                source = _placed(source.t(), before, now).t()
            values.copy_(_placed(source, before, now))
        else:
            values.copy_(source)
    linear_model = getattr(previous.model, "linear_model", None)
    if linear_model is None or not previous.new:
        return
    if isinstance(model, TagModel):
        model.previous_linear_model = linear_model.contents()
        total = previous.model.encoder_weight + previous.model.linear_weight
        if total > 0:
            model.usual_weights = previous.model.linear_weight / total, previous.model.outside / total
        return
    from headwise.linear.linear_warm_start import LinearWarmStart  # imports scipy

    places = {label: number for number, label in enumerate(_names_of(previous.model))}
    model.previous_linear_model = LinearWarmStart(
        linear_model.contents(), tuple(places.get(label, -1) for label in _names_of(model))
    )


def _names_of(model: Any) -> Sequence[str]:
    """Names of the outputs."""
    return model.tags if isinstance(model, TagModel) else getattr(model, "labels", ("number",))


def _outputs(model: Any) -> Iterator[str]:
    """Names of the parameters with one row per label or tag."""
    if isinstance(model, TagModel):
        rows = (f"tagger.layers.{len(model.tagger.layers) - 1}.", "tagger.crf.")
    elif hasattr(model, "labels"):
        rows = (f"head.layers.{len(model.head.layers) - 1}.", "probe.")
    else:
        return
    for name, _ in model.named_parameters():
        if name.startswith(rows):
            yield name


def _placed(source: Tensor, before: Sequence[str], now: Sequence[str]) -> Tensor:
    """The rows of the names that there were before, in new places; rows of other names are 0."""
    values = source.new_zeros(len(now), *source.shape[1:])
    _copy_rows(values, source, before, now)
    return values


def _copy_rows(values: Tensor, source: Tensor, before: Sequence[str], now: Sequence[str]) -> None:
    places = {name: place for place, name in enumerate(before[: len(source)])}
    matches = [(row, places[name]) for row, name in enumerate(now[: len(values)]) if name in places]
    if matches:
        rows, old = (torch.tensor(column) for column in zip(*matches, strict=True))
        values[rows] = source[old].to(values)
