"""Spans to tags and back; what a scheme allows."""

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.core.errors import ConfigError
from headwise.metrics.tag_schemes import (
    TagError,
    TagSpan,
    check_tags,
    convert_tags,
    read_spans,
    read_tag,
    scheme_constraints,
    scheme_name,
    tag_set,
    write_tags,
)

SCHEMES = ["iob1", "iob2", "bioes", "bilou"]


@st.composite
def marked_texts(draw):
    """A length, and spans that do not overlap."""
    spans, place = [], 0
    for gap, words, kind in draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(["PER", "X-Y", ""])))
    ):
        spans.append(TagSpan(place + gap, place + gap + words, kind))
        place += gap + words
    return place + draw(st.integers(0, 2)), spans


def test_one_text_in_every_scheme():
    spans = [TagSpan(0, 3, "PER"), TagSpan(3, 4, "PER"), TagSpan(4, 6, "LOC"), TagSpan(7, 8, "LOC")]
    written = {scheme: " ".join(write_tags(spans, 9, scheme)) for scheme in SCHEMES}
    assert written == {
        "iob1": "I-PER I-PER I-PER B-PER I-LOC I-LOC O I-LOC O",
        "iob2": "B-PER I-PER I-PER B-PER B-LOC I-LOC O B-LOC O",
        "bioes": "B-PER I-PER E-PER S-PER B-LOC E-LOC O S-LOC O",
        "bilou": "B-PER I-PER L-PER U-PER B-LOC L-LOC O U-LOC O",
    }
    for tags in written.values():
        assert read_spans(tags.split()) == spans


@settings(max_examples=80, deadline=None)
@given(marked_texts(), st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
def test_lossless(marked, scheme, second):
    length, spans = marked
    tags = write_tags(reversed(spans), length, scheme)
    assert len(tags) == length
    assert read_spans(tags) == spans
    assert convert_tags(convert_tags(tags, second), scheme) == tags
    assert check_tags(tags, scheme) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_allowed_are_the_tags_that_spans_write(scheme):
    """Of all short tag sequences those fit a scheme that come back from their spans as they were."""
    tags = tag_set(["A", "B"], scheme)
    may = scheme_constraints(tags, scheme)
    for length in range(1, 4):
        for path in product(range(len(tags)), repeat=length):
            text = [tags[y] for y in path]
            allowed = (
                may.start[path[0]]
                and may.end[path[-1]]
                and all(may.follow[a, b] for a, b in pairwise(path))
            )
            assert allowed == (convert_tags(text, scheme) == text) == (check_tags(text, scheme) == [])


def test_plain_tags_have_no_constraints():
    assert scheme_constraints(["NN", "VB"], "plain") is None


def test_tag_set():
    assert tag_set(["A"], "bioes") == ["O", "B-A", "I-A", "E-A", "S-A"]
    assert tag_set(["A", ""], "iob2") == ["O", "B-A", "I-A", "B", "I"]
    assert tag_set([], "iob1") == ["O"]


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("O I-A I-A O", {(1, 3, "A")}),
        ("B-A I-B", {(0, 1, "A"), (1, 2, "B")}),
        ("B-A I-A O", {(0, 2, "A")}),
        ("E-A I-A S-A", {(0, 1, "A"), (1, 2, "A"), (2, 3, "A")}),
        ("B-A E-A E-A", {(0, 2, "A"), (2, 3, "A")}),
        ("B-A B-A E-A", {(0, 1, "A"), (1, 3, "A")}),
        ("B-A", {(0, 1, "A")}),
    ],
)
def test_tags_that_do_not_fit(tags, spans):
    assert set(read_spans(tags.split())) == spans


@pytest.mark.parametrize("tag", ["0", "o", "", "B-", "-A", "X-A", "PER", "b-PER", "BI-A", "O-A"])
def test_no_tag_of_spans(tag):
    assert read_tag(tag) is None
    with pytest.raises(TagError, match="neither O nor one of the letters") as caught:
        read_spans(["O", tag])
    assert caught.value.code == "HW270"


def test_constraints_want_tags_of_the_scheme():
    with pytest.raises(TagError, match="E-A is no iob2 tag"):
        scheme_constraints(["O", "B-A", "E-A"], "iob2")


@pytest.mark.parametrize(
    ("spans", "match"),
    [
        ([(1, 3, "B"), (0, 2, "A")], r"\(1, 3, 'B'\) .* overlaps the span \(0, 2, 'A'\)"),
        ([(2, 2, "A")], r"\(2, 2, 'A'\) in a text of 4 words is empty"),
        ([(2, 5, "A")], "leaves the text"),
        ([(-1, 2, "A")], "leaves the text"),
    ],
)
def test_spans_that_no_tags_can_say(spans, match):
    with pytest.raises(TagError, match=match) as caught:
        write_tags([TagSpan(*span) for span in spans], 4, "iob2")
    assert caught.value.code == "HW271"


def test_names():
    names = {"BIO": "iob2", "IOBES": "bioes", "BILOU": "bilou", "IOB1": "iob1", "plain": "plain"}
    assert {name: scheme_name(name) for name in names} == names
    with pytest.raises(ConfigError, match="iob1 or iob2"):
        scheme_name("IOB")
    with pytest.raises(ConfigError, match="'bioes'"):
        scheme_name("bioess")


@pytest.mark.parametrize(("tag", "meant"), [("M-PER", "I-PER"), ("W-PER", "S-PER")])
def test_what_is_meant_by_letters_of_bmes(tag, meant):
    with pytest.raises(TagError, match=f"'{tag}' is neither O .*; write '{meant}'"):
        read_spans(["B-PER", tag])
