"""What is computed again on the way back."""

import torch

from headwise.nn.torch_modes import checkpointed


def test_values_and_gradients_stay_and_torch_func_computes_once():
    calls = []

    def cube(x, power):
        calls.append(True)
        return x**power

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    out = checkpointed(cube, x, 3)
    assert out.tolist() == [1.0, 8.0]
    out.sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 12.0]
    assert len(calls) == 2
    gradient = torch.func.grad(lambda x: checkpointed(cube, x, 3).sum())(x.detach())
    assert gradient.tolist() == [3.0, 12.0]
    assert len(calls) == 3
