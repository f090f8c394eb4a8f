"""A head that is left out is one whose values are zeros, and it comes back."""

import pytest
import torch

from headwise.encoders import ENCODERS
from headwise.models.masked_heads import heads_of, without
from headwise.ragged import Ragged

SIZES = {"width": 8, "heads": 2, "head_size": 4, "layers": 2, "tree_fallback": "word"}


class Model:
    """No more than an encoder."""

    def __init__(self, name: str):
        torch.manual_seed(0)
        made, kind = ENCODERS[name]
        known = kind.__dataclass_fields__
        self.encoder = made(kind(**{key: value for key, value in SIZES.items() if key in known})).eval()


@pytest.mark.parametrize(
    "name", ["ms-transformer", "ms-san", "transformer", "star-transformer", "bp-transformer"]
)
def test_a_head_without_values(name):
    model = Model(name)
    words = Ragged.from_lengths(torch.randn(9, 8), [4, 5])
    with torch.no_grad():
        whole, changed = model.encoder(words).tokens.values, []
        for head in heads_of(model):
            values = model.encoder.get_submodule(head.module).value
            rows = slice(head.number * head.size, (head.number + 1) * head.size)
            kept = [own[rows].clone() for own in (values.weight, values.bias) if own is not None]
            with without(head):
                masked = model.encoder(words).tokens.values
            assert torch.equal(model.encoder(words).tokens.values, whole)
            for own in (values.weight, values.bias):
                if own is not None:
                    own[rows] = 0
            assert torch.allclose(model.encoder(words).tokens.values, masked, atol=1e-6)
            changed.append(not torch.allclose(masked, whole, atol=1e-4))
            for own, before in zip((values.weight, values.bias), kept, strict=False):
                own[rows] = before
        assert sum(changed) >= len(changed) / 2  # Star-Transformer's last relay is seen by no word


def test_who_has_none():
    assert heads_of(Model("bilstm")) == []
