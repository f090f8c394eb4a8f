"""Priors as text: written and parsed back; errors name the position."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.nn.priors import (
    PRIORS,
    AdaptiveSpan,
    Backward,
    Child,
    Cope,
    Dilated,
    Earlier,
    Everything,
    Fire,
    Forgetting,
    Forward,
    Gaussian,
    GlobalTokens,
    Kerple,
    Later,
    LearnedSlope,
    Matrix,
    Parent,
    Prior,
    RandomBlocks,
    Rotary,
    SameParagraph,
    SameSentence,
    SentenceDistance,
    Shaw,
    ShiftedWindow,
    Sibling,
    Sink,
    Sum,
    T5Buckets,
    TransformerXL,
    TreeBuckets,
    TreeDistance,
    TreeRelations,
    Window,
    WordDistance,
    format_prior,
    parse_prior,
)

fuzz = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])

SPELLINGS = {
    "everything": Everything(),
    "window(3)": Window(width=3),
    "window(n/16)": Window(fraction=1 / 16),
    "window(3n/4)": Window(fraction=0.75),
    "window(n)": Window(fraction=1),
    "window(0.123456789)": Window(fraction=0.123456789),
    "dilated(2)": Dilated(2),
    "dilated(2, width=9)": Dilated(2, 9),
    "random-blocks": RandomBlocks(),
    "random-blocks(3, count=2, neighbours=0, seed=7)": RandomBlocks(3, 2, 0, 7),
    "forward": Forward(),
    "backward": Backward(),
    "earlier": Earlier(),
    "later": Later(),
    "word-distance": WordDistance(),
    "word-distance(0.5)": WordDistance(0.5),
    "word-distance(-1e-05)": WordDistance(-1e-5),
    "gaussian(3)": Gaussian(3),
    "gaussian(0.5, offset=-2)": Gaussian(0.5, -2.0),
    "tree-distance(fallback=word)": TreeDistance(1.0, "word"),
    "tree-distance(2)": TreeDistance(2.0),
    "rotary": Rotary(),
    "parent": Parent(),
    "child(word)": Child("word"),
    "sibling": Sibling(),
    "tree-relations": TreeRelations(),
    "sink": Sink(),
    "matrix(0.5)": Matrix(0.5),
    "same-sentence": SameSentence(),
    "same-paragraph": SameParagraph(),
    "sentence-distance(0.5)": SentenceDistance(0.5),
    "sentence-distance(2, reach=1)": SentenceDistance(2.0, 1),
    "rotary(100)": Rotary(100.0),
    "shaw(4, values=false)": Shaw(4, values=False),
    "transformer-xl": TransformerXL(),
    "shifted-window(5)": ShiftedWindow(5),
    "learned-slope": LearnedSlope(),
    "kerple(power)": Kerple("power"),
    "fire(16)": Fire(16),
    "adaptive-span(4, ramp=2)": AdaptiveSpan(4.0, 2.0),
    "forgetting": Forgetting(),
    "cope(8)": Cope(8),
    "t5-buckets(16, furthest=20)": T5Buckets(16, 20),
    "tree-buckets(4)": TreeBuckets(4),
    "global-tokens(forward + window(3), count=2)": GlobalTokens(Forward() + Window(width=3), 2),
    "forward + window(9) + word-distance(0.3)": Forward() + Window(width=9) + WordDistance(0.3),
    "sum(later, sum(forward + rotary))": Sum((Later(), Sum((Forward() + Rotary(),)))),
}


@pytest.mark.parametrize("text", list(SPELLINGS))
def test_spellings(text):
    assert parse_prior(text) == SPELLINGS[text]
    assert format_prior(SPELLINGS[text]) == text


def test_all_priors_have_a_spelling():
    assert {prior.name for prior in SPELLINGS.values()} == set(PRIORS)


@fuzz
@given(st.data())
def test_reading_undoes_spelling(any_prior, data):
    prior = data.draw(any_prior)
    again = parse_prior(format_prior(prior))
    assert again == prior
    assert hash(again) == hash(prior)
    assert str(again) == str(prior)


@fuzz
@given(st.floats(min_value=5e-324, max_value=1e30))
def test_reading_undoes_spelling_for_all_numbers(number):
    for prior in (WordDistance(-number), Window(fraction=min(number, 1 / number, 2.0))):
        assert parse_prior(format_prior(prior)) == prior


@pytest.mark.parametrize(
    ("text", "prior"),
    [
        ("  forward+window( 3 )  ", Forward() + Window(width=3)),
        ("forward()", Forward()),
        ("window(width=3)", Window(width=3)),
        ("window(1/16)", Window(fraction=1 / 16)),
        ("window(fraction=n/16)", Window(fraction=1 / 16)),
        ("word-distance(alpha=1/2)", WordDistance(0.5)),
        ("gaussian(offset=.5, sigma=1E+1)", Gaussian(10.0, 0.5)),
        ("dilated(2, 9)", Dilated(2, 9)),
        ("sum(later, earlier) + forward", Sum((Later(), Earlier(), Forward()))),
        ("global-tokens(inner = forward)", GlobalTokens(Forward())),
    ],
)
def test_other_ways_to_say_it(text, prior):
    assert parse_prior(text) == prior


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "forwrd + window(3)",
            "'forwrd + window(3)', character 1: unknown prior 'forwrd'; did you mean 'forward'?",
        ),
        ("forward + windw(3)", "character 11: unknown prior 'windw'; did you mean 'window'?"),
        (
            "forward + window(4)",
            "character 11: the width of a window must be an odd whole number, at least 1, got 4",
        ),
        ("window(width=n/4)", "character 14: width must be a whole number"),
        (
            "window(fraction=x)",
            "character 17: fraction must be a number such as 0.5 or 1/2, or a part of the text",
        ),
        ("window(n/0)", "got 'n/0'"),
        ("window(3.0)", "at most 2, with which all words see the whole text, got 3.0"),
        ("window(3, n/4)", "character 1: Window takes either width= or fraction="),
        ("window", "Window takes either"),
        ("window(99999999999)", "character 8: width must be a whole number, at most 1000000000"),
        (
            "word-distance(alpa=2)",
            "character 15: unknown argument of word-distance 'alpa'; did you mean 'alpha'?",
        ),
        ("word-distance(1, 2)", "character 18: word-distance takes 1 argument"),
        ("word-distance(n/4)", "character 15: alpha must be a number such as 0.5 or 1/2, got 'n/4'"),
        ("word-distance(1e999)", "alpha must be a finite number"),
        ("word-distance(nan)", "alpha must be a number"),
        ("forward(2)", "character 9: forward takes no arguments"),
        ("gaussian", "character 9: gaussian needs sigma"),
        ("gaussian(sigma=2, 3)", "character 19: an argument without its name must come before"),
        ("gaussian(2, sigma=3)", "character 13: sigma is given twice"),
        ("dilated(2.0)", "character 9: step must be a whole number"),
        ("shaw(values=1)", "character 13: values must be true or false, got '1'"),
        ("tree-distance(fallback=words)", "character 24: fallback must be error or word, got 'words'"),
        ("global-tokens(3)", "character 15: expected the name of a prior"),
        ("sum", "character 4: sum needs priors in brackets"),
        ("sum()", "character 5: expected the name of a prior"),
        ("alibi(4)", "character 1: alibi is for several heads"),
        ("", "'', character 1: expected the name of a prior"),
        ("forward +", "character 10: expected the name of a prior"),
        ("window(3", "character 9: expected a comma or a closing bracket"),
        ("window(3))", "character 10: unexpected ')'"),
        ("forward; backward", "character 8: unexpected ';'"),
        ("forward.visible", "character 8: unexpected '.'"),
        ("__import__('os')", "character 1: expected the name of a prior"),
        ("global-tokens(" * 9 + "forward" + ")" * 9, "more than 8 brackets in each other"),
        ("later + " * 1250 + "later", "priors of 10005 characters; at most 10000"),
        (3, "spelled as a text such as 'window(3)', got 3"),
    ],
)
def test_errors(text, message):
    with pytest.raises(ConfigError) as caught:
        parse_prior(text)
    assert message in caught.value.args[0]


def test_what_cannot_be_spelled_says_so():
    class Mine(Prior):
        name = "forward"

    with pytest.raises(ConfigError, match="none of the priors that have a spelling"):
        format_prior(Mine())
    with pytest.raises(ConfigError, match="too large to be spelled"):
        format_prior(RandomBlocks(seed=10**12))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "(" * 9_999,
            "sum(" * 2_499,
            "a" * 10_000,
            "9" * 10_000,
            "window(" + "9" * 9_000 + ")",
            "+" * 10_000,
        ),
        *(
            "window(1" + "e" * 9_000,
            "shaw(9e999999999)",
            "rotary(1e999999999)",
            "word-distance(1/" + "9" * 99,
        ),
        *(
            "later+" * 1_666,
            " " * 10_000,
            "later " * 1_600,
            "window(width=" * 700,
            "\0" * 10_000,
            "é" * 10_000,
        ),
    ],
)
def test_hostile_texts_cost_nothing(text, takes_under):
    def attack():
        with pytest.raises(ConfigError):
            parse_prior(text)

    assert takes_under(0.5, attack)


@fuzz
@given(st.text(alphabet="forwadwin()+=,.n/3*; -1e9|", max_size=60))
def test_any_text_is_a_prior_or_an_error(text):
    try:
        prior = parse_prior(text)
    except ConfigError:
        return
    assert parse_prior(format_prior(prior)) == prior
