"""Packed sequences: rows ordered by their position in the text."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.nn.layout import Layout
from headwise.nn.packed_sequence import pack_layout


def test_by_hand():
    steps = pack_layout(Layout([2, 0, 3, 2]))
    assert steps.sizes == (3, 3, 1)
    assert steps.texts.tolist() == [2, 0, 3]
    assert steps.rows.tolist() == [2, 0, 5, 3, 1, 6, 4]
    assert steps.ranks.tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert steps.previous.tolist() == [0, 1, 2, 3]
    assert steps.last.tolist() == [6, 4, 5]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 6), max_size=7))
def test_by_definition(lengths):
    layout = Layout(lengths)
    steps = pack_layout(layout)
    assert list(steps.sizes) == [sum(n > t for n in lengths) for t in range(max(lengths, default=0))]
    order = [(t, -lengths[text], text) for text in range(len(lengths)) for t in range(lengths[text])]
    where = sorted(order)
    assert layout.positions[steps.rows].tolist() == [t for t, _, _ in where]
    assert layout.text_of[steps.rows].tolist() == [text for _, _, text in where]
    assert steps.texts[steps.ranks].tolist() == [text for _, _, text in where]
    assert steps.rows[steps.places].tolist() == list(range(layout.total))
    later = steps.rows[len(steps.texts) :]
    assert steps.rows[steps.previous].tolist() == (later - 1).tolist()
    assert steps.rows[steps.last].tolist() == (layout.offsets[1:][steps.texts] - 1).tolist()


def test_one_computation_for_each_layout():
    layout = Layout([1, 2])
    with torch.inference_mode():
        steps = pack_layout(layout)
    assert pack_layout(layout) is steps
    assert not steps.rows.is_inference()
