"""Active learning: items that are uncertain and represent others."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from headwise.metrics import label_quality as suggest
from headwise.metrics.label_quality import select_items, tag_uncertainty


def plainly(doubt, vectors, count):
    """The same by counting everything anew for every item."""
    likeness = np.clip(vectors @ vectors.T, 0, 1)
    np.fill_diagonal(likeness, 1)
    chosen = []
    for _ in range(count):
        left = {
            item: (doubt * likeness[[*chosen, item]].max(axis=0)).sum()
            for item in range(len(doubt))
            if item not in chosen
        }
        chosen.append(max(left, key=lambda item: left[item]))
    return chosen


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_as_a_plain_count(kind):
    chance = np.random.default_rng(0)
    vectors = chance.standard_normal((40, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    doubt = chance.random(40)
    assert select_items(doubt, kind(vectors), 12) == plainly(doubt, vectors, 12)
    assert sorted(select_items(doubt, kind(vectors), 99)) == list(range(40))


def test_the_same_question_is_asked_once():
    vectors = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1], [0, 0]])
    assert select_items(np.array([0.9, 0.95, 0.9, 0.6, 0.3]), vectors, 3)[1:] == [3, 4]


def test_of_very_many_the_doubtful_are_compared(monkeypatch):
    monkeypatch.setattr(suggest, "MAX_CANDIDATES", 2)
    doubt = np.array([0.2, 0.9, 0.4, 0.5])
    assert select_items(doubt, np.eye(4), 4) == [1, 3, 2, 0]


def test_the_doubt_of_tags():
    sure, torn, long = np.array([1.0, 1.0]), np.array([0.5]), np.full(4, 0.5)
    doubts = tag_uncertainty([sure, torn, long, np.zeros(0), np.array([0.0])])
    assert doubts == pytest.approx([0, 0.5, 1 - 0.5**2, 0, 1])
