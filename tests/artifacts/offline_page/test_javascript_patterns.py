"""Translation of patterns to JavaScript."""

import pytest

from headwise.artifacts.offline_page.javascript_patterns import (
    character_ranges,
    encode_ranges,
    javascript_pattern,
)


@pytest.mark.parametrize(
    ("pattern", "source"),
    [
        ("ab|c", "ab|c"),
        (r"\.x{2,3}y?", r"\u{2e}x{2,3}y?"),
        ("[a-c]++d", r"(?=(?<p1>[\u{61}-\u{63}]+))\k<p1>d"),
        ("(?:a{0,3}+b)*+", r"(?=(?<p2>(?:(?=(?<p1>a{0,3}))\k<p1>b)*))\k<p2>"),
        ("(?i:k1)(?=k)", r"(?:[\u{4b}\u{6b}\u{212a}]1)(?=k)"),
        ("(?<!x)(?!y)(?<=[01])z", r"(?<!x)(?!y)(?<=[\u{30}-\u{31}])z"),
        ("[[a-f]--[b-e]]", r"[\u{61}\u{66}]"),
        ("[[a-f]&&[e-z]]", r"[\u{65}-\u{66}]"),
        ("é", r"\u{e9}"),
    ],
)
def test_constructs(pattern, source):
    assert javascript_pattern(pattern) == {"source": source, "sets": []}


def test_a_large_set_is_listed_once():
    translated = javascript_pattern(r"\p{Lu}\p{Ll}+\p{Lu}")
    assert translated["source"] == "@0@@1@+@0@"
    assert len(translated["sets"]) == 2
    assert translated["sets"][0].startswith("1t q 2t n 1 7 ")  # A-Z, then À-Ö, then Ø-Þ


def test_ranges_reach_to_the_last_character():
    assert character_ranges("[^a]") == ((0, 0x60), (0x62, 0x10FFFF))
    assert character_ranges(r"\p{Co}") == ((0xE000, 0xF8FF), (0xF0000, 0x10FFFF))
    assert encode_ranges([(0, 0), (36, 71)]) == "0 1 z 10"


@pytest.mark.parametrize(
    "pattern", ["(a)", "(?P<x>a)", "a)", "(?:a", "[a", r"\b", "^a", r"(?<=a++)b", "*a"]
)
def test_what_is_not_supported(pattern):
    with pytest.raises(ValueError, match=r"not supported|unmatched"):
        javascript_pattern(pattern)
