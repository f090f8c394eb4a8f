"""Which prior sits on which head, as text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.nn.priors import (
    Everything,
    Forward,
    TreeDistance,
    Window,
    alibi,
    format_prior,
    parse_heads,
    parse_layers,
)

nearby, every, forward = Window(width=3), Everything(), Forward()
tree = forward + TreeDistance()


@pytest.mark.parametrize(
    ("text", "heads", "priors"),
    [
        ("window(3)", 1, [nearby]),
        ("window(3)", 3, [nearby] * 3),
        ("window(3); everything", 4, [nearby, every, nearby, every]),
        ("window(3)*3;everything ; forward+tree-distance(1)*2", 6, [nearby] * 3 + [every] + [tree] * 2),
        (("window(3)*2", "everything*2"), 4, [nearby, nearby, every, every]),
        (["window(3); forward", "everything*2"], 4, [nearby, forward, every, every]),
        ("alibi(4)", 4, alibi(4)),
        ("alibi(4)", 8, alibi(4) * 2),
        ("alibi(2, left)*2; forward", 5, (*alibi(2, "left"), *alibi(2, "left"), forward)),
        ("alibi(heads=4, sided=halves)", 4, alibi(4, "halves")),
    ],
)
def test_heads(text, heads, priors):
    assert parse_heads(text, heads) == tuple(priors)


def test_layers():
    assert parse_layers("window(3); forward", 2, 3) == ((nearby, forward),) * 3
    assert parse_layers("window(3) | everything*2", 2, 2) == ((nearby, nearby), (every, every))
    assert parse_layers("window(3) | everything", 1, 4) == ((nearby,), (every,)) * 2
    assert parse_layers(["window(3)", "forward | everything"], 2, 2) == ((nearby, forward), (every, every))


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_what_is_spelled_is_read(any_prior, data):
    priors = data.draw(st.lists(any_prior, min_size=1, max_size=5))
    texts = [format_prior(prior) for prior in priors]
    assert parse_heads(texts, len(priors)) == tuple(priors)
    assert parse_heads("; ".join(texts), 2 * len(priors)) == (*priors, *priors)
    assert parse_layers(" | ".join(texts), 1, len(priors)) == tuple((prior,) for prior in priors)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("window(3)*3", "priors are given for 3 heads, and there are 8: give as many"),
        ("window(3)*9", "set heads to 9"),
        ("forward | backward", "given for 2 layers, and there are 1: give as many"),
        ("window(3)*4; everthing*4", "character 14: unknown prior 'everthing'; did you mean 'everything'?"),
        (("window(3)*4", "everything)"), "'window(3)*4; everything)', character 24: unexpected ')'"),
        ((), "character 1: expected the name of a prior"),
        ("forward;", "character 9: expected the name of a prior"),
        ("forward; | backward", "character 10: expected the name of a prior"),
        ("forward*", "character 9: expected how many heads, at least 1"),
        ("forward*0", "expected how many heads"),
        ("forward*2.5", "expected how many heads"),
        ("forward*-1", "expected how many heads"),
        ("forward*999999", "expected how many heads"),
        ("forward*99999", "character 1: more than 32768 heads"),
        ("alibi", "character 6: alibi needs heads"),
        ("alibi(3, halves)", "alibi needs at least one head, and for halves an even number, got 3"),
        ("alibi(2, up)", "sided must be both or left or right or halves, got 'up'"),
        ("alibi(40000)", "more than 32768 heads"),
        ("alibi(30000)*30000", "more than 32768 heads"),
        ("alibi(2) + forward", "character 10: unexpected '+'"),
        ("forward + alibi(2)", "alibi is for several heads"),
        ((3,), "spelled as texts such as 'window(3)*2', got (3,)"),
    ],
)
def test_errors(text, message):
    with pytest.raises(ConfigError) as caught:
        parse_heads(text, 8)
    assert message in caught.value.args[0]


@pytest.mark.parametrize(
    ("text", "heads", "layers"),
    [
        ("later", 4096, 4096),
        ("+".join(["later"] * 1_600), 4096, 8),
        ("later*32000;" * 800 + "later", 4096, 8),
        ("|".join(["later*30000"] * 700), 4096, 8),
        ("alibi(32000)" + ";later" * 1_600, 1, 4096),
        ("alibi(9)*9999", 4096, 8),
        ("global-tokens(" * 8 + "+".join(["later"] * 1_600) + ")" * 8, 4096, 8),
        (["later"] * 4096, 4096, 8),
    ],
)
def test_hostile_texts_cost_nothing(text, heads, layers, takes_under):
    def attack():
        with pytest.raises(ConfigError):
            parse_layers(text, heads, layers)

    assert takes_under(5, attack)
