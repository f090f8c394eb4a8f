"""Words of English passages are replaced by their nearest words in another language."""

import numpy as np

from benchmarks.defaults.multilingual_encoder import code_switched, nearest_words
from headwise.text.static_embeddings.base_vectors import QuantizedMatrix, StaticEmbeddings


def base(name: str, vectors: dict[str, tuple[float, float]]) -> StaticEmbeddings:
    rows = np.array(list(vectors.values()), dtype=np.float32)
    subwords = QuantizedMatrix.of(np.zeros((4, 2), np.float32))
    weights = np.ones(len(vectors) + 1, np.float32)
    return StaticEmbeddings(name, tuple(vectors), QuantizedMatrix.of(rows), subwords, weights)


ENGLISH = base("english", {"good": (2, 0), "hotel": (0, 1), "far": (-1, -1)})
GERMAN = base("german", {"gut": (1, 0.1), "hotel": (0, 1), "zimmer": (0.1, 1), "nie": (1, -1)})


def test_a_word_is_replaced_by_the_nearest_that_english_has_not():
    assert nearest_words(ENGLISH, GERMAN) == {"good": "gut", "hotel": "zimmer"}


def test_some_passages_and_some_of_their_words_are_replaced():
    passages = ["A good hotel , far away"] * 400
    switched = code_switched(passages, {"german": {"good": "gut", "hotel": "zimmer"}})
    assert set(switched) == {f"A {a} {b} , far away" for a in ("good", "gut") for b in ("hotel", "zimmer")}
    assert 130 < switched.count(passages[0]) < 230
    assert switched == code_switched(passages, {"german": {"good": "gut", "hotel": "zimmer"}})
