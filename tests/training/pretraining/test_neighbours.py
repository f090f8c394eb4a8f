"""Groups of words by their neighbours: counts against brute force, and classes that are known."""

import numpy as np
import pytest

from headwise.text.static_embeddings.word_groups import LEVELS
from headwise.training.pretraining import neighbour_groups as neighbours
from headwise.training.pretraining.corpus import EncodedPassages
from headwise.training.pretraining.neighbour_groups import (
    PLACES,
    cluster_words,
    neighbour_counts,
    neighbour_vectors,
    word_clusters,
)


def of(passages: list[list[int]]) -> EncodedPassages:
    starts = np.cumsum([0, *map(len, passages)])
    return EncodedPassages(np.array([n for passage in passages for n in passage], dtype=np.int32), starts)


def quiet(done: int, total: int) -> None:
    pass


@pytest.mark.parametrize("part", [1, 3, 1 << 17])
def test_neighbours_are_counted_within_passages(part, monkeypatch):
    monkeypatch.setattr(neighbours, "_PART", part)
    monkeypatch.setattr(neighbours, "_CONTEXTS", 5)
    random = np.random.default_rng(0)
    # Numbers from 7 on are words without groups: they stand between others.
    passages = [random.integers(0, 9, size).tolist() for size in (0, 1, 2, 7, 3, 0, 12)]
    actual = neighbour_counts(of(passages), 7)
    flat = [n for passage in passages for n in passage]
    common = sorted(range(7), key=lambda n: (-flat.count(n), n))[:5]
    for counts, place in zip(actual, PLACES, strict=True):
        expected = np.zeros((7, 5))
        for passage in passages:
            for at, word in enumerate(passage):
                neighbour = at + place
                if word < 7 and 0 <= neighbour < len(passage) and passage[neighbour] in common:
                    expected[word, common.index(passage[neighbour])] += 1
        np.testing.assert_array_equal(counts.toarray(), expected)


def grammar(count: int = 3_000) -> tuple[EncodedPassages, list[str], list[str]]:
    """Sentences of a determiner, a noun, a verb and an adverb; which word is of which class."""
    sizes = {"the": 2, "noun": 12, "runs": 10, "fast": 8}
    words = [f"{name}{n}" for name, size in sizes.items() for n in range(size)]
    classes = [name for name, size in sizes.items() for _ in range(size)]
    random = np.random.default_rng(0)
    first = np.cumsum([0, *sizes.values()])[:-1]
    drawn = first + (random.random((count, 4)) * list(sizes.values())).astype(int)
    return of(drawn.tolist()), words, classes


def test_words_of_a_class_point_the_same_way():
    numbers, words, classes = grammar()
    vectors = neighbour_vectors(numbers, len(words), seed=0, report=quiet)
    nearby = vectors @ vectors.T
    same = np.array(classes)[:, None] == np.array(classes)
    assert nearby[same].mean() > nearby[~same].mean() + 0.5
    nearest = (nearby - 2 * np.eye(len(words))).argmax(axis=1)
    assert [classes[row] for row in nearest] == classes


def test_each_kept_word_has_groups_the_same_each_time():
    numbers, words, _ = grammar()
    messages = []
    groups = word_clusters(
        numbers,
        words,
        np.array([word != "fast7" for word in words]),
        seed=0,
        report=lambda done, total: messages.append((done, total)),
    )
    assert messages[-1] == (3_000, 3_000)
    assert len(groups) == len(words) - 1
    assert (groups.of(["fast7"]) == -1).all()
    # 2**32, which is the largest seed of a base, is as good as 0.
    again = word_clusters(numbers, words, np.ones(len(words), bool), seed=1 << 32, report=quiet)
    assert (again.of(words[:-1]) == groups.of(words[:-1])).all()


def test_words_without_neighbours_have_no_direction():
    vectors = neighbour_vectors(of([[0], [1], [2, 3], [3, 2]]), 6, seed=0, report=quiet)
    assert vectors.shape[0] == 6
    lengths = np.linalg.norm(vectors, axis=1)
    assert lengths[[0, 1, 4, 5]] == pytest.approx(0)
    assert lengths[[2, 3]] == pytest.approx(1, abs=1e-5)


def test_fewer_words_than_groups():
    actual = cluster_words(np.eye(9, 4, dtype=np.float32), seed=0)
    assert actual.shape == (9, len(LEVELS))
    assert len(np.unique(actual[:, -1])) == 5  # as many as there are different vectors
