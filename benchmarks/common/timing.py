"""Time an encoder on this machine and compare it with its necessary matrix products, the *floor*.

The floor is the time of the linear layers alone on the same packed rows: no attention, no norms, no
padding, and no queries and keys for heads that see only their own position. Times are medians over rounds;
each round runs every system once, so that a slow moment of the machine affects all systems equally.

Time each self-attention layer of an encoder; compare it with its floor and other implementations.
"""

import statistics
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from headwise.nn.attention.dispatch import IMPLEMENTATIONS, choose
from headwise.nn.attention.self_attention import SelfAttention
from headwise.nn.embeddings.encoded_batches import parsed_layout
from headwise.nn.encoders.encoder import Encoded, tree_use
from headwise.nn.priors import Prior
from headwise.nn.priors.learned import attach_terms
from headwise.nn.ragged import Ragged
from headwise.text.syntax import DependencyHeads

K = TypeVar("K")

_LENGTH_SPREAD = 0.1  # relative deviation of text lengths from their mean, as in a batch sorted by length


@dataclass(frozen=True)
class MatrixProduct:
    """A matrix product: `rows` rows of `width` features become rows of `out` features."""

    rows: int
    width: int
    out: int


@dataclass(frozen=True)
class HeadPath:
    """How the heads with one prior in a layer of self-attention are computed.

    Attributes:
        layer: The module's name in the encoder.
        heads: Head indices, from 0.
        prior: The prior as text.
        implementation: Key of `headwise.nn.attention.IMPLEMENTATIONS`, or `value` for heads that need no
            attention.
        reasons: Why it was chosen: one line for each implementation considered.
    """

    layer: str
    heads: tuple[int, ...]
    prior: str
    implementation: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class EncoderProfile:
    """The computations of an encoder on one batch.

    Attributes:
        products: The necessary matrix products; None for a recurrent encoder, whose products depend on one
            another.
        paths: How the heads are computed; empty if the encoder has no self-attention with priors.
    """

    products: tuple[MatrixProduct, ...] | None
    paths: tuple[HeadPath, ...]


@dataclass(frozen=True)
class Speed:
    """Median times of an encoder on a batch, in seconds.

    Attributes:
        length: Mean number of words of a text.
        texts: Number of texts in the batch.
        words: Number of words in the batch.
        forward: Forward pass without gradients.
        training: Forward and backward pass with dropout, without the optimizer.
        floor_forward: The matrix products of `forward` alone; None where there is no floor.
        floor_training: The matrix products of `training` alone.
        anatomy: The products and head paths that were timed.
    """

    length: int
    texts: int
    words: int
    forward: float
    training: float
    floor_forward: float | None
    floor_training: float | None
    anatomy: EncoderProfile


def measure(
    encoder: nn.Module,
    width: int,
    length: int,
    texts: int,
    *,
    rounds: int = 5,
    device: torch.device | str = "cpu",
) -> Speed:
    """Time an encoder on random word vectors; its training mode is restored afterwards.

    Args:
        encoder: Takes a `Ragged` of rows `[total, width]` and returns an `Encoded`.
        width: Features of a word vector.
        length: Mean number of words of a text; they vary by a tenth.
        texts: Number of texts in the batch.
        rounds: Number of timed rounds; the median counts.
        device: The device of the encoder.
    """
    x, heads = random_batch(encoder, width, length, texts, device)
    values, sizes = x.values, list(x.layout.sizes)
    with training_mode(encoder, training=False), torch.inference_mode():
        anatomy = profile(encoder, x)
    systems = {
        "forward": forward_pass(encoder, values, sizes, heads),
        "training": training_pass(encoder, values, sizes, heads),
    }
    if anatomy.products is not None:
        systems["floor_forward"] = products_alone(anatomy.products, device=device)
        systems["floor_training"] = products_alone(anatomy.products, backward=True, device=device)
    times = {name: statistics.median(seconds) for name, seconds in interleaved(systems, rounds).items()}
    return Speed(
        length,
        texts,
        sum(sizes),
        times["forward"],
        times["training"],
        times.get("floor_forward"),
        times.get("floor_training"),
        anatomy,
    )


def random_batch(
    encoder: nn.Module, width: int, length: int, texts: int, device: torch.device | str = "cpu"
) -> tuple[Ragged, list[DependencyHeads] | None]:
    """A reproducible batch of random word vectors, and the dependency heads of its words if the encoder
    needs trees (else None)."""
    sizes = spread_lengths(length, texts)
    values = torch.randn(sum(sizes), width, generator=torch.Generator().manual_seed(0)).to(device)
    heads = [balanced_heads(size) for size in sizes] if tree_use(encoder) == "error" else None
    return _batch(values, sizes, heads), heads


def _batch(values: Tensor, sizes: list[int], heads: list[DependencyHeads] | None) -> Ragged:
    """The values as a batch with a new layout, parsed if `heads` are given."""
    if heads is None:
        return Ragged.from_lengths(values, sizes)
    return Ragged(values, parsed_layout(heads, values.device))


def balanced_heads(words: int) -> DependencyHeads:
    """Dependency heads `[words]` of a balanced binary tree, as `headwise.text.parse_files` makes them."""
    heads, parts = np.zeros(words, dtype=np.int64), [(0, words, 0)]
    while parts:
        start, stop, above = parts.pop()
        if stop - start > 1:
            middle = (start + stop) // 2
            heads[middle] = above + 1
            parts += [(start, middle, middle), (middle, stop, middle)]
    return heads


def spread_lengths(length: int, texts: int) -> list[int]:
    """Text lengths around a mean, longest first, as in a batch sorted by length."""
    steps = (
        torch.linspace(1 + _LENGTH_SPREAD, 1 - _LENGTH_SPREAD, texts) if texts > 1 else torch.ones(texts)
    )
    return [max(1, round(length * step)) for step in steps.tolist()]


def profile(encoder: nn.Module, x: Ragged) -> EncoderProfile:
    """The `EncoderProfile` of an encoder on a batch, recorded by forward hooks in one run.

    The products are the fewest that the definition needs, however the modules compute them: two for each
    `SelfAttention` (one for queries, keys and values together, one for the output) and one for each other
    linear layer.
    """
    products: list[MatrixProduct] = []
    paths: list[HeadPath] = []

    def of_linear(module: nn.Linear, inputs: tuple[Tensor, ...]) -> None:
        rows = inputs[0].numel() // module.in_features
        products.append(MatrixProduct(rows, module.in_features, module.out_features))

    def of_attention(name: str) -> Callable[[SelfAttention, tuple[Ragged, ...]], None]:
        def hook(module: SelfAttention, inputs: tuple[Ragged, ...]) -> None:
            layer_products, layer_paths = _of_attention(module, name, inputs[0])
            products.extend(layer_products)
            paths.extend(layer_paths)

        return hook

    handles, recurrent, inside = [], False, set()
    for name, module in encoder.named_modules():
        if isinstance(module, SelfAttention):
            handles.append(module.register_forward_pre_hook(of_attention(name)))
            inside.update(module.children())
        elif isinstance(module, nn.Linear) and module not in inside:
            handles.append(module.register_forward_pre_hook(of_linear))
        recurrent = recurrent or isinstance(module, nn.RNNBase)
    try:
        encoder(x)
    finally:
        for handle in handles:
            handle.remove()
    return EncoderProfile(None if recurrent else tuple(products), tuple(paths))


def _of_attention(
    module: SelfAttention, name: str, x: Ragged
) -> tuple[tuple[MatrixProduct, MatrixProduct], list[HeadPath]]:
    rows, priors, paths = x.layout.total, module.priors, []
    for prior in dict.fromkeys(priors):
        heads = tuple(head for head, head_prior in enumerate(priors) if head_prior == prior)
        if prior.is_identity:
            how, reasons = "value", ("value: each position sees itself alone, so its value is the output",)
        else:
            query = x.values.new_empty(rows, len(heads), module.head_size)
            choice = choose(query, [prior] * len(heads), x.layout, module.impl)
            how, reasons = choice.name, choice.reasons
        paths.append(HeadPath(name, heads, str(prior), how, reasons))
    return attention_products(module, rows), paths


def attention_products(module: SelfAttention, rows: int) -> tuple[MatrixProduct, MatrixProduct]:
    """The two matrix products that a self-attention layer needs for `rows` rows."""
    width, size, priors = module.value.in_features, module.head_size, module.priors
    inner, attending = len(priors) * size, sum(not prior.is_identity for prior in priors)
    return MatrixProduct(rows, width, inner + 2 * attending * size), MatrixProduct(rows, inner, width)


def products_alone(
    products: tuple[MatrixProduct, ...], *, backward: bool = False, device: torch.device | str = "cpu"
) -> Callable[[], None]:
    """A function that computes matrix products and nothing else.

    Args:
        products: Their sizes.
        backward: Also compute the products for the gradients of inputs and weights.
        device: The device of the operands.
    """
    operands = {
        p: tuple(torch.rand(sizes, device=device) for sizes in ((p.rows, p.width), (p.width, p.out)))
        for p in set(products)
    }
    grads = {p: torch.rand(p.rows, p.out, device=device) for p in operands} if backward else {}

    def run() -> None:
        with torch.inference_mode():
            for product in products:
                rows, weight = operands[product]
                _ = rows @ weight
                if backward:
                    _ = grads[product] @ weight.T
                    _ = rows.T @ grads[product]
        synchronize(torch.device(device))

    return run


def forward_pass(
    encoder: nn.Module, values: Tensor, sizes: list[int], heads: list[DependencyHeads] | None = None
) -> Callable[[], None]:
    """A function that encodes a batch as prediction does: with a new layout each time, and with trees if
    `heads` are given."""

    def run() -> None:
        with training_mode(encoder, training=False), torch.inference_mode():
            encoder(_batch(values, sizes, heads))
        synchronize(values.device)

    return run


def training_pass(
    encoder: nn.Module, values: Tensor, sizes: list[int], heads: list[DependencyHeads] | None = None
) -> Callable[[], None]:
    """A function that encodes a batch with dropout and computes all gradients, including those of the word
    vectors."""
    grads: list[Tensor] = []

    def run() -> None:
        with training_mode(encoder, training=True), torch.enable_grad():
            vectors = values.detach().requires_grad_()
            outputs = _outputs(encoder(_batch(vectors, sizes, heads)))
            if not grads:
                grads.extend(torch.randn_like(output) for output in outputs)
            torch.autograd.backward(outputs, grads)
        encoder.zero_grad()
        synchronize(values.device)

    return run


def _outputs(encoded: Encoded) -> list[Tensor]:
    tensors = [encoded.tokens.values, encoded.summary]
    return [output for output in tensors if output is not None and output.requires_grad]


def interleaved(
    systems: Mapping[K, Callable[[], Any]], rounds: int, *, warm_up: int = 1
) -> dict[K, list[float]]:
    """Seconds of each system in each round; a round runs every system once.

    Args:
        systems: Functions to time, by name.
        rounds: Number of timed rounds, 1 or more.
        warm_up: Number of untimed rounds before them.
    """
    clock = choose_clock()[1]
    times: dict[K, list[float]] = {name: [] for name in systems}
    for round_ in range(-warm_up, rounds):
        for name, run in systems.items():
            begin = clock()
            run()
            if round_ >= 0:
                times[name].append(clock() - begin)
    return times


def choose_clock() -> tuple[str, Callable[[], float]]:
    """The name and function of the clock: processor time of this process if torch computes with one thread
    on the CPU, so that other programs do not count; else wall time."""
    if torch.get_num_threads() == 1 and not torch.cuda.is_initialized():
        return "processor time", time.process_time
    return "wall time", time.perf_counter


@contextmanager
def training_mode(module: nn.Module, *, training: bool) -> Generator[None]:
    """Within this context, `module` is in training or evaluation mode; its mode is restored afterwards."""
    before = module.training
    module.train(training)
    try:
        yield
    finally:
        module.train(before)


def synchronize(device: torch.device) -> None:
    """Wait until a device has finished its queued work."""
    if device.type == "cuda":
        torch.cuda.synchronize()


_REFERENCE = "reference"  # the definition; never offered as an alternative
_MOST_PAIRS = 1 << 27  # of words of the same text; beyond, a dense mask takes too much memory to try it


@dataclass(frozen=True)
class HeadPathSpeed:
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
    paths: tuple[HeadPathSpeed, ...]


def time_layers(encoder: nn.Module, x: Ragged, anatomy: EncoderProfile, rounds: int) -> list[LayerSpeed]:
    """Time each self-attention layer on the input that it gets when the encoder reads a batch.

    Args:
        encoder: See `benchmarks.common.timing.measure`.
        x: The batch.
        anatomy: Of this encoder and batch, from `benchmarks.common.timing.profile`.
        rounds: Number of timed rounds; the median counts.
    """
    with training_mode(encoder, training=False), torch.inference_mode():
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


def _time_layer(
    name: str, module: SelfAttention, x: Ragged, anatomy: EncoderProfile, rounds: int
) -> LayerSpeed:
    paths = list(dict.fromkeys(path for path in anatomy.paths if path.layer == name))
    priors = attach_terms(module.priors, module.learned)
    systems: dict[tuple[str, int], Callable[[], None]] = {
        ("layer", 0): _synchronized(lambda: module(x), x.values),
        ("floor", 0): products_alone(attention_products(module, x.layout.total), device=x.values.device),
    }
    alternatives: dict[int, str | None] = {}
    for place, path in enumerate(paths):
        if path.implementation not in IMPLEMENTATIONS:
            continue
        head_priors = [priors[head] for head in path.heads]
        size = (x.layout.total, len(head_priors), module.head_size)
        query, key, value = (torch.randn(size).to(x.values) for _ in range(3))
        alternatives[place] = _next_implementation(path, query, head_priors, x)
        for what, used in (("taken", path.implementation), ("other", alternatives[place])):
            if used is not None:
                systems[what, place] = _attention(used, (query, key, value), head_priors, x)
    times = {what: statistics.median(seconds) for what, seconds in interleaved(systems, rounds).items()}
    speeds = [
        HeadPathSpeed(path, times.get(("taken", n)), alternatives.get(n), times.get(("other", n)))
        for n, path in enumerate(paths)
    ]
    return LayerSpeed(name, times["layer", 0], times["floor", 0], tuple(speeds))


def _next_implementation(path: HeadPath, query: Tensor, priors: list[Prior], x: Ragged) -> str | None:
    """The implementation that would be chosen next for these heads; None if there is none, or if the texts
    are too long to try it."""
    if sum(size * size for size in x.layout.sizes) > _MOST_PAIRS:
        return None
    for name, implementation in IMPLEMENTATIONS.items():
        tried = name not in (path.implementation, _REFERENCE)
        if tried and implementation.unsupported_reason(query, priors, x.layout) is None:
            return name
    return None


def _attention(
    name: str, rows: tuple[Tensor, Tensor, Tensor], priors: list[Prior], x: Ragged
) -> Callable[[], None]:
    run = IMPLEMENTATIONS[name].run
    return _synchronized(lambda: run(*rows, priors, x.layout), x.values)


def _synchronized(run: Callable[[], object], values: Tensor) -> Callable[[], None]:
    def timed() -> None:
        run()
        synchronize(values.device)

    return timed
