"""Fields that are as long as the words of their sentence, against the plain definition."""

from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.columns.file_source import most_true
from headwise.data.formats.parallel_lists import (
    ParallelLists,
    is_parallel,
    is_untagged,
    pieces_of,
    words_of,
)

ELEMENTS = st.sampled_from(["O", "B-PER", "dog", "", "a b", None, 3, [1], {}])
VALUES = st.one_of(
    st.none(), st.integers(), st.text("O ab,", max_size=9), st.lists(ELEMENTS, max_size=4), st.just({})
)
ROWS = st.lists(st.dictionaries(st.sampled_from(["tokens", "tags", "x", "y"]), VALUES), max_size=5)


def tags_by_definition(rows, token):
    """The names whose values are parallel to the words in most of the records that are tagged."""
    return {
        name
        for name in (rows[0] if rows else ())
        if name != token
        and most_true(
            is_parallel(pieces_of(row.get(name)), words_of(row.get(token)))
            for row in rows
            if not is_untagged(row.get(name))
        )
    }


@given(ROWS)
@settings(max_examples=300, deadline=None)
def test_lists_without_texts_are_all_that_are_parallel(rows):
    for token in ("tokens", "x"):
        tag_fields, expected = ParallelLists(rows).tag_fields(token), tags_by_definition(rows, token)
        texts = {name for row in rows for name, value in row.items() if isinstance(value, str)}
        assert set(tag_fields) <= expected
        assert set(tag_fields) - texts == expected - texts


def test_lists_of_usual_names_come_first():
    rows = [{"y": [1, 2], "tags": ["O", "O"], "tokens": ["a", "dog"], "x": [1]}] * 3
    lists = ParallelLists(rows)
    assert lists.token_field() == "tokens"
    assert lists.tag_fields("tokens") == ["tags", "y"]


def test_texts_are_tags_if_they_have_few_different_words():
    words = ["a dog barks", "the cat", "one old dog sleeps", "she sees it"]
    tags = ["DT NN VB", "DT NN", "DT JJ NN VB", "PR VB PR"]
    rows = [{"sentence": text, "pos": tag, "n": "7"} for text, tag in zip(words, tags, strict=True)]
    assert ParallelLists(rows).token_field() == "sentence"
    assert ParallelLists(rows).tag_fields("sentence") == ["pos"]


def test_no_records_have_no_fields():
    assert ParallelLists([]).token_field() is None
    assert ParallelLists([]).tag_fields("tokens") == []
