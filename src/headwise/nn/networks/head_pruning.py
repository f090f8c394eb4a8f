"""Masking (temporary) and pruning (permanent) of attention heads."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from headwise.core.errors import ConfigError
from headwise.nn.attention.self_attention import Heads, SelfAttention
from headwise.nn.encoders.encoder_configs import encoder_name
from headwise.nn.priors.base import PositionPairs, Prior
from headwise.nn.priors.learned import Tuned, attach_terms


@dataclass(frozen=True)
class AttentionHead:
    """One attention head.

    Attributes:
        module: Name of its attention module in the encoder.
        number: Index of the head in the module, from 0.
        prior: The prior of the head as text; empty without one.
        out: The output projection of the module.
        size: Features of the head.
    """

    module: str
    number: int
    prior: str
    out: nn.Linear
    size: int


@dataclass(frozen=True, eq=False)
class TrainedPrior(Prior):
    """The prior of a trained head with what it has learned, to be drawn: learned scores are those of rows
    of zeros, that is without what depends on the words.

    Attributes:
        prior: The prior, with the modules of its learned parts if it has some.
        size: Features of a query or key.
        label: How the head is named.
    """

    prior: Prior
    size: int
    label: str
    name: ClassVar[str] = "trained"

    def visible(self, pairs: PositionPairs) -> Tensor:
        return self.prior.visible(pairs)

    def score(self, pairs: PositionPairs) -> Tensor | None:
        if not isinstance(self.prior, Tuned):
            return self.prior.score(pairs)
        length = int(pairs.length)
        rows = torch.zeros(length, self.size)
        with torch.no_grad():
            scores = self.prior.add_scores(torch.zeros(length, length), rows, rows, pairs)
        fixed = self.prior.score(pairs)
        return scores if fixed is None else scores + fixed

    def __str__(self) -> str:
        return self.label


def trained_priors(encoder: nn.Module) -> list[list[TrainedPrior]]:
    """The priors of the heads of each self-attention layer of an encoder, with what they have learned."""
    layers = []
    for attention in encoder.modules():
        if isinstance(attention, SelfAttention):
            # Drawn on the processor, whatever the model computes on.
            tuned = attach_terms(attention.priors, deepcopy(attention.learned).float().cpu())
            names = described_priors(attention)
            layers.append(
                [
                    TrainedPrior(prior, attention.head_size, name)
                    for prior, name in zip(tuned, names, strict=True)
                ]
            )
    return layers


def described_priors(attention: SelfAttention) -> list[str]:
    """The prior of each head of a layer, with what the head has learned: "learned slope (slope 0.31)"."""
    described = []
    for prior, tuned in zip(
        attention.priors, attach_terms(attention.priors, attention.learned), strict=True
    ):
        terms = tuned.terms if isinstance(tuned, Tuned) else ()
        learned = [text for term, head in terms if (text := term.description(head)) is not None]
        described.append(f"{prior} ({', '.join(learned)})" if learned else str(prior))
    return described


def heads_of(model: Any) -> list[AttentionHead]:
    """The heads of a model's encoder, layer by layer; empty if it has no multi-head attention."""
    heads = []
    for name, attention in model.encoder.named_modules():
        if isinstance(attention, SelfAttention):
            priors = described_priors(attention)
        elif isinstance(attention, Heads):
            priors = [""] * attention.heads
        else:
            continue
        size = attention.out.in_features // len(priors)
        heads += [
            AttentionHead(name, number, prior, attention.out, size) for number, prior in enumerate(priors)
        ]
    return heads


@contextmanager
def masked_head(head: AttentionHead) -> Generator[None]:
    """Context manager that replaces the output of a head by zeros."""
    columns = slice(head.number * head.size, (head.number + 1) * head.size)
    weights = head.out.weight.detach()[:, columns].clone()
    with torch.no_grad():
        head.out.weight[:, columns] = 0
    try:
        yield
    finally:
        with torch.no_grad():
            head.out.weight[:, columns] = weights


def check_removable(model: Any) -> None:
    """Check that heads of a model's encoder can be removed.

    Raises:
        ConfigError: All layers must have the same number of heads, or heads share parameters.
    """
    config = model.config.encoder
    if not hasattr(config, "dropped"):
        raise ConfigError(
            f"heads of the encoder {encoder_name(config)} cannot be removed, as its layers have equally "
            "many; those of ms-transformer, ms-san and transformer can"
        )
    for name, module in model.encoder.named_modules():
        if isinstance(module, SelfAttention) and len(module.learned):
            prior = next(str(prior) for prior in module.priors if prior.learned)
            raise ConfigError(
                f"encoder: {name}: heads cannot be removed, as some share the parameters of {prior}"
            )


@torch.no_grad()
def prune_heads(model: Any, heads: Sequence[AttentionHead]) -> None:
    """Remove heads and their weights; outputs are equal to those with the heads masked (see `masked_head`).

    Args:
        model: See `check_removable`. Each layer must keep at least one head.
        heads: Items of `heads_of(model)`.
    """
    config = model.config.encoder
    layers = [place for place, module in model.encoder.named_modules() if isinstance(module, SelfAttention)]
    dropped = list(config.dropped)
    for layer, place in enumerate(layers, start=1):
        old: Any = model.encoder.get_submodule(place)
        gone = {head.number for head in heads if head.module == place}
        # `dropped` names heads by their numbers before any removal.
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
        parent, _, attribute = place.rpartition(".")
        setattr(
            model.encoder.get_submodule(parent),
            attribute,
            new.to(old.out.weight.device).train(old.training),
        )
    # Default window sizes depend on the heads: keep those of the model before.
    words, overlap = model.config.windows.sizes(config)
    windows = replace(model.config.windows, words=words, overlap=overlap)
    model.config = replace(model.config, encoder=replace(config, dropped=tuple(dropped)), windows=windows)
    model.encoder.config = model.config.encoder
