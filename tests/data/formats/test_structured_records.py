"""What counts as a file of lists, objects or tags in cells."""

import pytest

from headwise.data.formats.structured_records import sample_rows


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
def test_tags_in_a_cell_are_found_behind_each_delimiter(delimiter):
    head = [(1, f"text{delimiter}tags"), (2, f"Ann ran{delimiter}B-PER O")]
    assert sample_rows(head) == [{"text": "Ann ran", "tags": "B-PER O"}]


def test_a_long_word_of_tags_is_read_once():
    head = [(1, "text,label"), (2, f'"say {"B-" * 200_000}",a')]  # hours, if it was tried from each letter
    assert sample_rows(head) == []
