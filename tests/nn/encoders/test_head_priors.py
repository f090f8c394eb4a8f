"""The setting `priors`: any prior on any head of the encoders with self-attention."""

import json
from dataclasses import asdict

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwise.core.config import from_dict
from headwise.core.errors import ConfigError
from headwise.nn.encoders import ENCODERS, MSSAN
from headwise.nn.layout import Layout
from headwise.nn.priors import PRIORS, GlobalTokens, parse_heads, parse_prior
from headwise.nn.ragged import Ragged

SMALL = {"width": 8, "heads": 4, "head_size": 3, "layers": 2}
NAMES = ["transformer", "ms-transformer", "ms-san"]
TERMS = [
    *("everything", "window(3)", "window(n/4)", "dilated(2)", "random-blocks(2)"),
    *("forward", "backward", "earlier", "later", "word-distance(0.5)", "gaussian(2)"),
    *("parent(word)", "child(word)", "sibling(word)", "tree-relations(word)", "sink", "matrix(0.5)"),
    *("same-sentence", "same-paragraph", "sentence-distance(0.5, reach=1)"),
    *("tree-distance(1, fallback=word)", "tree-buckets(3, fallback=word)", "rotary", "shaw(2)"),
    *(
        "shifted-window(3)",
        "learned-slope",
        "kerple",
        "fire(4)",
        "adaptive-span(2)",
        "forgetting",
        "cope(3)",
    ),
    *("transformer-xl", "t5-buckets(8, furthest=5)", "global-tokens(window(3) + shaw(1))", "sum(later)"),
]


def encoder_of(name, *priors, **config):
    module, configuration = ENCODERS[name]
    torch.manual_seed(0)
    return module(configuration(**(SMALL | config), priors=priors)).double().eval()


def heads_of(encoder) -> list:
    blocks = (
        [b for stack in encoder.stacks for b in stack] if isinstance(encoder, MSSAN) else encoder.blocks
    )
    return [block.attention.priors for block in blocks]


@pytest.mark.parametrize("name", NAMES)
def test_priors_replace_those_of_the_encoder(name):
    texts = ("window(3)*2", "forward + shaw(4)", "everything")
    assert heads_of(encoder_of(name, *texts)) == [parse_heads(texts, 4)] * 2
    assert heads_of(encoder_of(name, "window(3); earlier"))[1] == parse_heads("window(3); earlier", 4)
    low, high = heads_of(encoder_of(name, "window(3) | alibi(4)"))
    assert (low, high) == (parse_heads("window(3)", 4), parse_heads("alibi(4)", 4))
    assert heads_of(encoder_of(name)) != heads_of(encoder_of(name, "window(3)"))


def test_a_global_node_stands_around_them():
    encoder = encoder_of("ms-transformer", "window(3)", global_node=True)
    assert heads_of(encoder) == [(GlobalTokens(parse_prior("window(3)")),) * 4] * 2


@pytest.mark.parametrize("name", NAMES)
def test_they_are_plain_data(name):
    kind = ENCODERS[name][1]
    config = kind(**SMALL, priors=("window(3)*3", "later"))
    assert from_dict(kind, json.loads(json.dumps(asdict(config)))) == config


@pytest.mark.parametrize("name", NAMES)
def test_errors(name):
    kind = ENCODERS[name][1]
    with pytest.raises(ConfigError, match="encoder: 'windw', character 1: unknown prior 'windw'"):
        from_dict(kind, {"priors": ["windw"]}, "encoder")
    with pytest.raises(ConfigError, match="given for 3 heads, and there are 4"):
        encoder_of(name, "window(3)*3")
    with pytest.raises(ConfigError, match="given for 2 layers, and there are 3"):
        encoder_of(name, "window(3) | later", layers=3)


def test_separate_encoders_take_none():
    with pytest.raises(ConfigError, match="need direction = true and no priors"):
        encoder_of("ms-san", "window(3)", separate=True)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_settings_cost_nothing(name, takes_under):
    def attack():
        with pytest.raises(ConfigError, match="priors of all heads have"):
            encoder_of(name, "shaw(1)+" * 1_200 + "later", heads=4096, layers=8)
        encoder_of(name, ";".join(f"shaw({n})" for n in range(512)), heads=512, layers=1, head_size=1)

    assert takes_under(2, attack)


def test_all_priors_are_drawn():
    assert {parse_prior(term).name for term in TERMS} == set(PRIORS)


def in_units(batch: Ragged) -> Ragged:
    """The batch, in sentences of two words and paragraphs of four, with a matrix for each text."""
    places = [torch.arange(n) for n in batch.layout.sizes]
    marks = {"sentence": [n // 2 for n in places], "paragraph": [n // 4 for n in places]}
    matrices = {"matrix": [(n[:, None] * 3.0 + n).sin() for n in places]}
    return Ragged(batch.values, Layout(batch.layout.sizes, marks=marks, matrices=matrices))


@st.composite
def lists(draw):
    """Priors of 4 heads, of both layers or of each."""
    term = st.sampled_from(TERMS)
    prior = st.lists(term, min_size=1, max_size=3).map(" + ".join)
    heads = st.lists(prior, min_size=4, max_size=4).map("; ".join)
    return " | ".join(draw(st.lists(heads, min_size=1, max_size=2)))


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=8, suppress_health_check=list(HealthCheck))
@given(lists())
def test_any_priors_on_any_heads(name, words, text):
    encoder, batch = encoder_of(name, text), in_units(words((5, 0, 9, 1), 8))
    batch.values.requires_grad_()
    encoded = encoder(batch).tokens
    for order in ([2], [3, 0, 1]):
        torch.testing.assert_close(
            encoder(batch[order]).tokens.values, encoded[order].values, rtol=1e-9, atol=1e-9
        )
    encoded.values.square().sum().backward()
    gradients = [batch.values.grad, *(p.grad for p in encoder.parameters() if p.grad is not None)]
    assert all(values.isfinite().all() for values in (encoded.values, *gradients))
