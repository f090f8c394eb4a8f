"""Layer norm, dropout and what is between them as one operation, on the CPU.

A batch of short texts takes longer over many small operations than over its matrix products. Each function
computes what its `plain_` function computes, with the same random numbers, and takes that where the kernels
cannot run.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch._C._functorch import peek_interpreter_stack
from torch.nn import functional

from headwise.core import native
from headwise.nn.kernel_rows import arrays_of, switched_off_reason, unsupported_rows_reason
from headwise.nn.layers.dropout import Dropout, draw_key, keyed_dropout
from headwise.nn.torch_modes import differentiable_gradients

_MOST = 1 << 31  # values of a tensor


def is_supported(*tensors: Tensor) -> bool:
    """Whether the kernels take matrices and vectors of these kinds."""
    first = tensors[0]
    return (
        first.dtype in (torch.float32, torch.float64)
        and all(x.dtype == first.dtype and unsupported_rows_reason(x) is None for x in tensors)
        and all(x.numel() < _MOST for x in tensors)
        and not torch.is_autocast_enabled("cpu")
        and peek_interpreter_stack() is None  # no transform of torch.func
        and switched_off_reason() is None
    )


def is_watched(*modules: nn.Module) -> bool:
    """Whether one of the modules has hooks or another method `forward`."""
    return any(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or "forward" in vars(module)
        for module in modules
    )


def are_plain(norm: nn.Module, dropout: nn.Module) -> bool:
    """Whether these are an unchanged layer norm and dropout, without hooks."""
    return (
        type(norm) is nn.LayerNorm
        and type(dropout) is Dropout
        and not is_watched(norm, dropout)
        and norm.weight is not None
        and norm.bias is not None
        and dropout.p < 1
    )


def draw_mask(dropout: Dropout) -> tuple[int, float]:
    """A key, and the probability of a dropout layer in its mode."""
    probability = dropout.p if dropout.training else 0.0
    keyed = probability and not torch.compiler.is_compiling()
    return draw_key() if keyed else 0, probability


def add_norm(
    inputs: Tensor, update: Tensor, norm: nn.LayerNorm, dropout: Dropout, *, relu: bool = False
) -> Tensor:
    """`LayerNorm(inputs + dropout(update))`, with `relu` of `max(update, 0)`; all `[rows, width]`."""
    if inputs.dim() != 2 or not are_plain(norm, dropout):
        return norm(inputs + dropout(functional.relu(update) if relu else update))
    key, probability = draw_mask(dropout)
    parameters = norm.weight, norm.bias
    compute = _AddNorm.apply if is_supported(inputs, update, *parameters) else plain_add_norm
    return compute(inputs, update, *parameters, key, probability, relu, norm.eps)


def plain_add_norm(
    inputs: Tensor,
    update: Tensor,
    weight: Tensor,
    bias: Tensor,
    key: int,
    probability: float,
    relu: bool,
    epsilon: float,
) -> Tensor:
    """The same result by PyTorch operations, from the parameters of the norm, with `key` and `probability`
    of the dropout."""
    update = keyed_dropout(functional.relu(update) if relu else update, key, probability)
    return functional.layer_norm(inputs + update, weight.shape, weight, bias, epsilon)


class _AddNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, update: Tensor, weight: Tensor, bias: Tensor, *settings: Any
    ) -> Tensor:
        rows = [x.detach().contiguous() for x in (inputs, update)]
        sums, result = torch.empty_like(rows[0]), torch.empty_like(rows[0])
        moments = inputs.new_empty(len(inputs), 2)
        kernel: Any = native.add_norm  # of arrays of either type
        kernel(*arrays_of(*rows, weight, bias, sums, result, moments), *settings)
        ctx.save_for_backward(inputs, update, weight, bias, sums, moments)
        ctx.settings = settings
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        *inputs, sums, moments = ctx.saved_tensors
        if torch.is_grad_enabled():  # it is to be differentiated again
            return differentiable_gradients(
                plain_add_norm, gradients, ctx.needs_input_grad, *inputs, *ctx.settings
            )
        gradient, update, weight = gradients[0].contiguous(), inputs[1].contiguous(), inputs[2]
        for_inputs, for_update = torch.empty_like(gradient), torch.empty_like(gradient)
        for_weight, for_bias = torch.zeros_like(weight), torch.zeros_like(weight)
        arrays = arrays_of(gradient, update, sums, moments, weight, for_inputs, for_update)
        kernel: Any = native.add_norm_backward
        kernel(*arrays, *arrays_of(for_weight, for_bias), *ctx.settings[:3])
        return for_inputs, for_update, for_weight, for_bias, None, None, None, None


def perceptron(rows: Tensor, up: nn.Linear, dropout: Dropout, down: nn.Linear) -> Tensor:
    """`down(dropout(relu(up(rows))))`, `[rows, width]` -> `[rows, outputs]`; all layers are plain and have
    biases."""
    key, probability = draw_mask(dropout)
    parameters = up.weight, up.bias, down.weight, down.bias
    compute = _Perceptron.apply if is_supported(rows, *parameters) else plain_perceptron
    return compute(rows, *parameters, key, probability)


def plain_perceptron(
    rows: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor, key: int, probability: float
) -> Tensor:
    """The same result by PyTorch operations, from the parameters of the layers, with `key` and
    `probability` of the dropout."""
    hidden = functional.relu(functional.linear(rows, up, up_bias))
    return functional.linear(keyed_dropout(hidden, key, probability), down, down_bias)


class _Perceptron(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, up: Tensor, up_bias: Tensor, down: Tensor, down_bias: Tensor, *settings: Any
    ) -> Tensor:
        hidden = torch.addmm(up_bias, rows, up.t()).relu_()
        key, probability = settings
        if probability:
            flat = hidden.view(-1).numpy()
            native.dropout(flat, flat, key, probability)
        ctx.save_for_backward(rows, up, up_bias, down, down_bias, hidden)
        ctx.settings = settings
        return torch.addmm(down_bias, hidden, down.t())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,), (*inputs, hidden) = gradients, ctx.saved_tensors
        if torch.is_grad_enabled():  # it is to be differentiated again
            arguments = *inputs, *ctx.settings
            return differentiable_gradients(plain_perceptron, gradients, ctx.needs_input_grad, *arguments)
        rows, up, _, down, _ = inputs
        # What is left of the hidden layer is larger than 0, and was divided by the probability to stay.
        for_hidden = torch.where(hidden > 0, gradient @ down, 0).div_(1 - ctx.settings[1])
        for_up, for_down = for_hidden.t() @ rows, gradient.t() @ hidden
        for_rows = for_hidden @ up if ctx.needs_input_grad[0] else None
        return for_rows, for_up, for_hidden.sum(0), for_down, gradient.sum(0), None, None


def gate(first: Tensor, second: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """`f * a + (1 - f) * b` with `f = sigmoid(first + second)`; all `[rows, width]`."""
    usable = first.dim() == 2 and is_supported(first, second, a, b)
    return (_Gate.apply if usable else plain_gate)(first, second, a, b)


def plain_gate(first: Tensor, second: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The same result by PyTorch operations."""
    f = torch.sigmoid(first + second)
    return f * a + (1 - f) * b


class _Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> Tensor:
        rows = [x.detach().contiguous() for x in inputs]
        f, result = torch.empty_like(rows[0]), torch.empty_like(rows[0])
        native.gate(*arrays_of(*rows, f, result))
        ctx.save_for_backward(*inputs, f)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        *inputs, f = ctx.saved_tensors
        if torch.is_grad_enabled():  # it is to be differentiated again
            return differentiable_gradients(plain_gate, gradients, ctx.needs_input_grad, *inputs)
        a, b = (x.contiguous() for x in inputs[2:])
        results = [torch.empty_like(f) for _ in range(3)]
        native.gate_backward(*arrays_of(gradients[0].contiguous(), f, a, b, *results))
        for_logits, for_a, for_b = results
        return for_logits, for_logits, for_a, for_b
