"""Time an encoder on this machine and compare it with its necessary matrix products, the *floor*.

The floor is the time of the linear layers alone on the same packed rows: no attention, no norms, no
padding, and no queries and keys for heads that see only their own position. Times are medians over rounds;
each round runs every system once, so that a slow moment of the machine affects all systems alike.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from headwise.attention.choose import choose
from headwise.attention.self_attention import SelfAttention
from headwise.encoders.base import Encoded
from headwise.encoders.trees import tree_use
from headwise.features.encoded import parsed_layout
from headwise.features.syntax import Heads
from headwise.ragged import Ragged

K = TypeVar("K")

_SPREAD = 0.1  # relative deviation of text lengths from their mean, as in a batch sorted by length


@dataclass(frozen=True)
class Product:
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
        implementation: Key of `headwise.attention.IMPLEMENTATIONS`, or `value` for heads that need no
            attention.
        reasons: Why it was chosen: one line for each implementation considered.
    """

    layer: str
    heads: tuple[int, ...]
    prior: str
    implementation: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Anatomy:
    """The computations of an encoder on one batch.

    Attributes:
        products: The necessary matrix products; None for a recurrent encoder, whose products depend on one
            another.
        paths: How the heads are computed; empty if the encoder has no self-attention with priors.
    """

    products: tuple[Product, ...] | None
    paths: tuple[HeadPath, ...]


@dataclass(frozen=True)
class Speed:
    """Median times of an encoder on a batch, in seconds.

    Attributes:
        length: Mean number of words of a text.
        texts: Number of texts in the batch.
        words: Number of words in the batch.
        forward: Forward pass without gradients.
        training: Forward and backward pass with dropout, without the optimiser.
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
    anatomy: Anatomy


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
    with mode(encoder, training=False), torch.inference_mode():
        anatomy = dissect(encoder, x)
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
) -> tuple[Ragged, list[Heads] | None]:
    """A reproducible batch of random word vectors, and the dependency heads of its words if the encoder
    needs trees (else None)."""
    sizes = spread_lengths(length, texts)
    values = torch.randn(sum(sizes), width, generator=torch.Generator().manual_seed(0)).to(device)
    heads = [balanced_heads(size) for size in sizes] if tree_use(encoder) == "error" else None
    return _batch(values, sizes, heads), heads


def _batch(values: Tensor, sizes: list[int], heads: list[Heads] | None) -> Ragged:
    """The values as a batch with a new layout, parsed if `heads` are given."""
    if heads is None:
        return Ragged.from_lengths(values, sizes)
    return Ragged(values, parsed_layout(heads, values.device))


def balanced_heads(words: int) -> Heads:
    """Dependency heads `[words]` of a balanced binary tree, as `headwise.features.brackets` makes them."""
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
    steps = torch.linspace(1 + _SPREAD, 1 - _SPREAD, texts) if texts > 1 else torch.ones(texts)
    return [max(1, round(length * step)) for step in steps.tolist()]


def dissect(encoder: nn.Module, x: Ragged) -> Anatomy:
    """The `Anatomy` of an encoder on a batch, recorded by forward hooks in one run.

    The products are the fewest that the definition needs, however the modules compute them: two for each
    `SelfAttention` (one for queries, keys and values together, one for the output) and one for each other
    linear layer.
    """
    products: list[Product] = []
    paths: list[HeadPath] = []

    def of_linear(module: nn.Linear, inputs: tuple[Tensor, ...]) -> None:
        rows = inputs[0].numel() // module.in_features
        products.append(Product(rows, module.in_features, module.out_features))

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
    return Anatomy(None if recurrent else tuple(products), tuple(paths))


def _of_attention(
    module: SelfAttention, name: str, x: Ragged
) -> tuple[tuple[Product, Product], list[HeadPath]]:
    rows, priors, paths = x.layout.total, module.priors, []
    for prior in dict.fromkeys(priors):
        heads = tuple(head for head, head_prior in enumerate(priors) if head_prior == prior)
        if prior.only_self:
            how, reasons = "value", ("value: each position sees itself alone, so its value is the output",)
        else:
            query = x.values.new_empty(rows, len(heads), module.head_size)
            choice = choose(query, [prior] * len(heads), x.layout, module.impl)
            how, reasons = choice.name, choice.reasons
        paths.append(HeadPath(name, heads, str(prior), how, reasons))
    return attention_products(module, rows), paths


def attention_products(module: SelfAttention, rows: int) -> tuple[Product, Product]:
    """The two matrix products that a self-attention layer needs for `rows` rows."""
    width, size, priors = module.value.in_features, module.head_size, module.priors
    inner, looking = len(priors) * size, sum(not prior.only_self for prior in priors)
    return Product(rows, width, inner + 2 * looking * size), Product(rows, inner, width)


def products_alone(
    products: tuple[Product, ...], *, backward: bool = False, device: torch.device | str = "cpu"
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
        finish(torch.device(device))

    return run


def forward_pass(
    encoder: nn.Module, values: Tensor, sizes: list[int], heads: list[Heads] | None = None
) -> Callable[[], None]:
    """A function that encodes a batch as prediction does: with a new layout each time, and with trees if
    `heads` are given."""

    def run() -> None:
        with mode(encoder, training=False), torch.inference_mode():
            encoder(_batch(values, sizes, heads))
        finish(values.device)

    return run


def training_pass(
    encoder: nn.Module, values: Tensor, sizes: list[int], heads: list[Heads] | None = None
) -> Callable[[], None]:
    """A function that encodes a batch with dropout and computes all gradients, including those of the word
    vectors."""
    grads: list[Tensor] = []

    def run() -> None:
        with mode(encoder, training=True), torch.enable_grad():
            vectors = values.detach().requires_grad_()
            outputs = _outputs(encoder(_batch(vectors, sizes, heads)))
            if not grads:
                grads.extend(torch.randn_like(output) for output in outputs)
            torch.autograd.backward(outputs, grads)
        encoder.zero_grad()
        finish(values.device)

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
    clock = which_clock()[1]
    times: dict[K, list[float]] = {name: [] for name in systems}
    for round_ in range(-warm_up, rounds):
        for name, run in systems.items():
            begin = clock()
            run()
            if round_ >= 0:
                times[name].append(clock() - begin)
    return times


def which_clock() -> tuple[str, Callable[[], float]]:
    """The name and function of the clock: processor time of this process if torch computes with one thread
    on the CPU, so that other programs do not count; else wall time."""
    if torch.get_num_threads() == 1 and not torch.cuda.is_initialized():
        return "processor time", time.process_time
    return "wall time", time.perf_counter


@contextmanager
def mode(module: nn.Module, *, training: bool) -> Iterator[None]:
    """Within this context, `module` is in training or evaluation mode; its mode is restored afterwards."""
    before = module.training
    module.train(training)
    try:
        yield
    finally:
        module.train(before)


def finish(device: torch.device) -> None:
    """Wait until a device has finished its queued work."""
    if device.type == "cuda":
        torch.cuda.synchronize()
