"""Which implementation runs, and the reasons for it."""

import pytest
import torch

from headwise.core.errors import ConfigError
from headwise.nn.attention import IMPLEMENTATIONS, attention, choose
from headwise.nn.attention.dispatch import Implementation
from headwise.nn.layout import Layout
from headwise.nn.priors import Everything, Window

LAYOUT = Layout([2, 1])
PRIORS = [Everything(), Window(width=3)]


@pytest.fixture
def tensors(inputs):
    return inputs((2, 1), 2, 4)


@pytest.fixture
def sunday(monkeypatch):
    """The preferred implementation refuses everything."""

    def run(*args):
        raise AssertionError("it has refused")

    first = next(iter(IMPLEMENTATIONS))
    monkeypatch.setitem(
        IMPLEMENTATIONS, first, Implementation(run, lambda *_: "it does not work on Sundays")
    )
    return first


def test_choice_explains_itself(tensors):
    for impl in set(IMPLEMENTATIONS) - {"triton"}:  # which is not for the CPU
        choice = choose(tensors[0], PRIORS, LAYOUT, impl)
        assert choice.name == impl
        assert str(choice) == f"{impl}\n{impl}: taken, asked for by name"
    choice = choose(tensors[0], PRIORS, LAYOUT)
    assert choice.name in IMPLEMENTATIONS
    assert choice.reasons[-1].startswith(f"{choice.name}: taken")


def test_auto_passes_over_what_cannot_run_and_says_why(tensors, sunday):
    choice = choose(tensors[0], PRIORS, LAYOUT)
    assert choice.name != sunday
    assert choice.reasons[0] == f"{sunday}: cannot run, it does not work on Sundays"
    assert attention(*tensors, PRIORS, LAYOUT).shape == tensors[2].shape


def test_an_explicit_request_never_falls_back(tensors, sunday):
    with pytest.raises(ConfigError, match="does not work on Sundays"):
        attention(*tensors, PRIORS, LAYOUT, sunday)


def test_unknown_implementation(tensors):
    with pytest.raises(ConfigError, match="unknown attention 'fast'; expected one of auto, "):
        attention(*tensors, PRIORS, LAYOUT, "fast")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda q, k, v: (q[:, :, 0], k[:, :, 0], v[:, :, 0]), "must be \\[total, heads, size\\]"),
        (lambda q, k, v: (q, k[..., :3], v), "query and key in size"),
        (lambda q, k, v: (q, k[:2], v), "must be"),
        (lambda q, k, v: (q, k, v[:2]), "agree in \\[total, heads\\]"),
        (lambda q, k, v: (q, k, v[:, :1]), "agree in \\[total, heads\\]"),
        (lambda q, k, v: (q, k, v[0, 0]), "must be"),
        (lambda q, k, v: (q[:2], k[:2], v[:2]), "2 rows, but the layout has 3"),
        (lambda q, k, v: (q[:, :1], k[:, :1], v[:, :1]), "got 2 and 1 heads"),
        (lambda q, k, v: (q, k.float(), v), "one floating-point dtype"),
        (lambda q, k, v: (q.long(), k.long(), v.long()), "one floating-point dtype, got torch.int64"),
    ],
)
@pytest.mark.parametrize("impl", ["auto", *IMPLEMENTATIONS])
def test_what_does_not_fit(tensors, change, message, impl):
    with pytest.raises(ConfigError, match=message):
        attention(*change(*tensors), PRIORS, LAYOUT, impl)


def test_no_heads():
    nothing = torch.zeros(3, 0, 4)
    with pytest.raises(ConfigError, match="got 0 and 0 heads"):
        attention(nothing, nothing, nothing, [], LAYOUT)
