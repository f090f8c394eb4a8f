"""The words of a base with their corrections: their layer norm, and their weighted sums over texts.

One operation on the CPU reads each word once (see `headwise.nn.layers.fused`).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import embedding

from headwise.core import native
from headwise.nn.kernel_rows import arrays_of
from headwise.nn.layers.dropout import Dropout, keyed_dropout
from headwise.nn.layers.fused import are_plain, draw_mask, is_supported
from headwise.nn.torch_modes import differentiable_gradients


class RowEmbedding(nn.Embedding):
    """`torch.nn.Embedding` whose optimizer may postpone updates of the rows that a batch does not read.

    Attributes:
        before_lookup: Called with the ids `[total]` before their rows are read in training mode; with it,
            gradients are sparse. None where the optimizer updates all rows in each step.
    """

    before_lookup: Callable[[Tensor], None] | None = None

    def forward(self, input: Tensor) -> Tensor:
        if self.before_lookup is None or not self.training:
            return super().forward(input)
        self.before_lookup(input)
        return embedding(input, self.weight, sparse=True)  # the optimizer leaves out the padding row


class WordRows(NamedTuple):
    """The words of a batch.

    Attributes:
        vectors: Vectors of the distinct words, `[kinds, size]`.
        places: Index of each word among the distinct words, `[total]`.
        ids: Row of each word in the table of corrections, `[total]`.
        weights: Weight of each word in the sum, `[total]`.
        offsets: Where texts begin and end, `[texts + 1]`.
    """

    vectors: Tensor
    places: Tensor
    ids: Tensor
    weights: Tensor
    offsets: Tensor


def can_read_words(
    words: WordRows, corrections: RowEmbedding | None, norm: nn.LayerNorm, dropout: Dropout
) -> bool:
    """Whether `read_words` can compute this: on the CPU, with corrections that are updated row by row."""
    if not are_plain(norm, dropout):
        return False
    tensors = [words.vectors, words.weights, norm.weight, norm.bias]
    if corrections is not None:
        tensors.append(corrections.weight)
        if corrections.before_lookup is None or corrections._forward_hooks:
            return False
    return is_supported(*tensors) and words.places.numel() * words.vectors.shape[1] < 1 << 31


def read_words(
    words: WordRows, corrections: RowEmbedding | None, norm: nn.LayerNorm, dropout: Dropout
) -> tuple[Tensor, Tensor]:
    """`dropout(LayerNorm(x))` of each word, `[total, size]`, and the weighted sums of x over texts,
    `[texts, size]`, with x the vector of a word plus its correction."""
    key, probability = draw_mask(dropout)
    if corrections is not None and corrections.before_lookup is not None:
        corrections.before_lookup(words.ids)
    table = None if corrections is None else corrections.weight
    rows, sums = _ReadWords.apply(table, norm.weight, norm.bias, key, probability, norm.eps, *words)
    return rows, sums


def plain_read_words(
    table: Tensor | None,
    weight: Tensor,
    bias: Tensor,
    key: int,
    probability: float,
    epsilon: float,
    *words: Tensor,
) -> tuple[Tensor, Tensor]:
    """The same result by PyTorch operations, from the table of corrections and the parameters of the norm,
    with `key` and `probability` of the dropout."""
    vectors, places, ids, weights, offsets = words
    x = vectors.index_select(0, places)
    if table is not None:
        x = x + functional.embedding(ids, table)
    rows = keyed_dropout(functional.layer_norm(x, weight.shape, weight, bias, epsilon), key, probability)
    texts = torch.repeat_interleave(torch.arange(len(offsets) - 1), offsets.diff())
    sums = x.new_zeros(len(offsets) - 1, x.shape[1]).index_add(0, texts, x * weights[:, None])
    return rows, sums


class _ReadWords(torch.autograd.Function):
    """The gradient of the table is sparse, as that of `RowEmbedding`."""

    @staticmethod
    def forward(
        ctx: Any, table: Tensor | None, weight: Tensor, bias: Tensor, *settings: Any
    ) -> tuple[Tensor, Tensor]:
        key, probability, epsilon, *words = settings
        words = WordRows(*(x.detach().contiguous() for x in words))
        total, size = len(words.places), words.vectors.shape[1]
        rows, moments = words.vectors.new_empty(total, size), words.vectors.new_empty(total, 2)
        sums = words.vectors.new_empty(len(words.offsets) - 1, size)
        read_words: Any = native.read_words  # of arrays of either type
        read_words(
            *_inputs_of(words, table),
            *arrays_of(weight, bias, rows, moments, sums),
            *(key, probability, epsilon),
        )
        ctx.save_for_backward(*([] if table is None else [table]), weight, bias, *words, moments)
        ctx.settings = key, probability, epsilon
        if table is None:  # the sums are of constants
            ctx.mark_non_differentiable(sums)
        return rows, sums

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        *saved, moments = ctx.saved_tensors
        table, weight, bias, *words = saved if len(saved) == 8 else [None, *saved]
        if torch.is_grad_enabled():  # it is to be differentiated again
            arguments = table, weight, bias, *ctx.settings, *words
            return differentiable_gradients(plain_read_words, gradients, ctx.needs_input_grad, *arguments)
        words = WordRows(*words)
        for_rows = gradients[0].new_empty(len(words.places), words.vectors.shape[1])
        for_weight, for_bias = torch.zeros_like(weight), torch.zeros_like(weight)
        of_rows, of_sums = (gradient.contiguous() for gradient in gradients)
        native.read_words_backward(
            *_inputs_of(words, table),
            *arrays_of(of_rows, of_sums, moments, weight, for_rows, for_weight, for_bias),
            *ctx.settings[:2],
        )
        for_table = None
        if table is not None:
            ids = words.ids[None]
            for_table = torch.sparse_coo_tensor(ids, for_rows, table.shape, check_invariants=False)
        return for_table, for_weight, for_bias, *[None] * 8


def _inputs_of(words: WordRows, table: Tensor | None) -> list[Any]:
    """The first arguments of the kernels."""
    vectors, places, ids, weights, offsets = arrays_of(*words)
    return [vectors, places, None if table is None else arrays_of(table)[0], ids, weights, offsets]
