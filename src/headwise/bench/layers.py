"""The time of each layer of self-attention in an encoder, beside its floor and other ways to compute it."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headwise.attention.choose import IMPLEMENTATIONS
from headwise.attention.self_attention import SelfAttention
from headwise.bench.encoder import (
    Anatomy,
    HeadPath,
    attention_products,
    finish,
    interleaved,
    mode,
    products_alone,
)
from headwise.priors import Prior
from headwise.priors.learned import tune
from headwise.ragged import Ragged

_LAST = "reference"  # the definition is nobody's alternative
_MOST_PAIRS = 1 << 27  # of words of the same text; beyond, a dense mask takes too much memory to try it


@dataclass(frozen=True)
class PathSpeed:
    """How long some heads of a layer take, from their queries, keys and values to their outputs.

    Attributes:
        path: Which heads, and what computes them.
        seconds: Of that; None for heads that need no attention.
        other: The fastest other implementation that can run them; None where there is none.
        other_seconds: Of that.
    """

    path: HeadPath
    seconds: float | None = None
    other: str | None = None
    other_seconds: float | None = None


@dataclass(frozen=True)
class LayerSpeed:
    """Median seconds of a layer of self-attention, forward.

    Attributes:
        layer: The module's name in the encoder.
        seconds: Of the whole layer.
        floor: Of its matrix products alone.
        paths: Its heads, by prior.
    """

    layer: str
    seconds: float
    floor: float
    paths: tuple[PathSpeed, ...]


def time_layers(encoder: nn.Module, x: Ragged, anatomy: Anatomy, rounds: int) -> list[LayerSpeed]:
    """Time the layers of self-attention on what they read when the encoder reads a batch.

    Args:
        encoder: See `headwise.bench.encoder.measure`.
        x: The batch.
        anatomy: What `headwise.bench.encoder.dissect` has found for encoder and batch.
        rounds: Of which the median is taken.
    """
    with mode(encoder, training=False), torch.inference_mode():
        return [
            _time_layer(name, module, inputs, anatomy, rounds)
            for name, module, inputs in _inputs(encoder, x)
        ]


def _inputs(encoder: nn.Module, x: Ragged) -> list[tuple[str, SelfAttention, Ragged]]:
    """The layers in the order in which they run, and what each reads."""
    found: dict[str, tuple[str, SelfAttention, Ragged]] = {}

    def watch(name: str) -> Callable[[SelfAttention, tuple[Ragged, ...]], None]:
        return lambda module, inputs: found.update({name: (name, module, inputs[0])})

    layers = [(name, own) for name, own in encoder.named_modules() if isinstance(own, SelfAttention)]
    handles = [own.register_forward_pre_hook(watch(name)) for name, own in layers]
    try:
        encoder(x)
    finally:
        for handle in handles:
            handle.remove()
    return list(found.values())


def _time_layer(name: str, module: SelfAttention, x: Ragged, anatomy: Anatomy, rounds: int) -> LayerSpeed:
    paths = list(dict.fromkeys(path for path in anatomy.paths if path.layer == name))
    priors = tune(module.priors, module.learned)
    systems: dict[tuple[str, int], Callable[[], None]] = {
        ("layer", 0): _finished(lambda: module(x), x.values),
        ("floor", 0): products_alone(attention_products(module, x.layout.total), device=x.values.device),
    }
    others: dict[int, str | None] = {}
    for place, path in enumerate(paths):
        if path.implementation not in IMPLEMENTATIONS:
            continue
        own = [priors[head] for head in path.heads]
        size = (x.layout.total, len(own), module.head_size)
        query, key, value = (torch.randn(size).to(x.values) for _ in range(3))
        others[place] = _other(path, query, own, x)
        for what, used in (("taken", path.implementation), ("other", others[place])):
            if used is not None:
                systems[what, place] = _attention(used, (query, key, value), own, x)
    times = {what: statistics.median(own) for what, own in interleaved(systems, rounds).items()}
    speeds = [
        PathSpeed(path, times.get(("taken", n)), others.get(n), times.get(("other", n)))
        for n, path in enumerate(paths)
    ]
    return LayerSpeed(name, times["layer", 0], times["floor", 0], tuple(speeds))


def _other(path: HeadPath, query: Tensor, priors: list[Prior], x: Ragged) -> str | None:
    """The implementation that would run heads if there were not the one that does; None also where the
    texts are too long to try."""
    if sum(size * size for size in x.layout.sizes) > _MOST_PAIRS:
        return None
    for name, implementation in IMPLEMENTATIONS.items():
        tried = name not in (path.implementation, _LAST)
        if tried and implementation.refuses(query, priors, x.layout) is None:
            return name
    return None


def _attention(
    name: str, rows: tuple[Tensor, Tensor, Tensor], priors: list[Prior], x: Ragged
) -> Callable[[], None]:
    run = IMPLEMENTATIONS[name].run
    return _finished(lambda: run(*rows, priors, x.layout), x.values)


def _finished(run: Callable[[], object], values: Tensor) -> Callable[[], None]:
    def timed() -> None:
        run()
        finish(values.device)

    return timed
