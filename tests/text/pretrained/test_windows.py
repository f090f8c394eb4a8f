"""Windows of long texts: whole words, each once, with context."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.nn.embeddings.pretrained.word_pieces import TextWindow, groups, windows


def words_of(pieces: list[int]) -> np.ndarray:
    """The word of each piece, where word w has pieces[w]."""
    return np.repeat(np.arange(len(pieces)), pieces).astype(np.int32)


def test_a_text_that_fits_is_one_window():
    assert windows(words_of([]), 5, 2) == [TextWindow(0, 0, 0, 0)]
    assert windows(words_of([2, 3]), 5, 4) == [TextWindow(0, 5, 0, 5)]


def test_windows_end_where_words_do():
    #                 pieces 0-1, 2-4, 5, 6-7, 8
    assert windows(words_of([2, 3, 1, 2, 1]), 5, 2) == [
        TextWindow(0, 5, 0, 2),
        TextWindow(1, 6, 2, 5),
        TextWindow(4, 9, 5, 9),
    ]


def test_a_word_that_fits_into_no_window_is_cut():
    assert windows(words_of([1, 9]), 4, 2) == [
        TextWindow(0, 4, 0, 1),
        TextWindow(0, 4, 1, 3),
        TextWindow(2, 6, 3, 5),
        TextWindow(4, 8, 5, 7),
        TextWindow(6, 10, 7, 10),
    ]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 7), max_size=40), st.integers(1, 12), st.data())
def test_every_piece_is_asked_for_once_with_context(pieces, most_pieces, data):
    overlap = data.draw(st.integers(0, most_pieces - 1))
    words = words_of(pieces)
    spans = windows(words, most_pieces, overlap)
    assert [n for w in spans for n in range(w.first, w.last)] == list(range(len(words)))
    for window in spans:
        assert 0 <= window.start <= window.first <= window.last <= window.stop <= len(words)
        assert window.stop - window.start <= most_pieces
        assert window.start == 0 or window.first - window.start >= overlap // 2
        assert window.stop == len(words) or window.stop - window.last >= overlap // 2
        cut = window.first > 0 and words[window.first - 1] == words[window.first]
        if cut:
            assert pieces[words[window.first]] > most_pieces - 2 * (overlap // 2)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 5000), max_size=30))
def test_groups_are_of_similar_size(sizes):
    spans = list(groups(sizes))
    assert sorted(n for group in spans for n in group) == [n for n, size in enumerate(sizes) if size]
    for group in spans:
        group_sizes = [sizes[n] for n in group]
        assert group_sizes[0] == max(group_sizes)
        assert min(group_sizes) >= 7 / 8 * group_sizes[0] - 8
        assert len(group_sizes) == 1 or len(group_sizes) * group_sizes[0] <= 16_384
