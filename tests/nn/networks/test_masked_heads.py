"""A head that is left out is one whose values are zeros, and it comes back."""

from contextlib import ExitStack

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.encoders import ENCODERS
from headwise.nn.networks.head_pruning import check_removable, heads_of, masked_head, prune_heads
from headwise.nn.networks.model_config import ModelConfig
from headwise.nn.ragged import Ragged

SIZES = {"width": 8, "heads": 2, "head_size": 4, "layers": 2, "tree_fallback": "word"}


class Model:
    """No more than an encoder."""

    def __init__(self, name: str, **more):
        torch.manual_seed(0)
        made, kind = ENCODERS[name]
        fields = kind.__dataclass_fields__
        config = kind(**{key: value for key, value in SIZES.items() if key in fields} | more)
        self.config = ModelConfig(encoder=config)
        self.encoder = made(config).eval()
        for parameter in self.encoder.parameters():  # biases and norms too
            torch.nn.init.normal_(parameter, std=0.5)


@pytest.mark.parametrize(
    "name", ["ms-transformer", "ms-san", "transformer", "star-transformer", "bp-transformer"]
)
def test_a_head_without_values(name):
    model = Model(name)
    words = Ragged.from_lengths(torch.randn(9, 8), [4, 5])
    with torch.no_grad():
        full, changed = model.encoder(words).tokens.values, []
        for head in heads_of(model):
            values = model.encoder.get_submodule(head.module).value
            rows = slice(head.number * head.size, (head.number + 1) * head.size)
            copies = [
                parameter[rows].clone()
                for parameter in (values.weight, values.bias)
                if parameter is not None
            ]
            with masked_head(head):
                masked = model.encoder(words).tokens.values
            assert torch.equal(model.encoder(words).tokens.values, full)
            for parameter in (values.weight, values.bias):
                if parameter is not None:
                    parameter[rows] = 0
            assert torch.allclose(model.encoder(words).tokens.values, masked, atol=1e-6)
            changed.append(not torch.allclose(masked, full, atol=1e-4))
            for parameter, before in zip((values.weight, values.bias), copies, strict=False):
                parameter[rows] = before
        assert sum(changed) >= len(changed) / 2  # Star-Transformer's last relay is seen by no word


def test_who_has_none():
    assert heads_of(Model("bilstm")) == []


@pytest.mark.parametrize("name", ["ms-transformer", "ms-san", "transformer"])
@pytest.mark.parametrize("gone", [[1], [0, 7], [2, 4, 5], [0, 1, 2, 7]])
def test_heads_are_removed_as_if_they_found_nothing(name, gone):
    model = Model(name, heads=4)
    words = Ragged.from_lengths(torch.randn(30, 8), [0, 1, 9, 20])
    before = sum(p.numel() for p in model.encoder.parameters())
    with torch.no_grad():
        heads = heads_of(model)
        chosen = [heads[number] for number in gone]
        with ExitStack() as stack:
            for head in chosen:
                stack.enter_context(masked_head(head))
            masked = model.encoder(words).tokens.values
        check_removable(model)
        windows = model.config.windows.sizes(model.config.encoder)
        prune_heads(model, chosen)
        assert torch.allclose(model.encoder(words).tokens.values, masked, atol=1e-5)
        assert model.config.windows.sizes(model.config.encoder) == windows
        assert [str(head.prior) for head in heads_of(model)] == [
            head.prior for number, head in enumerate(heads) if number not in gone
        ]
        after = sum(p.numel() for p in model.encoder.parameters())
        weights = 4 * 8 * 4 + (3 * 4 if name == "transformer" else 0)
        assert before - after == len(gone) * weights
        # Made anew from its configuration, and once more without a head.
        second = ENCODERS[name][0](model.config.encoder).eval()
        second.load_state_dict(model.encoder.state_dict())
        assert torch.equal(second(words).tokens.values, model.encoder(words).tokens.values)
        names = list(model.config.encoder.dropped)
        prune_heads(model, [heads_of(model)[-1]])
        last = max(set(range(4, 8)) - set(gone))
        assert [*names, f"2.{last - 3}"] == list(model.config.encoder.dropped)


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("star-transformer", {}, "heads of the encoder star-transformer cannot be removed"),
        ("transformer", {"priors": ("shaw(2)", "everything")}, r"blocks\.0\.attention: .* shaw"),
    ],
)
def test_heads_that_cannot_be_removed(name, more, message):
    with pytest.raises(ConfigError, match=message):
        check_removable(Model(name, **more))


@pytest.mark.parametrize(("dropped", "message"), [("3.1", "no head '3.1'"), ("x", "no head 'x'")])
def test_dropped_heads_that_are_not_there(dropped, message):
    with pytest.raises(ConfigError, match=message):
        Model("ms-transformer", dropped=(dropped,))
    with pytest.raises(ConfigError, match="no head left"):
        Model("ms-transformer", dropped=("2.1", "2.2"))
