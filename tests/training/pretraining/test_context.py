import numpy as np
import pytest

from headwise.training.pretraining.base_config import ContextConfig
from headwise.training.pretraining.cbow import (
    common_weights,
    fit_subwords,
    train_contexts,
    without_common_part,
)
from headwise.training.pretraining.corpus import EncodedPassages


def two_topics(passages: int = 800) -> EncodedPassages:
    """Words 0 to 9 stand with each other, and 10 to 19."""
    random = np.random.default_rng(0)
    flat = random.integers(0, 10, (passages, 8)) + 10 * random.integers(0, 2, (passages, 1))
    return EncodedPassages(flat.astype(np.int32).ravel(), np.arange(passages + 1) * 8)


def train(numbers, path, epochs, **settings):
    messages = []
    config = ContextConfig(common=0, learning_rate=0.3, negatives=4, **settings)
    counts = np.bincount(numbers.flat, minlength=20)
    vectors = train_contexts(
        numbers, counts, 8, config, epochs=epochs, seed=0, state=path,
        report=lambda done, total, tell: messages.append((done, total, tell)),
    )  # fmt: skip
    return vectors, messages


def test_words_that_stand_together_are_near(tmp_path):
    vectors, messages = train(two_topics(), tmp_path / "state", 6)
    vectors = without_common_part(vectors, np.ones(20, np.float32), np.ones(20, np.int64))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    nearby = vectors @ vectors.T
    assert nearby[:10, :10].mean() > 0.5
    assert nearby[:10, 10:].mean() < -0.5
    assert messages[-1][:2] == (4800, 4800)


def test_a_run_that_goes_on_ends_with_the_same_vectors(tmp_path):
    numbers = two_topics(100)
    full, _ = train(numbers, tmp_path / "a", 3)

    def stop(done, total, tell):
        if done > 150:
            raise KeyboardInterrupt

    config = ContextConfig(common=0, learning_rate=0.3, negatives=4)
    counts = np.bincount(numbers.flat, minlength=20)
    with pytest.raises(KeyboardInterrupt):
        train_contexts(numbers, counts, 8, config, epochs=3, seed=0, state=tmp_path / "b", report=stop)
    again, _ = train(numbers, tmp_path / "b", 3)
    assert (full == again).all()


def test_passages_without_company_teach_nothing(tmp_path):
    numbers = EncodedPassages(np.zeros(3, np.int32), np.array([0, 0, 1, 2, 3]))
    vectors, _ = train(numbers, tmp_path / "state", 1)
    assert np.isfinite(vectors).all()


def test_common_words_weigh_less():
    weights = common_weights(np.array([1000, 10, 0]), 1010)
    assert weights.shape == (4,)
    assert weights[0] < weights[1] < weights[2] == weights[3]


def test_runs_of_letters_stand_for_words_that_are_made_of_them():
    random = np.random.default_rng(0)
    stems, ends = ["walk", "talk", "jump", "look"], ["ing", "ed", "er", "s"]
    meaning = {part: random.normal(size=8) for part in (*stems, *ends)}
    words = [stem + end for stem in stems for end in ends]
    vectors = np.array([meaning[word[:4]] + meaning[word[4:]] for word in words], np.float32)
    listed = np.array([word != "jumping" for word in words])
    sub = fit_subwords(
        [w for w, k in zip(words, listed, strict=True) if k], vectors[listed],
        np.ones(15, np.float32), 512, ridge=0.01,
    )  # fmt: skip
    from headwise.text.static_embeddings.word_groups import subword_buckets

    made = sub[subword_buckets(["jumping"], 512)[0]].mean(axis=0)
    cosines = vectors @ made / np.linalg.norm(vectors, axis=1) / np.linalg.norm(made)
    assert words[int(cosines.argmax())] == "jumping"
