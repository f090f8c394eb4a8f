from itertools import count, islice

import pytest

from headwise.core.errors import ConfigError
from headwise.data.items.dataset import in_chunks, require_list


def test_chunks():
    assert list(in_chunks(range(5), 2)) == [[0, 1], [2, 3], [4]]
    assert list(in_chunks([], 2)) == []
    assert list(islice(in_chunks(count(), 2), 2)) == [[0, 1], [2, 3]]  # nothing is read ahead


@pytest.mark.parametrize("size", [0, -1])
def test_a_chunk_has_items(size):
    with pytest.raises(ConfigError, match=f"chunks of {size} have no items"):
        list(in_chunks(["a"], size))


def test_one_text_is_not_taken_for_its_letters():
    with pytest.raises(ConfigError, match=r"expected a list of texts, got the one text 'abc'"):
        list(in_chunks("abc", 2))
    with pytest.raises(
        ConfigError, match=r"list of texts, got a dict of 'text', 'label'; .* such as \['text'\]"
    ):
        list(in_chunks({"text": ["abc"], "label": ["d"]}, 2))


@pytest.mark.parametrize("value", [None, 5])
def test_nothing_and_numbers_are_no_list(value):
    with pytest.raises(ConfigError, match=f"expected a list of texts, got {value}"):
        list(in_chunks(value, 2))


def test_a_set_has_no_order():
    for texts in ({"a", "b"}, frozenset({"a"})):
        with pytest.raises(
            ConfigError, match=f"list of texts, got a {type(texts).__name__}, which has no order"
        ):
            require_list(texts)
    assert list(require_list({"a": 1, "b": 2}.keys())) == ["a", "b"]
