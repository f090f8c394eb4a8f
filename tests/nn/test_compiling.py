"""What the compiler leaves alone is called as it is."""

import pytest
import torch

from headwise.nn.torch_modes import exclude_from_compile


@pytest.mark.filterwarnings("ignore")  # PyTorch's compiler warns of what it does itself
def test_what_is_left_alone():
    seen = []

    def twice(x):
        seen.append(torch.compiler.is_compiling())
        return 2 * x

    assert exclude_from_compile(twice) is twice
    compiled = torch.compile(lambda x: exclude_from_compile(twice)(x) + 1, backend="eager")
    assert compiled(torch.ones(2)).tolist() == [3.0, 3.0]
    assert seen == [False]
    torch.compiler.reset()
