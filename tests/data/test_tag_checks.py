from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.formats.tag_checks import (
    bmes_as_bioes,
    count_entity_types,
    look_like_words,
    marks_entities,
    nonstandard_span_tag,
    spans_without_begin,
    tag_corrections,
    tag_positions,
)
from headwise.data.items.examples import TaggedSentence


def tagged(*sentences):
    return [TaggedSentence(tuple(tags.split()), tuple(tags.split())) for tags in sentences]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O O B-PER I-PER", True),
        ("O I B", True),
        ("B-NP I-NP B-VP", True),
        ("O O O", False),
        ("O PER PER", False),
        ("NN VB DT", False),
        ("O S-LOC " + "B-x " * 20 + "0 0", True),
        ("O B-x 0 0 0", False),
    ],
)
def test_tags_of_entities(tags, expected):
    assert marks_entities(Counter(tags.split())) is expected


def test_zeros_and_strangers():
    usual = "O " * 20 + "B-PER I-PER "
    assert tag_corrections(Counter((usual + "0 o PER").split())) == {"0": "O"}  # the others may be meant
    assert tag_corrections(Counter((usual * 3 + "0 o PER").split())) == {"0": "O", "o": "O", "PER": ""}
    assert tag_corrections(Counter(["O", "O", "PER", "PER", "0"])) == {"0": "O"}
    assert tag_corrections(Counter(["0", "1", "0", "O", "O", "O"])) == {}
    assert tag_corrections(Counter(["NN", "DT", "0"])) == {}


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O B-x M-x E-x S-x", {"M-x": "I-x"}),
        ("O B-x M-x E-x W-y", {"M-x": "I-x", "W-y": "S-y"}),
        ("O B-x I-x M-x E-x", {}),  # a mistake, if anything
        ("O B-x M-x", {}),
        ("M NN B E", {}),
    ],
)
def test_other_letters_of_bioes(tags, expected):
    assert bmes_as_bioes(tags.split()) == expected


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("O O B_x I_x", ("B_x", "B-x")),
        ("O x-B x-I y-B", ("x-B", "B-x")),
        ("O x.B x.M x.E", ("x.B", "B-x")),
        ("o o b-x i-x", ("b-x", "B-x")),
        ("o o B-x I-x", ("o", "O")),
        ("0 0 0 B-x", ("0", "O")),
        ("О О О B-x I-x", ("О", "O")),  # of the Cyrillic alphabet
        ("_ _ _ B-x I-x", ("_", "O")),
        ("OUT B-x OUT B-y", ("OUT", "O")),
        ("_ NN B-x I-x", None),
        ("O _ B-x I-x", None),
        ("_ I-x", None),
        ("NN o B-x NN NN NN", None),
        ("O B_x B_y", None),  # nothing goes on
        ("o o b-x o b-x b-y", ("b-x", "B-x")),
        ("o o b-x o c-x", None),
        ("O B_x I_x NN NN NN", None),
        ("O person person", None),
        ("NN VB", None),
        ("", None),
    ],
)
def test_tags_of_spans_that_no_scheme_writes_so(tags, expected):
    assert nonstandard_span_tag(Counter(tags.split())) == expected


def test_the_first_place_of_each_sentence():
    assert list(tag_positions(tagged("a b", "x b b", "c"), ["b", "c"])) == [(0, 1), (1, 1), (2, 0)]


def test_entities_that_go_on_unopened():
    good = ["B-A I-A O B-B", "B-A B-A I-A"]
    assert spans_without_begin(tagged(*good)) == []
    assert spans_without_begin(tagged(*good, "O I-A", "I-B", "B-A I-B I-B")) == [(2, 1), (3, 0), (4, 1)]


def test_iob1_is_no_mistake():
    assert spans_without_begin(tagged("I-A I-A O I-B", "I-A B-A I-A")) == []


@pytest.mark.parametrize(
    ("tags", "counts"),
    [
        ("B-A I-A O B-A B-A I-B", {"A": 3, "B": 1}),  # IOB2, with a slip
        ("I-A I-A B-A I-B O I-A", {"A": 3, "B": 1}),  # IOB1
        ("S-A B-A I-A E-A S-A O E-B", {"A": 3, "B": 1}),  # BIOES
        ("S-A I-A E-A I-A", {"A": 3}),  # an entity that has ended does not go on
        ("B I O I", {"": 2}),
        ("O O", {}),
    ],
)
def test_entities_are_counted_in_every_scheme(tags, counts):
    assert count_entity_types(tagged(tags)) == counts


@given(st.lists(st.lists(st.tuples(st.sampled_from("AB"), st.integers(1, 3), st.booleans()), max_size=6)))
@settings(max_examples=60, deadline=None)
def test_counts_do_not_depend_on_the_scheme(sentences):
    def written(entities, scheme):
        tags, before = [], None
        for kind, length, gap in entities:
            if gap:
                tags, before = [*tags, "O"], None
            first, inner, last = {"iob2": "BII", "bioes": "BIE", "iob1": "III"}[scheme]
            if scheme == "iob1" and before == kind:
                first = "B"
            tags_of_span = [first] + [inner] * (length - 1)
            if scheme == "bioes":
                tags_of_span = ["S"] if length == 1 else [*tags_of_span[:-1], last]
            tags += [f"{prefix}-{kind}" for prefix in tags_of_span]
            before = kind
        return TaggedSentence(tuple(tags), tuple(tags))

    expected = Counter(kind for entities in sentences for kind, _, _ in entities)
    for scheme in ("iob1", "iob2", "bioes"):
        tagged_sentences = [written(entities, scheme) for entities in sentences]
        assert count_entity_types(tagged_sentences) == expected
    assert spans_without_begin([written(entities, "iob2") for entities in sentences]) == []


def test_words_are_told_from_tags():
    words = [f"w{i}" for i in range(40)]
    assert look_like_words(words, words)
    assert not look_like_words(words[:20], words[:20])  # too few to tell
    assert not look_like_words(["NN", "DT"] * 20, words)
    spans = ["B-PER", "I-PER", "O", "B-LOC"] * 10
    assert not look_like_words(spans, ["Tom", "Ray", "met", "Rome"] * 10)  # few different words
