"""Layers of networks at prediction, in NumPy and compiled loops; all numbers are float32."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from headwise.core import native
from headwise.core.threads import run_jobs, usable_threads
from headwise.runtime.banded_plan import Band, BandedPlan, Reaches

Floats = NDArray[np.float32]
_INT16_SIZE = 128  # inputs and outputs from which products of 16-bit integers are worth it
_THREAD_ROWS = 256  # rows that a thread multiplies at a time
_EPSILON = 1e-5  # of PyTorch's norms


@dataclass(frozen=True)
class Affine:
    """`x W + b`.

    Attributes:
        weight: W, `[inputs, outputs]`.
        bias: b, `[outputs]`; None for 0.
    """

    weight: Floats
    bias: Floats | None = None

    def __call__(self, rows: Floats) -> Floats:
        """`[rows, inputs]` -> `[rows, outputs]`."""
        products = rows @ self.weight
        if self.bias is not None:
            products += self.bias
        return products


class Int16Affine:
    """`x W + b` by products of 16-bit integers (see `native/int16_products.h`): off by some 1e-4 of the
    outputs' standard deviation, and two to three times as fast as float32 on processors with instructions
    for them.

    Attributes:
        weight: W in float32, `[inputs, outputs]`.
        bias: b, `[outputs]`; None for 0.

    Args:
        affine: W and b.
    """

    def __init__(self, affine: Affine):
        self.weight, self.bias = affine.weight, affine.bias
        bias = np.zeros(self.weight.shape[1], dtype=np.float32) if affine.bias is None else affine.bias
        self._matrix = native.Int16Matrix(self.weight, np.ascontiguousarray(bias))

    def __call__(self, rows: Floats) -> Floats:
        """`[rows, inputs]` -> `[rows, outputs]`."""
        products = np.empty((len(rows), self.weight.shape[1]), dtype=np.float32)
        threads = usable_threads() if len(rows) > _THREAD_ROWS else 1
        step = _THREAD_ROWS if threads > 1 else max(len(rows), 1)

        def work(first: int) -> None:
            self._matrix.multiply(rows[first : first + step], products[first : first + step])

        run_jobs(work, range(0, len(rows), step), threads)
        return products


EncoderAffine = Affine | Int16Affine


def encoder_affine(affine: Affine) -> EncoderAffine:
    """The linear layer of an encoder as this processor computes it fastest. Matrices of less than 128 x 128
    are not worth a rounding."""
    worth = min(affine.weight.shape) >= _INT16_SIZE and native.has_int16_products()
    return Int16Affine(affine) if worth else affine


@dataclass(frozen=True)
class LayerNorm:
    """Layer normalisation of the sum of two rows.

    Attributes:
        weight: Factors of the features, `[width]`.
        bias: Addends of the features, `[width]`.
    """

    weight: Floats
    bias: Floats

    def __call__(self, rows: Floats, added: Floats, *, rectify: bool = False) -> Floats:
        """`LayerNorm(added + rows)`, or with `rectify` `LayerNorm(added + ReLU(rows))`, in the memory of
        `rows`, `[rows, width]`."""
        native.normalize_rows(rows, added, self.weight, self.bias, _EPSILON, rectify)
        return rows


class LayerWeights:
    """The weights of layers by the names that model folders give them.

    Args:
        arrays: All weights, by name.
    """

    def __init__(self, arrays: Mapping[str, NDArray]):
        self.arrays = arrays

    def affine(self, name: str) -> Affine:
        """The linear layer of this name."""
        weight = np.ascontiguousarray(self.arrays[f"{name}.weight"].T)
        return Affine(weight, self.arrays.get(f"{name}.bias"))

    def optional(self, name: str) -> Affine | None:
        """The linear layer of this name; None if there is none."""
        return self.affine(name) if f"{name}.weight" in self.arrays else None

    def norm(self, name: str) -> LayerNorm:
        """The layer norm of this name."""
        return LayerNorm(self.arrays[f"{name}.weight"], self.arrays[f"{name}.bias"])

    def perceptron(self, name: str, normalize: str) -> "Perceptron":
        """The two-layer perceptron of this name.

        Args:
            name: Its name.
            normalize: How its input is normalised: none, batch or layer.
        """
        first, second = self.affine(f"{name}.layers.1"), self.affine(f"{name}.layers.4")
        norm = f"{name}.layers.0"
        if normalize != "batch":
            return Perceptron(first, second, self.norm(norm) if normalize == "layer" else None)
        variance, mean = (self.arrays[f"{norm}.running_{part}"] for part in ("var", "mean"))
        factors = self.arrays[f"{norm}.weight"] / np.sqrt(variance + np.float32(_EPSILON))
        addends = self.arrays[f"{norm}.bias"] - mean * factors
        bias = addends @ first.weight + (0 if first.bias is None else first.bias)
        weight = np.asarray(factors[:, None] * first.weight, dtype=np.float32)
        return Perceptron(Affine(weight, np.asarray(bias, dtype=np.float32)), second, None)


@dataclass(frozen=True)
class Perceptron:
    """`W_2 ReLU(W_1 norm(x) + b_1) + b_2`.

    Attributes:
        first, second: The layers.
        norm: Normalises x; None if nothing does.
    """

    first: Affine
    second: Affine
    norm: LayerNorm | None = None

    def __call__(self, rows: Floats) -> Floats:
        """`[rows, inputs]` -> `[rows, outputs]`."""
        if self.norm is not None:
            rows = self.norm(rows.copy(), np.zeros_like(rows))
        return self.second(rectified(self.first(rows)))


def rectified(rows: Floats) -> Floats:
    """ReLU in the memory of the rows."""
    return np.maximum(rows, 0, out=rows)


class HeadPrior(Protocol):
    """What decides which positions a head sees, such as `headwise.nn.priors.Window`."""

    @property
    def is_identity(self) -> bool:
        """Whether every position sees itself alone."""
        ...

    def band(self, lengths: Reaches) -> Band | None:
        """See `headwise.nn.priors.base.Prior.band`."""
        ...


class AttentionHeads:
    """Multi-head self-attention within bands, without the output projection.

    Args:
        weights: The weights.
        name: Name of the layer.
        priors: What each head sees.
        head_size: Features of a head.
    """

    def __init__(self, weights: LayerWeights, name: str, priors: Sequence[HeadPrior], head_size: int):
        self.priors, self.head_size = tuple(priors), head_size
        self.inner = len(priors) * head_size
        self.attending = [head for head, prior in enumerate(priors) if not prior.is_identity]
        columns = (np.array(self.attending)[:, None] * head_size + np.arange(head_size)).ravel()
        columns = columns.astype(np.int64)
        value, query, key = (weights.affine(f"{name}.{part}") for part in ("value", "query", "key"))
        parts = [(value, slice(None)), (query, columns), (key, columns)]
        bias = None
        if value.bias is not None:
            bias = np.concatenate([part.bias[at] for part, at in parts if part.bias is not None])
        weight = np.concatenate([part.weight[:, at] for part, at in parts], axis=1)
        self.project = encoder_affine(Affine(weight, bias))

    def plan(self, lengths: Reaches) -> BandedPlan:
        """The work items for texts of these lengths."""
        bands = []
        for head in self.attending:
            band = self.priors[head].band(lengths)
            if band is None:
                raise ValueError("attention at prediction needs priors that are bands")
            bands.append(band)
        return BandedPlan.of(lengths, len(self.priors), self.attending, bands)

    def __call__(self, projected: Floats, plan: BandedPlan) -> Floats:
        """The outputs of all heads, `[rows, heads * size]`.

        Args:
            projected: Output of `project` for the rows of all texts.
            plan: The plan for these texts.
        """
        if not self.attending:
            return np.ascontiguousarray(projected[:, : self.inner])
        rows, attending = len(projected), len(self.attending)
        middle = self.inner + attending * self.head_size
        value = projected[:, : self.inner].reshape(rows, len(self.priors), self.head_size)
        query, key = (
            part.reshape(rows, attending, self.head_size)
            for part in (projected[:, self.inner : middle], projected[:, middle:])
        )
        out = np.empty((rows, len(self.priors), self.head_size), dtype=np.float32)
        statistics = np.empty((2, attending, rows), dtype=np.float32)
        plan.run(native.banded_forward, (query, key, value, out, statistics))
        for heads in plan.value_runs():
            out[:, heads] = value[:, heads]
        return out.reshape(rows, self.inner)
