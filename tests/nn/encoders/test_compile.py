"""Every encoder is the same where `torch.compile` has taken it apart."""

import pytest
import torch

from headwise.core.errors import HeadwiseError
from headwise.nn.encoders import ENCODERS

pytestmark = pytest.mark.filterwarnings("ignore")  # PyTorch's compiler warns of what it does itself


@pytest.fixture(autouse=True)
def forgotten():
    """What was compiled is not left to other tests."""
    yield
    torch.compiler.reset()


@pytest.mark.parametrize("name", list(ENCODERS))
def test_compiled_encoders_give_the_same(name, rows, encoder_of, words):
    row, (_, settings) = next(pair for pair in rows.items() if pair[1][0] == name)
    encoder = encoder_of(row, **({"layers": 1} if "layers" in settings else {}))
    compiled = torch.compile(encoder, backend="eager")
    batch, results = words((3, 0, 5), 8), []
    for variant in (encoder, compiled):
        values = batch.values.detach().clone().requires_grad_()
        actual = variant(batch.with_values(values)).tokens.values
        actual.square().sum().backward()
        results.append((actual.detach(), values.grad))
    torch.testing.assert_close(*results)


def test_errors_of_texts_come_through(words):
    module, configuration = ENCODERS["tree-lstm"]
    compiled = torch.compile(module(configuration(width=8)), backend="eager")
    with pytest.raises(HeadwiseError, match="HW310"):
        compiled(words((3, 2), 8))
