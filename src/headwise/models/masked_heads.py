"""Heads of an encoder, and an encoder without some of them: for a while, or for good."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from headwise.attention.heads import Heads
from headwise.attention.self_attention import SelfAttention
from headwise.errors import ConfigError
from headwise.models.model_config import encoder_name


@dataclass(frozen=True)
class Head:
    """One head.

    Attributes:
        module: The name of its attention in the encoder.
        number: Its number there, from 0.
        prior: What its prior is, where it has one.
        out: The projection that takes what the heads of the attention found back to the states.
        size: Its features.
    """

    module: str
    number: int
    prior: str
    out: nn.Linear
    size: int


def heads_of(model: Any) -> list[Head]:
    """The heads of a model's encoder, layer by layer; none where it has no such attention."""
    found = []
    for name, own in model.encoder.named_modules():
        if isinstance(own, SelfAttention):
            priors = [str(prior) for prior in own.priors]
        elif isinstance(own, Heads):
            priors = [""] * own.heads
        else:
            continue
        size = own.out.in_features // len(priors)
        found += [Head(name, number, prior, own.out, size) for number, prior in enumerate(priors)]
    return found


@contextmanager
def without(head: Head) -> Iterator[None]:
    """Within this, what a head finds is taken for zeros."""
    columns = slice(head.number * head.size, (head.number + 1) * head.size)
    kept = head.out.weight.detach()[:, columns].clone()
    with torch.no_grad():
        head.out.weight[:, columns] = 0
    try:
        yield
    finally:
        with torch.no_grad():
            head.out.weight[:, columns] = kept


def check_removable(model: Any) -> None:
    """Check that heads of a model's encoder can be removed.

    Raises:
        ConfigError: It needs the same number in every layer, or its heads share parameters.
    """
    config = model.config.encoder
    if not hasattr(config, "dropped"):
        raise ConfigError(
            f"heads of the encoder {encoder_name(config)} cannot be removed, as its layers have equally "
            "many; those of ms-transformer, ms-san and transformer can"
        )
    for name, own in model.encoder.named_modules():
        if isinstance(own, SelfAttention) and len(own.learned):
            prior = next(str(prior) for prior in own.priors if prior.learned)
            raise ConfigError(
                f"encoder: {name}: heads cannot be removed, as some share the parameters of {prior}"
            )


@torch.no_grad()
def remove(model: Any, heads: Sequence[Head]) -> None:
    """Remove heads and their weights; the outputs are those of the model whose heads find zeros.

    Args:
        model: See `check_removable`. A layer keeps one head at least.
        heads: Of `heads_of(model)`.
    """
    config = model.config.encoder
    layers = [place for place, own in model.encoder.named_modules() if isinstance(own, SelfAttention)]
    dropped = list(config.dropped)
    for layer, place in enumerate(layers, start=1):
        old: Any = model.encoder.get_submodule(place)
        gone = {head.number for head in heads if head.module == place}
        # They are called by their numbers before any was removed.
        names = [name for n in range(1, config.heads + 1) if (name := f"{layer}.{n}") not in config.dropped]
        dropped += [name for n, name in enumerate(names) if n in gone]
        left = [number for number in range(len(old.priors)) if number not in gone]
        sizes = {"bias": old.query.bias is not None, "impl": old.impl}
        new = SelfAttention(old.query.in_features, [old.priors[n] for n in left], old.head_size, **sizes)
        rows = [n * old.head_size + row for n in left for row in range(old.head_size)]
        for part in ("query", "key", "value"):
            for key, weights in getattr(new, part).named_parameters():
                weights.copy_(getattr(getattr(old, part), key)[rows])
        new.out.weight.copy_(old.out.weight[:, rows])
        if old.out.bias is not None:
            new.out.bias.copy_(old.out.bias)
        parent, _, own = place.rpartition(".")
        setattr(model.encoder.get_submodule(parent), own, new.to(old.out.weight.device).train(old.training))
    # What heads see no longer says how long texts are read: they are read as they were.
    words, overlap = model.config.windows.sizes(config)
    windows = replace(model.config.windows, words=words, overlap=overlap)
    model.config = replace(model.config, encoder=replace(config, dropped=tuple(dropped)), windows=windows)
    model.encoder.config = model.config.encoder
