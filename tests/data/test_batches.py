"""Batches hold every text once, within the budget, in an order that only seed and epoch decide."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from headwise.data.items.dataset import plan_batches


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 50), max_size=300), st.integers(1, 9), st.integers(1, 80), st.integers(0, 9))
def test_every_text_once_within_the_budget(lengths, max_texts, max_tokens, epoch):
    batches = plan_batches(lengths, max_texts=max_texts, max_tokens=max_tokens, seed=3, epoch=epoch)
    assert sorted(text for batch in batches for text in batch) == list(range(len(lengths)))
    for batch in batches:
        sizes = [lengths[text] for text in batch]
        assert sizes == sorted(sizes, reverse=True)
        assert 1 <= len(batch) <= max_texts
        assert len(batch) == 1 or sum(sizes) + len(sizes) <= max_tokens


def test_seed_and_epoch_decide():
    lengths = np.random.default_rng(0).integers(0, 40, 200)
    arguments = {"max_texts": 8, "max_tokens": 200}
    first = plan_batches(lengths, seed=0, epoch=0, **arguments)
    assert first == plan_batches(lengths, seed=0, epoch=0, **arguments)
    assert first != plan_batches(lengths, seed=0, epoch=1, **arguments)
    assert first != plan_batches(lengths, seed=1, epoch=0, **arguments)


def test_lengths_in_a_batch_are_similar():
    lengths = np.random.default_rng(0).integers(1, 400, 3000)
    batches = plan_batches(lengths, max_texts=32, max_tokens=10**6, seed=0, epoch=0)
    padded = sum(max(lengths[batch]) * len(batch) for batch in batches)
    assert padded < 1.1 * lengths.sum()
