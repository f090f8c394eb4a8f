"""Predictions that are computed as they are read."""

from itertools import count, islice

import pytest

from headwise.core.errors import ConfigError
from headwise.runtime.prediction_stream import PredictionStream


def doubled(numbers):
    return [2 * number for number in numbers]


def test_predictions_come_in_order_and_once():
    stream = PredictionStream([1, 2, 3], doubled, 2)
    assert list(stream) == [2, 4, 6]
    assert list(stream) == []


def test_a_stream_of_any_length_is_read_a_chunk_at_a_time():
    read = []

    def texts():
        for number in count():
            read.append(number)
            yield number

    assert list(islice(PredictionStream(texts(), doubled, 2), 3)) == [0, 2, 4]
    assert len(read) == 4


@pytest.mark.parametrize("items", ["one text", None, {"text": ["a"]}, {"a", "b"}])
def test_what_is_no_list_is_an_error_before_anything_is_read(items):
    with pytest.raises(ConfigError, match="expected a list of texts"):
        PredictionStream(items, doubled, 2)


def test_the_representation_says_what_it_is():
    shown = "<predictions of 3 items, computed as they are read; list(...) has all of them>"
    assert repr(PredictionStream([1, 2, 3], doubled, 2)) == shown
    assert "of a stream" in repr(PredictionStream(iter([1]), doubled, 2))


def test_an_index_is_an_error_that_says_how():
    with pytest.raises(TypeError, match=r"take list\(...\)\[0\]"):
        PredictionStream([1, 2, 3], doubled, 2)[0]
