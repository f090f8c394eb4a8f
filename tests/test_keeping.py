"""What is kept of a batch outlives whatever computed when it was made."""

import torch
from torch._C._functorch import is_functorch_wrapped_tensor

from headwise.keeping import to_be_kept


def test_apart_from_inference_mode():
    with torch.inference_mode(), to_be_kept():
        kept = torch.ones(3)
    assert not kept.is_inference()
    with torch.inference_mode():
        with to_be_kept():
            pass
        assert torch.ones(3).is_inference()


def test_apart_from_transforms():
    kept = []

    def cube(x):
        with to_be_kept():
            kept.append(torch.arange(3.0))
        return (x**3 * kept[-1]).sum()

    x = torch.tensor([1.0, 2.0, 3.0])
    found = torch.func.jacrev(torch.func.jacrev(cube))(x)
    torch.testing.assert_close(found, torch.diag(6 * x * torch.arange(3.0)))
    for own in kept:  # as any other tensor, also in the next transform
        assert torch.func.grad(lambda x, own=own: (x * own).sum())(x).tolist() == [0.0, 1.0, 2.0]
        assert not is_functorch_wrapped_tensor(own)
