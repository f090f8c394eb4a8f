"""Cached tensors of a batch outlive the mode in which they were computed."""

import pytest
import torch
from torch import nn
from torch._C._functorch import is_functorch_wrapped_tensor

from headwise.nn.encoders.bp_graph import partition_graph
from headwise.nn.layout import Layout
from headwise.nn.priors.terms import distance_sinusoids
from headwise.nn.torch_modes import cacheable_tensors


def test_apart_from_inference_mode():
    with torch.inference_mode(), cacheable_tensors():
        tensor = torch.ones(3)
    assert not tensor.is_inference()
    with torch.inference_mode():
        with cacheable_tensors():
            pass
        assert torch.ones(3).is_inference()


def test_apart_from_transforms():
    tensors = []

    def cube(x):
        with cacheable_tensors():
            tensors.append(torch.arange(3.0))
        return (x**3 * tensors[-1]).sum()

    x = torch.tensor([1.0, 2.0, 3.0])
    derivative = torch.func.jacrev(torch.func.jacrev(cube))(x)
    torch.testing.assert_close(derivative, torch.diag(6 * x * torch.arange(3.0)))
    for tensor in tensors:  # as any other tensor, also in the next transform
        assert torch.func.grad(lambda x, tensor=tensor: (x * tensor).sum())(x).tolist() == [0.0, 1.0, 2.0]
        assert not is_functorch_wrapped_tensor(tensor)


def test_what_torch_export_makes_is_not_kept_beyond_its_batch():
    """It has no values, and would be taken for the plan of the next batch of such texts."""

    class Sums(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            graph = partition_graph(Layout([4, 2, 37]), 3, 2, False)
            return x + distance_sinusoids(37, 6, x.dtype, x.device).sum() + graph.lengths.sum()

    sums, x = Sums(), torch.ones(1)
    torch.export.export(sums, (x,), strict=False)
    expected = 43 + 1 + distance_sinusoids(37, 6, torch.float64, x.device).sum()
    assert sums(x).item() == pytest.approx(expected.item(), abs=1e-4)
    assert partition_graph(Layout([4, 2, 37]), 3, 2, False).context.visible.any(1).all()
