"""Time each self-attention layer of an encoder; compare it with its floor and other implementations."""

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

_LAST = "reference"  # the definition; never offered as an alternative
_MOST_PAIRS = 1 << 27  # of words of the same text; beyond, a dense mask takes too much memory to try it


@dataclass(frozen=True)
class PathSpeed:
    """Time of the heads with one prior in a layer, from queries, keys and values to outputs.

    Attributes:
        path: The heads and the implementation that computes them.
        seconds: Their median time; None for heads that need no attention.
        alternative: The next implementation that supports these heads; None if there is none.
        alternative_seconds: Its median time.
    """

    path: HeadPath
    seconds: float | None = None
    alternative: str | None = None
    alternative_seconds: float | None = None


@dataclass(frozen=True)
class LayerSpeed:
    """Median times of the forward pass of a self-attention layer, in seconds.

    Attributes:
        layer: The module's name in the encoder.
        seconds: Time of the layer.
        floor: Time of its matrix products alone.
        paths: Times of its heads, by prior.
    """

    layer: str
    seconds: float
    floor: float
    paths: tuple[PathSpeed, ...]


def time_layers(encoder: nn.Module, x: Ragged, anatomy: Anatomy, rounds: int) -> list[LayerSpeed]:
    """Time each self-attention layer on the input that it gets when the encoder reads a batch.

    Args:
        encoder: See `headwise.bench.encoder.measure`.
        x: The batch.
        anatomy: Of this encoder and batch, from `headwise.bench.encoder.dissect`.
        rounds: Number of timed rounds; the median counts.
    """
    with mode(encoder, training=False), torch.inference_mode():
        return [
            _time_layer(name, module, inputs, anatomy, rounds)
            for name, module, inputs in _inputs(encoder, x)
        ]


def _inputs(encoder: nn.Module, x: Ragged) -> list[tuple[str, SelfAttention, Ragged]]:
    """Name, module and input of each self-attention layer, in execution order."""
    layer_inputs: dict[str, tuple[str, SelfAttention, Ragged]] = {}

    def watch(name: str) -> Callable[[SelfAttention, tuple[Ragged, ...]], None]:
        return lambda module, inputs: layer_inputs.update({name: (name, module, inputs[0])})

    layers = [(name, layer) for name, layer in encoder.named_modules() if isinstance(layer, SelfAttention)]
    handles = [layer.register_forward_pre_hook(watch(name)) for name, layer in layers]
    try:
        encoder(x)
    finally:
        for handle in handles:
            handle.remove()
    return list(layer_inputs.values())


def _time_layer(name: str, module: SelfAttention, x: Ragged, anatomy: Anatomy, rounds: int) -> LayerSpeed:
    paths = list(dict.fromkeys(path for path in anatomy.paths if path.layer == name))
    priors = tune(module.priors, module.learned)
    systems: dict[tuple[str, int], Callable[[], None]] = {
        ("layer", 0): _finished(lambda: module(x), x.values),
        ("floor", 0): products_alone(attention_products(module, x.layout.total), device=x.values.device),
    }
    alternatives: dict[int, str | None] = {}
    for place, path in enumerate(paths):
        if path.implementation not in IMPLEMENTATIONS:
            continue
        head_priors = [priors[head] for head in path.heads]
        size = (x.layout.total, len(head_priors), module.head_size)
        query, key, value = (torch.randn(size).to(x.values) for _ in range(3))
        alternatives[place] = _other(path, query, head_priors, x)
        for what, used in (("taken", path.implementation), ("other", alternatives[place])):
            if used is not None:
                systems[what, place] = _attention(used, (query, key, value), head_priors, x)
    times = {what: statistics.median(seconds) for what, seconds in interleaved(systems, rounds).items()}
    speeds = [
        PathSpeed(path, times.get(("taken", n)), alternatives.get(n), times.get(("other", n)))
        for n, path in enumerate(paths)
    ]
    return LayerSpeed(name, times["layer", 0], times["floor", 0], tuple(speeds))


def _other(path: HeadPath, query: Tensor, priors: list[Prior], x: Ragged) -> str | None:
    """The implementation that would be chosen next for these heads; None if there is none, or if the texts
    are too long to try it."""
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
