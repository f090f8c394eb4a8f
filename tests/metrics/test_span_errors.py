"""Errors of spans: each wrong span once, by kind."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwise.metrics.span_errors import KINDS, count_span_errors, span_errors
from headwise.metrics.tag_schemes import TagSpan
from headwise.metrics.tagging_scores import score_entities


@pytest.mark.parametrize(
    ("predicted", "true", "kinds"),
    [
        ([(0, 2, "A")], [(0, 2, "A")], []),
        ([], [(0, 5, "A")], ["missed"]),
        ([(0, 5, "A")], [], ["spurious"]),
        ([(0, 2, "B")], [(0, 2, "A")], ["type"]),
        ([(0, 3, "A")], [(1, 3, "A")], ["ends"]),
        ([(0, 3, "B")], [(1, 3, "A")], ["type and ends"]),
        ([(0, 2, "A")], [(2, 4, "A")], ["spurious", "missed"]),  # beside each other
        ([(0, 1, "A"), (1, 5, "A")], [(0, 5, "A")], ["spurious", "ends"]),  # the longer one is the pair
        ([(0, 5, "A")], [(0, 1, "A"), (1, 5, "A")], ["missed", "ends"]),
        ([(0, 2, "A"), (2, 3, "A")], [(0, 2, "A"), (1, 3, "A")], ["ends"]),  # right ones are in no pair
    ],
)
def test_kinds(predicted, true, kinds):
    spans = [[TagSpan(*span) for span in part] for part in (predicted, true)]
    assert sorted(error.kind for error in span_errors(*spans)) == sorted(kinds)


@st.composite
def texts(draw):
    """The spans of a text: they do not overlap."""
    ends = sorted(draw(st.sets(st.integers(0, 20), max_size=8)))
    kinds = st.sampled_from("AB")
    return [TagSpan(a, b, draw(kinds)) for a, b in zip(ends[::2], ends[1::2], strict=False)]


@given(texts(), texts())
def test_every_wrong_span_is_in_one_error(predicted, true):
    errors = span_errors(predicted, true)
    right = set(predicted) & set(true)
    assert Counter(e.true for e in errors if e.true) == Counter(set(true) - right)
    assert Counter(e.predicted for e in errors if e.predicted) == Counter(set(predicted) - right)
    counts = count_span_errors([predicted], [true])
    assert tuple(counts) == tuple(KINDS)
    assert sum(counts.values()) == len(errors)
    scores = score_entities([predicted], [true])
    both = len(errors) - counts["missed"] - counts["spurious"]
    assert scores.spans - len(right) == counts["missed"] + both
    assert scores.predicted - len(right) == counts["spurious"] + both
    for error in errors:
        if error.true and error.predicted:
            assert max(error.true.start, error.predicted.start) < min(error.true.end, error.predicted.end)
