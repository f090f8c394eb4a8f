"""Validation of user-defined priors at their first use."""

from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.attention import SelfAttention
from headwise.nn.layout import Layout
from headwise.nn.priors import Everything, GlobalTokens, Prior, Window
from headwise.nn.ragged import Ragged


@dataclass(frozen=True)
class Own(Prior):
    """A prior that is wrong in a way."""

    way: str = ""
    name: ClassVar[str] = "own"

    def visible(self, pairs):
        return {
            "number": lambda: ((pairs.key - pairs.query).abs() < 2).float(),
            "python": lambda: True,
            "one": lambda: torch.tensor(True),
            "others": lambda: pairs.key != pairs.query,
            "last": lambda: pairs.key == pairs.length - 1,
            "longest": lambda: pairs.key < pairs.key.shape[-1] - 1,
        }.get(self.way, lambda: pairs.key >= 0)()

    def score(self, pairs):
        away = (pairs.key - pairs.query).abs()
        return {
            "nan": lambda: away * float("nan"),
            "infinite": lambda: torch.where(away > 1, float("-inf"), 0.0),
            "float": lambda: 0.5,
            "three": lambda: torch.zeros(3, 3),
            "heads": lambda: torch.zeros(1, 1, *away.shape),
            "item": lambda: away / pairs.length.item(),
            "tree": lambda: -pairs.tree,
            "largest": lambda: 0.1 * (pairs.key - pairs.key.max()),
            "batch": lambda: 0.1 * pairs.key * pairs.length.max(),
            "last": lambda: torch.where(pairs.key < pairs.length - 1, float("nan"), 0.1 * pairs.query),
        }.get(self.way, lambda: None)()

    @property
    def sees_self(self):
        return self.way in ("others", "")

    @property
    def is_identity(self):
        return self.way == "alone"


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("number", r"has a visible that gives one of torch\.float32; expected a boolean tensor"),
        ("python", "has a visible that gives True; expected a boolean tensor"),
        ("others", "says that every word sees itself .*in a text of 1 words one does not"),
        ("alone", r"sees itself alone \(is_identity\), and in a text of 2 words it is not so"),
        ("longest", "says something else in a text of 1 words where longer texts stand beside it"),
        ("nan", "has the score nan for the word 0 that word 0 sees in a text of 1 words"),
        ("infinite", "has the score -inf for the word 2 that word 0 sees .*left out by visible"),
        ("float", r"has a score that gives 0\.5; expected a tensor, or None"),
        ("three", r"score that gives the shape \[3, 3\] for pairs of the shape \[4, 7, 7\]"),
        ("heads", r"score that gives the shape \[1, 1, 1, 7, 7\] for pairs of the shape \[4, 7, 7\]"),
        ("item", r"cannot be asked about pairs of the shape \[4, 7, 7\] \(RuntimeError"),
        ("tree", 'looks at pairs.tree has to say tree_use = "error"'),
        ("largest", "take pairs.length, which is that of each text"),
        ("batch", "take pairs.length"),
    ],
)
def test_what_cannot_be_is_told_when_the_layer_is_made(way, message):
    with pytest.raises(ConfigError, match=rf"the prior .*Own\(way='{way}'\).*{message}"):
        SelfAttention(4, [Window(width=3), Own(way)], 2)


@pytest.mark.parametrize("prior", [Own("nan") + Everything(), GlobalTokens(Own("nan"))])
def test_priors_within_others_are_asked_too(prior):
    with pytest.raises(ConfigError, match="has the score nan"):
        SelfAttention(4, [prior], 2)


@pytest.mark.parametrize("way", ["", "one", "last"])
@pytest.mark.parametrize("impl", ["auto", "sdpa"])
@pytest.mark.parametrize("lengths", [[3, 0, 5], [4, 4]])
def test_what_broadcasts_and_what_is_unseen_may_be_anything(way, impl, lengths):
    layers = []
    for implementation in (impl, "reference"):
        torch.manual_seed(0)
        layers.append(SelfAttention(4, [Own(way), Window(width=3)], 2, impl=implementation).double())
    rows = Ragged(torch.randn(8, 4, dtype=torch.float64), Layout(lengths))
    torch.testing.assert_close(layers[0](rows).values, layers[1](rows).values)


def test_a_layer_on_no_device_can_be_made():
    with torch.device("meta"):
        assert SelfAttention(4, [Own("last")], 2).query.weight.is_meta
