"""Heads of an encoder, and an encoder without one of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from headwise.attention.heads import Heads
from headwise.attention.self_attention import SelfAttention


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
